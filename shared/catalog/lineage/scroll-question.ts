/**
 * Checks the input of a lineage search and turns it into a complete question: nothing looks at the input
 * again.
 */
import { hash } from 'node:crypto'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { isTypeOfUrns } from '../../model/entity-types.ts'
import { checkCount } from '../../model/count-checks.ts'
import type { LineageDirection, LineageLevel, TimeWindow } from '../../model/walk.ts'
import { entityTypeOf, toUrn, type Urn } from '../../urn/urn.ts'
import { soughtText } from '../entities/entity-texts.ts'
import { lineageFilterFields } from './filter-fields.ts'
import { walkUnits } from './read-work.ts'
import { checkFilters, filterValueCount, mentions, type FilterGroupInput } from './lineage-filters.ts'
import { pageCount } from '../entities/page-count.ts'
import { parseCursor, type ScrollCursor } from './scroll-cursor.ts'
import type { HitFilters } from './filter-hits.ts'

type Maybe<T> = T | null | undefined

/** The input as clients send it; entity types are those of GraphQL. */
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
  /** From an asset: begin at all its columns. */
  columns?: Maybe<boolean>
  /** Whether reached columns are shown as their assets; if absent, the grouping in the flags decides. */
  foldColumns?: Maybe<boolean>
  /** The largest number of shortest paths to show for each result. */
  pathsPerResult?: Maybe<number>
}

export type SearchFlagsInput = {
  skipCache?: Maybe<boolean>
  includeSoftDeleted?: Maybe<boolean>
  maxAggValues?: Maybe<number>
  skipAggregates?: Maybe<boolean>
  getSuggestions?: Maybe<boolean>
  groupingSpec?: Maybe<{
    groupingCriteria?: Maybe<readonly { baseEntityType?: Maybe<string>; groupingEntityType: string }[]>
  }>
}

type LineageFlagsInput = {
  entitiesExploredPerHopLimit?: Maybe<number>
  startTimeMillis?: Maybe<number>
  endTimeMillis?: Maybe<number>
  ignoreAsHops?: Maybe<readonly unknown[]>
}

export type ScrollQuestion = HitFilters & {
  startUrn: Urn
  direction: LineageDirection
  level: LineageLevel
  /** Whether the walk begins at the columns of the start, which is then an asset. */
  beginsAtColumns: boolean
  /** Whether reached columns are shown as their assets. */
  foldsColumns: boolean
  window: TimeWindow | null
  count: number
  facetValuesMaxCount: number
  wantsFacets: boolean
  pathsPerResult: number
  /** Whether a held result may be used if it is still valid. */
  usesHeld: boolean
  after: ScrollCursor | null
  /** Identifies everything that decides the results, but not the page: what a cursor is bound to. */
  identity: string
  /** Names of inputs that were given but have no effect. */
  withoutEffect: readonly string[]
}

const facetValuesDefaultCount = 20

/**
 * Throws BAD_REQUEST (no start, count below the least, a filter that is not allowed, a scroll id of another
 * question), LIMIT_EXCEEDED, INVALID_URN, INVALID_CHARACTER; the message names the input.
 */
export function checkQuestion(input: ScrollInput, leastCount: 0 | 1 = 1): ScrollQuestion {
  if ((input.urn ?? '').trim() === '')
    throw new CatalogError('BAD_REQUEST', 'URN must not be null or empty', { field: 'input.urn' })
  const startUrn = toUrn(input.urn, 'input.urn')
  const count = pageCount(input.count, 'input.count', limits.pageDefaultCount, leastCount)
  const text = soughtText(input.query, 'input.query')
  const types = (input.types ?? []).length > 0 ? [...new Set(input.types)].sort() : null
  const filters = checkFilters(input.orFilters, lineageFilterFields, 'input.orFilters')
  const beginsAtColumns = input.columns === true && entityTypeOf(startUrn) !== 'schemaField'
  const level = beginsAtColumns || entityTypeOf(startUrn) === 'schemaField' ? 'column' : 'asset'
  const foldsColumns = level === 'column' && (input.foldColumns ?? !keepsColumns(input.searchFlags))
  const includesRemoved = input.searchFlags?.includeSoftDeleted === true || mentions(filters, 'removed')
  const times = timesOf(input)
  const identity = hash(
    'sha256',
    JSON.stringify([
      startUrn,
      input.direction,
      types,
      text,
      input.orFilters ?? [],
      level,
      foldsColumns,
      includesRemoved,
      times
    ]),
    'base64url'
  )
  return {
    startUrn,
    direction: input.direction,
    level,
    beginsAtColumns,
    foldsColumns,
    window: windowOf(times),
    types: types && new Set(types.filter(isTypeOfUrns)),
    text,
    filters,
    includesRemoved,
    count,
    facetValuesMaxCount: Math.max(
      0,
      Math.min(input.searchFlags?.maxAggValues ?? facetValuesDefaultCount, limits.pageMaxCount)
    ),
    wantsFacets: input.searchFlags?.skipAggregates !== true,
    pathsPerResult: pathsCount(input.pathsPerResult),
    usesHeld: input.searchFlags?.skipCache !== true,
    after:
      input.scrollId === null || input.scrollId === undefined ? null : parseCursor(input.scrollId, identity),
    identity,
    withoutEffect: namesWithoutEffect(input)
  }
}

