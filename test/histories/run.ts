/**
 * `npm run histories [-- --count 5000] [--seed N] [--only N]`: random graphs with random histories, every reader of
 * lineage against a naive oracle. Prints the seed; ends with 1 where an answer is wrong, with the least history that shows it.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import {
  connectTestDatabase,
  dropDatabase,
  runOnServer,
  testDatabaseEnv,
  urlOfDatabase
} from '../support/database.ts'
import { openStage, withEndings } from '../support/history-stage.ts'
import { tryHistories, wordsOf } from '../support/play-histories.ts'
import { startTestServices } from '../support/services.ts'

const { values } = parseArgs({
  options: { count: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } }
})
const count = Number(values.count ?? 5_000)
const seed = Number(values.seed ?? randomInt(2 ** 31))
const log = (line: string) => console.log(line)

async function main(): Promise<void> {
  const services = await startTestServices()
  const server = services.env[testDatabaseEnv.url] ?? ''
  const name = `histories_${randomBytes(4).toString('hex')}`
  await runOnServer(server, `create database ${name} template ${services.env[testDatabaseEnv.template]}`)
  const db = connectTestDatabase(urlOfDatabase(server, name))
  const began = performance.now()
  log(`# ${count} histories, seed ${seed}`)
  try {
    await withEndings(async (t) => {
      const stage = await openStage(t, db, urlOfDatabase(server, name))
      const wrong = await tryHistories(stage, {
        count,
        seed,
        only: values.only === undefined ? undefined : Number(values.only),
        log
      })
      log(
        wrong
          ? wordsOf(wrong, seed)
          : `${count} histories were answered as the oracle does, in ${Math.round((performance.now() - began) / 1_000)} s: ${JSON.stringify(stage.figures)}`
      )
      process.exitCode = wrong ? 1 : 0
    })
  } finally {
    await db.destroy()
    await dropDatabase(server, name)
    await services.stop()
  }
}

await main()
