/**
 * `npm run freshness [-- --quick] [--seed N] [--writes N] [--part fresh|red|killed]`: does a read on one API process miss a write that another has
 * acknowledged? Prints seed and figures; ends with 1 where one does, or where a broken rule of freshness is not found out.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { startKillablePostgres, withCatalog, type Catalog, type CatalogOptions, type KillablePostgres } from './freshness-catalog.ts'
import { crashAndWrite } from './freshness-crash.ts'
import { catalogDoor, dawdling } from './freshness-doors.ts'
import { prepare, startRun, writeAndRead, type Run } from './freshness-run.ts'
import { randomFrom } from './workload.ts'

const sizes = {
  quick: { writes: 5_000, redWrites: 300, rounds: 5, writesPerRound: 200 },
  full: { writes: 100_000, redWrites: 3_000, rounds: 25, writesPerRound: 1_000 }
}
const writers = 4
const readers = 1
const dawdleMaxMs = 6

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, seed: { type: 'string' }, writes: { type: 'string' }, part: { type: 'string' } } })
const size = values.quick ? sizes.quick : sizes.full
const writes = values.writes ? Number(values.writes) : size.writes
const seed = values.seed ? Number(values.seed) : randomInt(2 ** 31)
const log = (line: string) => console.log(line)

type Part = CatalogOptions & { title: string, work: (run: Run, catalog: Catalog) => Promise<object>, judge: (run: Run) => string[] }

/** Runs one part and gives its faults. */
async function runPart(postgres: KillablePostgres, { title, work, judge, ...options }: Part): Promise<string[]> {
  let faults = [`${title}: the run did not end`]
  const begun = Date.now()
  await withCatalog(postgres, options, async (catalog) => {
    const random = randomFrom(seed)
    const run = startRun({ apis: catalog.apis, own: catalogDoor(dawdling(catalog.db, random, dawdleMaxMs), random), random, hasLoads: options.hasWorker })
    await prepare(run)
    const figures = await work(run, catalog)
    log(`# ${title}: ${JSON.stringify({ ...run.figures, ...figures, seconds: Math.round((Date.now() - begun) / 1_000) })}`)
    faults = judge(run).map((fault) => `${title}: ${fault}`)
    return faults.length === 0
  })
  return faults
}

function mustBeFresh({ figures, faults }: Run): string[] {
  const { walks, fromMemory, staleReads } = figures
  return [
    ...(staleReads > 0 ? [`${staleReads} reads missed what had been acknowledged before they began`, ...faults] : []),
    ...(fromMemory < walks / 2 ? [`only ${fromMemory} of ${walks} walks were answered from memory`] : [])
  ]
}

async function main(): Promise<void> {
  log(`# seed ${seed}: ${writes} writes, then ${size.redWrites} under a broken rule, then ${size.rounds} kills`)
  const postgres = await startKillablePostgres()
  const allParts: Part[] = [
    {
      title: 'fresh', name: 'fresh', hasWorker: true, judge: mustBeFresh,
      work: async (run) => { await writeAndRead(run, { count: writes, writers, readers }); return {} }
    },
    {
      title: 'max id seen', name: 'red', hasWorker: false, api: { file: 'dist/test/torture/freshness-api.js', args: ['maxIdSeen'] },
      work: async (run) => { await writeAndRead(run, { count: size.redWrites, writers, readers }); return {} },
      judge: ({ figures }) => figures.staleReads > 0 ? [] : ['no read was found stale under a rule that cannot keep them fresh']
    },
    {
      title: 'killed', name: 'killed', hasWorker: false, judge: mustBeFresh,
      work: (run, catalog) => crashAndWrite(run, catalog, postgres, size)
    }
  ]
  const parts = allParts.filter(({ name }) => values.part === undefined || name === values.part)
  let failed = 0
  try {
    for (const part of parts) {
      const faults = await runPart(postgres, part)
      for (const fault of faults) log(`not ok: ${fault}`)
      if (faults.length > 0) failed += 1
    }
  } finally {
    await postgres.stop()
  }
  log(`${parts.length - failed} passed, ${failed} failed`)
  process.exitCode = failed > 0 ? 1 : 0
}

await main()
