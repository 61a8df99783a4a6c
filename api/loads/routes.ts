/** The routes of bulk loads: submit, follow, read rejects, retry, cancel. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { refuseRevoked } from '../../shared/catalog/access/refuse-revoked.ts'
import type { MakerRule } from '../../shared/catalog/access/token-makers.ts'
import { cancelLoad } from '../../shared/catalog/loads/cancel-load.ts'
import {
  hasEnded,
  listLoads,
  readLoad,
  readRejects,
  waitForLoad,
  type LoadView,
  type RejectView
} from '../../shared/catalog/loads/read-load.ts'
import { receiveLoad } from '../../shared/catalog/loads/receive-load.ts'
import { readRejectsAsCsv } from '../../shared/catalog/loads/rejects-as-csv.ts'
import { retryLoad } from '../../shared/catalog/loads/retry-load.ts'
import { undoLoad } from '../../shared/catalog/loads/undo-load.ts'
import { createLoadWatch } from '../../shared/catalog/loads/watch-loads.ts'
import { limits } from '../../shared/limits.ts'
import type { ApiContext } from '../context.ts'
import { createPlaces } from '../places.ts'
import { readQuery } from '../query-parameters.ts'
import { eventIdOf, toEvents } from './load-events.ts'
import { listParameters, readLoadFilter } from './list-query.ts'
import {
  readCount,
  readFlag,
  readMissingReferences,
  readRejectsFormat,
  readSubmission,
  readWait,
  submitParameters
} from './load-query.ts'
import { readBody } from './read-body.ts'
import { whileAllowed } from './while-allowed.ts'

const rejectsDefaultCount = 1_000

type ById = { Params: { id: string } }

/** Encapsulated, because bodies of these routes are streams that only read-body.ts reads and bounds. */
export async function loadsRoutes(
  app: FastifyInstance,
  {
    db,
    uploadDb = db,
    knownIds,
    queue,
    config,
    connections,
    makerRule
  }: ApiContext & { makerRule: MakerRule }
): Promise<void> {
  const watch = createLoadWatch(db)
  const uploads = createPlaces('uploadsAtOnceMaxCount', 'uploadsPerTokenMaxCount', {
    code: 'OVERLOADED',
    says: (maximum) => `receives ${maximum} uploads at a time; send it again`,
    retryAfterSeconds: 5
  })
  const streams = createPlaces('loadEventStreamsMaxCount', 'loadEventStreamsPerTokenMaxCount', {
    code: 'RATE_LIMITED',
    says: (maximum) => `serves ${maximum} streams of events at a time; poll the load, or come again`,
    retryAfterSeconds: 5
  })
  app.addHook('preClose', async () => {
    watch.close()
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => {
    done(null, payload)
  })

  app.post('/loads', { config: { access: 'write' } }, async (request, reply) => {
    const query = readQuery(request.query, submitParameters)
    const submission = readSubmission(query, request.headers, config)
    const wait = readWait(query.wait)
    const body = readBody(request.raw)
    const leave = uploads.take(request.actor)
    const { id, isReplay } = await receiveLoad(
      uploadDb,
      queue,
      { ...submission, connections, actor: request.actor, requestId: request.id },
      whileAllowed(body, () => refuseRevoked(uploadDb, request.actor, makerRule)),
      knownIds
    ).finally(leave)
    if (isReplay) reply.header('idempotency-replayed', 'true')
    return answerLoad(reply, await waitForLoad(db, request.actor, id, wait))
  })

  app.get('/loads', { config: { access: 'read' } }, async (request) => {
    const query = readQuery(request.query, listParameters)
    return listLoads(db, request.actor, {
      limit: readCount(query.limit, 'limit', limits.pageDefaultCount),
      cursor: query.cursor ?? null,
      filter: readLoadFilter(query)
    })
  })

  app.get<ById>('/loads/:id', { config: { access: 'read' } }, async (request) => {
    const query = readQuery(request.query, ['wait'])
    return waitForLoad(db, request.actor, request.params.id, readWait(query.wait))
  })

  app.get<ById>('/loads/:id/events', { config: { access: 'read' } }, async (request, reply) => {
    readQuery(request.query, [])
    const load = await readLoad(db, request.actor, request.params.id)
    // A browser reconnects when a stream ends, unless it is told that the stream is complete.
    if (hasEnded(load) && request.headers['last-event-id'] === eventIdOf(load)) return reply.code(204).send()
    // If the client has left, the event that frees its place has already been emitted.
    if (reply.raw.closed) return reply.code(204).send()
    const leave = streams.take(request.actor)
    const gone = new AbortController()
    reply.raw.once('close', () => {
      leave()
      gone.abort()
    })
    // The connection ends with the stream: a kept one would delay a stop.
    reply.type('text/event-stream; charset=utf-8').headers({ 'x-accel-buffering': 'no', connection: 'close' })
    return reply.send(
      Readable.from(request.method === 'HEAD' ? [] : toEvents(watch.follow(load, gone.signal)), {
        objectMode: false
      })
    )
  })

  app.get<ById>('/loads/:id/rejects', { config: { access: 'read' } }, async (request, reply) => {
    const query = readQuery(request.query, ['after', 'limit', 'format'])
    const page = {
      after: readCount(query.after, 'after', 0),
      limit: readCount(query.limit, 'limit', rejectsDefaultCount)
    }
    if (readRejectsFormat(query.format) === 'csv') {
      const rows = await readRejectsAsCsv(db, request.actor, request.params.id, page)
      return reply.type('text/csv; charset=utf-8; header=present').send(Readable.from(rows))
    }
    const rejects = await readRejects(db, request.actor, request.params.id, page)
    return reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(toLines(rejects)))
  })

  app.post<ById>('/loads/:id/retry', { config: { access: 'write' } }, async (request, reply) => {
    const query = readQuery(request.query, ['wait', 'force', 'missingReferences'])
    const wait = readWait(query.wait)
    const { id } = await retryLoad(db, queue, request.actor, request.params.id, {
      force: readFlag(query.force, 'force'),
      missingReferences: readMissingReferences(query.missingReferences)
    })
    return answerLoad(reply, await waitForLoad(db, request.actor, id, wait))
  })

  app.post<ById>('/loads/:id/undo', { config: { access: 'write' } }, async (request, reply) => {
    const query = readQuery(request.query, ['wait', 'dryRun'])
    const wait = readWait(query.wait)
    const { id } = await undoLoad(db, queue, request.params.id, {
      actor: request.actor,
      requestId: request.id,
      isDryRun: readFlag(query.dryRun, 'dryRun')
    })
    return answerLoad(reply, await waitForLoad(db, request.actor, id, wait))
  })

  app.post<ById>('/loads/:id/cancel', { config: { access: 'write' } }, async (request) => {
    readQuery(request.query, [])
    return cancelLoad(db, request.actor, request.params.id)
  })
}

/** 200 for a load that has ended, 202 for one that is still running. */
function answerLoad(reply: FastifyReply, load: LoadView): FastifyReply {
  return reply
    .code(hasEnded(load) ? 200 : 202)
    .header('location', `/loads/${load.id}`)
    .send(load)
}

async function* toLines(rejects: AsyncIterable<RejectView>): AsyncGenerator<string> {
  for await (const reject of rejects) yield `${JSON.stringify(reject)}\n`
}
