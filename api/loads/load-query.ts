/** What a request about loads says in its query, checked: never a silent other meaning. */
import type { IncomingHttpHeaders } from 'node:http'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import type { MissingReferences } from '../../shared/model/changes.ts'
import { checkedIdempotencyKey } from '../../shared/catalog/loads/idempotency-key.ts'
import {
  checkedSnapshotSource,
  checkedSource,
  defaultLoadSource
} from '../../shared/catalog/loads/load-source.ts'
import type { LoadRequest } from '../../shared/catalog/loads/receive-load.ts'
import type { Config } from '../../shared/platform/config.ts'
import type { Query } from '../query-parameters.ts'
import { readFormat } from './body-format.ts'

export const submitParameters = [
  'format',
  'source',
  'mode',
  'force',
  'atomic',
  'dryRun',
  'missingReferences',
  'wait'
]

/** Throws UNSUPPORTED for what this version does not have, UNSUPPORTED_MEDIA_TYPE for a Content-Type that no format has, BAD_REQUEST and LIMIT_EXCEEDED. */
export function readSubmission(
  query: Query,
  headers: IncomingHttpHeaders,
  defaults: Pick<Config, 'missingReferences' | 'snapshotMaxRemovedShare'>
): Pick<
  LoadRequest,
  'format' | 'source' | 'missingReferences' | 'isAtomic' | 'isDryRun' | 'snapshot' | 'idempotencyKey'
> {
  const isSnapshot = readMode(query.mode) === 'snapshot'
  const force = readFlag(query.force, 'force')
  if (force && !isSnapshot)
    throw new CatalogError('BAD_REQUEST', 'force is for mode=snapshot', { field: 'force' })
  return {
    format: readFormat(query.format, headers['content-type']),
    source: isSnapshot
      ? checkedSnapshotSource(query.source, 'source')
      : query.source === undefined
        ? defaultLoadSource
        : checkedSource(query.source, 'source'),
    missingReferences: readMissingReferences(
      query.missingReferences,
      headers['x-missing-references'],
      defaults.missingReferences
    ),
    isAtomic: readFlag(query.atomic, 'atomic'),
    isDryRun: readFlag(query.dryRun, 'dryRun'),
    idempotencyKey: readIdempotencyKey(headers['idempotency-key']),
    ...(isSnapshot ? { snapshot: { force, maxRemovedShare: defaults.snapshotMaxRemovedShare } } : {})
  }
}

const modes = ['merge', 'snapshot'] as const

function readMode(mode = 'merge'): (typeof modes)[number] {
  const found = modes.find((known) => known === mode)
  if (!found)
    throw new CatalogError('UNSUPPORTED', `Unknown mode ${mode.slice(0, 100)}`, {
      field: 'mode',
      allowed: modes
    })
  return found
}

function readMissingReferences(
  parameter: string | undefined,
  header: string | string[] | undefined,
  fallback: MissingReferences
): MissingReferences {
  const value = parameter ?? header ?? fallback
  if (value !== 'reject' && value !== 'create')
    throw new CatalogError('BAD_REQUEST', 'missingReferences must be reject or create', {
      field: 'missingReferences',
      allowed: ['reject', 'create']
    })
  return value
}

/** False where absent. Throws BAD_REQUEST. */
export function readFlag(text: string | undefined, field: string): boolean {
  if (text !== undefined && text !== 'true' && text !== 'false')
    throw new CatalogError('BAD_REQUEST', `${field} must be true or false`, {
      field,
      allowed: ['true', 'false']
    })
  return text === 'true'
}

const readIdempotencyKey = (header: string | string[] | undefined): string | null =>
  header === undefined ? null : checkedIdempotencyKey(String(header), 'Idempotency-Key')

/** Seconds, 0 where absent. Throws BAD_REQUEST, LIMIT_EXCEEDED (loadWaitMaxSeconds). */
export function readWait(text: string | undefined): number {
  if (text === undefined) return 0
  const seconds = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(seconds))
    throw new CatalogError('BAD_REQUEST', 'wait must be a number of seconds', { field: 'wait' })
  const maximum = limits.loadWaitMaxSeconds
  if (seconds > maximum)
    throw new CatalogError('LIMIT_EXCEEDED', `wait is ${seconds} seconds; at most ${maximum} are allowed`, {
      field: 'wait',
      limit: 'loadWaitMaxSeconds',
      maximum,
      actual: seconds
    })
  return seconds
}

/** A whole number. Throws BAD_REQUEST, and LIMIT_EXCEEDED (pageMaxCount) for the size of a page. */
export function readCount(text: string | undefined, field: 'limit' | 'after', fallback: number): number {
  if (text === undefined) return fallback
  const count = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  const least = field === 'limit' ? 1 : 0
  if (Number.isNaN(count) || count < least || count >= 2 ** 31)
    throw new CatalogError('BAD_REQUEST', `${field} must be a whole number from ${least}`, { field })
  const maximum = limits.pageMaxCount
  if (field === 'limit' && count > maximum)
    throw new CatalogError('LIMIT_EXCEEDED', `limit is ${count}; at most ${maximum} are allowed`, {
      field,
      limit: 'pageMaxCount',
      maximum,
      actual: count
    })
  return count
}

/** Throws BAD_REQUEST. */
export function readRejectsFormat(text: string | undefined): 'ndjson' | 'csv' {
  if (text !== undefined && text !== 'ndjson' && text !== 'csv')
    throw new CatalogError('BAD_REQUEST', 'format must be ndjson or csv', {
      field: 'format',
      allowed: ['ndjson', 'csv']
    })
  return text ?? 'ndjson'
}
