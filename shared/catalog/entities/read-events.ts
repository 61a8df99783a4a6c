/** Reads the events in time of one entity, newest first, and counts the entities that have an aspect. */
import type { Db } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { checkCount } from '../../model/count-checks.ts'
import { checkJson } from '../../model/json-checks.ts'
import { isObject } from '../../model/json-values.ts'
import { countEntitiesWith, pageOfEvents } from '../../store/aspect-lists.ts'
import { findEntities } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'
import { pageCount } from './page-count.ts'

/** The input as clients send it. `filter` is `{or: [{and: [{field, values, condition}]}]}`. */
export type EventsInput = {
  count?: number | undefined
  startTimeMillis?: number | undefined
  endTimeMillis?: number | undefined
  filter?: JsonValue | undefined
}

export type EventView = { value: JsonObject; systemMetadata: JsonObject | null }

/**
 * Empty if nothing is stored. Throws BAD_REQUEST, LIMIT_EXCEEDED, and UNSUPPORTED for a filter other than
 * equality.
 */
export async function readEvents(
  db: Db,
  urn: Urn,
  aspectName: string,
  input: EventsInput
): Promise<EventView[]> {
  const count = pageCount(input.count, 'limit')
  const matching = matchingOf(input.filter)
  const [entity] = await findEntities(db, [urn])
  if (!entity) return []
  return pageOfEvents(
    db,
    { entityId: entity.id, aspectName },
    { count, from: input.startTimeMillis ?? null, to: input.endTimeMillis ?? null, matching }
  )
}

/**
 * The number of entities with the aspect; if `urnLike` is set, of those whose URN matches it (`%` stands for
 * any text). Throws BAD_REQUEST.
 */
export async function countAspect(db: Db, aspectName: string, urnLike: string | null): Promise<number> {
  // A backslash escapes what follows it.
  if (urnLike !== null && /^(?:[^\\]|\\[^])*\\$/.test(urnLike))
    throw new CatalogError('BAD_REQUEST', 'urnLike must not end with a single backslash', {
      field: 'urnLike'
    })
  return countEntitiesWith(db, aspectName, urnLike)
}

/**
 * The filter as groups of documents; an event must contain one document of each group. Null if there is no
 * filter.
 */
function matchingOf(filter: JsonValue | undefined): JsonObject[][] | null {
  if (filter === undefined || filter === null) return null
  const checked = checkJson(filter, 'filter')
  const groups = isObject(checked) ? (checked.or ?? []) : null
  if (!Array.isArray(groups))
    throw new CatalogError('BAD_REQUEST', 'filter must be {or: [{and: [{field, values, condition}]}]}', {
      field: 'filter'
    })
  const read = groups.map((group, index) => {
    const criteria = isObject(group) ? (group.and ?? []) : null
    if (!Array.isArray(criteria))
      throw new CatalogError('BAD_REQUEST', `filter.or[${index}].and must be a list`, {
        field: `filter.or[${index}].and`
      })
    checkCount(criteria.length, 'filtersPerGroupMaxCount', {
      field: `filter.or[${index}].and`,
      what: `${criteria.length} filters in a group`
    })
    return criteria.map((criterion, at) => alternativesOf(criterion, `filter.or[${index}].and[${at}]`))
  })
  if (read.length === 0 || read.some((group) => group.length === 0)) return null
  // Clients send groups of one criterion each; all criteria of a group must match.
  if (read.length > 1)
    throw new CatalogError('UNSUPPORTED', 'A filter of events has one group in `or`', { field: 'filter.or' })
  return read[0] ?? null
}

/**
 * The documents that match one criterion: its field with one of its values, as text or as the value that the
 * text spells.
 */
function alternativesOf(criterion: JsonValue, field: string): JsonObject[] {
  if (!isObject(criterion) || typeof criterion.field !== 'string' || criterion.field === '')
    throw new CatalogError('BAD_REQUEST', `${field} must name a field`, { field: `${field}.field` })
  if ((criterion.condition ?? 'EQUAL') !== 'EQUAL' || criterion.negated === true)
    throw new CatalogError('UNSUPPORTED', `${field} must have the condition EQUAL`, {
      field: `${field}.condition`,
      allowed: ['EQUAL']
    })
  const values = Array.isArray(criterion.values) ? criterion.values : [criterion.value ?? null]
  checkCount(values.length, 'filterValuesMaxCount', {
    field: `${field}.values`,
    what: `${values.length} values of a filter`
  })
  const path = criterion.field.split('.')
  checkCount(path.length, 'jsonMaxDepth', {
    field: `${field}.field`,
    what: `A path of ${path.length} fields`
  })
  return values.flatMap((value) => [value, ...literalOf(value)].map((each) => nested(path, each)))
}

const literalOf = (value: JsonValue): JsonValue[] =>
  typeof value === 'string' && /^(?:true|false|-?\d{1,15})$/.test(value) ? [JSON.parse(value)] : []

const nested = ([name = '', ...rest]: readonly string[], value: JsonValue): JsonObject => ({
  [name]: rest.length === 0 ? value : nested(rest, value)
})
