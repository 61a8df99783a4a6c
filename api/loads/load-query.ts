/** Checks the query of requests about loads: an unknown parameter or value is an error, never ignored. */
import type { IncomingHttpHeaders } from 'node:http'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import type { DbtOptions } from '../../shared/formats/dbt/options.ts'
import type { SqlOptions } from '../../shared/formats/sql/options.ts'
import { dialectNames, findDialect } from '../../shared/sql/dialects.ts'
import type { MissingReferences } from '../../shared/model/changes.ts'
import { checkLine } from '../../shared/model/text-checks.ts'
import { checkedIdempotencyKey } from '../../shared/catalog/loads/idempotency-key.ts'
import { checkedSnapshotSource, checkedSource } from '../../shared/catalog/loads/load-source.ts'
import { forceWithoutSnapshot, type LoadRequest } from '../../shared/catalog/loads/load-request.ts'
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
  'owners',
  'domains',
  'namespace',
  'dialect',
  'platform',
  'platformInstance',
  'env',
  'database',
  'schema',
  'wait'
]

/**
 * Throws UNSUPPORTED for a feature that does not exist, UNSUPPORTED_MEDIA_TYPE for a Content-Type without a
 * format, BAD_REQUEST and LIMIT_EXCEEDED.
 */
export function readSubmission(
  query: Query,
  headers: IncomingHttpHeaders,
  defaults: Pick<Config, 'missingReferences' | 'upsertReplaces' | 'snapshotMaxRemovedShare'>
): Pick<
  LoadRequest,
  | 'format'
  | 'source'
  | 'missingReferences'
  | 'upsertReplaces'
  | 'isAtomic'
  | 'isDryRun'
  | 'snapshot'
  | 'snapshotOfProject'
  | 'dbt'
  | 'sql'
  | 'idempotencyKey'
> {
  const mode = query.mode === undefined ? null : readMode(query.mode)
  const force = readFlag(query.force, 'force')
  const format = readFormat(query.format, headers['content-type'])
  // A dbt project names its source itself, and is a snapshot unless a merge is requested. Checked once the
  // format is known.
  const mayBeProject = [format].flat().includes('dbt')
  if (force && (mode === 'merge' || (mode === null && !mayBeProject))) throw forceWithoutSnapshot()
  if (mode === 'snapshot' && !mayBeProject) checkedSnapshotSource(query.source, 'source')
  const terms = { force, maxRemovedShare: defaults.snapshotMaxRemovedShare }
  return {
    format,
    source: query.source === undefined ? null : checkedSource(query.source, 'source'),
    missingReferences:
      readMissingReferences(query.missingReferences ?? headers['x-missing-references']) ??
      defaults.missingReferences,
    upsertReplaces: defaults.upsertReplaces,
    isAtomic: readFlag(query.atomic, 'atomic'),
    isDryRun: readFlag(query.dryRun, 'dryRun'),
    idempotencyKey: readIdempotencyKey(headers['idempotency-key']),
    ...(mode === 'snapshot' ? { snapshot: terms } : mode === null ? { snapshotOfProject: terms } : {}),
    dbt: readDbtOptions(query),
    sql: readSqlOptions(query)
  }
}

const domainChoices = ['no', 'unset', 'all'] as const

/** Undefined if there are none. Throws BAD_REQUEST. */
function readDbtOptions({ owners, domains, namespace }: Query): DbtOptions | undefined {
  if (owners === undefined && domains === undefined && namespace === undefined) return undefined
  const choice = domains === undefined ? 'no' : domainChoices.find((known) => known === domains)
  if (!choice)
    throw new CatalogError('BAD_REQUEST', `domains must be one of ${domainChoices.join(', ')}`, {
      field: 'domains',
      allowed: domainChoices
    })
  return {
    owners: readFlag(owners, 'owners'),
    domains: choice,
    namespace:
      namespace === undefined ? null : checkLine(namespace, { field: 'namespace', limit: 'urnMaxBytes' })
  }
}

const sqlFields = ['platform', 'platformInstance', 'env', 'database', 'schema'] as const

/** Undefined if there are none. Throws BAD_REQUEST. */
function readSqlOptions(query: Query): SqlOptions | undefined {
  const given: Omit<SqlOptions, 'dialect'> = {}
  for (const field of sqlFields) {
    const text = query[field]
    if (text !== undefined) given[field] = checkLine(text, { field, limit: 'urnMaxBytes' })
  }
  const { dialect } = query
  if (dialect === undefined) {
    const [field] = Object.keys(given)
    if (field === undefined) return undefined
    throw new CatalogError('BAD_REQUEST', `${field} is for a load of SQL, which also needs dialect`, {
      field
    })
  }
  if (findDialect(dialect) === undefined)
    throw new CatalogError('BAD_REQUEST', `Unknown dialect ${dialect.slice(0, 100)}`, {
      field: 'dialect',
      allowed: [...dialectNames]
    })
  return { dialect, ...given }
}

const modes = ['merge', 'snapshot'] as const

function readMode(mode: string): (typeof modes)[number] {
  const found = modes.find((known) => known === mode)
  if (!found)
    throw new CatalogError('UNSUPPORTED', `Unknown mode ${mode.slice(0, 100)}`, {
      field: 'mode',
      allowed: modes
    })
  return found
}

/** Null if absent. Throws BAD_REQUEST. */
export function readMissingReferences(value: string | string[] | undefined): MissingReferences | null {
  if (value === undefined) return null
  if (value !== 'reject' && value !== 'create')
    throw new CatalogError('BAD_REQUEST', 'missingReferences must be reject or create', {
      field: 'missingReferences',
      allowed: ['reject', 'create']
    })
  return value
}

/** False if absent. Throws BAD_REQUEST. */
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

/** Seconds, 0 if absent. Throws BAD_REQUEST, LIMIT_EXCEEDED (loadWaitMaxSeconds). */
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
