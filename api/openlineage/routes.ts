/** POST /api/v1/lineage and /api/v1/lineage/batch: OpenLineage events, one or many, as its clients send them. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { currentName } from '../../shared/catalog/openlineage/current-name.ts'
import { groupEvents, type EventGroups } from '../../shared/catalog/openlineage/group-events.ts'
import { readEvent, type ReadEvent } from '../../shared/catalog/openlineage/ingest-events.ts'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import { limitedTo } from '../../shared/model/limited-to.ts'
import type { Connections } from '../../shared/openlineage/connections.ts'
import { parseEventText } from '../../shared/openlineage/event-text.ts'
import { resolveDataset } from '../../shared/openlineage/names.ts'
import type { DroppedParts } from '../../shared/openlineage/parts.ts'
import type { ApiContext } from '../context.ts'
import { logError, publicError } from '../error-responses.ts'
import { readBody } from '../loads/read-body.ts'
import { readQuery } from '../query-parameters.ts'
import { holdBytes } from './held-bytes.ts'

/** The second is for DataHub's clients, which use a base address that ends with it. */
const prefixes = ['', '/openapi/openlineage'] as const

/** Encapsulated, because bodies of these routes are unpacked and bounded here. */
export async function openLineageRoutes(
  app: FastifyInstance,
  { uploadDb, db, connections }: ApiContext
): Promise<void> {
  const groups = groupEvents(uploadDb ?? db)
  const whileHolding = holdBytes()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => {
    done(null, payload)
  })
  for (const prefix of prefixes) {
    app.post(
      `${prefix}/api/v1/lineage`,
      { config: { access: 'write', takesEvents: true } },
      async (request, reply) => {
        checkUnlimited(request)
        groups.checkRoom(request.actor)
        const dropped = await whileHolding(async (hold) => {
          const event = readEvent(await readJson(request, 'openLineageEventMaxBytes', hold), '', connections)
          groups.checkRoom(request.actor)
          await groups.add(event, callOf(request))
          return event.content.dropped
        })
        return reply.code(201).send(dropped.count === 0 ? undefined : { droppedParts: dropped })
      }
    )
    app.post(
      `${prefix}/api/v1/lineage/batch`,
      { config: { access: 'write', takesEvents: true } },
      async (request, reply) => {
        checkUnlimited(request)
        const answer = await whileHolding((hold) => answerBatch(groups, connections, request, hold))
        return reply.code(200).send(answer)
      }
    )
  }
  app.get('/openlineage/resolve', { config: { access: 'read' } }, async (request) => {
    const { namespace, name } = readQuery(request.query, ['namespace', 'name'])
    if (!namespace || !name)
      throw new CatalogError('BAD_REQUEST', 'namespace and name must be given', {
        field: namespace ? 'name' : 'namespace'
      })
    const resolved = resolveDataset({ namespace, name }, connections)
    return { ...resolved, urn: await currentName(db, resolved.urn), namedUrn: resolved.urn }
  })
}

/**
 * Throws FORBIDDEN for a token limited to domains: an event changes facts of datasets in any domain, and may
 * result in no change that could be checked against the token.
 */
function checkUnlimited({ actor: { domainUrns } }: FastifyRequest): void {
  if (domainUrns !== null)
    throw new CatalogError(
      'FORBIDDEN',
      `${limitedTo(domainUrns)}; the jobs and runs of events are in no domain`
    )
}

const callOf = (request: FastifyRequest) => ({ actor: request.actor, requestId: request.id })

type FailedEvent = { index: number; reason: string; retriable: boolean }
/** An event that was committed, and what was left out of it. */
type AcceptedEvent = { index: number; dropped: DroppedParts }

/** Dropped parts of one list that its answer names; all are counted. */
const droppedPartsShownMaxCount = 100
/** Events of one list that may wait to be committed. */
const waitingPerListMaxCount = 400
/** How long one list is read before others get a turn. */
const turnMaxMs = 20

