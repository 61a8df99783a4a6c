/** Loads fields for many objects with one batched catalog call per field, whatever the types of the objects. */
import { findDomainDocuments } from '../../shared/catalog/lineage/known-entities.ts'
import { readAspects } from '../../shared/catalog/entities/read-aspects.ts'
import {
  readChildCounts,
  readDomainMembers,
  readDomainsOf,
  type DomainMembersInput
} from '../../shared/catalog/domains/read-domain.ts'
import { readExistence } from '../../shared/catalog/lineage/read-entity.ts'
import { inTurnIfMany } from '../../shared/catalog/lineage/read-work.ts'
import { readNeighbours, type NeighboursInput } from '../../shared/catalog/lineage/read-neighbours.ts'
import { readRelated, type RelatedInput } from '../../shared/catalog/lineage/read-relationships.ts'
import { readRunsOf } from '../../shared/catalog/openlineage/last-runs.ts'
import { readParentContainers } from '../../shared/catalog/lineage/parent-containers.ts'
import { readParentDomains } from '../../shared/catalog/domains/parent-domains.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import { toUrn, type Urn } from '../../shared/urn/urn.ts'
import { batched } from './batched.ts'
import type { GraphqlContext } from './context.ts'

const urnsOf = (keys: readonly string[]): Urn[] => keys.map((key) => toUrn(key))

/** Whether entities exist. */
export const loadExistence = batched<boolean>((urns, { lineage }) => readExistence(lineage, urnsOf(urns)))

/** The domains that assets are in. */
export const loadDomain = batched((urns, { lineage }) => readDomainsOf(lineage, urnsOf(urns)))

/** The domains above domains. */
export const loadParentDomains = batched((urns, { db }) => readParentDomains(db, urnsOf(urns)))

/** How many domains are directly under domains. */
export const loadChildCount = batched<number>((urns, { db }) => readChildCounts(db, urnsOf(urns)))

/** The containers above entities. */
export const loadParentContainers = batched((urns, { db }) => readParentContainers(db, urnsOf(urns)))

const domainKey = 'domainProperties '

/** Documents of domains are read from memory if the graph is loaded, all others from their tables. */
const loadAspectByKey = batched<JsonObject | null>(async (keys, context) => {
  const ofDomains = keys.filter((key) => key.startsWith(domainKey))
  const documents =
    ofDomains.length > 0
      ? await findDomainDocuments(
          context.lineage,
          urnsOf(ofDomains.map((key) => key.slice(domainKey.length)))
        )
      : null
  if (!documents) return readAspectsByKey(keys, context)
  const others = keys.filter((key) => !key.startsWith(domainKey))
  const values = new Map(
    others.length > 0
      ? (await readAspectsByKey(others, context)).map((value, index) => [others[index] ?? '', value])
      : []
  )
  return keys.map(
    (key) =>
      (key.startsWith(domainKey) ? documents.get(toUrn(key.slice(domainKey.length))) : values.get(key)) ??
      null
  )
})

async function readAspectsByKey(
  keys: readonly string[],
  { db, lineage }: GraphqlContext
): Promise<(JsonObject | null)[]> {
  const asked = keys.map((key) => ({
    aspectName: key.slice(0, key.indexOf(' ')),
    urn: toUrn(key.slice(key.indexOf(' ') + 1))
  }))
  const namesOf = new Map<Urn, string[]>()
  for (const { urn, aspectName } of asked) namesOf.set(urn, [...(namesOf.get(urn) ?? []), aspectName])
  // All entities of a type request the same aspects, so there are about as many groups as types.
  const groups = new Map<string, { names: string[]; urns: Urn[] }>()
  for (const [urn, names] of namesOf) {
    const key = names.sort().join(' ')
    const group = groups.get(key)
    if (group) group.urns.push(urn)
    else groups.set(key, { names, urns: [urn] })
  }
  const found = new Map<string, JsonObject>()
  for (const { names, urns } of groups.values()) {
    const read = () => readAspects(db, urns, names)
    for (const [urn, aspects] of await inTurnIfMany(lineage.work, urns.length, read)) {
      for (const [name, { value }] of aspects) found.set(`${name} ${urn}`, value)
    }
  }
  return keys.map((key) => found.get(key) ?? null)
}

/** The current value of an aspect, or null. */
export const loadAspect = (
  context: GraphqlContext,
  urn: Urn,
  aspectName: string
): Promise<JsonObject | null> => loadAspectByKey(context, `${aspectName} ${urn}`)

/** Loads for pairs of URN and input; pairs with the same input are read together. */
function batchedByInput<Input, Value>(
  readMany: (context: GraphqlContext, urns: readonly Urn[], input: Input) => Promise<readonly Value[]>
) {
  const inputs = new WeakMap<GraphqlContext, Map<string, Input>>()
  const load = batched<Value>(async (keys, context) => {
    const groups = new Map<string, { urn: Urn; index: number }[]>()
    keys.forEach((key, index) => {
      const [urn = '', inputKey = ''] = key.split('\n')
      groups.set(inputKey, [...(groups.get(inputKey) ?? []), { urn: toUrn(urn), index }])
    })
    const values: Value[] = []
    for (const [inputKey, members] of groups) {
      const input = inputs.get(context)?.get(inputKey)
      if (input === undefined) throw new Error('a batched field without its input')
      const read = await readMany(
        context,
        members.map(({ urn }) => urn),
        input
      )
      for (const [at, value] of read.entries()) values[members[at]?.index ?? 0] = value
    }
    return values
  })
  return (context: GraphqlContext, urn: Urn, input: Input): Promise<Value> => {
    const inputKey = JSON.stringify(input)
    const known = inputs.get(context) ?? new Map<string, Input>()
    inputs.set(context, known.set(inputKey, input))
    return load(context, `${urn}\n${inputKey}`)
  }
}

/** The assets of domains. */
export const loadDomainMembers = batchedByInput(({ lineage }, urns, input: DomainMembersInput) =>
  readDomainMembers(lineage, urns, input)
)

/** The entities one hop away. */
export const loadNeighbours = batchedByInput(({ lineage }, urns, input: NeighboursInput) =>
  readNeighbours(lineage, urns, input)
)

/** The newest runs of jobs. */
export const loadRunsOf = batchedByInput(({ db }, urns, count: number) => readRunsOf(db, urns, count))

/** The relationships of entities. */
export const loadRelated = batchedByInput(({ db }, urns, input: RelatedInput) =>
  readRelated(db, urns, input, { defaultCount: relatedDefaultCount, field: 'input.' })
)

const relatedDefaultCount = 100
