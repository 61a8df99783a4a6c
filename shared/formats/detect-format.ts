/** Recognises the format of a body from its first byte and first line, if the request does not say it. */
import { CatalogError } from '../errors.ts'
import { membersOfFirst } from '../model/json-members.ts'
import { isObject } from '../model/json-values.ts'
import type { BodyBegin } from './body-begin.ts'
import { looksLikeCsvHeader } from './csv-header.ts'
import { looksLikeArtifact } from './dbt/artifact.ts'
import { hasEnvelopeKeys, isEnveloped } from './enveloped.ts'
import { formatsOfLines, type RecordFormat } from './load-formats.ts'
import { opensArray } from './split-array.ts'

/**
 * Recognises one of `candidates`. The first member of a dbt artifact names the artifact. Other JSON is
 * `openlineage` if its first object has keys of an event, `mcp` if it has those of a proposal or snapshot,
 * otherwise `ndjson`: in lines, in an array, or objects over several lines. A row with names of columns is
 * `csv`. A body with only white space is the first candidate. Throws UNSUPPORTED_MEDIA_TYPE, with the choices, if the format is not recognised or not a
 * candidate.
 */
export function detectFormat(
  { first, firstLine, text }: Pick<BodyBegin, 'first' | 'firstLine' | 'text'>,
  candidates: readonly [RecordFormat, ...RecordFormat[]]
): RecordFormat {
  if (first === undefined) return candidates[0]
  const detected = looksLikeArtifact(text)
    ? 'dbt'
    : first === opensArray || opensDocument(firstLine)
      ? formatOfKeys(keysOfFirst(text))
      : formatOfLine(firstLine, text)
  if (detected !== null && candidates.includes(detected)) return detected
  // The Content-Type says lines of JSON, so each line is judged on its own.
  if (candidates.every((each) => formatsOfLines.some((format) => format === each))) return candidates[0]
  const why =
    detected === null
      ? 'Unknown format: the body starts with neither a JSON object, nor a CSV header, nor a JSON array'
      : `The body looks like ${detected}, but its Content-Type does not allow that`
  throw new CatalogError(
    'UNSUPPORTED_MEDIA_TYPE',
    `${why}. Set it with ?format=${candidates.join(', ?format=')} or with a Content-Type; with curl send files with --data-binary`,
    { field: 'format', allowed: candidates }
  )
}

function formatOfLine(line: string, text: string): RecordFormat | null {
  if (!line.startsWith('{')) return looksLikeCsvHeader(text) ? 'csv' : null
  if (isEvent(line)) return 'openlineage'
  const value = parsed(line)
  if (!isObject(value)) return null
  return isEnveloped(value) ? 'mcp' : 'ndjson'
}

function formatOfKeys(keys: readonly string[]): RecordFormat {
  if (keys.some((key) => keysOfEvents.includes(key))) return 'openlineage'
  return hasEnvelopeKeys(keys) ? 'mcp' : 'ndjson'
}

/** Whether a first line contains only the opening brace of an object, which then has several lines. */
export const opensDocument = (firstLine: string): boolean => firstLine === '{'

/**
 * Throws BAD_REQUEST if a body of JSON is an object around records, such as {"edges": […]}: its elements
 * would be one record of unknown form.
 */
export function refuseWrapped({ text }: Pick<BodyBegin, 'text'>): void {
  const [, name] = /^\{\s*"([^"\\]{1,60})"\s*:\s*\[/.exec(text) ?? []
  if (name === undefined || keysOfFirst(text).some((key) => knownKeys.has(key))) return
  throw new CatalogError(
    'BAD_REQUEST',
    `The body is an object around records: send the array in ${JSON.stringify(name.toWellFormed())} itself, or one record per line`,
    { field: name.toWellFormed() }
  )
}

const keysOfEvents = ['eventTime', 'eventType', 'run', 'job', 'dataset', 'producer', 'schemaURL']

/** Keys of records, one of which every record has. */
const knownKeys = new Set([
  ...keysOfEvents,
  'inputs',
  'outputs',
  'op',
  'upstreamUrn',
  'downstreamUrn',
  'upstream',
  'downstream',
  'entityType',
  'changeType',
  'aspectName',
  'proposedSnapshot',
  'record'
])

/** Whether the first object of a text, which may be cut off, has a key that only events have. */
const isEvent = (text: string): boolean => keysOfFirst(text).some((key) => keysOfEvents.includes(key))

/** The keys of the first object in a text that may be cut off. */
const keysOfFirst = (text: string): string[] => Array.from(membersOfFirst(text), ({ name }) => name)

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
