/** The question of the search page: its words and filters in the address, and as a command. */
import { typesInDomains } from '../api/entity.ts'
import { search, type Filter, type SearchVariables } from '../api/queries.ts'
import { graphqlCommand, quoted } from '../command-line.ts'
import { noDomain } from './impact-question.ts'

/** Filters in the address: `f=platform:hive` for each value. One value of each field must match. */
function filtersOf(params: URLSearchParams): Filter[] {
  const values = new Map<string, string[]>()
  for (const text of params.getAll('f')) {
    const [field = '', ...rest] = text.split(':')
    values.set(field, [...(values.get(field) ?? []), rest.join(':')])
  }
  return [...values].map(([field, values]) => ({ field, values }))
}

export const domainsField = 'domains'
export const lineageField = 'hasLineage'
/** The fields that the page has a list of values for. */
const facetFields = [
  '_entityType',
  'platform',
  domainsField,
  'owners',
  'tags',
  'glossaryTerms',
  'origin',
  'platformInstance'
]

/** The orders of results by their names in an address; the best match comes first without any. */
const sorts: { readonly [name: string]: SearchVariables['sort'] } = {
  name: { sortCriterion: { field: 'name', sortOrder: 'ASCENDING' } },
  changed: { sortCriterion: { field: 'lastModifiedAt', sortOrder: 'DESCENDING' } }
}

export const sortNames: readonly string[] = ['', ...Object.keys(sorts)]

export type SearchQuestion = { words: string; filters: readonly Filter[]; sort: string }

export function questionIn(params: URLSearchParams): SearchQuestion {
  const sort = params.get('sort') ?? ''
  return { words: params.get('q') || '*', filters: filtersOf(params), sort: sort in sorts ? sort : '' }
}

/**
 * The question as the API is asked. What is in a sub-domain is in the domain, as on the pages of domains. What can be in
 * no domain, such as a tag, is not among what is in none.
 */
export function asAsked({ words, filters, sort }: SearchQuestion, count: number): SearchVariables {
  const rest = filters.filter(({ field }) => field !== domainsField)
  const domains = filters.find(({ field }) => field === domainsField)?.values ?? []
  const inDomains = domains.filter((value) => value !== noDomain)
  const places: Filter[] = [
    ...(inDomains.length > 0
      ? [{ field: domainsField, values: inDomains, condition: 'DESCENDANTS_INCL' }]
      : []),
    ...(domains.includes(noDomain)
      ? [{ field: domainsField, values: [], condition: 'EXISTS', negated: true }]
      : [])
  ]
  return {
    query: words,
    count,
    types: domains.includes(noDomain) ? typesInDomains : null,
    groups:
      places.length > 0
        ? places.map((place) => ({ and: [...rest, place] }))
        : rest.length > 0
          ? [{ and: rest }]
          : [],
    sort: sorts[sort] ?? null,
    facets: facetFields
  }
}

export function addressWith(words: string, filters: readonly Filter[], sort = ''): string {
  const params = new URLSearchParams({ q: words })
  for (const { field, values } of filters) for (const value of values) params.append('f', `${field}:${value}`)
  if (sort !== '') params.set('sort', sort)
  return `./search?${params}`
}

/** The address of what is in no domain. */
export const withoutDomain = addressWith('*', [{ field: domainsField, values: [noDomain] }])

export const without = (filters: readonly Filter[], field: string, value: string): Filter[] =>
  filters
    .map((filter) =>
      filter.field === field ? { ...filter, values: filter.values.filter((each) => each !== value) } : filter
    )
    .filter(({ values }) => values.length > 0)

export function toggled(filters: readonly Filter[], field: string, value: string): Filter[] {
  const current = filters.find((filter) => filter.field === field)
  if (!current) return [...filters, { field, values: [value] }]
  if (current.values.includes(value)) return without(filters, field, value)
  return filters.map((filter) => (filter === current ? { field, values: [...filter.values, value] } : filter))
}

/** The options of the command by field. */
const optionOf: { readonly [field: string]: string } = {
  _entityType: '--types',
  platform: '--platform',
  origin: '--env',
  [domainsField]: '--domain'
}

/** `--domain` takes one domain, the others take several values with commas between. */
const fitsOption = ({ field, values }: Filter): boolean =>
  optionOf[field] !== undefined &&
  (field === domainsField
    ? values.length === 1 && values[0] !== noDomain
    : values.every((value) => !value.includes(',')))

/** The command for the same results; curl if the command line has no option for a filter or the order. */
export function searchCommand(question: SearchQuestion, count: number): string {
  const { words, filters, sort } = question
  if (sort !== '' || !filters.every(fitsOption))
    return graphqlCommand({ text: search.text, variables: asAsked(question, count) })
  return [
    'tributary search',
    quoted(words),
    ...filters.map(({ field, values }) => `${optionOf[field]} ${quoted(values.join(','))}`)
  ].join(' ')
}