/** The cost of the search in addition to its walk. */
export const unitsOfWalk = (
  { filters, text, wantsFacets }: Pick<ScrollQuestion, 'filters' | 'text' | 'wantsFacets'>,
  { facets, paths }: { facets: boolean; paths: boolean }
): number =>
  walkUnits({
    filterValueCount: filterValueCount(filters),
    text: text !== null,
    facets: facets && wantsFacets,
    paths
  })

/** Throws BAD_REQUEST below 1 and LIMIT_EXCEEDED (pathsPerResultMaxCount). */
function pathsCount(wanted: Maybe<number>): number {
  const [count, field] = [wanted ?? 1, 'input.pathsPerResult']
  if (count < 1)
    throw new CatalogError('BAD_REQUEST', `${field} must be at least 1`, { field, actual: count })
  checkCount(count, 'pathsPerResultMaxCount', { field, what: `${field} is ${count}` })
  return count
}

type Times = { fromMs: number | null; toMs: number | null }

/** The times of the input win over those of its flags. Throws BAD_REQUEST if the end is before the start. */
function timesOf({
  startTimeMillis,
  endTimeMillis,
  lineageFlags
}: Pick<ScrollInput, 'startTimeMillis' | 'endTimeMillis' | 'lineageFlags'>): Times {
  const times = {
    fromMs: startTimeMillis ?? lineageFlags?.startTimeMillis ?? null,
    toMs: endTimeMillis ?? lineageFlags?.endTimeMillis ?? null
  }
  if (times.fromMs !== null && times.toMs !== null && times.toMs < times.fromMs) {
    throw new CatalogError('BAD_REQUEST', 'input.endTimeMillis is before input.startTimeMillis', {
      field: 'input.endTimeMillis'
    })
  }
  return times
}

/** With a start and no end, the end is now; with an end and no start, everything before it. */
const windowOf = ({ fromMs, toMs }: Times): TimeWindow | null =>
  fromMs === null && toMs === null ? null : { fromMs: fromMs ?? 0, toMs: toMs ?? Date.now() }

/** The window of an input, or null for all times. Throws BAD_REQUEST if the end is before the start. */
export const checkWindow = (
  input: Pick<ScrollInput, 'startTimeMillis' | 'endTimeMillis'>
): TimeWindow | null => windowOf(timesOf(input))

const keepsColumns = (flags: Maybe<SearchFlagsInput>): boolean =>
  (flags?.groupingSpec?.groupingCriteria ?? []).some(
    (criterion) =>
      (criterion.baseEntityType ?? 'SCHEMA_FIELD') === 'SCHEMA_FIELD' &&
      criterion.groupingEntityType === 'SCHEMA_FIELD'
  )

function namesWithoutEffect({ lineageFlags, searchFlags, foldColumns }: ScrollInput): string[] {
  const given: [string, unknown][] = [
    ['lineageFlags.entitiesExploredPerHopLimit', lineageFlags?.entitiesExploredPerHopLimit],
    ['lineageFlags.ignoreAsHops', lineageFlags?.ignoreAsHops?.length || null],
    ['searchFlags.groupingSpec', foldColumns === true && keepsColumns(searchFlags) ? true : null]
  ]
  return given.filter(([, value]) => value !== null && value !== undefined).map(([name]) => name)
}
