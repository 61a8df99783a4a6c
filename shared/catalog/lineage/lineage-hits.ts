/** The results of a walk: the entities reached, or the assets of the columns reached. */
import type { Walk } from '../../model/walk.ts'
import { idSet } from '../../store/id-set.ts'
import type { LineageReader } from './lineage-reader.ts'

/**
 * Where paths to a hit end: at an entity that the walk reached, or at assets after it, of which each is one hop
 * after the one before: a job, or a dashboard.
 */
export type PathEnd = { id: number; degree: number; after: readonly number[] }

/** Nearest first, then by id. */
export type Hits = {
  ids: Int32Array
  degrees: Uint16Array
  /**
   * Where the paths to each of some hits end: at one entity, or at every reached column of an asset, nearest
   * first.
   */
  pathEndsOf: (indexes: readonly number[]) => PathEnd[][]
}

/** Each entity is a hit. */
export const everyEntity = ({ ids, degrees }: Pick<Walk, 'ids' | 'degrees'>): Hits => ({
  ids,
  degrees,
  pathEndsOf: (indexes) => indexes.map((index) => [pathEnd({ ids, degrees }, index)])
})

const pathEnd = ({ ids, degrees }: Pick<Walk, 'ids' | 'degrees'>, place: number): PathEnd => ({
  id: ids[place] ?? 0,
  degree: degrees[place] ?? 0,
  after: []
})

const columnsPerSlice = 5_000

/**
 * Each asset that has a reached column is a hit, at the degree of its nearest column. Columns without an
 * asset do not count.
 */
export async function foldedToAssets(
  reader: LineageReader,
  { ids: columnIds, degrees: columnDegrees }: Pick<Walk, 'ids' | 'degrees'>
): Promise<Hits> {
  const parents = new Int32Array(columnIds.length)
  const ids = new Int32Array(columnIds.length)
  const degrees = new Uint16Array(columnIds.length)
  const known = idSet()
  let count = 0
  let ofDegree = 0
  for (let begin = 0; begin < columnIds.length; begin += columnsPerSlice) {
    const slice = columnIds.subarray(begin, begin + columnsPerSlice)
    const parentOf = await reader.parents(slice)
    for (const [at, columnId] of slice.entries()) {
      const assetId = parentOf(columnId)
      if (assetId === null) continue
      parents[begin + at] = assetId
      if (!known.add(assetId)) continue
      const degree = columnDegrees[begin + at] ?? 0
      // The walk is nearest first, so the first column of an asset has its least degree. Assets of one degree
      // are then sorted.
      if (degree !== degrees[ofDegree]) {
        ids.subarray(ofDegree, count).sort()
        ofDegree = count
      }
      ids[count] = assetId
      degrees[count] = degree
      count += 1
    }
    await reader.pause()
  }
  ids.subarray(ofDegree, count).sort()
  return {
    ids: ids.slice(0, count),
    degrees: degrees.slice(0, count),
    pathEndsOf: (indexes) =>
      placesIn(
        parents,
        indexes.map((index) => ids[index] ?? 0)
      ).map((places) => places.map((place) => pathEnd({ ids: columnIds, degrees: columnDegrees }, place)))
  }
}

/** One pass over all columns, however many assets are requested. */
function placesIn(parents: Int32Array, assetIds: readonly number[]): number[][] {
  const places = new Map(assetIds.map((id): [number, number[]] => [id, []]))
  parents.forEach((assetId, place) => {
    places.get(assetId)?.push(place)
  })
  return assetIds.map((id) => places.get(id) ?? [])
}
