/**
 * The question of the impact table, read from its address, and its forms as GraphQL input, as an export of
 * the same rows, and as a command.
 */
import { columnParts, columnUrn, isColumnUrn } from '../api/column-urn.ts'
import type { Filter } from '../api/queries.ts'
import { curlCommand, quoted } from '../command-line.ts'

export const degreeGroups = ['1', '2', '3+'] as const
export type DegreeGroup = (typeof degreeGroups)[number]

export type ImpactQuestion = {
  /** The URN of the asset. */
  urn: string
  /** The path of the column in question; null for the whole asset. */
  column: string | null
  direction: 'UPSTREAM' | 'DOWNSTREAM'
  /** The degrees to show; an empty list means all. */
  degrees: readonly DegreeGroup[]
  types: readonly string[]
  platforms: readonly string[]
  /** The URN of a domain; `none` means assets in no domain. */
  domain: string | null
  owner: string | null
  text: string
}

/** The value in an address for assets in no domain. */
export const noDomain = 'none'

type Query = { readonly [name: string]: string | undefined }

const listOf = (text: string | undefined): string[] => text?.split('|').filter((each) => each !== '') ?? []

/** A list of values in an address. It has no commas between them, because URNs contain commas. */
export const printList = (values: readonly string[]): string | null => values.join('|') || null

/** The page of a column has the impact of that column. */
const startIn = (urn: string, query: Query): Pick<ImpactQuestion, 'urn' | 'column'> => {
  if (!isColumnUrn(urn)) return { urn, column: query.col || null }
  const { asset, path } = columnParts(urn)
  return { urn: asset, column: path }
}

/** Values that are missing or invalid in the address are replaced by the defaults. */
export const readImpactQuestion = (urn: string, query: Query): ImpactQuestion => ({
  ...startIn(urn, query),
  direction: query.dir === 'up' ? 'UPSTREAM' : 'DOWNSTREAM',
  degrees: degreeGroups.filter((group) => listOf(query.degree).includes(group)),
  types: listOf(query.types),
  platforms: listOf(query.platforms),
  domain: query.domain || null,
  owner: query.owner || null,
  text: query.text ?? ''
})

/** Where the walk starts. */
export const startOf = ({ urn, column }: ImpactQuestion): string =>
  column === null ? urn : columnUrn(urn, column)

const domainFilter = (domain: string): Filter =>
  domain === noDomain
    ? { field: 'domains', values: [], condition: 'EXISTS', negated: true }
    : { field: 'domains', values: [domain] }

/** The filters of the question. A row must match all of them. */
export function filtersOf(question: ImpactQuestion, { withDegrees }: { withDegrees: boolean }): Filter[] {
  const { degrees, types, platforms, domain, owner } = question
  return [
    ...(withDegrees && degrees.length > 0 ? [{ field: 'degree', values: [...degrees] }] : []),
    ...(types.length > 0 ? [{ field: '_entityType', values: [...types] }] : []),
    ...(platforms.length > 0 ? [{ field: 'platform', values: [...platforms] }] : []),
    ...(domain === null ? [] : [domainFilter(domain)]),
    ...(owner === null ? [] : [{ field: 'owners', values: [owner] }])
  ]
}

export const isFiltered = (question: ImpactQuestion): boolean =>
  question.text !== '' || filtersOf(question, { withDegrees: true }).length > 0

const groupsOf = (filters: Filter[]): { and: Filter[] }[] => (filters.length > 0 ? [{ and: filters }] : [])

/** From a column, the rows are columns, as in an export. */
export const asColumns = {
  searchFlags: {
    groupingSpec: {
      groupingCriteria: [{ baseEntityType: 'SCHEMA_FIELD', groupingEntityType: 'SCHEMA_FIELD' }]
    }
  }
}

export type LineageInput = {
  urn: string
  direction: string
  query: string
  orFilters: { and: Filter[] }[]
}

/**
 * The input of lineageCounts: with the chosen degrees, or with all degrees, for the numbers on their chips.
 */
export const countsInput = (question: ImpactQuestion, options: { withDegrees: boolean }): LineageInput => ({
  urn: startOf(question),
  direction: question.direction,
  query: question.text,
  orFilters: groupsOf(filtersOf(question, options)),
  ...(question.column === null ? {} : asColumns)
})

/** The input of lineageCounts without any filter: everything that can be chosen. */
export const allInput = (question: ImpactQuestion): LineageInput =>
  countsInput(
    { ...question, types: [], platforms: [], domain: null, owner: null, text: '' },
    { withDegrees: false }
  )

/** The input of scrollAcrossLineage. */
export const rowsInput = (
  question: ImpactQuestion,
  { count, scrollId }: { count: number; scrollId: string | null }
): LineageInput & { count: number; scrollId: string | null } => ({
  urn: startOf(question),
  direction: question.direction,
  query: question.text,
  orFilters: groupsOf(filtersOf(question, { withDegrees: true })),
  ...(question.column === null ? {} : { foldColumns: false }),
  count,
  scrollId
})

/** The path, below the root of the API, of the CSV with the rows of the table. */
export function exportPath(question: ImpactQuestion): string {
  const filters = filtersOf(question, { withDegrees: true })
  const params = new URLSearchParams({
    urn: startOf(question),
    direction: question.direction,
    format: 'csv',
    ...(question.text === '' ? {} : { query: question.text }),
    ...(filters.length > 0 ? { filters: JSON.stringify(groupsOf(filters)) } : {})
  })
  return `lineage/export?${params}`
}

/** The command for the same rows; curl if the command line has no option for a filter. */
export function exportCommand(question: ImpactQuestion): string {
  const { direction, degrees, types, platforms, domain, owner, text } = question
  if (domain === noDomain || owner !== null) return curlCommand(exportPath(question))
  const options: readonly (readonly [string, string])[] = [
    ['direction', direction === 'UPSTREAM' ? 'upstream' : ''],
    ['degree', degrees.join(',')],
    ['types', types.join(',')],
    ['platform', platforms.join(',')],
    ['domain', domain ?? ''],
    ['query', text]
  ]
  return [
    'tributary export lineage',
    quoted(startOf(question)),
    ...options.flatMap(([name, value]) => (value === '' ? [] : [`--${name} ${quoted(value)}`]))
  ].join(' ')
}
