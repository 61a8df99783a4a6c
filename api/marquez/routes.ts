/**
 * GET below /api/v1: Marquez' reads of lineage, namespaces, jobs, datasets and events, in its shapes.
 * Read-only.
 */
import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import {
  listNamed,
  listNamespaces,
  readNamed,
  readNamespace,
  type Namespace,
  type PlainPage
} from '../../shared/catalog/openlineage/list-named-assets.ts'
import { readColumnGraph, readJobGraph } from '../../shared/catalog/openlineage/read-node-graph.ts'
import { readStoredEvents } from '../../shared/catalog/openlineage/read-stored-events.ts'
import { searchNamed } from '../../shared/catalog/openlineage/search-named-assets.ts'
import { CatalogError } from '../../shared/errors.ts'
import { checkCount } from '../../shared/model/count-checks.ts'
import type { LineageDirection } from '../../shared/model/walk.ts'
import { toUrn } from '../../shared/urn/urn.ts'
import type { ApiContext } from '../context.ts'
import { readQuery, type Query } from '../query-parameters.ts'

const listDefaultCount = 100
const searchDefaultCount = 10
const depthDefault = 20
/** The cost of a page of events: all events are counted, and those before the page are skipped. */
const eventsUnits = 5

export function marquezRoutes(app: FastifyInstance, { db, lineage, connections }: ApiContext): void {
  const get = (url: string, handler: RouteHandlerMethod): void => {
    app.get(`/api/v1${url}`, { config: { access: 'read' } }, handler)
  }
  get('/lineage', (request) => {
    const query = readQuery(request.query, ['nodeId', 'depth', 'direction'])
    return readJobGraph(
      { ...lineage, work: request.readWork },
      { nodeId: query.nodeId, depth: depthIn(query), direction: directionIn(query.direction) },
      connections
    )
  })
  get('/column-lineage', (request) => {
    const query = readQuery(request.query, ['nodeId', 'depth', 'direction', 'withDownstream'])
    const withDownstream = switchIn(query.withDownstream, 'withDownstream')
    if (query.direction !== undefined && withDownstream !== null)
      throw new CatalogError('BAD_REQUEST', 'Give direction or withDownstream, not both', {
        field: 'direction'
      })
    const direction =
      query.direction === undefined ? (withDownstream ? null : 'UPSTREAM') : directionIn(query.direction)
    return readColumnGraph(
      { ...lineage, work: request.readWork },
      { nodeId: query.nodeId, depth: depthIn(query), direction },
      connections
    )
  })
  get('/namespaces', async (request) => {
    const rows = await listNamespaces(
      { ...lineage, work: request.readWork },
      pageIn(readQuery(request.query, ['limit', 'offset']))
    )
    return { namespaces: rows.map(printNamespace) }
  })
  get('/namespaces/:namespace', async (request) =>
    printNamespace(
      await readNamespace({ ...lineage, work: request.readWork }, partOf(request.params, 'namespace'))
    )
  )
  for (const [list, kind] of [
    ['datasets', 'dataset'],
    ['jobs', 'dataJob']
  ] as const) {
    get(`/namespaces/:namespace/${list}`, async (request) => {
      const page = pageIn(readQuery(request.query, ['limit', 'offset']))
      const { cards, total } = await listNamed(
        { ...lineage, work: request.readWork },
        kind,
        partOf(request.params, 'namespace'),
        page
      )
      return { [list]: cards.map(({ data }) => data), totalCount: total }
    })
    get(`/namespaces/:namespace/${list}/:name`, async (request) => {
      const [namespace, name] = [partOf(request.params, 'namespace'), partOf(request.params, 'name')]
      return (await readNamed({ ...lineage, work: request.readWork }, kind, { namespace, name }, connections))
        .data
    })
  }
  get('/events/lineage', async (request, reply) => {
    const query = readQuery(request.query, ['before', 'after', 'sortDirection', 'limit', 'offset', 'urn'])
    const { offset, count } = pageIn(query)
    const sort = query.sortDirection ?? 'desc'
    if (!['asc', 'desc'].includes(sort))
      throw new CatalogError('BAD_REQUEST', 'sortDirection must be asc or desc', {
        field: 'sortDirection',
        allowed: ['asc', 'desc']
      })
    const question = {
      subject: query.urn === undefined ? null : toUrn(query.urn, 'urn'),
      afterMs: timeIn(query.after, 'after'),
      beforeMs: timeIn(query.before, 'before'),
      isAscending: sort === 'asc',
      offset,
      count
    }
    const page = await request.readWork.run(eventsUnits, () => readStoredEvents(db, question))
    // Events are sent as the text that was stored.
    return reply
      .type('application/json; charset=utf-8')
      .send(
        `{"events":[${page.texts.join(',')}],"totalCount":${page.total},"truncatedBy":${page.isCut ? '"openLineageBatchMaxBytes"' : 'null'}}`
      )
  })
  get('/search', (request) => {
    const query = readQuery(request.query, ['q', 'filter', 'sort', 'limit'])
    return searchNamed(
      { ...lineage, work: request.readWork },
      { ...query, count: numberIn(query.limit, 'limit', searchDefaultCount) }
    )
  })
}

const printNamespace = ({ name, createdAt, updatedAt }: Namespace) => ({
  name,
  createdAt,
  updatedAt,
  ownerName: 'anonymous',
  description: null,
  isHidden: false
})

function partOf(params: unknown, name: string): string {
  const value: unknown =
    typeof params === 'object' && params !== null
      ? Object.getOwnPropertyDescriptor(params, name)?.value
      : null
  if (typeof value === 'string' && value !== '') return value
  throw new CatalogError('BAD_REQUEST', `${name} must be given`, { field: name })
}

function numberIn(text: string | undefined, field: string, otherwise: number): number {
  if (text === undefined) return otherwise
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new CatalogError('BAD_REQUEST', `${field} must be a whole number that is not negative`, { field })
}

function pageIn({ limit, offset }: Query): PlainPage {
  const count = numberIn(limit, 'limit', listDefaultCount)
  checkCount(count, 'openLineagePageMaxCount', { field: 'limit', what: `limit is ${count}` })
  return { count, offset: numberIn(offset, 'offset', 0) }
}

function depthIn({ depth }: Query): number {
  const found = numberIn(depth, 'depth', depthDefault)
  checkCount(found, 'walkMaxHops', { field: 'depth', what: `depth is ${found}` })
  return found
}

const directions: { readonly [text: string]: LineageDirection | null } = {
  upstream: 'UPSTREAM',
  downstream: 'DOWNSTREAM',
  both: null
}

function directionIn(text = 'both'): LineageDirection | null {
  const found = Object.hasOwn(directions, text.toLowerCase()) ? directions[text.toLowerCase()] : undefined
  if (found !== undefined) return found
  throw new CatalogError('BAD_REQUEST', 'direction must be upstream, downstream or both', {
    field: 'direction',
    allowed: Object.keys(directions)
  })
}

function switchIn(text: string | undefined, field: string): boolean | null {
  if (text === undefined) return null
  if (text === 'true' || text === 'false') return text === 'true'
  throw new CatalogError('BAD_REQUEST', `${field} must be true or false`, { field })
}

function timeIn(text: string | undefined, field: string): number | null {
  if (text === undefined) return null
  const time = Date.parse(text)
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(time)) return time
  throw new CatalogError('BAD_REQUEST', `${field} must be a time such as 2026-01-31T12:00:00Z`, { field })
}
