/** The formats of loads: one entry for each, from which the API, its reference and the command line derive what they accept. */

type LoadFormat = {
  /** The Content-Types that it may have; clients send the first. A type that several formats have leaves the choice to the body. */
  mediaTypes: readonly [string, ...string[]]
  /** Endings of file names that say the format. */
  fileEndings: readonly string[]
  /** Whether several files are one body when they follow each other: a record a line, or one document after the other. */
  isJoinable: boolean
}

const [json, lines] = ['application/json', 'application/x-ndjson']
const moreLines = ['application/ndjson', 'application/jsonl', 'application/x-jsonlines'] as const

/** How their records are parsed is in parse-record.ts. A body that says nothing may be in any of them: see tell-format.ts. */
export const loadFormats = {
  ndjson: { mediaTypes: [lines, ...moreLines, json], fileEndings: ['ndjson', 'jsonl'], isJoinable: true },
  csv: { mediaTypes: ['text/csv', 'application/csv'], fileEndings: ['csv'], isJoinable: false },
  mcp: { mediaTypes: [json], fileEndings: [], isJoinable: false },
  openlineage: { mediaTypes: [lines, ...moreLines, json], fileEndings: [], isJoinable: true },
  dbt: { mediaTypes: [json], fileEndings: [], isJoinable: true }
} as const satisfies Readonly<Record<string, LoadFormat>>

export type RecordFormat = keyof typeof loadFormats

type SomeFormats = readonly [RecordFormat, ...RecordFormat[]]

const entries = Object.entries(loadFormats) as (readonly [RecordFormat, LoadFormat])[]

export const recordFormats = Object.keys(loadFormats) as unknown as SomeFormats

/** The entry of a format; null for a format that does not exist. */
export const loadFormat = (name: string): LoadFormat | null =>
  entries.find(([known]) => known === name)?.[1] ?? null

/** The formats that may have each Content-Type. */
export const formatsByMediaType: ReadonlyMap<string, SomeFormats> = new Map(
  entries.flatMap(([, { mediaTypes }]) =>
    mediaTypes.map((type) => [
      type,
      recordFormats.filter((name) => loadFormat(name)?.mediaTypes.includes(type)) as unknown as SomeFormats
    ])
  )
)

/** What a body may be that is said to be lines of JSON. */
export const formatsOfLines = formatsByMediaType.get(lines) ?? recordFormats

/** The format that a file ending says; null for any other ending. */
export const formatOfEnding = (ending: string): RecordFormat | null =>
  entries.find(([, { fileEndings }]) => fileEndings.includes(ending))?.[0] ?? null
