/** What opens several things and fails half-way leaves none of them open. */
import { createServer } from 'node:net'
import t from 'tap'
import { startApi } from '../api/start.ts'
import { query } from '../shared/db/query.ts'
import type { Db } from '../shared/db/database.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { openTogether } from '../shared/platform/open-together.ts'
import { openQueue } from '../shared/queue/chunk-queue.ts'
import { startWorker } from '../worker/start.ts'
import { withDatabase } from './support/database.ts'
import { withPostgresProxy } from './support/ending-proxy.ts'
import { listenUntilTeardown } from './support/listen.ts'
import { until } from './support/export-clients.ts'

const log = createLog({ logLevel: 'silent' })

/** The names of the connections of processes to the database. */
const connections = async (db: Db): Promise<string[]> => {
  const rows = await query<{ name: string }>(
    db,
    `select application_name as name
     from pg_stat_activity
     where datname = current_database() and application_name ~ '^tributary-(api|uploads|lineage|worker|queue)'
     order by name`
  )
  return rows.map(({ name }) => name)
}

t.test('things opened together', async (t) => {
  const closed: string[] = []
  const closes = (name: string, error?: Error) => (): Promise<void> => {
    closed.push(name)
    return error ? Promise.reject(error) : Promise.resolve()
  }

  await t.test('are closed last first, and only once', async (t) => {
    const { parts, close } = await openTogether(async (opened) => {
      opened(closes('a'))
      opened(closes('b'))
      return 'both'
    })
    t.strictSame([parts, closed], ['both', []])
    await close()
    await close()
    t.strictSame(closed.splice(0), ['b', 'a'])
  })

  await t.test('are closed if one that follows cannot be opened, whose error is thrown', async (t) => {
    await t.rejects(
      openTogether(async (opened) => {
        opened(closes('a'))
        opened(closes('b', new Error('does not close')))
        throw new Error('does not open')
      }),
      { message: 'does not open' }
    )
    t.strictSame(closed.splice(0), ['b', 'a'])
  })

  await t.test('are all closed if one does not close, and its error is thrown', async (t) => {
    const { close } = await openTogether(async (opened) => {
      opened(closes('a'))
      opened(closes('b', new Error('does not close')))
      opened(() => {
        closed.push('c')
      })
    })
    await t.rejects(close(), { message: 'does not close' })
    t.strictSame(closed.splice(0), ['c', 'b', 'a'])
  })

  await t.test('nothing is closed if nothing was opened', async (t) => {
    await t.rejects(
      openTogether(() => Promise.reject(new Error('first'))),
      { message: 'first' }
    )
    t.strictSame(closed, [])
  })
})

t.test('a process whose port is taken', async (t) => {
  const { db, url } = await withDatabase(t)
  const taken = String(await listenUntilTeardown(t, createServer(), new Set()))
  const env = { DATABASE_URL: url, LOG_LEVEL: 'silent', HOST: '127.0.0.1' }
  for (const [name, service] of [
    ['worker', startWorker(readConfig({ ...env, WORKER_PORT: taken }), log)],
    ['api', startApi(readConfig({ ...env, PORT: taken }), log)]
  ] as const)
    await t.test(`a ${name} fails, and keeps no connection`, async (t) => {
      await t.rejects(service.start(), { code: 'EADDRINUSE' })
      if (name === 'api') await service.stop()
      await until(async () => (await connections(db)).length === 0)
      t.pass('all are closed')
      await service.stop()
    })
})

t.test('a queue whose connection is cut after any of the answers', async (t) => {
  const { db, url } = await withDatabase(t)
  let answersLeft = 0
  const proxy = await withPostgresProxy(t, url, () => (piece, client, isReady) => {
    if (isReady) answersLeft -= 1
    if (answersLeft < 0) client.destroy()
    else client.write(piece)
  })
  const config = readConfig({ DATABASE_URL: proxy.url })
  let failures = 0
  for (let answers = 0; answers < 60; answers += 1) {
    answersLeft = answers
    const queue = await openQueue(config, log).catch((error: unknown) => error as Error)
    if (!(queue instanceof Error)) {
      answersLeft = Infinity
      await queue.close()
    }
    await until(async () => proxy.sockets.size === 0 && (await connections(db)).length === 0)
    if (!(queue instanceof Error)) break
    failures += 1
  }
  t.ok(failures > 3 && failures < 60, `it failed ${failures} times, and then opened`)
})
