/**
 * The relationships of one entity: GET /relationships in RestLi's form, GET /openapi/relationships/v1/ in
 * OpenAPI's.
 */
import type { FastifyInstance } from 'fastify'
import {
  checkDirection,
  readRelated,
  type RelatedPage
} from '../../shared/catalog/lineage/read-relationships.ts'
import type { Db } from '../../shared/db/database.ts'
import { CatalogError } from '../../shared/errors.ts'
import { toUrn } from '../../shared/urn/urn.ts'
import type { ApiContext } from '../context.ts'
import { listParameter } from './restli-input.ts'

type Query = { [name: string]: string | string[] | undefined }

const defaultCount = 200

export function relationshipsRoutes(app: FastifyInstance, { db }: ApiContext): void {
  app.get<{ Querystring: Query }>('/relationships', async (request) => {
    const { start, count, total, relationships } = await related(
      db,
      request.query,
      listParameter(request, 'types')
    )
    return {
      start,
      count,
      total,
      relationships: relationships.map(({ type, urn }) => ({ type, entity: urn }))
    }
  })
}

export function relatedEntitiesRoutes(app: FastifyInstance, { db }: ApiContext): void {
  app.get<{ Querystring: Query }>('/openapi/relationships/v1', async (request) => {
    const types = request.query.relationshipTypes ?? request.query['relationshipTypes[]']
    const { start, count, total, relationships } = await related(
      db,
      request.query,
      types === undefined ? null : [types].flat()
    )
    const entities = relationships.map(({ type, urn, via: [via] }) => ({
      relationshipType: type,
      urn,
      ...(via === undefined ? {} : { via })
    }))
    return { start, count, total, entities }
  })
}

async function related(db: Db, query: Query, types: readonly string[] | null): Promise<RelatedPage> {
  const urn = toUrn(once(query, 'urn'), 'urn')
  const direction = checkDirection(once(query, 'direction') ?? '', ['INCOMING', 'OUTGOING'])
  const [page] = await readRelated(
    db,
    [urn],
    { direction, types, start: wholeNumber(query, 'start'), count: wholeNumber(query, 'count') },
    { defaultCount }
  )
  if (!page) throw new Error('one entity has one page')
  return page
}

function once(query: Query, name: string): string | undefined {
  const value = query[name]
  if (Array.isArray(value)) throw new CatalogError('BAD_REQUEST', `${name} is given twice`, { field: name })
  return value
}

function wholeNumber(query: Query, name: string): number | null {
  const text = once(query, name)
  if (text === undefined) return null
  if (!/^-?\d{1,9}$/.test(text))
    throw new CatalogError('BAD_REQUEST', `${name} must be a whole number`, { field: name })
  return Number(text)
}
