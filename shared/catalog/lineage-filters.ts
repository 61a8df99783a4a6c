/**
 * Filters of results: plain Boolean logic. A result is kept when one group holds; a group holds when all its filters do;
 * a filter holds when one of its values fits, or, negated, when none does.
 */
import type { Db, Tx } from '../db/database.ts'
import { CatalogError } from '../errors.ts'
import type { LimitName } from '../limits.ts'
import { checkCount } from '../model/count-checks.ts'
import { domainsAbove, domainsBelow } from '../store/domain-reads.ts'
import { findEntities } from '../store/entities.ts'
import { toUrn, type Urn } from '../urn/urn.ts'
import { degreeValues, type Candidate, type FilterCondition, type FilterField } from './filter-fields.ts'

/** As clients send it. */
export type FacetFilterInput = { field: string, values?: readonly string[] | null, negated?: boolean | null, condition?: string | null }
export type FilterGroupInput = { and?: readonly FacetFilterInput[] | null }

/** A filter that has been checked. */
type Filter = { fieldName: string, field: FilterField, condition: FilterCondition, values: readonly string[], isNegated: boolean }

/** Groups that have been checked; no groups keep everything. */
export type Filters = readonly (readonly Filter[])[]

const domainsField = 'domains'

/**
 * Checks groups against the fields that may be used. `place` is the input's name for messages (`input.orFilters`).
 * Throws BAD_REQUEST (unknown field, condition or value, with those allowed; no values), INVALID_URN (a domain that is no
 * URN) and LIMIT_EXCEEDED (filterGroupsMaxCount, filtersPerGroupMaxCount, filterValuesMaxCount).
 */
export function checkFilters(groups: readonly FilterGroupInput[] | null | undefined, fields: ReadonlyMap<string, FilterField>, place: string): Filters {
  checkNumberOf('groups', groups?.length ?? 0, 'filterGroupsMaxCount', place)
  return (groups ?? []).map((group, index) => {
    const and = group.and ?? []
    checkNumberOf('filters', and.length, 'filtersPerGroupMaxCount', `${place}[${index}].and`)
    return and.map((filter, at) => checkFilter(filter, fields, `${place}[${index}].and[${at}]`))
  })
}

/** Checks filters that must all hold, as one group. Throws as checkFilters does. */
export function checkAllOf(filters: readonly FacetFilterInput[] | null | undefined, fields: ReadonlyMap<string, FilterField>, place: string): Filters {
  checkNumberOf('filters', filters?.length ?? 0, 'filtersPerGroupMaxCount', place)
  return filters && filters.length > 0 ? [filters.map((filter, at) => checkFilter(filter, fields, `${place}[${at}]`))] : []
}

function checkFilter(filter: FacetFilterInput, fields: ReadonlyMap<string, FilterField>, place: string): Filter {
  const field = fields.get(filter.field)
  if (!field) {
    throw new CatalogError('BAD_REQUEST', `${place}.field is not a field that results can be filtered by`, { field: `${place}.field`, allowed: [...fields.keys()] })
  }
  const condition = field.conditions.find((known) => known === (filter.condition ?? 'EQUAL'))
  if (!condition) {
    throw new CatalogError('BAD_REQUEST', `${place}.condition: ${filter.field} cannot be compared by ${filter.condition}`, { field: `${place}.condition`, allowed: field.conditions })
  }
  const values = filter.values ?? []
  if (values.length === 0 && condition !== 'EXISTS') {
    throw new CatalogError('BAD_REQUEST', `${place}.values must name at least one value`, { field: `${place}.values`, ...(field.allowed ? { allowed: field.allowed } : {}) })
  }
  checkNumberOf('values', values.length, 'filterValuesMaxCount', `${place}.values`)
  const { allowed } = field
  const wrong = values.findIndex((value) => allowed !== undefined && !allowed.includes(value))
  if (allowed && wrong >= 0) {
    throw new CatalogError('BAD_REQUEST', `${values[wrong]} is not a valid filter value for ${filter.field} filters`, { field: `${place}.values[${wrong}]`, allowed })
  }
  const spelled = filter.field === domainsField ? values.map((value, at) => toUrn(value, `${place}.values[${at}]`)) : values
  return { fieldName: filter.field, field, condition, values: spelled, isNegated: filter.negated ?? false }
}

