/** Adds to the hits of a walk along columns the assets that it affects as a whole: jobs, and dashboards of charts. */
import type { LineageDirection, Walk } from '../../model/walk.ts'
import { dashboardHitsOf } from './column-dashboards.ts'
import { jobHitsOf } from './column-jobs.ts'
import type { Hits, PathEnd } from './lineage-hits.ts'
import type { LineageReader } from './lineage-reader.ts'

/** An asset, and how it is reached from the columns. */
export type AssetHit = { id: number; degree: number; pathEnd: PathEnd }

/** Where the walk began, which way it went, and along what. */
export type ColumnWalk = { direction: LineageDirection; startIds: readonly number[]; walk: Walk }

/** `hopsWanted` is the greatest degree of an asset that is added. */
export async function withAssetsOfColumns(
  reader: LineageReader,
  { direction, startIds, walk }: ColumnWalk,
  hits: Hits,
  hopsWanted: number
): Promise<Hits> {
  const assets = [
    ...(await jobHitsOf(reader, direction, startIds, walk)),
    ...(direction === 'DOWNSTREAM' ? await dashboardHitsOf(reader, startIds, walk, hopsWanted) : [])
  ].sort((a, b) => a.degree - b.degree || a.id - b.id)
  return assets.length === 0 ? hits : merged(hits, assets)
}

/** Merges two lists, each by degree, then by id. */
function merged(hits: Hits, assets: readonly AssetHit[]): Hits {
  const count = hits.ids.length + assets.length
  const [ids, degrees] = [new Int32Array(count), new Uint16Array(count)]
  const assetAt = new Map<number, AssetHit>()
  const hitAt = new Int32Array(count)
  let [hit, asset] = [0, 0]
  for (let at = 0; at < count; at += 1) {
    const [id, degree, next] = [hits.ids[hit] ?? 0, hits.degrees[hit] ?? 0, assets[asset]]
    const isAsset =
      next !== undefined &&
      (hit === hits.ids.length || next.degree < degree || (next.degree === degree && next.id < id))
    ids[at] = isAsset ? next.id : id
    degrees[at] = isAsset ? next.degree : degree
    if (isAsset) {
      assetAt.set(at, next)
      asset += 1
    } else {
      hitAt[at] = hit
      hit += 1
    }
  }
  return {
    ids,
    degrees,
    pathEndsOf: (indexes) => {
      const ofHits = hits.pathEndsOf(indexes.filter((at) => !assetAt.has(at)).map((at) => hitAt[at] ?? 0))
      let next = 0
      return indexes.map((at) => {
        const own = assetAt.get(at)
        return own ? [own.pathEnd] : (ofHits[next++] ?? [])
      })
    }
  }
}
