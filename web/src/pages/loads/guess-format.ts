/** Guesses the format of a file from its beginning and its name; the server checks again. */

export const formats = ['ndjson', 'csv', 'mcp', 'openlineage', 'dbt'] as const
export type LoadFormat = (typeof formats)[number]

/** The number of bytes of a file that are read to guess its format. */
export const headMaxBytes = 64 * 1024

/** A line that says the separator, then a name of a column and a separator. */
const csvColumns =
  /^("?sep=.*\s+)?"?((upstream|downstream|source|src|target|destination|dst|from|to|parent|child|input|output)[ _-]?(urn|table|table[ _-]?name|dataset|asset|entity|column)?|(resource|asset|entity|dataset|table|domain)[ _-]?(urn|name)?|urn|degree|reject_line)"?[ ]*[,;\t|]/i
const eventKeys = /"eventTime"\s*:/
const eventOf = /"(run|job|dataset)"\s*:/
const proposalKeys = /"(aspectName|proposedSnapshot|changeType)"\s*:/
const dbtSchema = /"dbt_schema_version"\s*:\s*"[^"]*\/(manifest|catalog|run-results)\//

const isEvent = (text: string): boolean => eventKeys.test(text) && eventOf.test(text)

/** Which artifact of dbt a file is; null for any other file. */
export function dbtArtifact(head: string): 'manifest' | 'catalog' | 'run-results' | null {
  const [, kind] = dbtSchema.exec(head.slice(0, 4_096)) ?? []
  return kind === 'manifest' || kind === 'catalog' || kind === 'run-results' ? kind : null
}

/** The format; null if it cannot be recognized. */
export function guessFormat(name: string, head: string): LoadFormat | null {
  if (dbtArtifact(head)) return 'dbt'
  const text = head.replace(/^\uFEFF/, '').trimStart()
  if (text.startsWith('[')) {
    const begin = text.slice(0, 16_384)
    return isEvent(begin) ? 'openlineage' : proposalKeys.test(begin) ? 'mcp' : 'ndjson'
  }
  if (text.startsWith('{')) {
    const [line = ''] = text.split('\n', 1)
    // An object over several lines.
    const begin = line.trimEnd() === '{' ? text.slice(0, 16_384) : line
    if (isEvent(begin)) return 'openlineage'
    return proposalKeys.test(begin) ? 'mcp' : 'ndjson'
  }
  return csvColumns.test(text) || /\.(csv|tsv)$/i.test(name) ? 'csv' : null
}

export type Artifact = { name: string; head: string }

/**
 * The files in the order that the server expects: the manifest first. Null if the files are not one dbt
 * project.
 */
export function orderOfArtifacts(files: readonly Artifact[]): number[] | null {
  const kinds = files.map(({ head }) => dbtArtifact(head))
  const order = (['manifest', 'catalog', 'run-results'] as const).map((kind) => kinds.indexOf(kind))
  const present = order.filter((index) => index >= 0)
  return order[0] !== undefined && order[0] >= 0 && present.length === files.length ? present : null
}
