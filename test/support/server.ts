/** A whole API on a fresh database, optionally with a worker, for tests of its interfaces. */
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { buildServer } from '../../api/server.ts'
import type { ApiContext, ServerState } from '../../api/context.ts'
import { openProvider } from '../../api/oidc/provider.ts'
import { createToken } from '../../shared/catalog/access/create-token.ts'
import type { LineageMemory } from '../../shared/catalog/lineage/lineage-memory.ts'
import { heldResultsBounds, holdResults } from '../../shared/catalog/lineage/held-results.ts'
import type { Db } from '../../shared/db/database.ts'
import type { JsonObject, Scope } from '../../shared/model/changes.ts'
import { readConnections } from '../../shared/catalog/openlineage/read-connections.ts'
import { readConfig } from '../../shared/platform/config.ts'
import { createLog } from '../../shared/platform/log.ts'
import { openQueue, type ChunkQueue } from '../../shared/queue/chunk-queue.ts'
import { startWorker } from '../../worker/start.ts'
import { withDatabase } from './database.ts'
import { openMemory } from './lineage-memory.ts'

export type RestRequest = {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  url: string
  body?: unknown
  headers?: { [name: string]: string | string[] }
  /** The text of a token, or null for none; by default the server's own admin token. */
  token?: string | null
}

/**
 * `body` is the parsed JSON, or undefined if there is none. Loosely typed on purpose: tests say what they
 * expect.
 */
export type RestAnswer = {
  status: number
  body: JsonAnswer
  text: string
  headers: LightMyRequestResponse['headers']
}

/** The type that JSON.parse returns. */
type JsonAnswer = ReturnType<typeof JSON.parse>

export type TestServer = {
  app: FastifyInstance
  /** The context the server was built with, for a test that builds a second server. */
  context: ApiContext
  db: Db
  databaseUrl: string
  /** The lineage graph in memory, loaded; null without `memory`. */
  memory: LineageMemory | null
  /** The server's address; `rest` and `graphql` do not need a socket. */
  url: string
  state: ServerState
  /** An administrator's token. */
  token: string
  /** Creates a token with these scopes. */
  tokenWith: (
    scopes: readonly Scope[],
    more?: { domainUrn?: string; domainUrns?: readonly string[]; expiresAt?: Date; actorUrn?: string }
  ) => Promise<string>
  /** Sends a GraphQL request and returns the body and status of the answer. */
  graphql: (
    query: string,
    variables?: JsonObject,
    options?: { token?: string | null; headers?: { [name: string]: string } }
  ) => Promise<RestAnswer>
  rest: (request: RestRequest) => Promise<RestAnswer>
}

/** Drops all nudges: the work is in Postgres anyway. */
const silentQueue: ChunkQueue = { nudge: async () => true, depth: async () => 0, close: async () => {} }

/**
 * `withWorker` opens a real queue and runs a worker, which only tests of loads need; `queue` is one that the
 * test provides; without `memory`, lineage is answered in SQL; `site` is the folder of the web UI.
 */
export async function withServer(
  t: Test,
  options: {
    env?: { [key: string]: string }
    withWorker?: boolean
    queue?: ChunkQueue
    memory?: boolean
    site?: string
  } = {}
): Promise<TestServer> {
  const { db, url: databaseUrl } = await withDatabase(t)
  const config = readConfig({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent', ...options.env })
  const log = createLog(config)
  const queue = options.withWorker ? await openQueue(config, log) : (options.queue ?? silentQueue)
  const worker = options.withWorker ? startWorker(config, log) : null
  const memory = options.memory === false ? null : await openMemory(t, db, databaseUrl, log)
  const context: ApiContext = {
    db,
    lineage: { db, memory, held: holdResults(heldResultsBounds) },
    queue,
    config,
    connections: readConnections(config.openLineageConnections),
    // New keys count at once: no test waits for them.
    provider: openProvider(config, log, { keysCooldownMs: 0 }),
    log,
    ...(options.site === undefined ? {} : { site: options.site })
  }
  const state: ServerState = { isStopping: false }
  const app = await buildServer(context, state)
  t.teardown(async () => {
    await worker?.stop()
    await app.close()
    await queue.close()
  })
  await worker?.start()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const tokenWith: TestServer['tokenWith'] = async (scopes, more = {}) =>
    (await createToken(db, { name: `test ${scopes.join(' ')}`, scopes, ...more })).token
  const token = await tokenWith(['admin'])

  const rest: TestServer['rest'] = async (request) => {
    const bearer = request.token === undefined ? token : request.token
    const isText = typeof request.body === 'string' || Buffer.isBuffer(request.body)
    const answer = await app.inject({
      method: request.method ?? 'GET',
      url: request.url,
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(request.body === undefined || isText ? {} : { 'content-type': 'application/json' }),
        ...request.headers
      },
      ...(request.body === undefined
        ? {}
        : { payload: isText ? (request.body as string | Buffer) : JSON.stringify(request.body) })
    })
    return { status: answer.statusCode, body: parsed(answer), text: answer.body, headers: answer.headers }
  }

  return {
    app,
    context,
    db,
    databaseUrl,
    memory,
    url,
    state,
    token,
    tokenWith,
    rest,
    graphql: (query, variables = {}, { token: bearer, headers } = {}) =>
      rest({
        method: 'POST',
        url: '/api/graphql',
        body: { query, variables },
        ...(bearer === undefined ? {} : { token: bearer }),
        ...(headers ? { headers } : {})
      })
  }
}

function parsed(answer: LightMyRequestResponse): JsonAnswer {
  const isJson = /[/+]json\b/.test(String(answer.headers['content-type'] ?? ''))
  return isJson && answer.body !== '' ? JSON.parse(answer.body) : undefined
}
