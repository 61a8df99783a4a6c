/**
 * The rows of an export, read through one lineage reader a slice at a time, so memory does not grow with the
 * number of rows.
 */
import type { JsonObject } from '../../model/changes.ts'
import { graphqlTypeOf } from '../../model/entity-types.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import type { LineageDirection, LineageLevel } from '../../model/walk.ts'
import { nameFromUrn, environmentOf, platformOf } from '../../urn/kinds.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import { namesOf, textAspectNames } from '../entities/entity-texts.ts'
import type { LineageReader } from './lineage-reader.ts'

/** One entity. `id` is 0 for a column that nothing names; such a column occurs only as a start. */
export type ExportEntity = {
  id: number
  degree: number
  urn: Urn
  /** The type by its name in GraphQL. */
  type: string
  name: string
  platform: Urn | null
  environment: string | null
  domain: Urn | null
  exists: boolean
  /** The URNs of the owners; of a column, those of its asset. */
  owners: readonly string[]
}

/**
 * One edge; `degree` is the hop that follows it. `isIndirect`: only the rows of a table join the two columns.
 */
export type ExportEdge = {
  upstreamId: number
  upstream: Urn
  downstreamId: number
  downstream: Urn
  degree: number
  isIndirect: boolean
}

/** Entities whose documents are read at once: documents may be large. */
const entitiesSliceCount = 500
/** Entities whose neighbours are read at once. */
const nearSliceCount = 500
/** Edges returned at once. */
const edgesSliceCount = 2_000

/**
 * Entities by id, in the order of the ids. Throws DEADLINE_EXCEEDED if one slice takes longer than
 * walkDeadlineMs.
 */
export async function* entityRows(
  reader: LineageReader,
  ids: Int32Array,
  degreeAt: (index: number) => number
): AsyncGenerator<ExportEntity[]> {
  const domains = new Map<number, Urn | null>()
  for (let begin = 0; begin < ids.length; begin += entitiesSliceCount) {
    reader.renew()
    await reader.pause()
    const slice = ids.subarray(begin, begin + entitiesSliceCount)
    const urns = await reader.urns(slice)
    const classes = await reader.classes(slice)
    const documents = await reader.documents(slice, [...textAspectNames, 'ownership'])
    await addDomains(reader, domains, slice, (id) => classes(id)?.domainId ?? null)
    const rows: ExportEntity[] = []
    slice.forEach((id, at) => {
      const [urn, facts] = [urns(id), classes(id)]
      if (urn === null || facts === null) return
      rows.push({
        id,
        degree: degreeAt(begin + at),
        urn,
        type: graphqlTypeOf(facts.entityType),
        name: namesOf(urn, documents.get(id) ?? new Map())[0] ?? nameFromUrn(urn),
        platform: facts.platformUrn,
        environment: facts.origin,
        domain: facts.domainId === null ? null : (domains.get(facts.domainId) ?? null),
        exists: facts.exists,
        owners: ownersIn(documents.get(id)?.get('ownership'))
      })
    })
    yield rows
  }
}

/** Adds the domains of a slice that are not known yet. All slices together have few domains. */
async function addDomains(
  reader: LineageReader,
  domains: Map<number, Urn | null>,
  ids: Int32Array,
  domainIdOf: (id: number) => number | null
): Promise<void> {
  const unmet = new Set<number>()
  for (const id of ids) {
    const domainId = domainIdOf(id)
    if (domainId !== null && !domains.has(domainId)) unmet.add(domainId)
  }
  if (unmet.size === 0) return
  const urns = await reader.urns([...unmet])
  for (const domainId of unmet) domains.set(domainId, urns(domainId))
}

/** The row of an entity that has no id: a column that no statement or aspect names. */
export const rowWithoutId = (urn: Urn, exists: boolean): ExportEntity => ({
  id: 0,
  degree: 0,
  urn,
  type: graphqlTypeOf(entityTypeOf(urn)),
  name: nameFromUrn(urn),
  platform: platformOf(urn),
  environment: environmentOf(urn),
  domain: null,
  exists,
  owners: []
})

const ownersIn = (ownership: JsonObject | undefined): string[] => [
  ...new Set(
    listOf(ownership?.owners)
      .filter(isObject)
      .flatMap(({ owner }) => (typeof owner === 'string' ? [owner] : []))
  )
]

export type EdgeQuestion = {
  direction: LineageDirection
  level: LineageLevel
  /** The entities whose edges are followed, in the order in which the edges are returned. */
  nearIds: Int32Array
  degreeAt: (index: number) => number
  /** Whether the entity is exported. */
  has: (id: number) => boolean
}

/**
 * The edges from one exported entity to another or to itself, each once: in the order of the near ends, then by
 * the id of the far end.
 */
export async function* edgeRows(
  reader: LineageReader,
  { direction, level, nearIds, degreeAt, has }: EdgeQuestion
): AsyncGenerator<ExportEdge[]> {
  for (let begin = 0; begin < nearIds.length; begin += nearSliceCount) {
    reader.renew()
    const slice = nearIds.subarray(begin, begin + nearSliceCount)
    const neighbours = await reader.neighbours(slice, direction, level)
    const loops = await reader.loops(slice, level)
    const indirect = level === 'column' ? await reader.indirect(slice, direction) : () => []
    let pairs: Pair[] = []
    for (const [at, near] of slice.entries()) {
      const indirectFars = new Set(indirect(near))
      for (const far of loops.has(near) ? withLoop(neighbours(near), near) : neighbours(near)) {
        const isIndirect = indirectFars.has(far)
        if (has(far)) pairs.push({ near, far, degree: degreeAt(begin + at) + 1, isIndirect })
        if (pairs.length < edgesSliceCount) continue
        yield await edgesOf(reader, pairs, direction)
        reader.renew()
        pairs = []
      }
      await reader.pause()
    }
    if (pairs.length > 0) yield await edgesOf(reader, pairs, direction)
  }
}

/** The neighbours in order, with the entity itself. */
const withLoop = (neighbours: readonly number[], id: number): number[] =>
  [...neighbours, id].sort((a, b) => a - b)

type Pair = { near: number; far: number; degree: number; isIndirect: boolean }

async function edgesOf(
  reader: LineageReader,
  pairs: readonly Pair[],
  direction: LineageDirection
): Promise<ExportEdge[]> {
  const urns = await reader.urns([...new Set(pairs.flatMap(({ near, far }) => [near, far]))])
  return pairs.flatMap(({ near, far, degree, isIndirect }) => {
    const [nearUrn, farUrn] = [urns(near), urns(far)]
    if (nearUrn === null || farUrn === null) return []
    return direction === 'DOWNSTREAM'
      ? [{ upstreamId: near, upstream: nearUrn, downstreamId: far, downstream: farUrn, degree, isIndirect }]
      : [{ upstreamId: far, upstream: farUrn, downstreamId: near, downstream: nearUrn, degree, isIndirect }]
  })
}
