/** Random requests to all routes of the server, with bodies that clients send, most of them with an error. */
import diagnostics from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { datasetUrn, mutated, strangeText, strangeValue, urns, type Random } from './random.ts'

/** `isRefused`: a method that the path does not support, or OPTIONS. These are sent rarely. */
export type Route = { method: string; url: string; isRefused: boolean }
export type FuzzRequest = {
  method: string
  path: string
  headers: { [name: string]: string }
  body: string | null
}

/** The routes of the server that `build` makes, so that new routes are tested automatically. */
export async function routesOf(build: () => Promise<unknown>): Promise<[Route, ...Route[]]> {
  const routes: Route[] = []
  const listen = (message: unknown): void => {
    // Fastify documents that this channel publishes this object.
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url }: RouteOptions) => {
      for (const one of [method].flat())
        routes.push({ method: one, url, isRefused: Array.isArray(method) || one === 'OPTIONS' })
    })
  }
  diagnostics.subscribe('fastify.initialization', listen)
  await build()
  diagnostics.unsubscribe('fastify.initialization', listen)
  const [first, ...others] = routes
  if (!first) throw new Error('the server has no routes')
  return [first, ...others]
}

const proposal = (
  aspectName: string,
  value: JsonValue,
  changeType = 'UPSERT',
  entityUrn = datasetUrn('a')
): JsonObject => ({
  entityType: entityUrn.split(':')[2] ?? '',
  entityUrn,
  changeType,
  aspectName,
  aspect: {
    value: JSON.stringify(value),
    contentType: changeType === 'PATCH' ? 'application/json-patch+json' : 'application/json'
  }
})
const upstreams: JsonObject = {
  upstreams: [{ dataset: datasetUrn('b'), type: 'TRANSFORMED' }],
  fineGrainedLineages: [
    {
      upstreamType: 'FIELD_SET',
      downstreamType: 'FIELD',
      upstreams: [`urn:li:schemaField:(${datasetUrn('b')},y)`],
      downstreams: [`urn:li:schemaField:(${datasetUrn('a')},x)`]
    }
  ]
}
const patch: JsonValue = [
  { op: 'add', path: '/customProperties/k', value: 'v' },
  { op: 'copy', from: '/customProperties', path: '/x' },
  { op: 'test', path: '/name', value: 'x' }
]
const inner: readonly [() => JsonObject, ...(() => JsonObject)[]] = [
  () => proposal('datasetProperties', { name: 'x', customProperties: { a: 'b' }, created: { time: 1 } }),
  () => proposal('upstreamLineage', upstreams),
  () => proposal('datasetProperties', patch, 'PATCH'),
  () =>
    proposal(
      'upstreamLineage',
      [
        {
          op: 'add',
          path: `/upstreams/${datasetUrn('c')}`,
          value: { dataset: datasetUrn('c'), type: 'VIEW' }
        }
      ],
      'PATCH'
    ),
  () => proposal('domains', { domains: ['urn:li:domain:finance'] }),
  () =>
    proposal(
      'domainProperties',
      { name: 'F', parentDomain: 'urn:li:domain:sales' },
      'UPSERT',
      'urn:li:domain:finance'
    ),
  () =>
    proposal(
      'dataJobInputOutput',
      { inputDatasets: [datasetUrn('a')], outputDatasets: [datasetUrn('b')] },
      'UPSERT',
      'urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,PROD),load)'
    ),
  () =>
    proposal('schemaMetadata', {
      schemaName: 's',
      platform: 'urn:li:dataPlatform:hive',
      version: 0,
      hash: '',
      platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
      fields: [
        { fieldPath: 'x', nativeDataType: 't', type: { type: { 'com.linkedin.schema.StringType': {} } } }
      ]
    }),
  () => proposal('datasetProfile', { timestampMillis: 1_700_000_000_000, rowCount: 5 }),
  () => ({ ...proposal('status', { removed: false }), changeType: 'DELETE' })
]
const operations: readonly [JsonObject, ...JsonObject[]] = [
  { upstreamUrn: datasetUrn('a'), downstreamUrn: datasetUrn('b') },
  { op: 'removeEdge', upstreamUrn: datasetUrn('a'), downstreamUrn: datasetUrn('b') },
  { op: 'setDomain', entityUrn: datasetUrn('a'), domainUrn: 'urn:li:domain:finance' },
  { op: 'unsetDomain', entityUrn: datasetUrn('a') },
  { op: 'createDomain', id: 'fresh', name: 'Fresh', parentDomain: 'urn:li:domain:sales' },
  { op: 'renameDomain', domainUrn: 'urn:li:domain:finance', name: 'F2' },
  { op: 'describeDomain', domainUrn: 'urn:li:domain:finance', description: 'd' },
  { op: 'moveDomain', domainUrn: 'urn:li:domain:finance', parentDomain: null },
  { op: 'deleteDomain', domainUrn: 'urn:li:domain:fresh' },
  { op: 'upsertEntity', urn: datasetUrn('c'), name: 'C', description: 'd' }
]
const entity: JsonObject = {
  urn: datasetUrn('a'),
  datasetProperties: {
    value: { name: 'v3', customProperties: {} },
    systemMetadata: { runId: 'r' },
    headers: { 'If-Version-Match': '1' }
  },
  upstreamLineage: { value: upstreams }
}

