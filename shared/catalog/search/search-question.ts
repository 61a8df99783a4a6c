/**
 * Checks the input of a search for entities and turns it into a complete question: nothing looks at the input
 * again.
 */
import { hash } from 'node:crypto'
import { limits } from '../../limits.ts'
import { isTypeOfUrns, searchableTypes } from '../../model/entity-types.ts'
import {
  allOf,
  anyKeyQuery,
  anyOf,
  fieldKey,
  keyQuery,
  nameBeginsQuery,
  nameKey,
  partWordsQuery,
  termsQuery
} from '../../model/search-vector.ts'
import { folded, searchTerms, wordsOfPart, type SearchTerm } from '../../model/search-words.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import { soughtText } from '../entities/entity-texts.ts'
import { entityFilterFields, type FilterCondition } from '../lineage/filter-fields.ts'
import {
  checkFilters,
  mentions,
  mergedGroups,
  type FacetFilterInput,
  type Filter,
  type FilterGroupInput,
  type Filters
} from '../lineage/lineage-filters.ts'
import { pageCount } from '../entities/page-count.ts'
import type { SearchFlagsInput } from '../lineage/scroll-question.ts'
import type { HitFilters } from '../lineage/filter-hits.ts'
import type { Slice } from '../entities/slice.ts'

type Maybe<T> = T | null | undefined

/** The input as clients send it; entity types are those of GraphQL. */
export type EntitySearchInput = {
  types?: Maybe<readonly string[]>
  query?: Maybe<string>
  count?: Maybe<number>
  /** DataHub's older form: these filters must match in addition to the groups. */
  filters?: Maybe<readonly FacetFilterInput[]>
  orFilters?: Maybe<readonly FilterGroupInput[]>
  searchFlags?: Maybe<SearchFlagsInput>
  /** Leaves out placeholders. */
  existingOnly?: Maybe<boolean>
  /** Keeps only the entities of this slice. */
  slice?: Maybe<Slice>
}

export type EntityQuestion = HitFilters & {
  count: number
  /** The words to find; null for everything. */
  terms: readonly SearchTerm[] | null
  /** The URN that the query is; null for any other query. */
  urn: Urn | null
  /** The query in the form in which names are compared; null if there is none. */
  foldedText: string | null
  /** The condition that documents must match, as a tsquery; null if documents need not be searched. */
  words: string | null
  /**
   * A condition besides the words that the documents of all results match, as a tsquery; null if it would not
   * exclude anything.
   */
  narrow: string | null
  /** All filters: those in `filters`, and those that the tsquery already applies. */
  allFilters: Filters
  wantsFacets: boolean
  facetValuesMaxCount: number
  slice: Slice | null
  /** Identifies everything that decides the results, but not the page. */
  identity: string
}

const facetValuesDefaultCount = 20

/**
 * Throws BAD_REQUEST (count below 0, a filter that is not allowed), LIMIT_EXCEEDED, INVALID_URN, INVALID_CHARACTER; the
 * message names the input.
 */
