/**
 * The only file that knows SQLSTATE codes: it classifies the driver's errors and decides what a client is
 * told.
 */
import { CatalogError } from '../errors.ts'

/** Codes of the socket and of the resolver, and the driver's messages for a lost connection. */
const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN'
])
/** Codes of a socket in the file system. Files have them too. */
const socketFileCodes = new Set(['ENOENT', 'EACCES'])
const connectionWords =
  /connection terminated|connection ended|timeout expired|timeout exceeded when trying to connect|client has encountered a connection error|not queryable|server does not support ssl|unable to acquire a connection/i

/** All connections of a pool were in use for as long as a caller waits: the database may be well. */
export class PoolBusyError extends Error {
  override readonly name = 'PoolBusyError'
}

/** What a file system says when a file cannot grow; Postgres has a code of its own only for the first. */
const fullDiskWords = /no space left on device|disk quota exceeded|file too large/i

/** Whether the disk of Postgres has no room: 53100, or a quota or limit of its files. */
export function isDiskFull(error: unknown): boolean {
  const code = sqlState(error)
  return (
    code === '53100' || (isFileTrouble(code) && messagesOf(error).some((text) => fullDiskWords.test(text)))
  )
}

/** XX000 is what Postgres calls an error of a file that it does not know; 58030 is any other one. */
const isFileTrouble = (code: string | undefined): boolean =>
  code === 'XX000' || code === '58030' || code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG'

function messagesOf(error: unknown): string[] {
  const messages: string[] = []
  for (let cause = error; cause instanceof Error && messages.length < 8; cause = cause.cause)
    messages.push(cause.message)
  return messages
}

type Coded = { code: string; syscall: unknown }

/** The code of an error or of its cause. */
function codedCause(error: unknown): Coded | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1) {
    if ('code' in cause && typeof cause.code === 'string' && !(cause instanceof CatalogError))
      return { code: cause.code, syscall: 'syscall' in cause ? cause.syscall : undefined }
  }
  return undefined
}

/** The SQLSTATE (or socket code) of an error or of its cause; undefined without one. */
export const sqlState = (error: unknown): string | undefined => codedCause(error)?.code

/**
 * Whether the connection to Postgres is the cause: refused, lost, none free, or the server is stopping or
 * starting.
 */
export function isConnectionTrouble(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'KnexTimeoutError' || error instanceof PoolBusyError) return true
  const { code, syscall }: Partial<Coded> = codedCause(error) ?? {}
  if (code === undefined || code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return connectionWords.test(error.message)
  if (socketFileCodes.has(code)) return syscall === 'connect'
  return connectionCodes.has(code) || /^(08|53|57P)/.test(code)
}

/** Whether an established connection has ended, by the server or silently. False if none could be opened. */
export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error)
  if (code === undefined)
    return (
      error instanceof Error &&
      /connection terminated(?! due to connection timeout)|connection ended|not queryable|client has encountered a connection error/i.test(
        error.message
      )
    )
  return ['57P01', '57P02', '08006', 'ECONNRESET', 'EPIPE'].includes(code)
}

/**
 * - 'permanent': the statement fails again with the same data, so it counts as an attempt. Classes 22, 23
 *   (except 23505) and 42.
 * - 'transient': connections, locks, conflicts, a full disk, shutdown, a unique key that another transaction
 *   inserted first. Retried without end.
 * - 'unknown': everything else, including bugs of our own.
 */
export function sqlErrorKind(error: unknown): 'permanent' | 'transient' | 'unknown' {
  if (isConnectionTrouble(error) || isDiskFull(error)) return 'transient'
  const code = sqlState(error)
  if (code === undefined || code.length !== 5) return 'unknown'
  if (code === '23505') return 'transient'
  if (/^(22|23|42)/.test(code)) return 'permanent'
  // 25006 is a write to a standby after a failover; 25P03 and 25P04 are timeouts of the session.
  if (/^(40|57)/.test(code) || ['55P03', '25006', '25P03', '25P04'].includes(code)) return 'transient'
  return 'unknown'
}

/** Whether the transaction was rolled back by a conflict and may run again at once: 40001 or 40P01. */
export function isConflict(error: unknown): boolean {
  const code = sqlState(error)
  return code === '40001' || code === '40P01'
}

/** Whether a table does not exist: the schema has not been migrated to this version. */
export const isTableMissing = (error: unknown): boolean => sqlState(error) === '42P01'

/** Whether Postgres ended the statement: its timeout passed, or somebody cancelled it. */
export const isStatementCancelled = (error: unknown): boolean => sqlState(error) === '57014'

/** Whether the role lacks a right. */
export const isForbidden = (error: unknown): boolean => sqlState(error) === '42501'

/** Whether the transaction can only read: on a standby, or because the role's transactions are like that. */
export const isReadOnly = (error: unknown): boolean => sqlState(error) === '25006'

/** Whether a lock was not obtained within lock_timeout. */
export const isLockTimeout = (error: unknown): boolean => sqlState(error) === '55P03'

/**
 * The error for the client: OVERLOADED if all connections are in use or another transaction holds a lock for too
 * long, UNAVAILABLE for any other trouble that passes, DEADLINE_EXCEEDED for a cancelled statement, otherwise
 * INTERNAL. A CatalogError is returned unchanged; any other error becomes the cause and is never shown.
 */
export function toCatalogError(error: unknown): CatalogError {
  if (error instanceof CatalogError) return error
  const options = { cause: error }
  if (isStatementCancelled(error)) {
    return new CatalogError(
      'DEADLINE_EXCEEDED',
      'The database did not answer within the deadline',
      {},
      options
    )
  }
  if (sqlErrorKind(error) === 'transient') {
    const { code, message, retryAfterSeconds } = troubleOf(error)
    return new CatalogError(code, message, { retryAfterSeconds }, options)
  }
  return new CatalogError('INTERNAL', 'An unexpected error', {}, options)
}

type Trouble = { code: 'OVERLOADED' | 'UNAVAILABLE'; message: string; retryAfterSeconds: number }

const unavailable = (message: string, retryAfterSeconds = 5): Trouble => ({
  code: 'UNAVAILABLE',
  message,
  retryAfterSeconds
})
const overloaded = (message: string): Trouble => ({ code: 'OVERLOADED', message, retryAfterSeconds: 1 })

/** What is the matter, for an error that is transient. */
function troubleOf(error: unknown): Trouble {
  const state = sqlState(error)
  if (error instanceof PoolBusyError)
    return overloaded('All connections of this process to the database are in use; send it again')
  if (isLockTimeout(error))
    return overloaded(
      'Another transaction is writing the same entities and did not end in time; send it again'
    )
  if (isConflict(error) || state === '23505')
    return unavailable('Other transactions wrote the same entities at the same time; send it again', 1)
  if (isDiskFull(error)) return unavailable('The disk of the database is full; nothing was stored', 30)
  if (isReadOnly(error))
    return unavailable('The database accepts no writes now: it is a standby, or read-only')
  if (state?.startsWith('53')) return unavailable('The database has no room: no connection or no memory')
  return unavailable('The database cannot be reached')
}
