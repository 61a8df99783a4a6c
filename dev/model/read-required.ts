/** Reads from DataHub's schema which fields a document must have, and the value of each that is absent. */
import {
  fullNameOf,
  isRecord,
  recordsOf,
  textOf,
  type AvroRecord,
  type AvroRecords,
  type Json,
  type JsonRecord
} from './avro.ts'

/** The value of an absent field; `nothing` if the aspect is not valid without it. */
type Filling = 'list' | 'map' | 'record' | 'text' | 'flag' | 'time' | 'actor' | 'nothing'

export type ModelField = {
  name: string
  /** For a field that is required and has no default. */
  filling: Filling | null
  /** Class of the record, or of the records in the list, that the field holds. */
  record: string | null
}

export type ModelRecord = { name: string; fields: ModelField[] }

/** The stamp of who and when; if unknown, the time is 0 and the actor the unknown one. */
const stamps = new Set(['AuditStamp', 'TimeStamp', 'MetadataAttribution'])

/** The records in aspects, at any depth, that have fields to fill in, ordered by name. */
export function readRequired(records: AvroRecords): ModelRecord[] {
  const found = new Map<string, ModelField[]>()
  const follow = ({ fullName, facts }: AvroRecord): void => {
    const name = simpleName(fullName)
    if (found.has(name)) return
    found.set(name, [])
    const isAspect = isRecord(facts.Aspect)
    found.set(
      name,
      recordsOf(facts.fields).map((field) => {
        const held = heldRecord(records, field.type, fullName)
        if (held) follow(held)
        return {
          name: textOf(field.name),
          filling: fillingOf(field, { recordName: name, isAspect, held }),
          record: held && simpleName(held.fullName)
        }
      })
    )
  }
  for (const record of records.values()) if (isPatched(record.facts.Aspect)) follow(record)
  return [...prune(found)]
    .map(([name, fields]) => ({ name, fields }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Keys are excluded because the URN has their values, and events in time because they are written once. */
const isPatched = (aspect: Json | undefined): boolean =>
  isRecord(aspect) && aspect.keyForEntity === undefined && aspect.type !== 'timeseries'

/**
 * Removes fields with nothing to fill in, and records without such fields, until nothing more can be removed.
 */
function prune(records: ReadonlyMap<string, ModelField[]>): ReadonlyMap<string, ModelField[]> {
  const left = new Map<string, ModelField[]>()
  for (const [name, fields] of records) {
    const kept = fields
      .map((field) =>
        field.record !== null && !records.has(field.record) ? { ...field, record: null } : field
      )
      .filter(({ filling, record }) => filling !== null || record !== null)
    if (kept.length > 0) left.set(name, kept)
  }
  const count = (of: ReadonlyMap<string, ModelField[]>): number => [...of.values()].flat().length
  return left.size === records.size && count(left) === count(records) ? left : prune(left)
}

const simpleName = (fullName: string): string => fullName.slice(fullName.lastIndexOf('.') + 1)

type Place = { recordName: string; isAspect: boolean; held: AvroRecord | null }

/**
 * In the aspect itself, texts and flags have an empty value, as in DataHub's templates. Deeper down, the
 * client must send them.
 */
function fillingOf(field: JsonRecord, { recordName, isAspect, held }: Place): Filling | null {
  const { type } = field
  if (!isRequired(field)) return null
  if (stamps.has(recordName)) return field.name === 'time' ? 'time' : 'actor'
  if (isRecord(type) && type.type === 'array') return 'list'
  if (isRecord(type) && type.type === 'map') return 'map'
  // A stamp has a known default. Another record can only be empty if it requires no field.
  if (held && (stamps.has(simpleName(held.fullName)) || !recordsOf(held.facts.fields).some(isRequired)))
    return 'record'
  if (!isAspect) return null
  if (type === 'string' && field.java === undefined) return 'text'
  return type === 'boolean' ? 'flag' : 'nothing'
}

const isRequired = ({ type, default: fallback }: JsonRecord): boolean =>
  fallback === undefined && !(Array.isArray(type) && type.includes('null'))

/** Maps of records, and unions of several, are not followed. */
function heldRecord(records: AvroRecords, type: Json | undefined, within: string): AvroRecord | null {
  if (Array.isArray(type)) {
    const members = type.filter((member) => member !== 'null')
    return members.length === 1 ? heldRecord(records, members[0], within) : null
  }
  if (typeof type === 'string') return records.get(type) ?? null
  if (!isRecord(type)) return null
  if (type.type === 'array') return heldRecord(records, type.items, within)
  return type.type === 'record'
    ? (records.get(
        fullNameOf(textOf(type.name), textOf(type.namespace) || within.slice(0, within.lastIndexOf('.')))
      ) ?? null)
    : null
}