/** Names of all query parameters; each is sent to any route. */
const parameterNames: readonly [string, ...string[]] = [
  'aspect',
  'aspects',
  'aspectNames',
  'version',
  'count',
  'scrollId',
  'cursor',
  'limit',
  'format',
  'source',
  'mode',
  'atomic',
  'dryRun',
  'force',
  'missingReferences',
  'urn',
  'urns',
  'direction',
  'types',
  'start',
  'after',
  'of',
  'filters',
  'query',
  'async',
  'createIfNotExists',
  'createEntityIfNotExists',
  'systemMetadata',
  'includeSoftDelete',
  'domain',
  'hops',
  'maxHops',
  'action',
  'relationshipTypes',
  'sliceId',
  'sliceMax',
  'sortField',
  'sortOrder',
  'sortCriteria',
  'clear',
  'startTimeMillis',
  'endTimeMillis',
  'q',
  'reference',
  'pitKeepAlive',
  'skipCache',
  'onlyIncludeSearchResult'
]
const parameterValues: readonly [string, ...string[]] = [
  'true',
  'false',
  '1',
  '0',
  '10',
  'INCOMING',
  'OUTGOING',
  'UPSTREAM',
  'DOWNSTREAM',
  'ndjson',
  'csv',
  'mcp',
  'json',
  'dot',
  'graph',
  'entities',
  'edges',
  'snapshot',
  'merge',
  'reject',
  'create',
  'datasetProperties',
  'upstreamLineage',
  'dataset',
  'ingest',
  'delete',
  'listUrns',
  'ingestProposal',
  'ingestProposalBatch',
  'deleteReferences',
  'search',
  '[{"and":[{"field":"degree","values":["1"]}]}]'
]
const names: readonly [string, ...string[]] = [
  'dataset',
  'dataset',
  'dataset',
  'domain',
  'generic',
  'datasetProperties',
  'upstreamLineage',
  'nothing',
  'scroll',
  '00000000-0000-0000-0000-000000000000'
]

const loadParameters: readonly [string, ...string[]] = [
  'format=ndjson',
  'source=x',
  'mode=snapshot&source=fuzz&force=true',
  'atomic=true',
  'dryRun=true',
  'missingReferences=create',
  'wait=0.2',
  'mode=merge'
]
const actions: { [url: string]: readonly [string, ...string[]] } = {
  '/aspects': ['ingestProposal', 'ingestProposalBatch', 'getTimeseriesAspectValues'],
  '/entities': [
    'ingest',
    'delete',
    'deleteReferences',
    'listUrns',
    'search',
    'searchAcrossEntities',
    'batchIngest',
    'exists'
  ]
}
const refusedShare = 0.03

