/**
 * Filters of results as plain Boolean logic: a result is kept if any group matches. A group matches if all
 * its filters do. A filter matches if one of its values does, or, negated, if none does.
 */
import { CatalogError } from '../../errors.ts'
import type { LimitName } from '../../limits.ts'
import { checkCount } from '../../model/count-checks.ts'
import type { LineageDirection } from '../../model/walk.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import {
  degreeValues,
  type Candidate,
  type CommonFacts,
  type FilterCondition,
  type FilterField
} from './filter-fields.ts'
import type { LineageReader } from './lineage-reader.ts'

/** The input as clients send it. */
export type FacetFilterInput = {
  field: string
  values?: readonly string[] | null
  negated?: boolean | null
  condition?: string | null
}
export type FilterGroupInput = { and?: readonly FacetFilterInput[] | null }

/** A checked filter. */
export type Filter = {
  fieldName: string
  field: FilterField
  condition: FilterCondition
  values: readonly string[]
  isNegated: boolean
}

/** Checked groups; without groups, everything is kept. */
export type Filters = readonly (readonly Filter[])[]

const domainsField = 'domains'

/** Combines groups of filters with DataHub's older form, filters that must match in addition to them. */
export function mergedGroups(
  groups: readonly FilterGroupInput[] | null | undefined,
  beside: readonly FacetFilterInput[] | null | undefined
): readonly FilterGroupInput[] | null {
  if (!beside || beside.length === 0) return groups ?? null
  return (groups && groups.length > 0 ? groups : [{ and: [] }]).map(({ and }) => ({
    and: [...(and ?? []), ...beside]
  }))
}

/**
 * Checks groups against the allowed fields. `place` is the name of the input in messages (`input.orFilters`).
 * Throws BAD_REQUEST (unknown field, condition or value, with those allowed; no values), INVALID_URN (a
 * domain that is not a URN) and LIMIT_EXCEEDED (filterGroupsMaxCount, filtersPerGroupMaxCount,
 * filterValuesMaxCount).
 */
export function checkFilters(
  groups: readonly FilterGroupInput[] | null | undefined,
  fields: ReadonlyMap<string, FilterField>,
  place: string
): Filters {
  checkNumberOf('groups', groups?.length ?? 0, 'filterGroupsMaxCount', place)
  checkNumberOf(
    'filter values',
    (groups ?? []).reduce((sum, { and }) => sum + valueCount(and), 0),
    'filterValuesInAllMaxCount',
    place
  )
  return (groups ?? []).map((group, index) => {
    const and = group.and ?? []
    checkNumberOf('filters', and.length, 'filtersPerGroupMaxCount', `${place}[${index}].and`)
    return and.map((filter, at) => checkFilter(filter, fields, `${place}[${index}].and[${at}]`))
  })
}

const valueCount = (filters: readonly FacetFilterInput[] | null | undefined): number =>
  (filters ?? []).reduce((sum, { values }) => sum + (values?.length ?? 0), 0)

/** Number of values in checked filters. */
export const filterValueCount = (filters: Filters): number =>
  filters.flat().reduce((sum, { values }) => sum + values.length, 0)

/** Checks filters that must all match, as one group. Throws as checkFilters does. */
export function checkAllOf(
  filters: readonly FacetFilterInput[] | null | undefined,
  fields: ReadonlyMap<string, FilterField>,
  place: string
): Filters {
  checkNumberOf('filters', filters?.length ?? 0, 'filtersPerGroupMaxCount', place)
  checkNumberOf('filter values', valueCount(filters), 'filterValuesInAllMaxCount', place)
  return filters && filters.length > 0
    ? [filters.map((filter, at) => checkFilter(filter, fields, `${place}[${at}]`))]
    : []
}

