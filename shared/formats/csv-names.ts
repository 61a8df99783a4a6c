/** What the names of the columns of a CSV mean: the names that people write, each with one meaning. */

export type CsvKind = 'edges' | 'domains'

/** What a column can contain that a load reads. */
export type CsvColumn =
  'upstream' | 'downstream' | 'upstreamColumn' | 'downstreamColumn' | 'resource' | 'domain'

/** The name of each column in our docs. */
export const csvColumns: { readonly [Column in CsvColumn]: string } = {
  upstream: 'upstream',
  downstream: 'downstream',
  upstreamColumn: 'upstream_column',
  downstreamColumn: 'downstream_column',
  resource: 'resource',
  domain: 'domain'
}

/** Words for the ends of an edge. Each also stands before a word for an asset or for a column. */
const ends = {
  upstream: ['upstream', 'source', 'src', 'from', 'parent', 'input'],
  downstream: ['downstream', 'target', 'destination', 'dst', 'to', 'child', 'output']
} as const
const assetWords = ['urn', 'table', 'tablename', 'dataset', 'asset', 'entity']
const columnWords = ['column', 'columnname', 'field']

const resourceNames = ['resource', 'asset', 'entity', 'dataset', 'table']
const domainNames = ['domain', 'domainurn', 'domainname']

const columnOfName = new Map<string, CsvColumn>([
  ...(['upstream', 'downstream'] as const).flatMap((end) =>
    ends[end].flatMap((word): [string, CsvColumn][] => [
      ...['', ...assetWords].map((more): [string, CsvColumn] => [word + more, end]),
      ...columnWords.map((more): [string, CsvColumn] => [word + more, `${end}Column`])
    ])
  ),
  ...resourceNames.flatMap((name): [string, CsvColumn][] => [
    [name, 'resource'],
    [`${name}urn`, 'resource']
  ]),
  ['urn', 'resource'] satisfies [string, CsvColumn],
  ...domainNames.map((name): [string, CsvColumn] => [name, 'domain'])
])

/** Case, spaces, hyphens and underscores make no difference to a name. */
const plainName = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]+/g, '')

/** What a column of this name contains; undefined for an unknown name. */
export const meaningOfName = (name: string): CsvColumn | undefined => columnOfName.get(plainName(name))

/** The columns that a file of rejects has before those of the row. They say what was wrong. */
export const rejectColumns = ['reject_line', 'reject_code', 'reject_field', 'reject_message'] as const

export const isRejectColumn = (name: string): boolean =>
  rejectColumns.some((column) => column === name.toLowerCase())

/**
 * Columns of our own exports that contain nothing that a load could change. A load ignores them without
 * saying so.
 */
const exportedColumns: { readonly [Kind in CsvKind]: readonly string[] } = {
  edges: ['degree', ...rejectColumns],
  domains: ['degree', 'type', 'name', 'platform', 'environment', 'exists', 'owners', ...rejectColumns]
}

const exportedNames = {
  edges: new Set(exportedColumns.edges.map(plainName)),
  domains: new Set(exportedColumns.domains.map(plainName))
}

export const isExported = (name: string, kind: CsvKind): boolean => exportedNames[kind].has(plainName(name))

/** Whether some CSV has a column of this name that is read or comes from an export. */
export const isKnownName = (name: string): boolean =>
  meaningOfName(name) !== undefined || isExported(name, 'edges') || isExported(name, 'domains')

const words = (name: string): string[] =>
  name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)

const endWords: readonly string[] = [...ends.upstream, ...ends.downstream]
const decisiveWords = new Set<string>([
  ...endWords,
  'column',
  'columns',
  'field',
  'fields',
  'op',
  'operation',
  'action',
  'delete',
  'deleted',
  'remove',
  'removed'
])
/** Other words begin with `to`, such as `total`. */
const prefixMinChars = 3

/**
 * Whether an unknown column may change what a row means: it says more about an end (`source_schema`,
 * `targetdb`), is a second one (`source2`), or names a column (`columns`) or an operation (`op`, `deleted`).
 * Without it the rows would state something else.
 */
export const mayDecide = (name: string): boolean =>
  words(name).some(
    (word) =>
      decisiveWords.has(word) || endWords.some((end) => end.length >= prefixMinChars && word.startsWith(end))
  )
