/**
 * Shows one page of a search across lineage: the entities, the fields where the text was found, and the
 * paths.
 */
import type { Walk } from '../../model/walk.ts'
import { findText, textAspectNames, type MatchedField } from '../entities/entity-texts.ts'
import type { FoundHits } from './find-hits.ts'
import { countedHits, facetsOf, type Facet } from './lineage-facets.ts'
import { readPaths } from './lineage-paths.ts'
import type { PathEnd } from './lineage-hits.ts'
import type { LineageReader } from './lineage-reader.ts'
import type { EntityReference } from './read-entity.ts'
import type { ScrollQuestion } from './scroll-question.ts'

export type LineageResult = {
  entity: EntityReference
  degree: number
  /** The degree of the entity; for an asset that represents its columns, the degrees of all of them. */
  degrees: number[]
  /** The paths from the start to the entity, or to each of its columns; empty unless requested. */
  paths: EntityReference[][]
  matchedFields: MatchedField[]
  /** Whether the walk followed the edges of this entity. */
  isExplored: boolean
  /** Whether only columns that filter or join the rows of a table lead to it. */
  isIndirect: boolean
}

/** Parts that the caller shows; the others are not read. */
export type PageWishes = { facets: boolean; paths: boolean }

export type ShownPage = { results: LineageResult[]; facets: Facet[] | null }

/** Entities whose documents are in memory at once. */
const documentsSliceCount = 500

/**
 * The kept results from `begin` on. Null if an entity of the page no longer exists: the result is then too
 * old to be shown. Throws LIMIT_EXCEEDED (pathEntitiesMaxCount), DEADLINE_EXCEEDED.
 */
export async function showPage(
  reader: LineageReader,
  question: ScrollQuestion,
  found: FoundHits,
  begin: number,
  wishes: PageWishes
): Promise<ShownPage | null> {
  const { walk, hits, filtered, startIds } = found
  const end = Math.min(begin + question.count, filtered.total)
  const indexes = Array.from(
    { length: Math.max(0, end - begin) },
    (_, at) => filtered.kept?.[begin + at] ?? begin + at
  )
  const ids = indexes.map((index) => hits.ids[index] ?? 0)
  const entities = await entitiesOf(reader, ids)
  if (entities === null) return null
  const pathEnds = hits.pathEndsOf(indexes)
  const matched = await matchedIn(reader, question.text, ids, entities)
  const paths = wishes.paths
    ? await readPaths(
        reader,
        {
          startIds,
          direction: question.direction,
          level: question.level,
          countPerEnd: question.pathsPerResult
        },
        walk,
        pathEnds
      )
    : []
  return {
    results: entities.map((entity, at) => ({
      entity,
      ...degreesOf(hits.degrees[indexes[at] ?? 0] ?? 0, pathEnds[at] ?? [], walk),
      paths: paths[at] ?? [],
      matchedFields: matched.get(ids[at] ?? 0) ?? []
    })),
    facets:
      wishes.facets && question.wantsFacets
        ? await facetsOf(reader, countedHits(reader, found), question.facetValuesMaxCount)
        : null
  }
}

async function entitiesOf(
  reader: LineageReader,
  ids: readonly number[]
): Promise<Required<EntityReference>[] | null> {
  const classOf = await reader.classes(ids)
  const urnOf = await reader.urns(ids)
  const entities: Required<EntityReference>[] = []
  for (const id of ids) {
    const urn = urnOf(id)
    if (urn === null) return null
    entities.push({ urn, exists: classOf(id)?.exists ?? false })
  }
  return entities
}

const degreesOf = (
  degree: number,
  pathEnds: readonly PathEnd[],
  walk: Walk
): Pick<LineageResult, 'degree' | 'degrees' | 'isExplored' | 'isIndirect'> => ({
  degree,
  degrees: [...new Set(pathEnds.map((end) => end.degree + end.after.length))],
  isExplored: degree < walk.hops,
  isIndirect: pathEnds.length > 0 && pathEnds.every((end) => walk.indirectIds?.has(end.id))
})

/**
 * The fields where the text is found. The documents may be newer than those that were judged, and may no
 * longer contain it.
 */
async function matchedIn(
  reader: LineageReader,
  text: string | null,
  ids: readonly number[],
  entities: readonly EntityReference[]
): Promise<Map<number, MatchedField[]>> {
  const matched = new Map<number, MatchedField[]>()
  if (text === null) return matched
  for (let begin = 0; begin < ids.length; begin += documentsSliceCount) {
    const slice = ids.slice(begin, begin + documentsSliceCount)
    const documentsOf = await reader.documents(slice, textAspectNames)
    for (const [at, id] of slice.entries()) {
      const entity = entities[begin + at]
      if (entity) matched.set(id, findText(text, entity.urn, documentsOf.get(id) ?? new Map()))
    }
  }
  return matched
}
