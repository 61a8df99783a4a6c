/** What a worker process answers on its own port. */
import t from 'tap'
import { createLog } from '../shared/platform/log.ts'
import type { ChunkQueue } from '../shared/queue/chunk-queue.ts'
import { startHealthServer } from '../worker/health-server.ts'
import { withDatabase } from './support/database.ts'

t.test('health and metrics of a worker', async (t) => {
  const { db } = await withDatabase(t)
  let depth: number | null = 0
  const queue: ChunkQueue = { nudge: async () => true, depth: async () => depth, close: async () => {} }
  const start = async (metricsToken: string | null): Promise<string> => {
    const health = await startHealthServer({
      config: { host: '127.0.0.1', metricsToken },
      port: 0,
      db,
      queue,
      log: createLog({ logLevel: 'silent' })
    })
    t.teardown(() => health.close())
    return `http://127.0.0.1:${health.port}`
  }
  const url = await start('metrics-secret')

  t.test('it is live, and ready as long as the database is', async (t) => {
    t.match(await (await fetch(`${url}/health/live`)).json(), { status: 'live' })
    t.match(await (await fetch(`${url}/health/ready`)).json(), {
      status: 'ready',
      database: 'up',
      schema: 'current',
      queue: 'up'
    })
    depth = null
    const degraded = await fetch(`${url}/health`)
    t.equal(degraded.status, 200, 'without its queue it is not what is broken')
    t.match(await degraded.json(), { status: 'degraded', queue: 'down' })
    depth = 0
  })

  t.test('metrics are for callers with the token, or without one for the same machine', async (t) => {
    t.equal((await fetch(`${url}/metrics`)).status, 401)
    t.equal(
      (await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer metrics-secreT' } })).status,
      401
    )
    const answer = await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer metrics-secret' } })
    t.equal(answer.status, 200)
    t.match(await answer.text(), /^# HELP tributary_/m)
    const open = await start(null)
    t.equal((await fetch(`${open}/metrics`)).status, 200)
    t.match(
      await (await fetch(`${open}/metrics`, { headers: { 'x-forwarded-for': '10.0.0.1' } })).json(),
      { code: 'FORBIDDEN' },
      'a proxy on this machine asks for others'
    )
  })

  t.test('other paths and methods are refused', async (t) => {
    t.equal((await fetch(`${url}/loads`)).status, 404)
    t.equal((await fetch(`${url}/metrics`, { method: 'POST' })).status, 405)
    const head = await fetch(`${url}/health/live`, { method: 'HEAD' })
    t.strictSame([head.status, await head.text()], [200, ''])
  })

  t.test('it is unavailable once the database is gone', async (t) => {
    await db.destroy()
    const answer = await fetch(`${url}/health/ready`)
    t.equal(answer.status, 503)
    t.match(await answer.json(), { status: 'unavailable', database: 'down' })
  })
})
