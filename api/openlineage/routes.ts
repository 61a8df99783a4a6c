/** POST /api/v1/lineage and /api/v1/lineage/batch: OpenLineage events, one or many, as its clients send them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { currentName } from '../../shared/catalog/openlineage/current-name.ts'
import { groupEvents, type EventGroups } from '../../shared/catalog/openlineage/group-events.ts'
import { readEvent, type ReadEvent } from '../../shared/catalog/openlineage/ingest-events.ts'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import type { Connections } from '../../shared/openlineage/connections.ts'
import { parseEventText } from '../../shared/openlineage/event-text.ts'
import { resolveDataset } from '../../shared/openlineage/names.ts'
import type { ApiContext } from '../context.ts'
import { publicError } from '../error-responses.ts'
import { answerUnreadUpload } from '../loads/answer-unread-uploads.ts'
import { readBody } from '../loads/read-body.ts'
import { readQuery } from '../query-parameters.ts'

/** DataHub's clients are given a base address that ends with this. */
const prefixes = ['', '/openapi/openlineage'] as const

/** Encapsulated: bodies of these routes are unpacked and bounded here. */
export async function openLineageRoutes(
  app: FastifyInstance,
  { uploadDb, db, connections }: ApiContext
): Promise<void> {
  const groups = groupEvents(uploadDb ?? db)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => {
    done(null, payload)
  })
  for (const prefix of prefixes) {
    app.post(
      `${prefix}/api/v1/lineage`,
      { config: { access: 'write' }, onSend: answerUnreadUpload },
      async (request, reply) => {
        checkUnlimited(request)
        const event = readEvent(await readJson(request, 'openLineageEventMaxBytes'), '', connections)
        await groups.add(event, callOf(request))
        return reply.code(201).send()
      }
    )
    app.post(
      `${prefix}/api/v1/lineage/batch`,
      { config: { access: 'write' }, onSend: answerUnreadUpload },
      async (request, reply) => {
        checkUnlimited(request)
        return answerBatch(groups, connections, request, reply)
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

/** An event changes facts of datasets in any domain, also where it leaves no change behind that could be held against the token. Throws FORBIDDEN. */
function checkUnlimited({ actor: { domainUrn } }: FastifyRequest): void {
  if (domainUrn !== null)
    throw new CatalogError(
      'FORBIDDEN',
      `The token is limited to ${domainUrn}; the jobs and runs of events are in no domain`
    )
}

const callOf = (request: FastifyRequest) => ({ actor: request.actor, requestId: request.id })

type FailedEvent = { index: number; reason: string; retriable: boolean }

/** Each event by itself: what is wrong with one is said of that one. */
async function answerBatch(
  groups: EventGroups,
  connections: Connections | undefined,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<FastifyReply> {
  const sent = await readJson(request, 'openLineageBatchMaxBytes')
  if (!Array.isArray(sent)) throw new CatalogError('BAD_REQUEST', 'The body must be a list of events')
  const answers = await Promise.all(
    sent.map(async (each: unknown, index): Promise<FailedEvent | null> => {
      try {
        await groups.add(readOne(each, index, connections), callOf(request))
        return null
      } catch (error) {
        const { code, message } = publicError(error)
        return { index, reason: message, retriable: code === 'UNAVAILABLE' || code === 'INTERNAL' }
      }
    })
  )
  const failed = answers.filter((answer) => answer !== null)
  const retriable = failed.filter((each) => each.retriable).length
  return reply.code(200).send({
    status: failed.length === 0 ? 'success' : 'partial_success',
    summary: {
      received: sent.length,
      successful: sent.length - failed.length,
      failed: failed.length,
      retriable,
      non_retriable: failed.length - retriable
    },
    failed_events: failed
  })
}

function readOne(sent: unknown, index: number, connections: Connections | undefined): ReadEvent {
  const event = readEvent(sent, `events[${index}]`, connections)
  if (Buffer.byteLength(event.text) > limits.openLineageEventMaxBytes)
    throw tooLarge('openLineageEventMaxBytes', `events[${index}]`)
  return event
}

type SizeLimit = 'openLineageEventMaxBytes' | 'openLineageBatchMaxBytes'

const tooLarge = (limit: SizeLimit, what: string): CatalogError =>
  new CatalogError('BODY_TOO_LARGE', `${what} has more bytes than the allowed ${limits[limit]}`, {
    limit,
    maximum: limits[limit]
  })

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws BODY_TOO_LARGE, BAD_REQUEST, UNSUPPORTED_MEDIA_TYPE, REQUEST_TIMEOUT. */
async function readJson(request: FastifyRequest, limit: SizeLimit): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of readBody(request.raw)) {
    bytes += chunk.length
    if (bytes > limits[limit]) throw tooLarge(limit, 'The body')
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
