/**
 * `npm run bench -- workers`: what 1, 2, 4 and 8 workers load, and what they wait for.
 *
 * Two rounds. In the first, each worker process has a tenth of a core (a quota of the kernel's CPU controller), as if it
 * had a small machine of its own: Postgres is then not the bottleneck, and more workers should load more. In the second
 * nothing is limited, and the machine's own cores are what there is to share. Where no quota can be set (not root, or no
 * CPU controller), only the second is measured. Eight loads are sent at a time, so that no source has to wait for
 * another. Arguments: the number of edges of each load (40,000), and worker counts.
 */
import { query } from '../../shared/db/query.ts'
import { runAlone } from '../../shared/db/run-alone.ts'
import type { Db } from '../../shared/db/database.ts'
import { limitProcesses, type CpuLimit } from './cpu-limit.ts'
import { assetCount, assetLines, drawEdges, edgeLines } from './edges.ts'
import { openStage, sendFile, writeLines, type Stage } from './stage.ts'

type Row = {
  workers: number
  coresEach: number | 'no limit'
  seconds: number
  edgesPerSecond: number
  /** Processor time in microseconds an edge. */
  workerUs: number
  postgresUs: number
  /** Cores that Postgres was busy with, on average. */
  postgresCores: number
  /** What the workers' connections were doing, in connections on average. */
  waits: Record<string, number>
}

const loadCount = 8
const coresOfLimitedWorker = 0.1
const sampleEveryMs = 100

/** Each load is about assets of its own, as the jobs of a company each write their own tables. */
const firstAsset = (load: number): number => (load * assetCount) / loadCount

export async function benchWorkers(args: readonly string[]): Promise<object> {
  const edgeCount = Number(args[0] ?? 40_000)
  const workerCounts = args.length > 1 ? args.slice(1).map(Number) : [1, 2, 4, 8]
  const rows: Row[] = []
  for (const cores of [coresOfLimitedWorker, null]) {
    for (const workers of workerCounts) {
      const row = await measure(workers, cores, edgeCount)
      if (row === null) {
        console.log('No CPU quota can be set here: only the round without a limit is measured.')
        break
      }
      rows.push(row)
    }
  }
  console.table(rows.map(({ waits, ...row }) => ({ ...row, ...waits })))
  return { edgesOfEachLoad: edgeCount, loads: loadCount, rows }
}

/** Null where the limit that is wanted cannot be set. */
async function measure(workers: number, cores: number | null, edgeCount: number): Promise<Row | null> {
  const stage = await openStage({}, workers)
  let limit: CpuLimit | null = null
  try {
    await sendFile(stage, await writeLines(stage, 'assets.ndjson', assetLines()), { source: 'bench' })
    await runAlone(stage.db, ['vacuum (analyze)'])
    const files = await Promise.all(
      Array.from({ length: loadCount }, (_, index) =>
        writeLines(
          stage,
          `edges-${index}.ndjson`,
          edgeLines(drawEdges(edgeCount, index + 1, firstAsset(index)))
        )
      )
    )
    await query(stage.db, 'checkpoint')
    if (cores !== null) {
      limit = limitProcesses(
        stage.processes.workers.map((kept) => kept.pid() ?? 0),
        cores
      )
      if (limit === null) return null
    }
    return await timeLoads(stage, files, { workers, cores, edges: edgeCount * loadCount })
  } finally {
    // before the stop, which would take ten times as long with the limit
    limit?.lift()
    await stage.stop()
  }
}

async function timeLoads(
  stage: Stage,
  files: readonly string[],
  { workers, cores, edges }: { workers: number; cores: number | null; edges: number }
): Promise<Row> {
  const before = stage.cpu()
  const begun = performance.now()
  const samples = sampleWaits(stage.db)
  await Promise.all(files.map((file, index) => sendFile(stage, file, { source: `bench-${index}` })))
  const seconds = (performance.now() - begun) / 1_000
  const waits = await samples.end()
  const after = stage.cpu()
  const postgresSeconds = after.postgres - before.postgres
  return {
    workers,
    coresEach: cores ?? 'no limit',
    seconds: round(seconds),
    edgesPerSecond: Math.round(edges / seconds),
    workerUs: round(((after.worker - before.worker) / edges) * 1e6),
    postgresUs: round((postgresSeconds / edges) * 1e6),
    postgresCores: round(postgresSeconds / seconds),
    waits
  }
}

/** Looks every tenth of a second at what the workers' connections do. */
function sampleWaits(db: Db): { end(): Promise<Record<string, number>> } {
  const over = new AbortController()
  const counts = new Map<string, number>()
  let looks = 0
  const sampling = (async () => {
    while (!over.signal.aborted) {
      const rows = await query<{ doing: string; connections: number }>(
        db,
        `select case when state = 'active' then coalesce('waits for ' || case wait_event_type when 'Lock' then 'lock of ' || wait_event else wait_event_type end, 'runs')
                     when state like 'idle in transaction%' then 'transaction waits for worker' end as doing,
                count(*)::int as connections
         from pg_stat_activity
         where application_name = 'tributary-worker' and state <> 'idle' group by 1`
      )
      looks += 1
      for (const { doing, connections } of rows) counts.set(doing, (counts.get(doing) ?? 0) + connections)
      await new Promise((resolve) => setTimeout(resolve, sampleEveryMs))
    }
  })()
  return {
    async end() {
      over.abort()
      await sampling
      return Object.fromEntries([...counts].map(([doing, count]) => [doing, round(count / looks)]))
    }
  }
}

const round = (value: number): number => Math.round(value * 100) / 100
