/**
 * The formats of loads, in one table. The API, its reference and the command line derive from it what they
 * accept.
 */

type LoadFormat = {
  /**
   * The accepted Content-Types; clients send the first one. If several formats share a type, the body
   * decides.
   */
  mediaTypes: readonly [string, ...string[]]
  /** Endings of file names with this format. */
  fileEndings: readonly string[]
  /** Whether files can be concatenated into one body: one record per line, or one document after another. */
  isJoinable: boolean
}

const [json, lines] = ['application/json', 'application/x-ndjson']
const moreLines = ['application/ndjson', 'application/jsonl', 'application/x-jsonlines'] as const

/** parse-record.ts has the parsers. detect-format.ts chooses the format if the request does not say it. */
export const loadFormats = {
  ndjson: { mediaTypes: [lines, ...moreLines, json], fileEndings: ['ndjson', 'jsonl'], isJoinable: true },
  csv: {
    mediaTypes: ['text/csv', 'application/csv', 'text/tab-separated-values'],
    fileEndings: ['csv', 'tsv'],
    isJoinable: false
  },
  mcp: { mediaTypes: [json], fileEndings: [], isJoinable: false },
  openlineage: { mediaTypes: [lines, ...moreLines, json], fileEndings: [], isJoinable: true },
  dbt: { mediaTypes: [json], fileEndings: [], isJoinable: true },
  sql: { mediaTypes: ['application/sql'], fileEndings: ['sql'], isJoinable: true }
} as const satisfies Readonly<Record<string, LoadFormat>>

export type RecordFormat = keyof typeof loadFormats

type SomeFormats = readonly [RecordFormat, ...RecordFormat[]]

const entries = Object.entries(loadFormats) as (readonly [RecordFormat, LoadFormat])[]

export const recordFormats = Object.keys(loadFormats) as unknown as SomeFormats

/** The entry of a format; null for an unknown format. */
export const loadFormat = (name: string): LoadFormat | null =>
  entries.find(([known]) => known === name)?.[1] ?? null

/** The formats of each Content-Type. */
export const formatsByMediaType: ReadonlyMap<string, SomeFormats> = new Map(
  entries.flatMap(([, { mediaTypes }]) =>
    mediaTypes.map((type) => [
      type,
      recordFormats.filter((name) => loadFormat(name)?.mediaTypes.includes(type)) as unknown as SomeFormats
    ])
  )
)

/** The formats of a body whose Content-Type says lines of JSON. */
export const formatsOfLines = formatsByMediaType.get(lines) ?? recordFormats

/** The format of a file ending; null for an unknown ending. */
export const formatOfEnding = (ending: string): RecordFormat | null =>
  entries.find(([, { fileEndings }]) => fileEndings.includes(ending))?.[0] ?? null
