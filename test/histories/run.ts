/**
 * `npm run histories -- [graphs|order|undo] [--runs N] [--seed N]`: random histories, for hours if wanted.
 *
 * `graphs` compares every lineage reader with a naive oracle, `order` applies chunks in a random order and in
 * the order of acceptance, `undo` undoes loads newest first. Prints the seed; exits with 1 at the first wrong
 * history, shrunk.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import {
  connectTestDatabase,
  dropDatabase,
  runOnServer,
  testDatabaseEnv,
  urlOfDatabase,
  type TestDatabase
} from '../support/database.ts'
import { openStage, withEndings } from '../support/history-stage.ts'
import { loadBenchOn } from '../support/load-bench.ts'
import { orderTrials, playOrderTrial } from '../support/order-trials.ts'
import { tryHistories, wordsOf } from '../support/play-histories.ts'
import { tryUndos } from '../support/play-undo.ts'
import { startTestServices } from '../support/services.ts'

const usage = `npm run histories -- [graphs|order|undo] [--runs N] [--seed N] [--only N] [--trial ${orderTrials.map(({ name }) => name).join('|')}]
  --runs   how many histories, 5000 unless told; of each trial
  --seed   a random one unless told
  --only   graphs: the one history of that number
  --trial  order: one of its properties; all of them unless told`

/** A new database is used after this many histories, because its statements get slower as tables grow. */
const historiesPerDatabase = 1_000

type Asked = { kind: string; runs: number; seed: number; only: number | undefined; trial: string | undefined }

function readArguments(): Asked | null {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      runs: { type: 'string', default: '5000' },
      seed: { type: 'string', default: String(randomInt(2 ** 30)) },
      only: { type: 'string' },
      trial: { type: 'string' }
    }
  })
  const [kind = 'graphs', ...more] = positionals
  const only = values.only === undefined ? undefined : Number(values.only)
  const asked = { kind, runs: Number(values.runs), seed: Number(values.seed), only, trial: values.trial }
  const areNumbers = [asked.runs, asked.seed, only ?? 0].every(Number.isSafeInteger)
  const isTrial = asked.trial === undefined || orderTrials.some(({ name }) => name === asked.trial)
  return more.length === 0 && areNumbers && asked.runs > 0 && isTrial ? asked : null
}

const log = (line: string): void => console.log(line)

/** Passes a new migrated database to `work` and drops it afterwards. */
type WithDatabase = <T>(work: (database: TestDatabase) => Promise<T>) => Promise<T>

async function withServices(work: (withDatabase: WithDatabase) => Promise<void>): Promise<void> {
  const services = await startTestServices()
  const server = services.env[testDatabaseEnv.url] ?? ''
  try {
    await work(async (use) => {
      const name = `histories_${randomBytes(4).toString('hex')}`
      await runOnServer(server, `create database ${name} template ${services.env[testDatabaseEnv.template]}`)
      const url = urlOfDatabase(server, name)
      const db = connectTestDatabase(url)
      try {
        return await use({ db, url })
      } finally {
        await db.destroy()
        await dropDatabase(server, name)
      }
    })
  } finally {
    await services.stop()
  }
}

async function playGraphs(withDatabase: WithDatabase, { runs, seed, only }: Asked): Promise<void> {
  await withDatabase(({ db, url }) =>
    withEndings(async (t) => {
      const stage = await openStage(t, db, url)
      const wrong = await tryHistories(stage, { count: runs, seed, only, log })
      if (wrong) throw new Error(wordsOf(wrong, seed))
      log(JSON.stringify(stage.figures))
    })
  )
}

/** Calls `work` for parts of the runs, each with the seed of its first history, and reports progress. */
async function inParts(
  { runs, seed }: Asked,
  work: (options: { count: number; seed: number; log: typeof log }) => Promise<void>
): Promise<void> {
  for (let played = 0; played < runs;) {
    const count = Math.min(historiesPerDatabase, runs - played)
    await work({ count, seed: seed + played, log })
    played += count
    log(`${played} histories, ${Math.round(process.uptime())} s`)
  }
}

async function playOrders(withDatabase: WithDatabase, asked: Asked): Promise<void> {
  for (const trial of orderTrials.filter(({ name }) => (asked.trial ?? name) === name)) {
    log(`# ${trial.name}: ${trial.guarantee}`)
    await inParts(asked, (options) => withDatabase(({ db }) => playOrderTrial(db, trial, options)))
  }
}

async function playUndos(withDatabase: WithDatabase, asked: Asked): Promise<void> {
  await inParts(asked, async (options) => {
    const figures = await withDatabase((database) => tryUndos(loadBenchOn(database), options))
    log(JSON.stringify(figures))
  })
}

const kinds = new Map([
  ['graphs', playGraphs],
  ['order', playOrders],
  ['undo', playUndos]
])

async function main(): Promise<void> {
  const asked = readArguments()
  const play = kinds.get(asked?.kind ?? '')
  if (!asked || !play) {
    console.error(usage)
    process.exitCode = 64
    return
  }
  log(`# ${asked.kind}: ${asked.runs} histories, seed ${asked.seed}`)
  await withServices((withDatabase) => play(withDatabase, asked))
  log(`none is wrong, after ${Math.round(process.uptime())} s`)
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
