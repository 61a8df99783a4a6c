/** /openapi/v3/entity/{entityName}: entities and their aspects, written and read as DataHub's SDK does it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { allEvents, deleteFromCatalog } from '../../shared/catalog/write/delete-from-catalog.ts'
import { applyProposals, readProposals } from '../../shared/catalog/write/ingest-proposals.ts'
import { queueProposals } from '../../shared/catalog/loads/queue-proposals.ts'
import { readAspect } from '../../shared/catalog/entities/read-aspects.ts'
import {
  readEntities,
  readEntityVersions,
  type AspectsWanted
} from '../../shared/catalog/entities/read-entities.ts'
import { inTurnIfMany } from '../../shared/catalog/lineage/read-work.ts'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import type { ChangeRecord, JsonObject } from '../../shared/model/changes.ts'
import { checkCount } from '../../shared/model/count-checks.ts'
import { entityTypeInfo } from '../../shared/model/entity-types.ts'
import { isObject } from '../../shared/model/json-values.ts'
import { parseConditions } from '../../shared/model/write-conditions.ts'
import { entityTypeOf, toUrn, type Urn } from '../../shared/urn/urn.ts'
import type { ApiContext } from '../context.ts'
import { missingReferencesOf } from '../datahub/missing-references.ts'
import { showAspect, showEntity } from './entity-answers.ts'
import { aspectNameOf, entityNameOf, parseEntityPath, type EntityPath } from './entity-path.ts'
import {
  proposalOf,
  writesOfEntities,
  writesOfMap,
  type AspectWrite,
  type WriteKind
} from './entity-writes.ts'
import { readAspectNames, readFlag, readNumber, type Parameters } from './parameters.ts'

type Reading = Pick<FastifyRequest<{ Querystring: Parameters }>, 'query' | 'readWork'>
type OfType = { Params: { entityName: string }; Querystring: Parameters }
type OfEntity = { Params: { entityName: string; '*': string }; Querystring: Parameters }

const writing = { bodyLimit: limits.proposalBodyMaxBytes, config: { access: 'write' } } as const
const reading = { bodyLimit: limits.proposalBodyMaxBytes, config: { access: 'read' } } as const

export function entityRoutes(app: FastifyInstance, { db, queue, config }: ApiContext): void {
  /**
   * Applies or queues the proposals, all together or (queued) each separately, and returns the records read
   * from them.
   */
  async function write(
    request: FastifyRequest,
    proposals: readonly JsonObject[],
    fields: readonly string[],
    { operation, isQueued }: { operation: string; isQueued: boolean }
  ): Promise<ChangeRecord[]> {
    const records = readProposals(proposals, (index) => fields[index] ?? 'body')
    const options = {
      actor: request.actor,
      requestId: request.id,
      missingReferences: missingReferencesOf(request, config.missingReferences),
      upsertReplaces: config.upsertReplaces,
      traceId: request.traceId
    }
    if (!isQueued) await applyProposals(db, records, operation, options)
    else await queueProposals(db, queue, records, options)
    return records
  }

  async function writeMany(
    request: FastifyRequest<{ Querystring: Parameters }>,
    reply: FastifyReply,
    writes: readonly AspectWrite[],
    kind: WriteKind
  ): Promise<WrittenEntity[]> {
    const isQueued = readFlag(request.query, 'async', true)
    const withMetadata = readFlag(request.query, 'systemMetadata', false)
    const records = await write(
      request,
      writes.map(({ proposal }) => proposal),
      writes.map(({ field }) => field),
      { operation: kind === 'PATCH' ? 'patchEntities' : 'writeEntities', isQueued }
    )
    if (isQueued) reply.code(202)
    const written = writes.map(({ item, entityName }, index) => ({
      item,
      entityName,
      ...writtenAspect(records[index])
    }))
    if (isQueued)
      return gather(withMetadata ? written.map((aspect) => withQueuedMetadata(aspect, request)) : written)
    return gather(kind === 'UPSERT' && !withMetadata ? written : await readBack(written, withMetadata))
  }

  /** The aspects as they are after the write. */
  async function readBack(
    written: readonly WrittenAspect[],
    withMetadata: boolean
  ): Promise<WrittenAspect[]> {
    const views = new Map(
      (
        await readEntities(
          db,
          written.map(({ urn }) => urn),
          [...new Set(written.map(({ aspectName }) => aspectName))]
        )
      ).map((view) => [view.urn, view.aspects])
    )
    return written.map((aspect) => {
      const view = views.get(aspect.urn)?.get(aspect.aspectName)
      return { ...aspect, shown: view ? showAspect(view, withMetadata) : null }
    })
  }

  for (const [method, kind] of [
    ['POST', 'UPSERT'],
    ['PATCH', 'PATCH']
  ] as const) {
    app.route<{ Querystring: Parameters }>({
      method,
      url: '/openapi/v3/entity/generic',
      ...writing,
      handler: async (request, reply) => {
        const answer = new Map<string, JsonObject[]>()
        for (const { entityName, entity } of await writeMany(
          request,
          reply,
          writesOfMap(request.body, kind, entityNameOf),
          kind
        ))
          addTo(answer, entityName, [entity])
        return Object.fromEntries(answer)
      }
    })
    app.route<OfType>({
      method,
      url: '/openapi/v3/entity/:entityName',
      ...writing,
      handler: async (request, reply) => {
        const written = await writeMany(
          request,
          reply,
          writesOfEntities(entityNameOf(request.params.entityName), request.body, kind),
          kind
        )
        return written.map(({ entity }) => entity)
      }
    })
    app.route<OfEntity>({
      method,
      url: '/openapi/v3/entity/:entityName/*',
      ...writing,
      handler: async (request, reply) => {
        const { urn, aspectName } = pathOf(request)
        const { body, query } = request
        if (aspectName === null)
          throw new CatalogError('NOT_FOUND', 'The path must name an aspect after the urn', { urn })
        if (!isObject(body))
          throw new CatalogError('BAD_REQUEST', 'Malformed request body: an object is needed')
        const aspect = kind === 'PATCH' && body.patch !== undefined ? { value: body } : body
        const changeType =
          kind === 'PATCH'
            ? kind
            : readFlag(query, 'createIfEntityNotExists', false)
              ? 'CREATE_ENTITY'
              : readFlag(query, 'createIfNotExists', true)
                ? 'CREATE'
                : 'UPSERT'
        const isQueued = readFlag(query, 'async', false)
        const withMetadata = readFlag(query, 'systemMetadata', false)
        const proposal = proposalOf(
          entityTypeOf(urn),
          { entityUrn: urn },
          { aspectName, aspect, field: aspectName, changeType }
        )
        const [record] = await write(request, [proposal], [aspectName], {
          operation: kind === 'PATCH' ? 'patchEntities' : 'writeEntities',
          isQueued
        })
        if (isQueued) reply.code(202)
        const written = [{ item: 0, entityName: entityTypeOf(urn), ...writtenAspect(record) }]
        const [answer] = gather(
          isQueued
            ? written.map((aspect) => (withMetadata ? withQueuedMetadata(aspect, request) : aspect))
            : await readBack(written, withMetadata)
        )
        return answer?.entity ?? { urn }
      }
    })
  }

  app.post<{ Querystring: Parameters }>('/openapi/v3/entity/generic/batchGet', reading, async (request) => {
    const { body } = request
    if (!isObject(body))
      throw new CatalogError(
        'BAD_REQUEST',
        'Malformed request body: an object with a list of entities for each entity type is needed'
      )
    const lists = Object.entries(body).map(([name, entities]) => ({
      entityName: entityNameOf(name),
      wanted: wantedOf(entityNameOf(name), entities, name)
    }))
    checkWanted(lists.flatMap(({ wanted }) => wanted))
    const answer = new Map<string, JsonObject[]>()
    for (const { entityName, wanted } of lists) addTo(answer, entityName, await batchGet(request, wanted))
    return Object.fromEntries(answer)
  })

  app.post<OfType>('/openapi/v3/entity/:entityName/batchGet', reading, async (request) => {
    const wanted = wantedOf(entityNameOf(request.params.entityName), request.body)
    checkWanted(wanted)
    return batchGet(request, wanted)
  })

  async function batchGet(
    { query, readWork }: Reading,
    wanted: readonly AspectsWanted[]
  ): Promise<JsonObject[]> {
    const withMetadata = readFlag(query, 'systemMetadata', false)
    const found = await inTurnIfMany(readWork, wanted.length, () => readEntityVersions(db, wanted))
    return found.map(({ urn, aspects }) => showEntity(urn, aspects, withMetadata))
  }

  app.get<OfEntity>(
    '/openapi/v3/entity/:entityName/*',
    { ...reading, exposeHeadRoute: false },
    async (request, reply) => {
      const { urn, aspectName } = pathOf(request)
      const withMetadata = readFlag(request.query, 'systemMetadata', false)
      if (aspectName !== null) {
        const view = await readAspect(db, urn, aspectName, readNumber(request.query, 'version', 0))
        return view ? showAspect(view, withMetadata) : refuseAbsent(reply, 'ASPECT', urn, aspectName)
      }
      const [entity] = await readEntities(db, [urn], readAspectNames(request.query))
      return entity ? showEntity(urn, entity.aspects, withMetadata) : refuseAbsent(reply, 'ENTITY', urn)
    }
  )

  app.head<OfEntity>('/openapi/v3/entity/:entityName/*', reading, async (request, reply) => {
    const { urn, aspectName } = pathOf(request)
    const [entity] = await readEntities(db, [urn], aspectName === null ? [] : [aspectName])
    if (!entity?.isPresent || (entity.isRemoved && !readFlag(request.query, 'includeSoftDelete', false)))
      return refuseAbsent(reply, 'ENTITY', urn)
    if (aspectName !== null && !entity.aspects.has(aspectName))
      return refuseAbsent(reply, 'ASPECT', urn, aspectName)
    return reply.code(204).send()
  })

  app.delete<OfEntity>('/openapi/v3/entity/:entityName/*', writing, async (request, reply) => {
    const { urn, aspectName } = pathOf(request)
    const named = aspectName === null ? readAspectNames(request.query) : [aspectName]
    const { keyAspect } = entityTypeInfo(entityTypeOf(urn))
    const aspectNames =
      named ?? (readFlag(request.query, 'clear', false) ? await aspectsBeside(urn, keyAspect) : null)
    // As in DataHub: for an aspect of events, naming it in the path deletes the newest event, naming it in
    // the query deletes all.
    await deleteFromCatalog(
      db,
      { urn, aspectNames, events: aspectName === null ? allEvents : 'newest' },
      { actor: request.actor, requestId: request.id }
    )
    return reply.code(200).send()
  })

  async function aspectsBeside(urn: Urn, keyAspect: string): Promise<string[]> {
    const [entity] = await readEntities(db, [urn], null)
    return [...(entity?.aspects.keys() ?? [])].filter((name) => name !== keyAspect)
  }
}

