/**
 * `npm run freshness [-- --quick] [--seed N] [--writes N] [--part fresh|red|killed|failover]`: does a read on one API process miss a write that another has
 * acknowledged? Prints seed and figures; ends with 1 where one does, or where a broken rule of freshness is not found out.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { prune } from '../../shared/catalog/loads/prune.ts'
import type { Db } from '../../shared/db/database.ts'
import { findPostgresPrograms } from '../support/postgres-cluster.ts'
import { startFailingOverPostgres } from './failing-over-postgres.ts'
import { withCatalog, type Catalog, type CatalogOptions } from './freshness-catalog.ts'
import { allKills, crashAndWrite, failovers } from './freshness-crash.ts'
import { catalogDoor, dawdling } from './freshness-doors.ts'
import { prepare, startRun, writeAndRead, type Figures, type Run } from './freshness-run.ts'
import { startKillablePostgres } from './killable-postgres.ts'
import { randomFrom } from './workload.ts'

const sizes = {
  quick: {
    writes: 4_000,
    redWrites: 1_000,
    rounds: 5,
    failovers: 3,
    writesPerFailover: 60,
    writesPerRound: 200
  },
  full: {
    writes: 100_000,
    redWrites: 3_000,
    rounds: 25,
    failovers: 100,
    writesPerFailover: 200,
    writesPerRound: 1_000
  }
}
const writers = 4
const readers = 1
const pruneEveryMs = 2_000
const dawdleMaxMs = 6
/** Longer under the broken rule, so that a short run finds it out. */
const redDawdleMaxMs = 30
/** So many times its writes are sent at most, as it depends on the machine how many reads come too early. */
const redRoundsMaxCount = 20

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    seed: { type: 'string' },
    writes: { type: 'string' },
    part: { type: 'string' }
  }
})
const size = values.quick ? sizes.quick : sizes.full
const writes = values.writes ? Number(values.writes) : size.writes
const seed = values.seed ? Number(values.seed) : randomInt(2 ** 31)
const log = (line: string) => console.log(line)

type Ended = { figures: object; faults: string[] }
type Part = CatalogOptions & {
  title: string
  dawdleMaxMs: number
  work: (run: Run, catalog: Catalog) => Promise<Ended>
}

/** Runs one part and gives its faults. */
async function runPart(
  postgres: { url: string },
  { title, dawdleMaxMs, work, ...options }: Part
): Promise<string[]> {
  let faults = [`${title}: the run did not end`]
  const begun = Date.now()
  await withCatalog(postgres, options, async (catalog) => {
    const random = randomFrom(seed)
    const run = startRun({
      apis: catalog.apis,
      own: catalogDoor(dawdling(catalog.db, random, dawdleMaxMs), random),
      random,
      hasLoads: options.hasWorker
    })
    await prepare(run)
    const ended = await work(run, catalog)
    log(
      `# ${title}: ${JSON.stringify({ ...run.figures, ...ended.figures, seconds: Math.round((Date.now() - begun) / 1_000) })}`
    )
    faults = ended.faults.map((fault) => `${title}: ${fault}`)
    return faults.length === 0
  })
  return faults
}

/** Prunes the change log under the readers all the while, so that graphs that have fallen behind must be loaded anew. Gives how many rows went. */
async function pruneWhile(db: Db, work: Promise<void>): Promise<number> {
  let prunedRows = 0
  const over = new AbortController()
  const pruning = (async () => {
    while (!over.signal.aborted) {
      prunedRows += (await prune(db, { changeLogKeepSeconds: 1 })).graphChanges
      await sleep(pruneEveryMs, undefined, { signal: over.signal }).catch(() => {})
    }
  })()
  await work.finally(() => {
    over.abort()
  })
  await pruning
  return prunedRows
}

