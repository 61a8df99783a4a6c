/**
 * Reads the header of a CSV load: whether its rows are edges or domains of assets, and what each column
 * contains.
 */
import { CatalogError } from '../errors.ts'
import { printCells, splitCells } from './csv-cells.ts'

/** `places` are indexes of columns; -1 if a column is absent. */
export type CsvHeader = {
  kind: 'edges' | 'domains'
  /** The names as they were sent, trimmed. */
  names: readonly string[]
  places: { [Column in CsvColumn]: number }
}

/** What a column can contain, with its accepted names in any case. The first name is ours. */
const columns = {
  upstream: ['upstream', 'upstreamUrn', 'upstream_urn', 'upstream urn'],
  downstream: ['downstream', 'downstreamUrn', 'downstream_urn', 'downstream urn'],
  upstreamColumn: ['upstream_column', 'upstreamColumn', 'upstream column'],
  downstreamColumn: ['downstream_column', 'downstreamColumn', 'downstream column'],
  resource: [
    'resource',
    'resourceUrn',
    'resource_urn',
    'resource urn',
    'entityUrn',
    'entity_urn',
    'entity urn',
    'asset',
    'urn'
  ],
  domain: ['domain', 'domainUrn', 'domain_urn', 'domain urn']
} as const

type CsvColumn = keyof typeof columns

/** The columns that a file of rejects has before those of the row. They say what was wrong. */
export const rejectColumns = ['reject_line', 'reject_code', 'reject_field', 'reject_message'] as const

/**
 * Columns of our own exports that contain nothing that a load could change. They are accepted and ignored.
 */
const unreadColumns: { readonly [Kind in CsvHeader['kind']]: readonly string[] } = {
  edges: ['degree', ...rejectColumns],
  domains: ['degree', 'type', 'name', 'platform', 'environment', 'exists', ...rejectColumns]
}

const required: { readonly [Kind in CsvHeader['kind']]: readonly [CsvColumn, CsvColumn] } = {
  edges: ['upstream', 'downstream'],
  domains: ['resource', 'domain']
}
const optional: { readonly [Kind in CsvHeader['kind']]: readonly CsvColumn[] } = {
  edges: ['upstreamColumn', 'downstreamColumn'],
  domains: []
}

const readColumns: readonly CsvColumn[] = [
  'upstream',
  'downstream',
  'upstreamColumn',
  'downstreamColumn',
  'resource',
  'domain'
]
const columnOfName = new Map(
  readColumns.flatMap((column) =>
    columns[column].map((name): [string, CsvColumn] => [name.toLowerCase(), column])
  )
)
/** All columns, under our names. */
const csvColumns = [
  ...readColumns.map((column) => columns[column][0]),
  ...new Set(Object.values(unreadColumns).flat())
]

const isUnread = (name: string, kind: CsvHeader['kind']): boolean =>
  unreadColumns[kind].includes(name.toLowerCase())

/** `text` is the row with the names. Throws BAD_REQUEST with the name of the column and what is allowed. */
export function parseCsvHeader(text: string): CsvHeader {
  const names = splitHeader(text).map((name) => name.trim())
  const found = names.map((name) => columnOfName.get(name.toLowerCase()))
  const has = (column: CsvColumn): boolean => found.includes(column)
  const kinds = (['edges', 'domains'] as const).filter((kind) => required[kind].some(has))
  const [kind] = kinds
  if (kind === undefined)
    throw wrongHeader(
      `The header has neither upstream and downstream (edges) nor resource and domain (domains of assets)${hintFor(text)}`,
      names[0]
    )
  if (kinds.length > 1)
    throw wrongHeader(
      'The header has columns of edges and of domains; a file must contain only one of the two',
      names[found.findIndex((column) => column === 'resource' || column === 'domain')]
    )
  for (const column of required[kind])
    if (!has(column))
      throw wrongHeader(`The header has no column ${columns[column][0]}`, columns[column][0], columns[column])
  const seen = new Map<string, string>()
  for (const [index, name] of names.entries()) {
    const column = found[index]
    if (
      column === undefined ? !isUnread(name, kind) : ![...required[kind], ...optional[kind]].includes(column)
    )
      throw unknownColumn(name, index, kind)
    const meaning = column ?? name.toLowerCase()
    const before = seen.get(meaning)
    if (before !== undefined)
      throw wrongHeader(
        before === name
          ? `The header has the column ${shown(name)} twice`
          : `The columns ${shown(before)} and ${shown(name)} of the header mean the same`,
        name
      )
    seen.set(meaning, name)
  }
  const placeOf = (column: CsvColumn): number => found.indexOf(column)
  return {
    kind,
    names,
    places: {
      upstream: placeOf('upstream'),
      downstream: placeOf('downstream'),
      upstreamColumn: placeOf('upstreamColumn'),
      downstreamColumn: placeOf('downstreamColumn'),
      resource: placeOf('resource'),
      domain: placeOf('domain')
    }
  }
}

/** The header as it is stored with a load. */
export const printCsvHeader = ({ names }: CsvHeader): string => printCells(names)

/** Whether a first line has a column that a CSV load requires, and so counts as a header. */
export function looksLikeCsvHeader(line: string): boolean {
  try {
    return splitCells(line).some((name) =>
      ['upstream', 'downstream', 'resource', 'domain'].includes(
        columnOfName.get(name.trim().toLowerCase()) ?? ''
      )
    )
  } catch {
    return false
  }
}

function splitHeader(text: string): string[] {
  try {
    return splitCells(text)
  } catch (error) {
    throw error instanceof CatalogError
      ? new CatalogError(error.code, `The header is not a valid CSV row: ${error.message}`, {
          field: 'header',
          line: 1
        })
      : error
  }
}

/** The name of a column is text from the client, so only a short part of it is shown. */
const shown = (name: string): string =>
  JSON.stringify(name.length > 60 ? `${name.slice(0, 60).toWellFormed()}…` : name.toWellFormed())

function unknownColumn(name: string, index: number, kind: CsvHeader['kind']): CatalogError {
  const allowed = [...required[kind], ...optional[kind]].map((column) => columns[column][0])
  const what =
    name === ''
      ? `Column ${index + 1} of the header has no name`
      : `The column ${shown(name)} of the header is unknown`
  return wrongHeader(`${what}; leave it out`, name, [...allowed, ...unreadColumns[kind]])
}

function wrongHeader(
  message: string,
  name: string | undefined,
  allowed: readonly string[] = csvColumns
): CatalogError {
  return new CatalogError('BAD_REQUEST', message, {
    field: name === undefined || name === '' ? 'header' : name.slice(0, 60).toWellFormed(),
    allowed
  })
}

function hintFor(text: string): string {
  const [separator] = [';', '\t', '|'].filter((each) => text.includes(each))
  return separator === undefined || text.includes(',')
    ? ''
    : `; cells are separated by commas, not by ${separator === '\t' ? 'tabs' : separator}`
}