/** The routes with the most complex input are called most often. */
const writes = /^(?:\/gms)?\/(?:aspects|entities|loads|openapi\/v3\/entity)/

function pickRoute(random: Random, routes: readonly [Route, ...Route[]]): Route {
  const wantsWrite = random.chance(0.5)
  for (;;) {
    const route = random.pick(routes)
    const isWrite =
      !route.isRefused && ['POST', 'PATCH', 'PUT'].includes(route.method) && writes.test(route.url)
    if (wantsWrite ? isWrite : !route.isRefused || random.chance(refusedShare)) return route
  }
}

export function routeRequest(random: Random, routes: readonly [Route, ...Route[]]): FuzzRequest {
  const { method, url } = pickRoute(random, routes)
  const path = url.replaceAll(/:(\w+)(?:\([^)]*\))?|\*/g, (_, name: string | undefined) =>
    encoded(
      name?.toLowerCase().includes('urn')
        ? random.chance(0.9)
          ? random.pick(urns)
          : strangeText(random)
        : random.chance(0.1)
          ? random.pick(urns)
          : random.chance(0.85)
            ? random.pick(names)
            : strangeText(random)
    )
  )
  const known = method === 'POST' ? actions[url] : undefined
  const action = known && random.chance(0.9) ? random.pick(known) : null
  const isLoad = url.startsWith('/loads')
  const usual = isLoad && method === 'POST' && random.chance(0.7)
  const others = usual
    ? Array.from({ length: random.below(3) }, () => random.pick(loadParameters))
    : Array.from(
        { length: random.below(action === null ? 4 : 2) },
        () =>
          `${encoded(random.chance(0.95) ? random.pick(parameterNames) : strangeText(random))}=${encoded(parameterValue(random))}`
      )
  const query = [...(action === null ? [] : [`action=${action}`]), ...others].join('&')
  const hasBody = method !== 'GET' && method !== 'HEAD' && random.chance(0.95)
  const [type, body] = !hasBody
    ? [null, null]
    : isLoad
      ? loadBody(random)
      : ['application/json', jsonBody(random, url, action)]
  return {
    method,
    path: `${path}${query === '' ? '' : `?${query}`}`,
    headers: {
      ...(type === null ? {} : { 'content-type': random.chance(0.02) ? 'text/plain' : type }),
      ...strangeHeaders(random)
    },
    body
  }
}

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

const parameterValue = (random: Random): string =>
  random.chance(0.6) ? random.pick(parameterValues) : strangeText(random)

/** Characters that an HTTP header cannot contain are left out. */
const headerText = (random: Random): string =>
  strangeText(random)
    .replaceAll(/[^\x20-\x7e]/g, '')
    .slice(0, 300)

function strangeHeaders(random: Random): { [name: string]: string } {
  if (!random.chance(0.1)) return {}
  return {
    [random.pick([
      'if-version-match',
      'if-modified-since',
      'if-none-match',
      'idempotency-key',
      'x-missing-references',
      'accept',
      'x-request-id',
      'content-encoding',
      'traceparent',
      'x-restli-protocol-version',
      'last-event-id'
    ])]: headerText(random)
  }
}