/** `counted`: the walks most of which memory must have answered, or the part would test little. */
function staleness({ figures, faults }: Run, counted: Pick<Figures, 'walks' | 'fromMemory'>): string[] {
  const { staleReads } = figures
  const { walks, fromMemory } = counted
  return [
    ...(staleReads > 0
      ? [`${staleReads} reads missed what had been acknowledged before they began`, ...faults]
      : []),
    ...(fromMemory <= walks / 2 ? [`only ${fromMemory} of ${walks} walks were answered from memory`] : [])
  ]
}

/** On a Postgres with a standby. Null if the programs for one are not installed. */
async function runFailovers(): Promise<string[] | null> {
  const programs = findPostgresPrograms()
  if (programs === null) {
    if (process.env.CI === 'true') throw new Error('a PostgreSQL server is not installed')
    log('# failovers: skipped, a PostgreSQL server is not installed')
    return null
  }
  const postgres = await startFailingOverPostgres(programs)
  try {
    return await runPart(postgres, {
      title: 'failovers',
      name: 'failover',
      hasWorker: false,
      dawdleMaxMs,
      async work(run, catalog) {
        const { failovers: rounds, writesPerFailover: writesPerRound } = size
        const crash = { crash: () => postgres.failOver() }
        const figures = await crashAndWrite(run, catalog, crash, { rounds, writesPerRound, plan: failovers })
        return { figures, faults: staleness(run, figures.reloaded) }
      }
    })
  } finally {
    await postgres.stop()
  }
}

/** On the embedded Postgres, each in a database of its own. Gives the faults of each. */
async function runOnEmbedded(isWanted: (name: string) => boolean): Promise<string[][]> {
  const postgres = await startKillablePostgres()
  const allParts: Part[] = [
    {
      title: 'fresh',
      name: 'fresh',
      hasWorker: true,
      dawdleMaxMs,
      async work(run, catalog) {
        const prunedRows = await pruneWhile(
          catalog.db,
          writeAndRead(run, { count: writes, writers, readers })
        )
        return { figures: { prunedRows }, faults: staleness(run, run.figures) }
      }
    },
    {
      title: 'max id seen',
      name: 'red',
      hasWorker: false,
      dawdleMaxMs: redDawdleMaxMs,
      api: { file: 'dist/test/torture/freshness-api.js', args: ['maxIdSeen'] },
      async work(run) {
        let redRounds = 0
        for (; redRounds < redRoundsMaxCount && run.figures.staleReads === 0; redRounds += 1)
          await writeAndRead(run, { count: size.redWrites, writers, readers })
        return {
          figures: { redRounds },
          faults:
            run.figures.staleReads > 0
              ? []
              : ['no read was found stale under a rule that cannot keep them fresh']
        }
      }
    },
    {
      title: 'killed',
      name: 'killed',
      hasWorker: false,
      dawdleMaxMs,
      async work(run, catalog) {
        const figures = await crashAndWrite(run, catalog, postgres, { ...size, plan: allKills })
        return {
          figures,
          faults: [
            ...staleness(run, figures.reloaded),
            ...(figures.xidsDrawnTwice > 0 ? [] : ['no crash gave out a transaction id twice'])
          ]
        }
      }
    }
  ]
  const ended: string[][] = []
  try {
    for (const part of allParts.filter(({ name }) => isWanted(name)))
      ended.push(await runPart(postgres, part))
  } finally {
    await postgres.stop()
  }
  return ended
}

async function main(): Promise<void> {
  log(
    `# seed ${seed}: ${writes} writes, then ${size.redWrites} under a broken rule, then ${size.rounds} kills and ${size.failovers} failovers`
  )
  const isWanted = (name: string): boolean => values.part === undefined || name === values.part
  const ended = values.part === 'failover' ? [] : await runOnEmbedded(isWanted)
  const ofFailovers = isWanted('failover') ? await runFailovers() : null
  if (ofFailovers !== null) ended.push(ofFailovers)
  for (const fault of ended.flat()) log(`not ok: ${fault}`)
  const failed = ended.filter((faults) => faults.length > 0).length
  log(`${ended.length - failed} passed, ${failed} failed`)
  process.exitCode = failed > 0 ? 1 : 0
}

await main()