const checkNumberOf = (what: string, actual: number, limit: LimitName, field: string): void => checkCount(actual, limit, { field, what: `${field} has ${actual} ${what}` })

/** What must be read of an entity before the filters can judge it. */
export type FilterNeeds = { urns: boolean, domains: boolean, aspectNames: ReadonlySet<string> }

export function needsOf(filters: Filters): FilterNeeds {
  const used = filters.flat()
  return {
    urns: used.some(({ field }) => field.needsUrn === true),
    domains: used.some(({ fieldName }) => fieldName === domainsField),
    aspectNames: new Set(used.flatMap(({ field }) => field.aspectNames ?? []))
  }
}

export const mentions = (filters: Filters, fieldName: string): boolean => filters.some((group) => group.some((filter) => filter.fieldName === fieldName))

/**
 * The hops after which no further result can be kept: 0 where no degree can satisfy the filters, Infinity where any
 * can. Exact for what the degree filters say, negation included, so a walk that ends there has lost nothing.
 */
export function hopsWanted(filters: Filters): number {
  if (filters.length === 0) return Infinity
  const wanted = degreeValues.map((value) => filters.some((group) => group.every((filter) => filter.fieldName !== 'degree' || filter.values.includes(value) !== filter.isNegated)))
  return wanted[2] ? Infinity : wanted[1] ? 2 : wanted[0] ? 1 : 0
}

/** Makes the judge. Domains are looked up now, so that each result is then judged without a database. */
export async function judgeOf(db: Db | Tx, filters: Filters): Promise<(candidate: Candidate) => boolean> {
  const judges = await Promise.all(filters.map((group) => Promise.all(group.map((filter) => judgeOfFilter(db, filter)))))
  return (candidate) => judges.length === 0 || judges.some((group) => group.every((holds) => holds(candidate)))
}

async function judgeOfFilter(db: Db | Tx, filter: Filter): Promise<(candidate: Candidate) => boolean> {
  const values = filter.fieldName === domainsField && filter.condition !== 'EXISTS' ? await domainIdsOf(db, filter) : filter.values
  const fits = comparison(filter.fieldName === domainsField && filter.condition !== 'EXISTS' ? 'IN' : filter.condition, values)
  return (candidate) => fits(filter.field.valuesOf(candidate)) !== filter.isNegated
}

/** Ids of the domains that a filter means, as text. A domain that does not exist means none. */
async function domainIdsOf(db: Db | Tx, { condition, values }: Filter): Promise<string[]> {
  const ids = (await findEntities(db, values as readonly Urn[])).map((row) => row.id)
  const below = condition === 'DESCENDANTS_INCL' || condition === 'RELATED_INCL' ? await domainsBelow(db, ids) : []
  const above = condition === 'ANCESTORS_INCL' || condition === 'RELATED_INCL' ? await domainsAbove(db, ids) : []
  return [...ids, ...below, ...above].map(String)
}

/** EQUAL and IN compare exactly; the others take no account of case. */
function comparison(condition: FilterCondition, wanted: readonly string[]): (values: readonly string[]) => boolean {
  if (condition === 'EXISTS') return (values) => values.length > 0
  if (condition === 'EQUAL' || condition === 'IN') {
    const set = new Set(wanted)
    return (values) => values.some((value) => set.has(value))
  }
  const folded = wanted.map((value) => value.toLowerCase())
  const compare = textComparisons[condition] ?? ((value, sought) => value === sought)
  return (values) => values.some((value) => {
    const own = value.toLowerCase()
    return folded.some((sought) => compare(own, sought))
  })
}

const textComparisons: { readonly [condition: string]: (value: string, sought: string) => boolean } = {
  CONTAIN: (value, sought) => value.includes(sought),
  START_WITH: (value, sought) => value.startsWith(sought),
  END_WITH: (value, sought) => value.endsWith(sought)
}