function checkFilter(
  filter: FacetFilterInput,
  fields: ReadonlyMap<string, FilterField>,
  place: string
): Filter {
  const field = fields.get(filter.field)
  if (!field) {
    throw new CatalogError('BAD_REQUEST', `${place}.field is not a field that results can be filtered by`, {
      field: `${place}.field`,
      allowed: [...fields.keys()]
    })
  }
  const condition = field.conditions.find((known) => known === (filter.condition ?? 'EQUAL'))
  if (!condition) {
    throw new CatalogError(
      'BAD_REQUEST',
      `${place}.condition: ${filter.field} cannot be compared by ${filter.condition}`,
      { field: `${place}.condition`, allowed: field.conditions }
    )
  }
  const values = filter.values ?? []
  if (values.length === 0 && condition !== 'EXISTS') {
    throw new CatalogError('BAD_REQUEST', `${place}.values must name at least one value`, {
      field: `${place}.values`,
      ...(field.allowed ? { allowed: field.allowed } : {})
    })
  }
  checkNumberOf('values', values.length, 'filterValuesMaxCount', `${place}.values`)
  const { allowed } = field
  const wrong = values.findIndex((value) => allowed !== undefined && !allowed.includes(value))
  if (allowed && wrong >= 0) {
    throw new CatalogError(
      'BAD_REQUEST',
      `${values[wrong]} is not a valid filter value for ${filter.field} filters`,
      { field: `${place}.values[${wrong}]`, allowed }
    )
  }
  const spelled =
    filter.field === domainsField
      ? values.map((value, at) => toUrn(value, `${place}.values[${at}]`, 'domain'))
      : values
  return { fieldName: filter.field, field, condition, values: spelled, isNegated: filter.negated ?? false }
}

const checkNumberOf = (what: string, actual: number, limit: LimitName, field: string): void =>
  checkCount(actual, limit, { field, what: `${field} has ${actual} ${what}` })

export const mentions = (filters: Filters, fieldName: string): boolean =>
  filters.some((group) => group.some((filter) => filter.fieldName === fieldName))

/**
 * The number of hops after which nothing more can be kept: 0 if no degree matches, Infinity if any degree may
 * match. Exact for filters on degree, also negated ones, so a walk that ends there misses nothing.
 */
export function hopsWanted(filters: Filters): number {
  if (filters.length === 0) return Infinity
  const wanted = degreeValues.map((value) =>
    filters.some((group) =>
      group.every(
        (filter) => filter.fieldName !== 'degree' || filter.values.includes(value) !== filter.isNegated
      )
    )
  )
  return wanted[2] ? Infinity : wanted[1] ? 2 : wanted[0] ? 1 : 0
}

/** The functions that look up domains, such as those of a lineage reader. */
export type DomainLookup = Pick<LineageReader, 'find' | 'domainTree'>

export type FactsMatcher = {
  /** Whether all results with these facts are kept, or none; null if each must be judged by its own facts. */
  common: (facts: CommonFacts) => boolean | null
  whole: (candidate: Candidate) => boolean
  /** Aspects whose documents `whole` needs. */
  aspectNames: readonly string[]
  /** The directions in which `whole` needs to know if there are edges. */
  edges: readonly LineageDirection[]
}

/** Compiles filters into a matcher. Domains are looked up here, so judging a result never waits. */
export async function matcherOf(lookup: DomainLookup, filters: Filters): Promise<FactsMatcher> {
  const groups: FilterMatcher[][] = []
  // One after the other, because a reader in SQL has one connection for all of them.
  for (const group of filters) {
    const judges: FilterMatcher[] = []
    for (const filter of group) judges.push(await matcherOfFilter(lookup, filter))
    groups.push(judges)
  }
  const aspectNames = filters.flat().flatMap(({ field }) => aspectNamesOf(field))
  return {
    common: (facts) =>
      groups.length === 0 || anyOf(groups.map((group) => allOf(group.map((holds) => holds(facts, null))))),
    whole: (candidate) =>
      groups.length === 0 ||
      groups.some((group) => group.every((holds) => holds(candidate.common, candidate) === true)),
    aspectNames: [...new Set(aspectNames)],
    edges: [...new Set(filters.flat().flatMap(({ field }) => ('edges' in field ? (field.edges ?? []) : [])))]
  }
}

