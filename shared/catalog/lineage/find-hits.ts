/** Walks from the start of a question and filters what it reaches: all results of a search, before paging. */
import { firstIndex } from '../../model/first-index.ts'
import type { GraphVersion } from '../../graph/lineage-graph.ts'
import { limits } from '../../limits.ts'
import type { Walk, WalkBounds } from '../../model/walk.ts'
import { withAssetsOfColumns } from './column-assets.ts'
import { hopsWanted } from './lineage-filters.ts'
import { everyEntity, foldedToAssets, type Hits } from './lineage-hits.ts'
import type { LineageReader } from './lineage-reader.ts'
import { entityNotFound } from './read-entity.ts'
import type { ScrollQuestion } from './scroll-question.ts'
import { filterHits, type FilteredHits } from './filter-hits.ts'

export type FoundHits = {
  startIds: readonly number[]
  walk: Walk
  hits: Hits
  filtered: FilteredHits
  /** The version of the reader that found the hits. */
  version: GraphVersion | null
  /** The run of the database that gave the ids. */
  epoch: string
}

export const walkBounds: WalkBounds = { maxHops: limits.walkMaxHops, maxEntities: limits.walkMaxEntities }

/** Throws NOT_FOUND for a start that does not exist, DEADLINE_EXCEEDED. */
export async function findHits(
  reader: LineageReader,
  question: ScrollQuestion,
  bounds: WalkBounds = walkBounds
): Promise<FoundHits> {
  const { direction, level, filters } = question
  const startIds = await startsOf(reader, question)
  const wanted = hopsWanted(filters)
  const walk = await reader.walk({ startIds, direction, level, hopsWanted: wanted, bounds })
  const found = question.foldsColumns ? await foldedToAssets(reader, walk) : everyEntity(walk)
  const isOfColumns = level === 'column'
  const hits = isOfColumns
    ? await withAssetsOfColumns(reader, { direction, startIds, walk }, found, wanted)
    : found
  const filtered = await filterHits(reader, question, hits)
  return {
    startIds,
    walk,
    hits,
    // The jobs and dashboards of columns can change while the graph stays the same.
    filtered: { ...filtered, readsOwn: filtered.readsOwn || isOfColumns },
    version: reader.version,
    epoch: await reader.epoch()
  }
}

/** A column that nothing names has no id, and no lineage. */
async function startsOf(
  reader: LineageReader,
  { startUrn, beginsAtColumns }: ScrollQuestion
): Promise<readonly number[]> {
  const start = (await reader.find([startUrn])).get(startUrn)
  if (!start) throw entityNotFound(startUrn, 'input.urn')
  if (start.id === null) return []
  return beginsAtColumns ? (await reader.columns([start.id]))(start.id) : [start.id]
}

/**
 * The size of the objects of a small result, expressed in ids. Without it, a thousand small results a second
 * would add up to a gigabyte.
 */
const fixedSize = 500

/** The size of a held result, in ids. */
export const sizeOf = ({ walk, hits, filtered }: FoundHits): number =>
  fixedSize +
  walk.ids.length +
  (hits.ids === walk.ids ? 0 : walk.ids.length + hits.ids.length) +
  (filtered.kept?.length ?? 0)

/** The index, among the kept hits, of the first one after a degree and id. */
export function placeAfter({ hits, filtered }: FoundHits, after: { degree: number; id: number }): number {
  return firstIndex(0, filtered.total, (place) => {
    const index = filtered.kept?.[place] ?? place
    const degree = hits.degrees[index] ?? 0
    return degree > after.degree || (degree === after.degree && (hits.ids[index] ?? 0) > after.id)
  })
}