function pathOf(request: FastifyRequest<OfEntity>): EntityPath {
  const [, , , , , ...rest] = (request.url.split('?', 1)[0] ?? '').split('/')
  return parseEntityPath(rest.join('/').replace(/\/$/, ''), entityNameOf(request.params.entityName))
}

function refuseAbsent(reply: FastifyReply, what: 'ENTITY' | 'ASPECT', urn: Urn, aspectName?: string): never {
  reply.header('not-found-reason', what)
  throw new CatalogError(
    'NOT_FOUND',
    aspectName === undefined ? `Did not find urn: ${urn}` : `Did not find urn: ${urn} aspect: ${aspectName}`,
    { urn }
  )
}

/**
 * Reads the body of batchGet, a list of `{urn, <aspect>: {} or {headers: {If-Version-Match}}}`. `at` is the
 * name of the list in errors. Throws BAD_REQUEST, INVALID_URN, INVALID_CHARACTER.
 */
function wantedOf(entityName: string, body: unknown, at = ''): AspectsWanted[] {
  if (!Array.isArray(body))
    throw new CatalogError(
      'BAD_REQUEST',
      'Malformed request body: a list of entities is needed',
      at === '' ? {} : { field: at }
    )
  return body.map((entity: unknown, index) => {
    const field = `${at}[${index}]`
    if (!isObject(entity))
      throw new CatalogError('BAD_REQUEST', `${field} must be an object with a urn`, { field })
    const { urn: sent, ...aspects } = entity
    const urn = toUrn(sent, `${field}.urn`, entityName)
    if (entityTypeOf(urn) !== entityName)
      throw new CatalogError(
        'INVALID_URN',
        `The URN has the type ${entityTypeOf(urn)}, but the path says ${entityName}`,
        { field: `${field}.urn`, urn }
      )
    const versions = Object.entries(aspects).map(([name, question]): [string, number | null] => [
      aspectNameOf(name, field),
      isObject(question) ? (parseConditions(question.headers).ifVersionMatch ?? null) : null
    ])
    return { urn, aspects: new Map(versions) }
  })
}

