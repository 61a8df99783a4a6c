/** The jobs that assert the edges which a walk along columns followed. */
import type { LineageDirection, Walk } from '../../model/walk.ts'
import { jobsOfColumns } from '../../store/column-jobs.ts'
import type { AssetHit } from './column-assets.ts'
import type { LineageReader } from './lineage-reader.ts'

const columnsPerSlice = 50_000
const tookTooLong = 'Looking up the jobs of column lineage took longer than allowed; ask for fewer hops'

/**
 * Each job one hop after the nearest column that it reads (downstream) or writes (upstream), as DataHub does. Jobs
 * are read from the database: the graph in memory does not know who asserts an edge.
 */
export async function jobHitsOf(
  reader: LineageReader,
  direction: LineageDirection,
  startIds: readonly number[],
  walk: Walk
): Promise<AssetHit[]> {
  if (walk.hops === 0 || startIds.length === 0) return []
  const jobs = new Map<number, AssetHit>()
  const look = async (columnIds: readonly number[] | Int32Array, begin: number | null): Promise<void> => {
    const rows = await reader.inSql(tookTooLong, (tx, within) =>
      within(() => jobsOfColumns(tx, columnIds, direction))
    )
    for (const { jobId, place } of rows) {
      if (jobs.has(jobId)) continue
      const columnId = columnIds[place] ?? 0
      const columnDegree = begin === null ? 0 : (walk.degrees[begin + place] ?? 0)
      const pathEnd = { id: columnId, degree: columnDegree, after: [jobId] }
      jobs.set(jobId, { id: jobId, degree: columnDegree + 1, pathEnd })
    }
  }
  await look(startIds, null)
  // Columns are nearest first, so the first column that leads to a job is the nearest. The edges of the last
  // columns were not followed.
  const followed = walk.degrees.findIndex((degree) => degree >= walk.hops)
  const end = followed < 0 ? walk.ids.length : followed
  for (let begin = 0; begin < end; begin += columnsPerSlice) {
    await look(walk.ids.subarray(begin, Math.min(begin + columnsPerSlice, end)), begin)
    await reader.pause()
  }
  return [...jobs.values()]
}
