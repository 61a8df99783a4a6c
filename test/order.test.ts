/**
 * The order of acceptance decides: chunks applied in any order give the same result as chunks applied in
 * order.
 */
import t from 'tap'
import { withDatabase } from './support/database.ts'
import { casesOf, seed } from './support/fast-check.ts'
import { orderTrials, playOrderTrial } from './support/order-trials.ts'

const runs: { [trial: string]: number } = { chunks: 200, deletions: 50, workers: 50 }

for (const trial of orderTrials) {
  t.test(`P5: ${trial.guarantee}`, { timeout: 600_000 }, async (t) => {
    const count = casesOf(runs[trial.name] ?? 0)
    const { db } = await withDatabase(t)
    t.comment(`seed ${seed}, ${count} histories`)
    await playOrderTrial(db, trial, { count, seed, log: (line) => t.comment(line) })
  })
}
