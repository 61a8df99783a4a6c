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

/**
 * The options of the command by field. `--domain` is missing because it includes sub-domains, which is
 * another question.
 */
const optionOf: { readonly [field: string]: string } = {
  _entityType: '--types',
  platform: '--platform',
  origin: '--env'
}

/** The command for the same results; curl if the command line has no option for a filter. */
export function searchCommand(words: string, filters: Filter[], count: number): string {
  if (filters.some(({ field, values }) => !optionOf[field] || values.some((value) => value.includes(','))))
    return graphqlCommand({ text: search.text, variables: { query: words, start: 0, count, filters } })
  return [
    'tributary search',
    quoted(words),
    ...filters.map(({ field, values }) => `${optionOf[field]} ${quoted(values.join(','))}`)
  ].join(' ')
}
