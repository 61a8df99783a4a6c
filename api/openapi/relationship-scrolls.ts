/**
 * Pages of relationships, of one entity or of all: /openapi/v3/relationship and /openapi/v3/lineage/scroll.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  checkDirection,
  scrollLineage,
  scrollRelationships,
  type ScrolledRelationship,
  type ScrollInput
} from '../../shared/catalog/lineage/read-relationships.ts'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { checkCount } from '../../shared/model/count-checks.ts'
import { isObject } from '../../shared/model/json-values.ts'
import { entityTypeOf, toUrn } from '../../shared/urn/urn.ts'
import type { ApiContext } from '../context.ts'
import { storableText } from '../datahub/restli-input.ts'
import { readSlice } from './parameters.ts'

const reading = { bodyLimit: limits.proposalBodyMaxBytes, config: { access: 'read' } } as const

export function relationshipScrollRoutes(app: FastifyInstance, { db }: ApiContext): void {
  app.post('/openapi/v3/relationship/scroll', reading, async (request) => {
    const query = queryOf(request)
    const body = bodyOf(request)
    if (body.edgeFilter !== undefined && body.edgeFilter !== null)
      throw new CatalogError(
        'UNSUPPORTED',
        'edgeFilter is not supported: choose by relationshipTypes, sourceTypes and destinationTypes',
        { field: 'edgeFilter' }
      )
    const ends = {
      sourceUrns: urnsOfFilter(body.sourceFilter, 'sourceFilter'),
      destinationUrns: urnsOfFilter(body.destinationFilter, 'destinationFilter'),
      sourceTypes: texts(query, 'sourceTypes'),
      destinationTypes: texts(query, 'destinationTypes')
    }
    const isOutgoing =
      checkDirection(text(query, 'direction') ?? 'OUTGOING', ['OUTGOING', 'INCOMING']) === 'OUTGOING'
    return answer(
      await scrollRelationships(db, {
        ...pageOf(query),
        types: texts(query, 'relationshipTypes'),
        ...(isOutgoing ? ends : reversed(ends))
      })
    )
  })

  app.get<{ Params: { type: string } }>('/openapi/v3/relationship/:type', async (request) =>
    answer(await scrollRelationships(db, { ...pageOf(queryOf(request)), types: [request.params.type] }))
  )

  // A wildcard, because a raw URN may contain slashes.
  app.get<{ Params: { entityName: string; '*': string } }>(
    '/openapi/v3/relationship/:entityName/*',
    async (request) => {
      const query = queryOf(request)
      const urn = toUrn(request.params['*'], 'urn', request.params.entityName)
      if (entityTypeOf(urn) !== request.params.entityName)
        throw new CatalogError('BAD_REQUEST', `The URN is that of a ${entityTypeOf(urn)}`, {
          field: 'entityName',
          urn
        })
      const isOutgoing =
        checkDirection(text(query, 'direction') ?? 'OUTGOING', ['OUTGOING', 'INCOMING']) === 'OUTGOING'
      const types = [
        ...(texts(query, 'relationshipType') ?? []),
        ...(texts(query, 'relationshipTypes') ?? [])
      ]
      return answer(
        await scrollRelationships(db, {
          ...pageOf(query),
          types,
          ...(isOutgoing ? { sourceUrns: [urn] } : { destinationUrns: [urn] })
        })
      )
    }
  )

  app.post('/openapi/v3/lineage/scroll', reading, async (request) => {
    const query = queryOf(request)
    const { urns } = bodyOf(request)
    if (urns !== undefined && urns !== null && !isTexts(urns))
      throw new CatalogError('BAD_REQUEST', 'urns must be a list of URNs', { field: 'urns' })
    const sent = text(query, 'direction')
    const direction = sent === null ? null : checkDirection(sent, ['UPSTREAM', 'DOWNSTREAM'])
    const { scrollId, relationships } = await scrollLineage(db, {
      ...pageOf(query),
      types: texts(query, 'relationshipTypes'),
      urns: urns ?? null,
      direction
    })
    return {
      ...(scrollId === null ? {} : { scrollId }),
      results: relationships.map((relationship) => ({
        ...shown(relationship),
        upstream: relationship.upstreamUrn,
        downstream: relationship.downstreamUrn
      }))
    }
  })
}

const answer = ({
  scrollId,
  relationships
}: {
  scrollId: string | null
  relationships: ScrolledRelationship[]
}) => ({ ...(scrollId === null ? {} : { scrollId }), results: relationships.map(shown) })

const shown = ({ type, sourceUrn, destinationUrn, via: [via] }: ScrolledRelationship) => ({
  relationshipType: type,
  source: { urn: sourceUrn, entityType: entityTypeOf(sourceUrn) },
  destination: { urn: destinationUrn, entityType: entityTypeOf(destinationUrn) },
  ...(via === undefined ? {} : { via })
})

type Ends = Pick<ScrollInput, 'sourceUrns' | 'destinationUrns' | 'sourceTypes' | 'destinationTypes'>

/** INCOMING looks from the other end: filters on sources then apply to destinations. */
const reversed = ({ sourceUrns, destinationUrns, sourceTypes, destinationTypes }: Ends): Ends => ({
  sourceUrns: destinationUrns ?? null,
  destinationUrns: sourceUrns ?? null,
  sourceTypes: destinationTypes ?? null,
  destinationTypes: sourceTypes ?? null
})

