/** The question of the search page: its words and filters in the address, and as a command. */
import { search, type Filter } from '../api/queries.ts'
import { graphqlCommand, quoted } from '../command-line.ts'

/** Filters in the address: `f=platform:hive` for each value. One value of each field must match. */
export function filtersOf(params: URLSearchParams): Filter[] {
  const values = new Map<string, string[]>()
  for (const text of params.getAll('f')) {
    const [field = '', ...rest] = text.split(':')
    values.set(field, [...(values.get(field) ?? []), rest.join(':')])
  }
  return [...values].map(([field, values]) => ({ field, values }))
}

export const domainsField = 'domains'

/** The filters as the API is asked: what is in a sub-domain is in the domain, as on the pages of domains. */
export const asAsked = (filters: readonly Filter[]): Filter[] =>
  filters.map((filter) =>
    filter.field === domainsField ? { ...filter, condition: 'DESCENDANTS_INCL' } : filter
  )

export function addressWith(words: string, filters: readonly Filter[]): string {
  const params = new URLSearchParams({ q: words })
  for (const { field, values } of filters) for (const value of values) params.append('f', `${field}:${value}`)
  return `./search?${params}`
}

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
  (field === domainsField ? values.length === 1 : values.every((value) => !value.includes(',')))

/** The command for the same results; curl if the command line has no option for a filter. */
export function searchCommand(words: string, filters: Filter[], count: number): string {
  if (!filters.every(fitsOption))
    return graphqlCommand({
      text: search.text,
      variables: { query: words, start: 0, count, filters: asAsked(filters) }
    })
  return [
    'tributary search',
    quoted(words),
    ...filters.map(({ field, values }) => `${optionOf[field]} ${quoted(values.join(','))}`)
  ].join(' ')
}
