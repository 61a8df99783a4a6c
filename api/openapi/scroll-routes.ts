/**
 * GET /openapi/v3/entity/{entityName} and POST /openapi/v3/entity/scroll: pages of the entities that a search
 * finds, with their aspects.
 */
import type { FastifyInstance } from 'fastify'
import { readEntities } from '../../shared/catalog/entities/read-entities.ts'
import { inTurnIfMany, type ReadWork } from '../../shared/catalog/lineage/read-work.ts'
import { scrollEntities, type EntityScrollInput } from '../../shared/catalog/search/scroll-entities.ts'
import { CatalogError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import { checkCount } from '../../shared/model/count-checks.ts'
import { graphqlTypeOf } from '../../shared/model/entity-types.ts'
import { isObject } from '../../shared/model/json-values.ts'
import type { ApiContext } from '../context.ts'
import { showEntity } from './entity-answers.ts'
import { aspectNameOf, entityNameOf } from './entity-path.ts'
import {
  readAspectNames,
  readFlag,
  readPageCount,
  readSlice,
  readText,
  type Parameters
} from './parameters.ts'

const pageDefaultCount = 10

/** `aspects`: null for all aspects, empty for URNs only. */
type Page = { input: EntityScrollInput; aspects: readonly string[] | null; withMetadata: boolean }

export function scrollRoutes(app: FastifyInstance, { db, lineage }: ApiContext): void {
  async function scroll({ input, aspects, withMetadata }: Page, facets: boolean, work: ReadWork) {
    const count = input.count ?? pageDefaultCount
    if (aspects?.length !== 0)
      checkCount(count, 'entitiesPerReadMaxCount', {
        field: 'count',
        what: `${count} entities with their aspects in one page`
      })
    try {
      const found = await scrollEntities({ ...lineage, work }, input, { facets, matchedFields: false })
      const urns = found.results.map(({ entity }) => entity.urn)
      const views =
        aspects?.length === 0
          ? []
          : await inTurnIfMany(work, urns.length, () => readEntities(db, urns, aspects))
      const byUrn = new Map(views.map((view) => [view.urn, view.aspects]))
      const entities = urns.map((urn) => showEntity(urn, byUrn.get(urn) ?? new Map(), withMetadata))
      return { found, entities, page: found.nextScrollId === null ? {} : { scrollId: found.nextScrollId } }
    } catch (error) {
      // Errors name the inputs of GraphQL; this replaces them by the names used here.
      if (!(error instanceof CatalogError)) throw error
      const { field } = error.details
      throw new CatalogError(
        error.code,
        inWordsOfRequest(error.message),
        field === undefined ? error.details : { ...error.details, field: inWordsOfRequest(field) },
        { cause: error }
      )
    }
  }

  app.get<{ Params: { entityName: string }; Querystring: Parameters }>(
    '/openapi/v3/entity/:entityName',
    { config: { access: 'read' } },
    async ({ params, query, readWork }) => {
      const input = { ...inputOf(query), types: [graphqlTypeOf(entityNameOf(params.entityName))] }
      const { entities, page } = await scroll(
        { input, aspects: readAspectNames(query), withMetadata: readFlag(query, 'systemMetadata', false) },
        false,
        readWork
      )
      return { ...page, entities }
    }
  )

  app.post<{ Querystring: Parameters }>(
    '/openapi/v3/entity/scroll',
    { config: { access: 'read' } },
    async ({ query, body, readWork }) => {
      const sent = body ?? {}
      if (!isObject(sent))
        throw new CatalogError('BAD_REQUEST', 'Malformed request body: an object is needed')
      const names = textsOf(sent, 'entities')
      const input = {
        ...inputOf(query),
        ...(names ? { types: names.map((name) => graphqlTypeOf(entityNameOf(name))) } : {}),
        orFilters: filtersOf(sent)
      }
      // An empty list of names means all aspects. The answer has only URNs if the body does not mention
      // aspects at all.
      const named = textsOf(sent, 'aspects')?.map((name) => aspectNameOf(name, 'aspects')) ?? null
      const aspects = named?.length === 0 ? null : (named ?? [])
      const withFacets = !readFlag(query, 'skipAggregation', true)
      const { found, entities, page } = await scroll(
        { input, aspects, withMetadata: readFlag(query, 'systemMetadata', false) },
        withFacets,
        readWork
      )
      return {
        ...page,
        entities,
        ...(withFacets ? { facets: found.facets ?? [] } : {}),
        totalCount: found.total
      }
    }
  )
}

const inWordsOfRequest = (text: string): string =>
  text
    .replaceAll(/input\.orFilters\[(\d+)\]\.and\b/g, 'filter.and[$1].criteria')
    .replaceAll('input.orFilters', 'filter.and')
    .replaceAll(/input\.(?=[a-zA-Z])/g, '')

/**
 * The parameters of the query that both routes share. Always ordered by id, so that a scroll returns each
 * entity once.
 */
const inputOf = (query: Parameters): EntityScrollInput => ({
  query: readText(query, 'query') ?? '*',
  scrollId: readText(query, 'scrollId'),
  count: readPageCount(query, pageDefaultCount),
  searchFlags: { includeSoftDeleted: readFlag(query, 'includeSoftDelete', false) },
  existingOnly: true,
  slice: readSlice(query)
})

/** Throws BAD_REQUEST if it is not a list of texts. */
function textsOf(body: JsonObject, name: string): string[] | null {
  const sent = body[name] ?? null
  if (sent === null) return null
  if (!Array.isArray(sent))
    throw new CatalogError('BAD_REQUEST', `${name} must be a list of strings`, { field: name })
  return sent.map((text, index) => {
    if (typeof text !== 'string')
      throw new CatalogError('BAD_REQUEST', `${name} must be a list of strings`, {
        field: `${name}[${index}]`
      })
    return text
  })
}

/**
 * Reads `filter: {and: [{criteria: […]}]}`: one item of the outer list must match, and all items of its inner
 * list. Throws BAD_REQUEST.
 */
function filtersOf(body: JsonObject): NonNullable<EntityScrollInput['orFilters']> {
  const filter = body.filter ?? {}
  const groups = isObject(filter) ? (filter.and ?? filter.or ?? []) : null
  if (!Array.isArray(groups))
    throw new CatalogError('BAD_REQUEST', 'filter.and must be a list', { field: 'filter.and' })
  return groups.map((group, index) => {
    const field = `filter.and[${index}].criteria`
    const criteria = isObject(group) ? (group.criteria ?? group.and ?? []) : null
    if (!Array.isArray(criteria)) throw new CatalogError('BAD_REQUEST', `${field} must be a list`, { field })
    return {
      and: criteria.map((criterion, at) => {
        if (!isObject(criterion) || typeof criterion.field !== 'string')
          throw new CatalogError('BAD_REQUEST', `${field}[${at}] must be an object with a field`, {
            field: `${field}[${at}]`
          })
        const { condition = null, negated = null, value = null } = criterion
        if (condition !== null && typeof condition !== 'string')
          throw new CatalogError('BAD_REQUEST', `${field}[${at}].condition must be a string`, {
            field: `${field}[${at}].condition`
          })
        const values = textsOf(criterion, 'values') ?? (typeof value === 'string' ? [value] : [])
        return { field: criterion.field, values, condition, negated: negated === true }
      })
    }
  })
}
