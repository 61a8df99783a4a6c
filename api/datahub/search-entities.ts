/**
 * Search for entities of one type in RestLi's form (POST /entities?action=search, filter): its filters and
 * its answer.
 */
import type { FacetFilterInput, FilterGroupInput } from '../../shared/catalog/lineage/lineage-filters.ts'
import { searchEntities } from '../../shared/catalog/search/search-entities.ts'
import type { LineageSources } from '../../shared/catalog/lineage/with-lineage.ts'
import { CatalogError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { graphqlTypeOf } from '../../shared/model/entity-types.ts'
import { isObject } from '../../shared/model/json-values.ts'
import { optionalInteger, optionalText, textField } from './restli-input.ts'

/**
 * A page of the entities of one type that match words and filters; empty for an unknown type. Throws
 * BAD_REQUEST, LIMIT_EXCEEDED, INVALID_CHARACTER.
 */
export async function searchIn(sources: LineageSources, body: JsonObject) {
  const [entityType, start, count] = [
    textField(body, 'entity'),
    optionalInteger(body, 'start') ?? 0,
    optionalInteger(body, 'count') ?? null
  ]
  const orFilters = groupsOf(body.filter)
  const isKnown = graphqlTypeOf(entityType) !== 'OTHER'
  const input = {
    types: [isKnown ? graphqlTypeOf(entityType) : 'DOMAIN'],
    query: optionalText(body, 'input') ?? '*',
    start,
    count,
    orFilters,
    existingOnly: true,
    searchFlags: { skipAggregates: true }
  }
  const { total, results } = await withOwnInputNames(
    searchEntities(sources, input, { facets: false, matchedFields: true })
  )
  const shown = isKnown ? results : []
  return {
    numEntities: isKnown ? total : 0,
    from: start,
    pageSize: shown.length,
    entities: shown.map(({ entity, matchedFields }) => ({ entity: entity.urn, matchedFields })),
    metadata: { aggregations: [] }
  }
}

/**
 * Reads `{or: [{and: [{field, values, condition, negated}]}]}`, or an older `value` instead of values. Throws
 * BAD_REQUEST.
 */
function groupsOf(filter: JsonValue | undefined): FilterGroupInput[] | null {
  if (filter === undefined || filter === null) return null
  const groups = isObject(filter) ? (filter.or ?? []) : null
  if (!Array.isArray(groups))
    throw new CatalogError('BAD_REQUEST', 'filter must be {or: [{and: [{field, values, condition}]}]}', {
      field: 'filter'
    })
  return groups.map((group, index) => {
    const criteria = isObject(group) ? (group.and ?? []) : null
    if (!Array.isArray(criteria))
      throw new CatalogError('BAD_REQUEST', `filter.or[${index}].and must be a list`, {
        field: `filter.or[${index}].and`
      })
    return { and: criteria.map((criterion, at) => criterionOf(criterion, `filter.or[${index}].and[${at}]`)) }
  })
}

function criterionOf(sent: JsonValue, field: string): FacetFilterInput {
  if (!isObject(sent) || typeof sent.field !== 'string')
    throw new CatalogError('BAD_REQUEST', `${field} must name a field`, { field: `${field}.field` })
  const values =
    Array.isArray(sent.values) && sent.values.length > 0
      ? sent.values
      : sent.value === undefined || sent.value === null
        ? []
        : [sent.value]
  if (!values.every((value) => typeof value === 'string'))
    throw new CatalogError('BAD_REQUEST', `${field}.values must be strings`, { field: `${field}.values` })
  return {
    field: sent.field,
    values,
    condition: typeof sent.condition === 'string' ? sent.condition : 'EQUAL',
    negated: sent.negated === true
  }
}

/** Errors name the inputs of GraphQL; this replaces them by the names used here. */
async function withOwnInputNames<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    const { field } = error.details
    const renamed = (text: string): string =>
      text
        .replaceAll('input.orFilters', 'filter.or')
        .replaceAll('input.query', 'input')
        .replaceAll(/input\.(?=start|count)/g, '')
    throw new CatalogError(
      error.code,
      renamed(error.message),
      field === undefined ? error.details : { ...error.details, field: renamed(field) },
      { cause: error }
    )
  }
}