const aspectNamesOf = (field: FilterField): readonly string[] =>
  'aspectNames' in field ? field.aspectNames : (field.own?.aspectNames ?? [])

/** False if one is false, otherwise null if one is unknown. */
const allOf = (verdicts: readonly (boolean | null)[]): boolean | null =>
  verdicts.includes(false) ? false : verdicts.includes(null) ? null : true
/** True if one is true, otherwise null if one is unknown. */
const anyOf = (verdicts: readonly (boolean | null)[]): boolean | null =>
  verdicts.includes(true) ? true : verdicts.includes(null) ? null : false

/** Returns null if the field needs a candidate and there is none. */
type FilterMatcher = (facts: CommonFacts, candidate: Candidate | null) => boolean | null

async function matcherOfFilter(lookup: DomainLookup, filter: Filter): Promise<FilterMatcher> {
  const { field, isNegated } = filter
  const isOfDomains = filter.fieldName === domainsField && filter.condition !== 'EXISTS'
  const fits = comparison(
    isOfDomains ? 'IN' : filter.condition,
    isOfDomains ? await domainIdsOf(lookup, filter) : filter.values
  )
  if ('commonValuesOf' in field)
    return (facts, candidate) => {
      const values = field.commonValuesOf(facts)
      if (values.length > 0 || !field.own?.entityTypes.has(facts.entityType))
        return fits(values) !== isNegated
      return candidate && fits(field.own.valuesOf(candidate.documents)) !== isNegated
    }
  return (_facts, candidate) => candidate && fits(field.ownValuesOf(candidate)) !== isNegated
}

/** Ids, as text, of the domains that a filter selects. A domain that does not exist selects nothing. */
async function domainIdsOf(lookup: DomainLookup, { condition, values }: Filter): Promise<string[]> {
  const ids = [...(await lookup.find(values as readonly Urn[])).values()].flatMap(({ id }) => id ?? [])
  if (condition === 'EQUAL' || condition === 'IN') return ids.map(String)
  const tree = await lookup.domainTree()
  const below = condition === 'DESCENDANTS_INCL' || condition === 'RELATED_INCL' ? tree.below(ids) : []
  const above = condition === 'ANCESTORS_INCL' || condition === 'RELATED_INCL' ? tree.above(ids) : []
  return [...ids, ...below, ...above].map(String)
}

/** EQUAL and IN compare exactly; the others ignore case. */
function comparison(
  condition: FilterCondition,
  wanted: readonly string[]
): (values: readonly string[]) => boolean {
  if (condition === 'EXISTS') return (values) => values.length > 0
  if (condition === 'EQUAL' || condition === 'IN') {
    const set = new Set(wanted)
    return (values) => values.some((value) => set.has(value))
  }
  const folded = wanted.map((value) => value.toLowerCase())
  if (condition === 'CONTAIN' && folded.length > 1 && folded.join('').length <= patternMaxChars) {
    const pattern = new RegExp(folded.map(escaped).join('|'))
    return (values) => values.some((value) => pattern.test(value.toLowerCase()))
  }
  const compare = textComparisons[condition] ?? ((value, sought) => value === sought)
  return (values) =>
    values.some((value) => {
      const own = value.toLowerCase()
      return folded.some((sought) => compare(own, sought))
    })
}

/**
 * One pattern of 200 values looks at a text in a tenth of the time that 200 comparisons take. It must stay far
 * below the length at which a pattern is refused.
 */
const patternMaxChars = 20_000
const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

const textComparisons: { readonly [condition: string]: (value: string, sought: string) => boolean } = {
  CONTAIN: (value, sought) => value.includes(sought),
  START_WITH: (value, sought) => value.startsWith(sought),
  END_WITH: (value, sought) => value.endsWith(sought)
}