export function checkEntityQuestion(input: EntitySearchInput): EntityQuestion {
  const count = pageCount(input.count, 'input.count', limits.pageDefaultCount, 0)
  const text = soughtText(input.query, 'input.query')
  const urn = text?.startsWith('urn:li:') && !text.endsWith('*') ? toUrn(text, 'input.query') : null
  const terms = text === null || urn !== null ? null : searchTerms(text)
  const types = [...new Set(input.types && input.types.length > 0 ? input.types : searchableTypes)].sort()
  const groups = mergedGroups(input.orFilters, input.filters)
  const filters = checkFilters(
    groups,
    entityFilterFields,
    input.filters?.length ? 'input.filters' : 'input.orFilters'
  )
  const includesRemoved = input.searchFlags?.includeSoftDeleted === true || mentions(filters, 'removed')
  const existingOnly = input.existingOnly === true
  const narrow = [...typesQuery(input.types), ...present(narrowing(filters, () => true))]
  // A query without any word matches nothing, whatever the filters are.
  const words =
    terms === null
      ? narrowing(filters, isOwn)
      : terms.length === 0
        ? ''
        : allOf([termsQuery(terms), ...narrow])
  return {
    count,
    terms,
    urn,
    foldedText:
      terms === null || text === null
        ? null
        : folded(
            text
              .replace(/^\/q\s+/, '')
              .replaceAll(/["*]/g, '')
              .trim()
          ),
    words,
    narrow: narrow.length > 0 ? allOf(narrow) : null,
    types: new Set(types.filter(isTypeOfUrns)),
    text: null,
    filters: words === null ? filters : withoutDecided(filters),
    allFilters: filters,
    includesRemoved,
    existingOnly,
    wantsFacets: input.searchFlags?.skipAggregates !== true,
    facetValuesMaxCount: Math.max(
      0,
      Math.min(input.searchFlags?.maxAggValues ?? facetValuesDefaultCount, limits.pageMaxCount)
    ),
    slice: input.slice ?? null,
    identity: hash(
      'sha256',
      JSON.stringify([
        'entities',
        types,
        text,
        groups ?? [],
        includesRemoved,
        existingOnly,
        ...(input.slice ? [input.slice] : [])
      ]),
      'base64url'
    )
  }
}

const present = (value: string | null): string[] => (value === null ? [] : [value])

/** More types than this match almost every document. */
const narrowTypesMaxCount = 4

function typesQuery(types: Maybe<readonly string[]>): string[] {
  return types && types.length > 0 && types.length <= narrowTypesMaxCount
    ? [anyOf([...new Set(types)].map((type) => keyQuery(fieldKey('type', type))))]
    : []
}

/**
 * One of these tsqueries matches every document that fits the filter; none if documents do not tell. With
 * `decides`, what they match fits the filter.
 */
type Told = { queries: string[]; decides: boolean }

const untold: Told = { queries: [], decides: false }

function toldOf({ field, fieldName, condition, values, isNegated }: Filter): Told {
  if (isNegated) return untold
  if (fieldName === 'name') {
    const queries = values.map((value) => nameQuery(condition, value))
    return { queries: queries.every((query) => query !== null) ? queries : [], decides: false }
  }
  if (field.key === undefined) return untold
  const { key } = field
  // The documents of some types do not have the values, so all entities of these types are looked at.
  const typesWithOwn = 'own' in field ? [...(field.own?.entityTypes ?? [])] : []
  const ofTypes = typesWithOwn.map((type) => keyQuery(fieldKey('type', type)))
  const decides = ofTypes.length === 0
  if (condition === 'EXISTS') return { queries: [anyKeyQuery(key), ...ofTypes], decides }
  return condition === 'EQUAL' || condition === 'IN'
    ? { queries: [...values.map((value) => keyQuery(fieldKey(key, value))), ...ofTypes], decides }
    : untold
}

/** Matches every document with such a name; null if documents do not tell. */
function nameQuery(condition: FilterCondition, value: string): string | null {
  if (condition === 'EQUAL' || condition === 'IN' || condition === 'IEQUAL')
    return keyQuery(nameKey(folded(value)))
  if (!isPlain(value)) return null
  // In names, a sign after the last character may have become one with it.
  if (condition === 'START_WITH') return nameBeginsQuery(folded(value).slice(0, -1))
  if (condition !== 'CONTAIN' && condition !== 'END_WITH') return null
  const words = wordsOfPart(value, condition === 'END_WITH')
  return words.length > 0 ? partWordsQuery(words) : null
}

const isPlain = (value: string): boolean => /^[\x20-\x7e]{2,}$/.test(value)

/** Shared facts are filtered faster in memory, unless a text is searched as well. */
const isOwn = ({ field }: Filter): boolean => 'ownValuesOf' in field

/**
 * A condition that the documents of all matching entities satisfy; null if it would not exclude anything.
 * Postgres reads a long tsquery by recursion, which filterValuesInAllMaxCount bounds.
 */
function narrowing(filters: Filters, counts: (filter: Filter) => boolean): string | null {
  const groups = filters.map((group) =>
    allOf(
      group
        .filter(counts)
        .map((filter) => toldOf(filter).queries)
        .filter((queries) => queries.length > 0)
        .map(anyOf)
    )
  )
  return groups.length === 0 || groups.includes('') ? null : anyOf(groups)
}

/** The filters, without those that the documents of a single group decide exactly. */
function withoutDecided(filters: Filters): Filters {
  const [only, ...others] = filters
  if (!only || others.length > 0) return filters
  return [only.filter((filter) => !isOwn(filter) || !toldOf(filter).decides)]
}
