/**
 * Row 1: the technique of Marquez and Tributary on the same jobs and datasets, in the same Postgres, with
 * the same answer.
 */
import type { LineageReader } from '../../shared/catalog/lineage/lineage-reader.ts'
import { withLineage } from '../../shared/catalog/lineage/with-lineage.ts'
import { isStatementCancelled } from '../../shared/db/sql-errors.ts'
import { idSet } from '../../shared/store/id-set.ts'
import type { BenchPostgres } from './bench-database.ts'
import { withSettings } from './contender.ts'
import { entityIdOf, nodeOfEntity } from './graphs.ts'
import { loadIntoCatalog } from './load-graph.ts'
import { jobsAround, makeJobGraph, type JobGraph } from './marquez-graph.ts'
import { loadMarquez, uuidOf } from './marquez-tables.ts'
import { followUpAsMarquez, walkAsMarquez, type MarquezJob } from './marquez-walk.ts'
import { timed, type Clock } from './measure.ts'
import { openMemory, type OpenMemory } from './memory-walks.ts'

/** The number of jobs that were reached where the technique was first measured. */
const measuredReach = 6_834
const depths = [1, 2, 3, 5]
const limitMs = 180_000
const warmUpRuns = 10
const runs = 25

export type MarquezRow = {
  depth: number
  jobs: number
  marquezMs: number | null
  marquezRuns: number
  /** All jobs that share datasets within this number of hops: the same answer, walked hop by hop. */
  sameAnswerMs: number
  /** Everything upstream and downstream of the job, which is what people ask for. */
  bothWalksMs: number
  bothWalksReach: number
  followUp: { queries: number; ms: number } | null
}

/** Returns the sizes and a row for each depth. Throws if an answer is wrong. */
export async function benchMarquez(postgres: BenchPostgres, { isQuick }: { isQuick: boolean }) {
  const graph = makeJobGraph()
  const { db, url } = await postgres.newDatabase('marquez')
  await loadIntoCatalog(db, graph)
  const ioRows = await loadMarquez(db, graph)
  const memory = await openMemory(url)
  try {
    const start = startOf(graph)
    const rows: MarquezRow[] = []
    for (const depth of isQuick ? depths.slice(0, 3) : depths) {
      const right = jobsAround(graph, start, depth)
      const own = await measureOwn(memory, graph, { start, depth, right })
      const marquez = await timedOrNull(
        (clock) => withSettings(db, limitMs, (tx) => clock(() => walkAsMarquez(tx, start, depth))),
        (jobs) => {
          mustBeSame(jobs, right, start)
        }
      )
      const followUp = marquez
        ? await measureFollowUp((clock) => clock(() => followUpAsMarquez(db, marquez.last)))
        : null
      rows.push({
        depth,
        jobs: right.size + 1,
        marquezMs: marquez?.medianMs ?? null,
        marquezRuns: marquez?.runs ?? 0,
        ...own,
        followUp
      })
    }
    return { jobs: graph.jobCount, datasets: graph.assetCount - graph.jobCount, ioRows, limitMs, rows }
  } finally {
    await memory.close()
    await db.destroy()
  }
}

/** Of a hundred jobs, the one whose reach within five hops is nearest to the measured one. */
function startOf(graph: JobGraph): number {
  const samples = Array.from({ length: 100 }, (_, index) => (index * graph.jobCount) / 100)
  const distance = (job: number) => Math.abs(jobsAround(graph, job, 5).size - measuredReach)
  return samples
    .map((job) => ({ job, off: distance(job) }))
    .reduce((best, other) => (other.off < best.off ? other : best)).job
}

type Task = { start: number; depth: number; right: ReadonlySet<number> }

async function measureOwn({ sources }: OpenMemory, { jobCount }: JobGraph, { start, depth, right }: Task) {
  const startIds = [entityIdOf(start)]
  const same = (clock: Clock) =>
    withLineage(sources, (reader) =>
      clock(() => jobsByNeighbours(reader, startIds, depth, (id) => nodeOfEntity(id) < jobCount))
    )
  const check = (found: readonly number[]) => {
    if (found.length !== right.size || found.some((id) => !right.has(nodeOfEntity(id))))
      throw new Error(`Tributary found ${found.length} jobs within depth ${depth}; right is ${right.size}`)
  }
  const both = (clock: Clock) =>
    withLineage(sources, (reader) =>
      clock(async () => {
        const bounds = { maxHops: 10_000, maxEntities: 10_000_000 }
        const up = await reader.walk({
          startIds,
          direction: 'UPSTREAM',
          level: 'asset',
          hopsWanted: Infinity,
          bounds
        })
        const down = await reader.walk({
          startIds,
          direction: 'DOWNSTREAM',
          level: 'asset',
          hopsWanted: Infinity,
          bounds
        })
        return up.ids.length + down.ids.length
      })
    )
  let bothWalksReach = 0
  await timed(same, check, warmUpRuns)
  await timed(both, () => {}, warmUpRuns)
  const sameAnswer = await timed(same, check, runs)
  const bothWalks = await timed(
    both,
    (reach) => {
      bothWalksReach = reach
    },
    runs
  )
  return { sameAnswerMs: sameAnswer.medianMs, bothWalksMs: bothWalks.medianMs, bothWalksReach }
}

/** The jobs around a job, without itself, in both directions over datasets. */
async function jobsByNeighbours(
  reader: LineageReader,
  startIds: readonly number[],
  depth: number,
  isJob: (id: number) => boolean
): Promise<number[]> {
  const seen = idSet()
  for (const id of startIds) seen.add(id)
  const jobs: number[] = []
  let frontier = [...startIds]
  for (let hop = 0; hop < depth * 2 && frontier.length > 0; hop += 1) {
    const next: number[] = []
    for (const direction of ['UPSTREAM', 'DOWNSTREAM'] as const) {
      const neighboursOf = await reader.neighbours(frontier, direction, 'asset')
      for (const id of frontier) {
        for (const near of neighboursOf(id)) {
          if (!seen.add(near)) continue
          next.push(near)
          if (isJob(near)) jobs.push(near)
        }
      }
    }
    frontier = next
  }
  return jobs
}

function mustBeSame(found: readonly MarquezJob[], right: ReadonlySet<number>, start: number): void {
  const wanted = new Set([...right, start].map((job) => uuidOf('job', job)))
  if (found.length !== wanted.size || found.some(({ uuid }) => !wanted.has(uuid)))
    throw new Error(`the technique of Marquez found ${found.length} jobs; right is ${wanted.size}`)
}

async function timedOrNull(
  run: (clock: Clock) => Promise<MarquezJob[]>,
  check: (jobs: MarquezJob[]) => void
) {
  let last: MarquezJob[] = []
  try {
    return {
      ...(await timed(run, (jobs) => {
        check(jobs)
        last = jobs
      })),
      last
    }
  } catch (error) {
    if (isStatementCancelled(error)) return null
    throw error
  }
}

async function measureFollowUp(run: (clock: Clock) => Promise<number>) {
  let queries = 0
  const { medianMs } = await timed(
    run,
    (count) => {
      queries = count
    },
    1
  )
  return { queries, ms: medianMs }
}
