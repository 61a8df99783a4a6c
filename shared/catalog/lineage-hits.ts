/** What a walk found, as it is to be returned: the entities reached, or the assets of the columns reached. */
import type { Walk } from '../model/walk.ts'

/** Hits nearest first and by id within a degree. */
export type Hits = {
  ids: Int32Array
  degrees: Uint16Array
  /** Where in the walk the entities stand that a hit stands for: one, or all columns of an asset, nearest first. */
  placesOf: (index: number) => number[]
}

/** Each entity is a hit. */
export const everyEntity = (walk: Walk): Hits => ({ ids: walk.ids, degrees: walk.degrees, placesOf: (index) => [index] })

/** Each asset that has a reached column is a hit, at the degree of its nearest column. Columns without an asset are none. */
export function foldedToAssets(walk: Walk, parentOf: ReadonlyMap<number, number>): Hits {
  const places = new Map<number, number[]>()
  walk.ids.forEach((columnId, place) => {
    const assetId = parentOf.get(columnId)
    if (assetId === undefined) return
    const own = places.get(assetId)
    if (own) own.push(place)
    else places.set(assetId, [place])
  })
  // The walk is nearest first, so the first column of an asset has the least degree.
  const nearest = (id: number): number => walk.degrees[places.get(id)?.[0] ?? 0] ?? 0
  const ids = Int32Array.from(places.keys()).sort((a, b) => nearest(a) - nearest(b) || a - b)
  return { ids, degrees: Uint16Array.from(ids, nearest), placesOf: (index) => places.get(ids[index] ?? 0) ?? [] }
}
