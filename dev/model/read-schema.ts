/** Reads DataHub's model out of the schema that its Python client installs: which aspects there are, on which entities, and what they refer to. */
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

/** A relationship that a field of an aspect states; `path` leads to the URN, with a star for each entry of a list. */
export type ModelRelationship = {
  path: string
  /** What must go for the URN to go: the smallest part of the aspect that is an entry of a list or not required; empty for all of it. */
  removedPath: string
  name: string
  entityTypes: string[]
  /** Which end of a lineage edge the URN is, as seen from the entity of the aspect; null for a field that is not lineage. */
  lineage: 'upstream' | 'downstream' | null
}

/** A step of a path. What is required cannot go without what holds it. */
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

/** Everything sorted by name, so that the same schema gives the same model. */
export function readModel(schema: unknown): DataHubModel {
  // The type is that of what JSON.parse gives.
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

const withPaths = ({ steps, ...said }: Found): ModelRelationship => ({
  path: pathOf(steps),
  removedPath: pathOf(steps.slice(0, steps.findLastIndex(({ canGo }) => canGo) + 1)),
  ...said
})

/** What the fields of a record state. A record within itself is not followed. */
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

/** What is said at the field itself: either one relationship, or some by the path from here, which count before what the inner records say. */
function annotationsOf(field: JsonRecord): Found[] {
  const said = field.Relationship
  if (!isRecord(said)) return []
  if (typeof said.name === 'string') return [relationshipOf([], said)]
  return Object.entries(said).flatMap(([path, each]) =>
    isRecord(each) ? [relationshipOf(path.split('/').slice(1).map(stepOfPath), each)] : []
  )
}

/** Such a path leads through entries of lists, and through fields that are required. */
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

/** What a type states, by the path from it. Of a union with several members, each is under its name. */
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

/** As the JSON of the member has it. */
const memberNameOf = (records: AvroRecords, member: Json): string => {
  const found =
    typeof member === 'string'
      ? records.get(member)
      : [...records.values()].find(({ facts }) => facts === member)
  return withoutPegasus(found?.fullName ?? textOf(member))
}
