/** A catalog of processes on a Redis Cluster whose nodes die, freeze and hand over slots under loads. */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { query } from '../../shared/db/query.ts'
import { valueAt } from '../support/json-answer.ts'
import { withRedisCluster } from '../support/redis-cluster.ts'
import { sendLoad } from '../torture/catalog-calls.ts'
import { withCatalog } from './support/catalog.ts'
import { chain, chainCounts, lines, untilDone } from './support/loads.ts'

const chainLength = 500
/** Between two loads, so that a long fault does not make a backlog that takes longer than the fault. */
const restMs = 200
const readyMaxMs = 120_000

t.test('a catalog on a Redis Cluster', async (t) => {
  const cluster = await withRedisCluster(t)
  if (cluster === null) return
  const { client, db, web, workers } = await withCatalog(t, { workers: 2, env: cluster.env })
  let sent = 0

  /** Sends loads one after the other until the fault is over, and one more; gives their ids. */
  async function loadsDuring(fault: () => Promise<unknown>): Promise<string[]> {
    const isOver = new AbortController()
    const over = fault().finally(() => isOver.abort())
    const ids: string[] = []
    for (let isLast = false; !isLast; await sleep(restMs)) {
      isLast = isOver.signal.aborted
      ids.push(await sendLoad(client, lines(chain(`cluster${sent}`, chainLength)), {}))
      sent += 1
    }
    await over
    return ids
  }

  const faults: readonly [name: string, fault: () => Promise<unknown>][] = [
    ['the primary that has the queue dies, and its replica takes over', () => cluster.failOver()],
    ['that primary freezes, and its replica takes over', async () => (await cluster.freeze())()],
    ["the queue's slot moves to another primary", () => cluster.moveQueue()],
    ['everything in it is lost', () => cluster.wipe()]
  ]
  for (const [name, fault] of faults)
    await t.test(`all loads end, and nothing is lost, when ${name}`, async (t) => {
      const ids = await loadsDuring(fault)
      for (const id of ids) t.same((await untilDone(t, client, id)).counts, chainCounts(chainLength))
      const [row] = await query<{ edges: number }>(db, 'select count(*)::int as edges from statement')
      t.equal(row?.edges, sent * (chainLength - 1))
      t.comment(`${ids.length} loads`)
    })

  await t.test('is ready afterwards, with the processes of the start', async (t) => {
    let status: unknown
    for (
      const giveUpAt = Date.now() + readyMaxMs;
      status !== 'ready' && Date.now() < giveUpAt;
      await sleep(100)
    )
      status = valueAt((await client.send('GET', '/health/ready')).json, 'status')
    t.equal(status, 'ready')
    t.notOk([web, ...workers].some((each) => each.hasEnded()))
  })
})
