/** Random graphs with random histories: every reader of lineage answers what a naive oracle answers, as they go. */
import t from 'tap'
import { withDatabase } from './support/database.ts'
import { openStage } from './support/history-stage.ts'
import { tryHistories, wordsOf } from './support/play-histories.ts'

/** SEED and RUNS repeat a failure or look longer; `npm run histories` plays 5,000. */
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
const count = Number(process.env.RUNS ?? 150)

t.test('graphs with a history are answered as a naive oracle answers them', { timeout: 600_000 }, async (t) => {
  const { db, url } = await withDatabase(t)
  const stage = await openStage(t, db, url)
  t.comment(`seed ${seed}, ${count} histories`)
  const wrong = await tryHistories(stage, { count, seed, log: (line) => t.comment(line) })
  t.equal(wrong && wordsOf(wrong, seed), null)
  t.comment(JSON.stringify(stage.figures))
  t.ok(stage.figures.reached > 10 * count && stage.figures.results > count, 'the graphs are worth walking')
})
