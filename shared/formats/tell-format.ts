/** Tells the format of a body that does not say it, from its first byte and its first line. */
import { CatalogError } from '../errors.ts'
import { endOfString } from '../model/exact-numbers.ts'
import { isObject } from '../model/json-values.ts'
import type { BodyBegin } from './body-begin.ts'
import { looksLikeCsvHeader } from './csv-header.ts'
import { looksLikeArtifact } from './dbt/artifact.ts'
import { isEnveloped } from './enveloped.ts'
import { formatsOfLines, type RecordFormat } from './load-formats.ts'
import { opensArray } from './split-array.ts'

/**
 * The format among those it may be. The keys of the first object tell events (`openlineage`); any other array is `mcp`; of lines of
 * JSON the first decides between `mcp` and `ndjson`; a line with the names of columns is `csv`. An artifact of dbt says that it is one in its first member.
 * A body without a first byte is whatever may be.
 * Throws UNSUPPORTED_MEDIA_TYPE, naming the choices, if it is none of these or one that is not allowed.
 */
export function tellFormat(
  { first, firstLine, text }: Pick<BodyBegin, 'first' | 'firstLine' | 'text'>,
  candidates: readonly [RecordFormat, ...RecordFormat[]]
): RecordFormat {
  if (first === undefined) return candidates[0]
  const told =
    first === opensArray
      ? isEvent(text)
        ? 'openlineage'
        : 'mcp'
      : looksLikeArtifact(text)
        ? 'dbt'
        : formatOfLine(firstLine)
  if (told !== null && candidates.includes(told)) return told
  // Of what is said to be lines each is judged by itself.
  if (candidates.every((each) => formatsOfLines.some((format) => format === each))) return candidates[0]
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
  if (isEvent(line)) return 'openlineage'
  const value = parsed(line)
  if (!isObject(value)) return null
  return isEnveloped(value) ? 'mcp' : 'ndjson'
}

const keysOfEvents = ['eventTime', 'eventType', 'run', 'job', 'dataset', 'producer', 'schemaURL']

/** Whether the first object of a text, which may be cut off, has a key that no other record has. */
const isEvent = (text: string): boolean => keysOfFirst(text).some((key) => keysOfEvents.includes(key))

/** The keys of the first object of a text, as far as the text goes. */
function keysOfFirst(text: string): string[] {
  const keys: string[] = []
  let depth = 0
  for (let at = text.indexOf('{'); at >= 0 && at < text.length;) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at + 1)
      if (depth === 1 && /^\s*:/.test(text.slice(end, end + 100))) keys.push(text.slice(at + 1, end - 1))
      at = end
      continue
    }
    if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    if (depth === 0) break
    at += 1
  }
  return keys
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
