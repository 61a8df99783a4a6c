/**
 * Reads DataHub's model from the schema that its Python client installs: the aspects, the entities that have
 * them, and what they refer to.
 */
import {
  isRecord,
  namedRecords,
  recordsOf,
  textOf,
  textsOf,
  withoutPegasus,
  type AvroRecords,
  type Json,
  type JsonRecord
} from './avro.ts'
import { readRequired, type ModelRecord } from './read-required.ts'

/** A relationship in a field of an aspect. `path` leads to the URN, with a star for each entry of a list. */
export type ModelRelationship = {
  path: string
  /**
   * What must be removed to remove the URN: the smallest part of the aspect that is an entry of a list or
   * optional; empty for the whole aspect.
   */
  removedPath: string
  name: string
  entityTypes: string[]
  /**
   * The end of a lineage edge that the URN is, seen from the entity of the aspect; null if the field is not
   * lineage.
   */
  lineage: 'upstream' | 'downstream' | null
}

/** A step of a path. A required field can only be removed with the record that contains it. */
type Step = { name: string; canGo: boolean }
type Found = Omit<ModelRelationship, 'path' | 'removedPath'> & { steps: readonly Step[] }

export type ModelAspect = {
  name: string
  className: string
  isTimeseries: boolean
  relationships: ModelRelationship[]
}

type ModelEntity = { name: string; keyAspect: string; keyFields: string[]; aspects: string[] }

export type DataHubModel = { aspects: ModelAspect[]; entities: ModelEntity[]; records: ModelRecord[] }

/** Sorted by name, so that the same schema gives the same model. */
export function readModel(schema: unknown): DataHubModel {
  // JSON.parse gives values of this type.
  const records = namedRecords(schema as Json)
  const aspects: ModelAspect[] = []
  const entities: ModelEntity[] = []
  for (const { fullName, facts } of records.values()) {
    const annotation = facts.Aspect
    if (!isRecord(annotation)) continue
    const name = textOf(annotation.name)
    aspects.push({
      name,
      className: withoutPegasus(fullName),
      isTimeseries: annotation.type === 'timeseries',
      relationships: relationshipsIn(records, facts, []).map(withPaths)
    })
    if (typeof annotation.keyForEntity !== 'string') continue
    entities.push({
      name: annotation.keyForEntity,
      keyAspect: name,
      keyFields: recordsOf(facts.fields).map((field) => textOf(field.name)),
      aspects: textsOf(annotation.entityAspects).toSorted()
    })
  }
  return {
    aspects: aspects.toSorted(byName),
    entities: entities.toSorted(byName),
    records: readRequired(records)
  }
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1)

const pathOf = (steps: readonly Step[]): string => steps.map(({ name }) => name).join('/')

const withPaths = ({ steps, ...annotation }: Found): ModelRelationship => ({
  path: pathOf(steps),
  removedPath: pathOf(steps.slice(0, steps.findLastIndex(({ canGo }) => canGo) + 1)),
  ...annotation
})

/** The relationships in the fields of a record. A record within itself is not followed. */
function relationshipsIn(records: AvroRecords, record: JsonRecord, within: readonly JsonRecord[]): Found[] {
  if (within.includes(record)) return []
  return recordsOf(record.fields).flatMap((field) => {
    const own = annotationsOf(field)
    const nested = inType(records, field.type, [...within, record]).filter(
      ({ steps }) => !own.some((each) => pathOf(each.steps) === pathOf(steps))
    )
    const step: Step = {
      name: textOf(field.name),
      canGo: field.default !== undefined || (Array.isArray(field.type) && field.type.includes('null'))
    }
    return [...own, ...nested].map((each) => ({ ...each, steps: [step, ...each.steps] }))
  })
}

/**
 * The relationships at the field itself: one, or several by the path from here. They win over those of the
 * inner records.
 */
function annotationsOf(field: JsonRecord): Found[] {
  const annotation = field.Relationship
  if (!isRecord(annotation)) return []
  if (typeof annotation.name === 'string') return [relationshipOf([], annotation)]
  return Object.entries(annotation).flatMap(([path, each]) =>
    isRecord(each) ? [relationshipOf(path.split('/').slice(1).map(stepOfPath), each)] : []
  )
}

/** Such a path leads through entries of lists, and through required fields. */
const stepOfPath = (name: string): Step => ({ name, canGo: name === '*' })

function relationshipOf(
  steps: readonly Step[],
  { name, entityTypes, isLineage, isUpstream }: JsonRecord
): Found {
  const direction = isUpstream === false ? 'downstream' : 'upstream'
  return {
    steps,
    name: textOf(name),
    entityTypes: [...new Set(textsOf(entityTypes))],
    lineage: isLineage === true ? direction : null
  }
}

/** The relationships in a type, by the path from it. Each member of a union is under its name. */
function inType(records: AvroRecords, type: Json | undefined, within: readonly JsonRecord[]): Found[] {
  if (Array.isArray(type)) {
    const members = type.filter((member) => member !== 'null')
    if (members.length === 1) return inType(records, members[0], within)
    return members.flatMap((member) =>
      inType(records, member, within).map(behind({ name: memberNameOf(records, member), canGo: false }))
    )
  }
  if (typeof type === 'string') {
    const named = records.get(type)
    return named ? relationshipsIn(records, named.facts, within) : []
  }
  if (!isRecord(type)) return []
  if (type.type === 'record') return relationshipsIn(records, type, within)
  const inner = type.type === 'array' ? type.items : type.type === 'map' ? type.values : undefined
  return inner === undefined ? [] : inType(records, inner, within).map(behind({ name: '*', canGo: true }))
}

const behind =
  (step: Step) =>
  (each: Found): Found => ({ ...each, steps: [step, ...each.steps] })

/** The name of the member in JSON. */
const memberNameOf = (records: AvroRecords, member: Json): string => {
  const found =
    typeof member === 'string'
      ? records.get(member)
      : [...records.values()].find(({ facts }) => facts === member)
  return withoutPegasus(found?.fullName ?? textOf(member))
}
