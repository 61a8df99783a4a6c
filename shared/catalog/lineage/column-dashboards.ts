/** The dashboards that show charts whose columns a walk downstream reached. */
import type { Walk } from '../../model/walk.ts'
import type { AssetHit } from './column-assets.ts'
import type { PathEnd } from './lineage-hits.ts'
import type { LineageReader } from './lineage-reader.ts'

const columnsPerSlice = 5_000

/**
 * Each dashboard one hop after the nearest column of one of its charts, or after a dashboard within it: its edges
 * name charts, not columns, so that no walk along columns reaches it. A dashboard of which a column was reached is
 * left out.
 */
export async function dashboardHitsOf(
  reader: LineageReader,
  startIds: readonly number[],
  walk: Walk,
  hopsWanted: number
): Promise<AssetHit[]> {
  const { nearest, reached } = await chartsOf(reader, startIds, walk)
  const dashboards = new Map<number, AssetHit>()
  let last = [...nearest].map(([id, end]) => ({ id, end }))
  while (last.length > 0) {
    const next = new Map<number, AssetHit>()
    const neighbours = await reader.neighbours(
      last.map(({ id }) => id),
      'DOWNSTREAM',
      'asset'
    )
    const typeOf = await reader.classes([...new Set(last.flatMap(({ id }) => neighbours(id)))])
    for (const { id, end } of last) {
      const degree = end.degree + end.after.length + 1
      if (degree > hopsWanted) continue
      for (const other of neighbours(id)) {
        if (reached.has(other) || typeOf(other)?.entityType !== 'dashboard') continue
        if (
          degree >= Math.min(dashboards.get(other)?.degree ?? Infinity, next.get(other)?.degree ?? Infinity)
        )
          continue
        next.set(other, { id: other, degree, pathEnd: { ...end, after: [...end.after, other] } })
      }
    }
    for (const hit of next.values()) dashboards.set(hit.id, hit)
    last = [...next.values()].map(({ id, pathEnd }) => ({ id, end: pathEnd }))
    await reader.pause()
  }
  return [...dashboards.values()]
}

/** The charts of the columns, each with its nearest column, and every asset of a reached column. */
async function chartsOf(
  reader: LineageReader,
  startIds: readonly number[],
  walk: Walk
): Promise<{ nearest: Map<number, PathEnd>; reached: ReadonlySet<number> }> {
  const [nearest, reached] = [new Map<number, PathEnd>(), new Set<number>()]
  const look = async (ids: readonly number[] | Int32Array, degreeAt: (place: number) => number) => {
    const parentOf = await reader.parents(ids)
    const unmet = new Map<number, PathEnd>()
    for (const [place, id] of ids.entries()) {
      const assetId = parentOf(id)
      if (assetId === null || reached.has(assetId)) continue
      reached.add(assetId)
      unmet.set(assetId, { id, degree: degreeAt(place), after: [] })
    }
    const typeOf = await reader.classes([...unmet.keys()])
    for (const [id, end] of unmet) if (typeOf(id)?.entityType === 'chart') nearest.set(id, end)
    await reader.pause()
  }
  await look(startIds, () => 0)
  // Columns are nearest first, so the first column of a chart is its nearest.
  for (let begin = 0; begin < walk.ids.length; begin += columnsPerSlice)
    await look(walk.ids.subarray(begin, begin + columnsPerSlice), (place) => walk.degrees[begin + place] ?? 0)
  return { nearest, reached }
}
