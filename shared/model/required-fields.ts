/**
 * Adds missing fields that DataHub's schema requires, because its clients cannot read a document without
 * them.
 *
 * The added values are constant, so that patches give the same document when they are replayed in another
 * order.
 */
import { aspectClasses } from './aspect-classes.ts'
import type { JsonObject, JsonValue } from './changes.ts'
import { dataHubRecords, type DataHubField } from './datahub-records.ts'
import { isObject } from './json-values.ts'

const fieldsByClass = new Map(Object.entries(dataHubRecords))

const fillings = {
  list: () => [],
  map: () => ({}),
  record: () => ({}),
  text: () => '',
  flag: () => false,
  time: () => 0,
  actor: () => 'urn:li:corpuser:unknown'
} satisfies { [name: string]: () => JsonValue }

/** The fields of an aspect; empty for an aspect that DataHub does not have. */
function fieldsOf(aspectName: string): readonly DataHubField[] {
  const className = aspectClasses.get(aspectName) ?? ''
  return fieldsByClass.get(className.slice(className.lastIndexOf('.') + 1)) ?? []
}

/** The document that a new aspect starts from. Required fields that cannot be empty are still missing. */
export const emptyDocument = (aspectName: string): JsonObject => filledRecord(fieldsOf(aspectName), {}, true)

/** A copy of the document with every required list, map and stamp, at any depth. */
export const withRequiredFields = (aspectName: string, document: JsonObject): JsonObject =>
  filledRecord(fieldsOf(aspectName), document, false)

/** The required fields that are absent. */
export const missingFields = (aspectName: string, document: JsonObject): string[] =>
  fieldsOf(aspectName)
    .filter(({ name, filling }) => filling !== undefined && !isSet(document, name))
    .map(({ name }) => name)

const isSet = (record: JsonObject, name: string): boolean =>
  Object.hasOwn(record, name) && record[name] !== null

function filledRecord(fields: readonly DataHubField[], record: JsonObject, isNew: boolean): JsonObject {
  if (fields.length === 0 || isBranch(record)) return record
  const filled = { ...record }
  for (const { name, filling = 'nothing', record: className = '' } of fields) {
    const value = isSet(record, name) ? record[name] : emptyValue(filling, isNew)
    if (value !== undefined) filled[name] = filledValue(fieldsByClass.get(className) ?? [], value, isNew)
  }
  return filled
}

function filledValue(fields: readonly DataHubField[], value: JsonValue, isNew: boolean): JsonValue {
  if (fields.length === 0) return value
  if (Array.isArray(value)) return value.map((entry) => filledValue(fields, entry, isNew))
  return isObject(value) ? filledRecord(fields, value, isNew) : value
}

/**
 * Required texts and flags are only filled in a new document. A later removal of such a field is not undone.
 */
function emptyValue(filling: NonNullable<DataHubField['filling']>, isNew: boolean): JsonValue | undefined {
  if (filling === 'nothing' || (!isNew && (filling === 'text' || filling === 'flag'))) return undefined
  return fillings[filling]()
}

/** Whether a record is a union: its value is then one level deeper, under the name of its class. */
const isBranch = (record: JsonObject): boolean => {
  const [name, ...others] = Object.keys(record)
  return others.length === 0 && name !== undefined && name.startsWith('com.linkedin.')
}
