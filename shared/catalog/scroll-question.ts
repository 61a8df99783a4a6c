/** Checks the input of a lineage search and makes of it a question that can be answered without looking back at the input. */
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import { entityTypeOfGraphql, graphqlTypeOf } from '../model/entity-types.ts'
import type { LineageDirection } from '../model/walk.ts'
import { entityTypeOf, toUrn, type Urn } from '../urn/urn.ts'
import { soughtText } from './entity-texts.ts'
import { lineageFilterFields } from './filter-fields.ts'
import { checkFilters, mentions, type FilterGroupInput, type Filters } from './lineage-filters.ts'
import { pageCount } from './page-count.ts'
import { parseCursor, type ScrollCursor } from './scroll-cursor.ts'

type Maybe<T> = T | null | undefined

/** As clients send it; entity types are those of GraphQL. */
export type ScrollInput = {
  urn?: Maybe<string>
  direction: LineageDirection
  types?: Maybe<readonly string[]>
  query?: Maybe<string>
  scrollId?: Maybe<string>
  count?: Maybe<number>
  orFilters?: Maybe<readonly FilterGroupInput[]>
  startTimeMillis?: Maybe<number>
  endTimeMillis?: Maybe<number>
  searchFlags?: Maybe<SearchFlagsInput>
  lineageFlags?: Maybe<LineageFlagsInput>
}

export type SearchFlagsInput = {
  includeSoftDeleted?: Maybe<boolean>
  maxAggValues?: Maybe<number>
  skipAggregates?: Maybe<boolean>
  groupingSpec?: Maybe<{ groupingCriteria?: Maybe<readonly { baseEntityType?: Maybe<string>, groupingEntityType: string }[]> }>
}

export type LineageFlagsInput = {
  entitiesExploredPerHopLimit?: Maybe<number>
  startTimeMillis?: Maybe<number>
  endTimeMillis?: Maybe<number>
  ignoreAsHops?: Maybe<readonly unknown[]>
}

export type ScrollQuestion = {
  startUrn: Urn
  direction: LineageDirection
  /** A column's walk follows columns. */
  level: 'asset' | 'column'
  /** Whether columns reached are shown as the assets that have them. */
  foldsColumns: boolean
  /** GraphQL types to keep; null for all. */
  types: ReadonlySet<string> | null
  text: string | null
  filters: Filters
  includesRemoved: boolean
  count: number
  facetValuesMaxCount: number
  wantsFacets: boolean
  after: ScrollCursor | null
  /** Stands for everything above but the count: what a cursor is bound to. */
  identity: string
  /** Names of inputs that were given and have no effect. */
  withoutEffect: readonly string[]
}

const facetValuesDefaultCount = 20

/**
 * Throws BAD_REQUEST (no start, count below 1, a filter that is not allowed, a scroll id of another question),
 * LIMIT_EXCEEDED, INVALID_URN, INVALID_CHARACTER; the message names the input.
 */
export function checkQuestion(input: ScrollInput): ScrollQuestion {
  if ((input.urn ?? '').trim() === '') throw new CatalogError('BAD_REQUEST', 'URN must not be null or empty', { field: 'input.urn' })
  const startUrn = toUrn(input.urn, 'input.urn')
  const count = pageCount(input.count, 'input.count')
  const text = soughtText(input.query, 'input.query')
  const types = (input.types ?? []).length > 0 ? [...new Set(input.types)].sort() : null
  const filters = checkFilters(input.orFilters, lineageFilterFields, 'input.orFilters')
  const level = entityTypeOf(startUrn) === 'schemaField' ? 'column' : 'asset'
  const foldsColumns = level === 'column' && !keepsColumns(input.searchFlags)
  const includesRemoved = input.searchFlags?.includeSoftDeleted === true || mentions(filters, 'removed')
  const identity = JSON.stringify([startUrn, input.direction, types, text, input.orFilters ?? [], foldsColumns, includesRemoved])
  return {
    startUrn,
    direction: input.direction,
    level,
    foldsColumns,
    types: types && new Set(types.map((type) => graphqlTypeOf(entityTypeOfGraphql(type) ?? 'OTHER'))),
    text,
    filters,
    includesRemoved,
    count,
    facetValuesMaxCount: Math.max(0, Math.min(input.searchFlags?.maxAggValues ?? facetValuesDefaultCount, limits.pageMaxCount)),
    wantsFacets: input.searchFlags?.skipAggregates !== true,
    after: input.scrollId === null || input.scrollId === undefined ? null : parseCursor(input.scrollId, identity),
    identity,
    withoutEffect: namesWithoutEffect(input)
  }
}

const keepsColumns = (flags: Maybe<SearchFlagsInput>): boolean => (flags?.groupingSpec?.groupingCriteria ?? [])
  .some((criterion) => (criterion.baseEntityType ?? 'SCHEMA_FIELD') === 'SCHEMA_FIELD' && criterion.groupingEntityType === 'SCHEMA_FIELD')

function namesWithoutEffect({ startTimeMillis, endTimeMillis, lineageFlags }: ScrollInput): string[] {
  const given: [string, unknown][] = [
    ['startTimeMillis', startTimeMillis],
    ['endTimeMillis', endTimeMillis],
    ['lineageFlags.startTimeMillis', lineageFlags?.startTimeMillis],
    ['lineageFlags.endTimeMillis', lineageFlags?.endTimeMillis],
    ['lineageFlags.entitiesExploredPerHopLimit', lineageFlags?.entitiesExploredPerHopLimit],
    ['lineageFlags.ignoreAsHops', lineageFlags?.ignoreAsHops?.length || null]
  ]
  return given.filter(([, value]) => value !== null && value !== undefined).map(([name]) => name)
}