/** The input of the action; null if it is not known. */
function bodyOfAction(action: string, sent: JsonObject, another: JsonObject): JsonValue {
  switch (action) {
    case 'ingestProposal':
      return { proposal: sent, async: sent.aspectName === 'status' ? 'true' : 'false' }
    case 'ingestProposalBatch':
      return { proposals: [sent, another] }
    case 'getTimeseriesAspectValues':
      return {
        urn: datasetUrn('a'),
        entity: 'dataset',
        aspect: 'datasetProfile',
        limit: 5,
        startTimeMillis: 1,
        endTimeMillis: 2,
        filter: { or: [{ and: [{ field: 'rowCount', values: ['5'], condition: 'EQUAL' }] }] }
      }
    case 'ingest':
      return {
        entity: {
          value: {
            'com.linkedin.metadata.snapshot.DatasetSnapshot': {
              urn: datasetUrn('a'),
              aspects: [{ 'com.linkedin.dataset.DatasetProperties': { name: 'x' } }]
            }
          }
        },
        systemMetadata: {}
      }
    case 'delete':
      return { urn: datasetUrn('c'), aspectName: 'datasetProperties' }
    case 'deleteReferences':
      return { urn: 'urn:li:tag:t', dryRun: true }
    case 'listUrns':
      return { entity: 'dataset', start: 0, count: 5 }
    case 'search':
    case 'searchAcrossEntities':
      return {
        input: 'x',
        entity: 'dataset',
        entities: ['dataset'],
        start: 0,
        count: 10,
        filter: { or: [{ and: [{ field: 'platform', values: ['hive'], condition: 'EQUAL' }] }] }
      }
    case 'exists':
      return { urn: datasetUrn('a') }
    default:
      return null
  }
}

function jsonBody(random: Random, url: string, action: string | null): string {
  const sent = random.pick(inner)()
  const ofAction: JsonValue = action === null ? null : bodyOfAction(action, sent, random.pick(inner)())
  const template = ((): JsonValue => {
    if (ofAction !== null && random.chance(0.9)) return ofAction
    if (url.includes('openapi/v3/entity') && random.chance(0.5)) return [entity]
    if (url.includes('openapi/v3') || url.includes('openapi/v2'))
      return random.pick<JsonValue>([
        [entity],
        { dataset: [entity] },
        { value: entity.datasetProperties ?? null },
        { patch },
        [{ urn: datasetUrn('a'), datasetProperties: { value: { patch } } }],
        { urns: [datasetUrn('a')], aspectNames: ['datasetProperties'] },
        [{ urn: datasetUrn('a') }],
        { entities: ['dataset'], aspects: ['datasetProperties'] }
      ])
    if (url.includes('openapi'))
      return random.pick<JsonValue>([
        { urns: [datasetUrn('a')], traceId: 'x' },
        { [datasetUrn('a')]: ['datasetProperties'] }
      ])
    return { proposal: sent }
  })()
  if (random.chance(0.05))
    return random.pick([
      '',
      '{',
      'null',
      '[]',
      '[[[[',
      '"',
      '{"__proto__":{}}',
      '{"a":9007199254740993}',
      '{"constructor":{"prototype":1}}',
      '[1e999]',
      '{"a":1,"a":2}'
    ])
  const once = random.chance(0.2) ? template : mutated(random, template)
  return JSON.stringify(random.chance(0.3) ? mutated(random, once) : once)
}

function loadBody(random: Random): [type: string, body: string] {
  const record = (): JsonValue => {
    const made: JsonValue = random.chance(0.5) ? random.pick(operations) : random.pick(inner)()
    return random.chance(0.5) ? made : mutated(random, made)
  }
  const records = Array.from({ length: random.below(4) }, record)
  const kind = random.below(4)
  if (kind === 0)
    return [
      'text/csv',
      `${random.pick(['upstream,downstream', 'resource,domain', 'upstream,upstreamColumn,downstream,downstreamColumn', strangeText(random)])}\n"${datasetUrn('a')}","${random.pick(urns)}"\n${strangeText(random)},${strangeText(random)}\n`
    ]
  if (kind === 1) return ['application/json', JSON.stringify(records)]
  const text = records.map((each) => JSON.stringify(each)).join('\n')
  return [
    'application/x-ndjson',
    random.chance(0.05)
      ? text.slice(0, random.below(text.length + 1))
      : random.chance(0.05)
        ? `${text}\n${JSON.stringify(strangeValue(random))}`
        : text
  ]
}