/** Applies each event separately, so that a faulty one is reported alone. */
async function answerBatch(
  groups: EventGroups,
  connections: Connections | undefined,
  request: FastifyRequest,
  hold: Hold
): Promise<JsonObject> {
  const sent = await readJson(request, 'openLineageBatchMaxBytes', hold)
  if (!Array.isArray(sent)) throw new CatalogError('BAD_REQUEST', 'The body must be a list of events')
  checkCount(sent.length)
  const answers: Promise<FailedEvent | AcceptedEvent>[] = []
  let turnAt = performance.now()
  for (const [index, each] of sent.entries()) {
    await answers[index - waitingPerListMaxCount]
    await groups.room(request.actor)
    if (performance.now() - turnAt > turnMaxMs) {
      await nextTurn()
      turnAt = performance.now()
    }
    answers.push(answerOne(groups, connections, request, each, index))
  }
  const all = await Promise.all(answers)
  const failed = all.flatMap((answer) => ('reason' in answer ? [answer] : []))
  const dropped = all.flatMap((answer) =>
    'dropped' in answer ? answer.dropped.first.map((part) => ({ index: answer.index, ...part })) : []
  )
  const droppedCount = all.reduce((sum, answer) => sum + ('dropped' in answer ? answer.dropped.count : 0), 0)
  const retriable = failed.filter((each) => each.retriable).length
  return {
    status: failed.length === 0 ? 'success' : 'partial_success',
    summary: {
      received: sent.length,
      successful: sent.length - failed.length,
      failed: failed.length,
      retriable,
      non_retriable: failed.length - retriable,
      ...(droppedCount > 0 ? { dropped_parts: droppedCount } : {})
    },
    failed_events: failed,
    ...(droppedCount > 0 ? { dropped_parts: dropped.slice(0, droppedPartsShownMaxCount) } : {})
  }
}

/** What was left out once the event is committed, otherwise its failure. Never throws. */
async function answerOne(
  groups: EventGroups,
  connections: Connections | undefined,
  request: FastifyRequest,
  sent: unknown,
  index: number
): Promise<FailedEvent | AcceptedEvent> {
  try {
    const event = readOne(sent, index, connections)
    await groups.add(event, callOf(request))
    return { index, dropped: event.content.dropped }
  } catch (error) {
    const problem = publicError(error)
    logError(problem, request)
    return {
      index,
      reason: problem.message,
      retriable: problem.retryable || problem.code === 'INTERNAL'
    }
  }
}

function checkCount(count: number): void {
  const maximum = limits.openLineageBatchMaxCount
  if (count > maximum)
    throw new CatalogError('LIMIT_EXCEEDED', `A list has at most ${maximum} events`, {
      limit: 'openLineageBatchMaxCount',
      maximum,
      actual: count
    })
}

function readOne(sent: unknown, index: number, connections: Connections | undefined): ReadEvent {
  const event = readEvent(sent, `events[${index}]`, connections)
  if (Buffer.byteLength(event.text) > limits.openLineageEventMaxBytes)
    throw tooLarge('openLineageEventMaxBytes', `events[${index}]`)
  return event
}

type Hold = (bytes: number) => void

type SizeLimit = 'openLineageEventMaxBytes' | 'openLineageBatchMaxBytes'

const tooLarge = (limit: SizeLimit, what: string): CatalogError =>
  new CatalogError('BODY_TOO_LARGE', `${what} has more bytes than the allowed ${limits[limit]}`, {
    limit,
    maximum: limits[limit]
  })

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws BODY_TOO_LARGE, BAD_REQUEST, UNSUPPORTED_MEDIA_TYPE, REQUEST_TIMEOUT, UNAVAILABLE. */
async function readJson(request: FastifyRequest, limit: SizeLimit, hold: Hold): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of readBody(request.raw)) {
    bytes += chunk.length
    if (bytes > limits[limit]) throw tooLarge(limit, 'The body')
    hold(chunk.length)
    chunks.push(chunk)
  }
  return parseEventText(decode(Buffer.concat(chunks)), 'The body')
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new CatalogError('BAD_REQUEST', 'The body is not UTF-8', {}, { cause })
  }
}
