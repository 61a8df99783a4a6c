/** Clients of exports: fast, slow, disconnecting; and checks of what they leave behind. */
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fastify, type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { sendProblem } from '../../api/error-responses.ts'
import { lineageRoutes } from '../../api/lineage/routes.ts'
import { exportPace, type ExportPace } from '../../api/lineage/stream-export.ts'
import type { LineageMemory } from '../../shared/catalog/lineage/lineage-memory.ts'
import type { LineageReader } from '../../shared/catalog/lineage/lineage-reader.ts'
import type { LineageSources } from '../../shared/catalog/lineage/with-lineage.ts'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { somebody } from './changes.ts'

/**
 * An API with only the export routes, with readers or a pace chosen by the test. The header `x-token` says whose
 * request it is.
 */
export async function withExports(
  t: Test,
  lineage: LineageSources,
  pace: Partial<ExportPace> = {}
): Promise<FastifyInstance> {
  const app = fastify({ forceCloseConnections: true })
  app.setErrorHandler(sendProblem)
  app.decorateRequest('actor')
  app.addHook('onRequest', async (request) => {
    request.actor = { ...somebody, tokenId: String(request.headers['x-token'] ?? 'one') }
  })
  lineageRoutes(app, { lineage }, { ...exportPace, ...pace })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app
}

/** Memory whose readers have been changed. */
export const withReaders = (
  memory: LineageMemory,
  change: (reader: LineageReader) => LineageReader
): LineageMemory => ({
  ...memory,
  open: async () => {
    const state = await memory.open()
    return state && { ...state, reader: change(state.reader) }
  }
})

/** An answer whose body has not been read yet. */
export const opened = (url: string, headers: { [name: string]: string } = {}): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false, headers }, resolve).on('error', reject)
  })

/** Reads the rest, and returns whether the answer was complete. */
export const takesWhole = (answer: IncomingMessage): Promise<boolean> =>
  new Promise((resolve) => {
    answer.on('error', () => {})
    answer.on('close', () => resolve(answer.complete))
    answer.resume()
  })

export const openTransactions = async (db: Db): Promise<number[]> => {
  const rows = await query<{ pid: number }>(
    db,
    `
    select pid
    from pg_stat_activity
    where datname = current_database()
      and application_name = 'tributary-test'
      and pid <> pg_backend_pid()
      and xact_start is not null`
  )
  return rows.map(({ pid }) => pid)
}

export async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(10)
}

/** Waits for `count` turns of the event loop: enough for everything that needs no input. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
}

/** Number of open connections of a server. */
export const connectionsOf = (app: FastifyInstance): Promise<number> =>
  new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => {
      if (error) reject(error)
      else resolve(count)
    })
  })
