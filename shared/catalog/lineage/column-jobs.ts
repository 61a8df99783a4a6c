/** Adds to the hits of a walk along columns the jobs that assert the edges it followed. */
import type { LineageDirection, Walk } from '../../model/walk.ts'
import { jobsOfColumns } from '../../store/column-jobs.ts'
import type { Hits, PathEnd } from './lineage-hits.ts'
import type { LineageReader } from './lineage-reader.ts'

const columnsPerSlice = 50_000
const tookTooLong = 'Looking up the jobs of column lineage took longer than allowed; ask for fewer hops'

type JobHit = { id: number; degree: number; pathEnd: PathEnd }

/**
 * Adds each job one hop after the nearest column that it reads (downstream) or writes (upstream), as DataHub
 * does. Jobs are read from the database: the graph in memory does not know who asserts an edge.
 */
export async function withColumnJobs(
  reader: LineageReader,
  direction: LineageDirection,
  startIds: readonly number[],
  walk: Walk,
  hits: Hits
): Promise<Hits> {
  const jobs = await jobHitsOf(reader, direction, startIds, walk)
  return jobs.length === 0 ? hits : merged(hits, jobs)
}

/** The jobs, by degree, then by id. */
async function jobHitsOf(
  reader: LineageReader,
  direction: LineageDirection,
  startIds: readonly number[],
  walk: Walk
): Promise<JobHit[]> {
  if (walk.hops === 0 || startIds.length === 0) return []
  const jobs = new Map<number, JobHit>()
  const look = async (columnIds: readonly number[] | Int32Array, begin: number | null): Promise<void> => {
    const rows = await reader.inSql(tookTooLong, (tx, within) =>
      within(() => jobsOfColumns(tx, columnIds, direction))
    )
    for (const { jobId, place } of rows) {
      if (jobs.has(jobId)) continue
      const columnId = columnIds[place] ?? 0
      const columnDegree = begin === null ? 0 : (walk.degrees[begin + place] ?? 0)
      const pathEnd = { id: columnId, degree: columnDegree, jobId }
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
  return [...jobs.values()].sort((a, b) => a.degree - b.degree || a.id - b.id)
}

/** Merges two lists, each by degree, then by id. */
function merged(hits: Hits, jobs: readonly JobHit[]): Hits {
  const count = hits.ids.length + jobs.length
  const [ids, degrees] = [new Int32Array(count), new Uint16Array(count)]
  const jobAt = new Map<number, JobHit>()
  const hitAt = new Int32Array(count)
  let [hit, job] = [0, 0]
  for (let at = 0; at < count; at += 1) {
    const [id, degree, next] = [hits.ids[hit] ?? 0, hits.degrees[hit] ?? 0, jobs[job]]
    const isJob =
      next !== undefined &&
      (hit === hits.ids.length || next.degree < degree || (next.degree === degree && next.id < id))
    ids[at] = isJob ? next.id : id
    degrees[at] = isJob ? next.degree : degree
    if (isJob) {
      jobAt.set(at, next)
      job += 1
    } else {
      hitAt[at] = hit
      hit += 1
    }
  }
  return {
    ids,
    degrees,
    pathEndsOf: (indexes) => {
      const ofHits = hits.pathEndsOf(indexes.filter((at) => !jobAt.has(at)).map((at) => hitAt[at] ?? 0))
      let next = 0
      return indexes.map((at) => {
        const own = jobAt.get(at)
        return own ? [own.pathEnd] : (ofHits[next++] ?? [])
      })
    }
  }
}