type Query = { [name: string]: unknown }

/** Parameters that mean nothing here, such as pitKeepAlive, are ignored. */
const queryOf = ({ query }: FastifyRequest): Query => (isObject(query) ? query : {})

function bodyOf({ body }: FastifyRequest): JsonObject {
  if (body === undefined || body === null) return {}
  if (!isObject(body)) throw new CatalogError('BAD_REQUEST', 'The body must be a JSON object')
  return body
}

function pageOf(query: Query): Pick<ScrollInput, 'count' | 'scrollId' | 'includeSoftDelete' | 'slice'> {
  const count = text(query, 'count')
  if (count !== null && !/^\d{1,9}$/.test(count))
    throw new CatalogError('BAD_REQUEST', 'count must be a whole number', { field: 'count' })
  const removed = text(query, 'includeSoftDelete')?.toLowerCase() ?? 'false'
  if (removed !== 'true' && removed !== 'false')
    throw new CatalogError('BAD_REQUEST', 'includeSoftDelete must be true or false', {
      field: 'includeSoftDelete'
    })
  return {
    count: count === null ? null : Number(count),
    scrollId: text(query, 'scrollId'),
    includeSoftDelete: removed === 'true',
    slice: readSlice(query)
  }
}

function text(query: Query, name: string): string | null {
  const value = query[name]
  if (value === undefined || value === '') return null
  if (typeof value !== 'string')
    throw new CatalogError('BAD_REQUEST', `${name} is given twice`, { field: name })
  return value
}

/**
 * The texts of a parameter, which may be repeated, or contain several separated by commas. Throws
 * INVALID_CHARACTER.
 */
function texts(query: Query, name: string): string[] | null {
  const value = query[name] ?? query[`${name}[]`]
  if (value === undefined) return null
  return [value]
    .flat()
    .flatMap((each) => (typeof each === 'string' ? each.split(',') : []))
    .filter((each) => each !== '')
    .map((each) => storableText(each, name))
}

const isTexts = (value: JsonValue): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

/**
 * The URNs that a filter on one end allows: `{and: [{criteria: [{field: 'urn', values: […]}]}]}`. `urn` is
 * the only field supported.
 */
function urnsOfFilter(filter: JsonValue | undefined, field: string): string[] | null {
  if (filter === undefined || filter === null) return null
  const groups = isObject(filter) ? (filter.and ?? filter.or) : null
  if (!Array.isArray(groups))
    throw new CatalogError(
      'BAD_REQUEST',
      `${field} must be {and: [{criteria: [{field: "urn", values: […]}]}]}`,
      { field }
    )
  if (groups.length === 0) return null
  // Checked before the groups are compared with each other, which takes quadratic time.
  checkCount(groups.length, 'filterGroupsMaxCount', { field, what: `${groups.length} groups of filters` })
  const perGroup = groups.map((group, index) => {
    const criteria = isObject(group) ? (group.criteria ?? group.and) : null
    if (!Array.isArray(criteria))
      throw new CatalogError('BAD_REQUEST', `${field}.and[${index}].criteria must be a list`, {
        field: `${field}.and[${index}].criteria`
      })
    checkCount(criteria.length, 'filtersPerGroupMaxCount', {
      field: `${field}.and[${index}].criteria`,
      what: `${criteria.length} filters in a group`
    })
    const sets = criteria.map((criterion, at) =>
      urnsOfCriterion(criterion, `${field}.and[${index}].criteria[${at}]`)
    )
    const [first = [], ...others] = sets
    return first.filter((urn) => others.every((set) => set.includes(urn)))
  })
  const urns = [...new Set(perGroup.flat())]
  // Without this check, criteria that no URN meets would act like no filter.
  if (urns.length === 0) throw new CatalogError('BAD_REQUEST', `${field} allows no URN`, { field })
  return urns
}

function urnsOfCriterion(criterion: JsonValue, field: string): string[] {
  const condition = isObject(criterion) ? (criterion.condition ?? 'EQUAL') : null
  const isByUrn =
    isObject(criterion) &&
    criterion.field === 'urn' &&
    (condition === 'EQUAL' || condition === 'IN') &&
    criterion.negated !== true
  const values = isObject(criterion)
    ? (criterion.values ?? (criterion.value === undefined ? [] : [criterion.value]))
    : []
  if (!isByUrn || !isTexts(values))
    throw new CatalogError('UNSUPPORTED', `${field} must have the field urn and the condition EQUAL or IN`, {
      field,
      allowed: ['urn']
    })
  checkCount(values.length, 'filterValuesMaxCount', { field, what: `${values.length} URNs in a filter` })
  return values
}
