/** Reads one element of the format `mcp`: a change proposal, or a legacy snapshot. */
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { ChangeRecord } from '../model/changes.ts'
import { checkJson, parseJson } from '../model/json-checks.ts'
import { isObject } from '../model/json-values.ts'
import { envelopeDepth, parseEnveloped } from './enveloped.ts'

/**
 * Throws BAD_REQUEST, INVALID_URN, INVALID_CHARACTER, LIMIT_EXCEEDED and VALIDATION_FAILED, with the path in
 * `details.field`.
 */
export function parseMcpRecord(text: string, line: number): ChangeRecord {
  const value = parseJson(text, 'The element')
  if (!isObject(value)) throw new CatalogError('BAD_REQUEST', 'An element must be a JSON object')
  checkJson(value, '', { maxDepth: limits.jsonMaxDepth + envelopeDepth })
  return { line, changes: parseEnveloped(value) }
}
