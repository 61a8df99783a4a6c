/**
 * schemaMetadata: the columns of a dataset. Checks only what other code relies on: every column has a path,
 * and no path occurs twice.
 */
import {
  anything,
  defaulted,
  filledText,
  flag,
  list,
  optional,
  record,
  required,
  shapeFault,
  text
} from '../shape.ts'
import type { Shape } from '../shape.ts'
import { isObject } from '../json-values.ts'
import type { AspectModel } from './aspect-model.ts'
import { auditStamp, unsetStamp } from './shared-records.ts'

const schemaFieldFields = {
  fieldPath: required(filledText),
  jsonPath: optional(text),
  nullable: defaulted(flag, () => false),
  description: optional(text),
  label: optional(text),
  created: optional(auditStamp),
  lastModified: optional(auditStamp),
  recursive: defaulted(flag, () => false),
  globalTags: optional(anything),
  glossaryTerms: optional(anything),
  isPartOfKey: defaulted(flag, () => false),
  isPartitioningKey: optional(flag),
  jsonProps: optional(text)
}

export const schemaField: Shape = record(schemaFieldFields)

const columns = list(
  record({
    ...schemaFieldFields,
    // DataHub's clients cannot read a column without these. A column that a patch created may lack them.
    type: defaulted(anything, () => ({ type: { 'com.linkedin.schema.NullType': {} } })),
    nativeDataType: defaulted(text, () => '')
  })
)

const uniqueColumns: Shape = (value, place) => {
  const prepared = columns(value, place)
  const seen = new Set<unknown>()
  for (const [index, column] of (Array.isArray(prepared) ? prepared : []).entries()) {
    const path = isObject(column) ? column.fieldPath : undefined
    if (seen.has(path))
      throw shapeFault(`${place}[${index}].fieldPath`, `the path ${JSON.stringify(path)} occurs twice`)
    seen.add(path)
  }
  return prepared
}

export const schemaMetadata: AspectModel = {
  name: 'schemaMetadata',
  shape: record({
    created: defaulted(auditStamp, unsetStamp),
    lastModified: defaulted(auditStamp, unsetStamp),
    deleted: optional(auditStamp),
    dataset: optional(text),
    cluster: optional(text),
    fields: required(uniqueColumns),
    primaryKeys: optional(list(text)),
    foreignKeysSpecs: optional(anything),
    foreignKeys: optional(anything)
  })
}