/**
 * Counts all lists of a request together, because each version costs one query. Throws LIMIT_EXCEEDED
 * (entitiesPerReadMaxCount).
 */
function checkWanted(wanted: readonly AspectsWanted[]): void {
  checkCount(wanted.length, 'entitiesPerReadMaxCount', {
    field: 'body',
    what: `${wanted.length} entities in one request`
  })
  const versions = wanted.reduce(
    (count, { aspects }) => count + [...aspects.values()].filter((version) => version !== null).length,
    0
  )
  checkCount(versions, 'entitiesPerReadMaxCount', {
    field: 'body',
    what: `${versions} versions of aspects in one request`
  })
}

const addTo = (
  answer: Map<string, JsonObject[]>,
  entityName: string,
  entities: readonly JsonObject[]
): void => {
  answer.set(entityName, [...(answer.get(entityName) ?? []), ...entities])
}

type WrittenAspect = {
  item: number
  entityName: string
  urn: Urn
  aspectName: string
  sentMetadata: JsonObject
  shown: JsonObject | null
}
type WrittenEntity = { entityName: string; entity: JsonObject }

/**
 * The aspect that a record writes, with its value; without a value if the record is a patch, whose result is
 * not known yet.
 */
function writtenAspect(
  record: ChangeRecord | undefined
): Pick<WrittenAspect, 'urn' | 'aspectName' | 'sentMetadata' | 'shown'> {
  const change = record?.changes[0]
  if (change?.kind !== 'upsertAspect' && change?.kind !== 'patchAspect')
    throw new Error('a write of an aspect is neither an upsert nor a patch')
  return {
    urn: change.entityUrn,
    aspectName: change.aspectName,
    sentMetadata: change.headers?.systemMetadata ?? {},
    shown: change.kind === 'upsertAspect' ? { value: change.value } : {}
  }
}

/**
 * Adds what is known of a queued write before it is applied: the metadata as sent, the trace id to follow it
 * by, and who sent it.
 */
function withQueuedMetadata(aspect: WrittenAspect, { actor, traceId }: FastifyRequest): WrittenAspect {
  const { properties } = aspect.sentMetadata
  const systemMetadata = {
    ...aspect.sentMetadata,
    properties: { ...(isObject(properties) ? properties : {}), telemetryTraceId: traceId }
  }
  return {
    ...aspect,
    shown: { ...aspect.shown, systemMetadata, auditStamp: { time: Date.now(), actor: actor.urn } }
  }
}

/** One entity for each in the request, in its order, with its aspects. */
function gather(written: readonly WrittenAspect[]): WrittenEntity[] {
  const entities = new Map<string, WrittenEntity>()
  for (const { item, entityName, urn, aspectName, shown } of written) {
    const key = `${entityName} ${item} ${urn}`
    const known = entities.get(key) ?? { entityName, entity: { urn } }
    if (shown) known.entity[aspectName] = shown
    entities.set(key, known)
  }
  return [...entities.values()]
}
