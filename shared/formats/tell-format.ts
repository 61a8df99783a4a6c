/** Tells the format of a body that does not say it, from its first byte and its first line. */
import { CatalogError } from '../errors.ts'
import { isObject } from '../model/json-values.ts'
import type { BodyBegin } from './body-begin.ts'
import { looksLikeCsvHeader } from './csv-header.ts'
import { isEnveloped } from './enveloped.ts'
import type { RecordFormat } from './parse-record.ts'
import { opensArray } from './split-array.ts'

/**
 * The format among those it may be. An array is `mcp`; of lines of JSON the first decides between `mcp` and `ndjson`; a
 * line with the names of columns is `csv`. A body without a first byte is whatever may be.
 * Throws UNSUPPORTED_MEDIA_TYPE that names the choices where it is none of these, or one that it may not be.
 */
export function tellFormat(
  { first, firstLine }: Pick<BodyBegin, 'first' | 'firstLine'>,
  candidates: readonly [RecordFormat, ...RecordFormat[]]
): RecordFormat {
  if (first === undefined) return candidates[0]
  const told = first === opensArray ? 'mcp' : formatOfLine(firstLine)
  if (told !== null && candidates.includes(told)) return told
  const why =
    told === null
      ? 'Unknown format: the body starts with neither a JSON object, nor a CSV header, nor a JSON array'
      : `The body looks like ${told}, which its Content-Type is not`
  throw new CatalogError(
    'UNSUPPORTED_MEDIA_TYPE',
    `${why}. Say it with ?format=${candidates.join(', ?format=')} or with a Content-Type; with curl send files with --data-binary`,
    { field: 'format', allowed: candidates }
  )
}

function formatOfLine(line: string): RecordFormat | null {
  if (!line.startsWith('{')) return looksLikeCsvHeader(line) ? 'csv' : null
  const value = parsed(line)
  if (!isObject(value)) return null
  return isEnveloped(value) ? 'mcp' : 'ndjson'
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
