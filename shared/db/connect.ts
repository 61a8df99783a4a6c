/** Opens a pool to Postgres with the settings that keep one slow or dead client from holding up the others. */
import knex, { type Knex } from 'knex'
import pg from 'pg'
import type { Log } from '../platform/log.ts'
import { beforeScrape, metrics } from '../platform/metrics.ts'
import { postgresOptions } from '../platform/postgres-url.ts'
import { isTracing } from '../platform/tracing.ts'
import type { Db } from './database.ts'
import { endWhenSilent } from './end-silent.ts'
import { PoolBusyError } from './sql-errors.ts'
import { sendSettings, type StatementSettings } from './statement-settings.ts'
import { traceStatements } from './trace-statements.ts'

export type DatabaseOptions = {
  url: string
  /** The most connections at once. A connection is closed after half a minute without use. */
  poolMax: number
  /** Shown in pg_stat_activity, and used as the label of the pool's metrics. */
  applicationName: string
  statementTimeoutMs: number
  /** How long a statement waits for a lock before it fails with UNAVAILABLE. */
  lockTimeoutMs: number
  /**
   * How long a caller waits for a connection of the pool before it fails with UNAVAILABLE. The default is 2
   * s.
   */
  acquireTimeoutMs?: number
  /** For statements that find a few rows by index in a table whose statistics may be outdated. */
  usesIndexes?: boolean
  log: Log
}

const connectTimeoutMs = 10_000
const acquireTimeoutDefaultMs = 2_000
const idleTimeoutMs = 30_000
/** A transaction whose client is silent (stopped, partitioned) releases its locks after this time. */
const idleInTransactionTimeoutMs = 15_000
/**
 * Without this, the statement of a dead client keeps running and holds its locks (measured: 11.6 s; with it,
 * 0.5 s).
 */
const clientCheckIntervalMs = 1_000

const int8Oid = 20

/** int8 is read as a number: our counts and sequences stay below 2^53. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === int8Oid && format !== 'binary') return Number
    return pg.types.getTypeParser(oid, format)
  }
}

/**
 * Makes a pool for the URL (postgres-url.ts lists what it may contain). The pool connects when it is first
 * used. A lost connection is replaced, and only the statement that ran on it fails.
 */
export function connectDatabase(options: DatabaseOptions): Db {
  const { url, poolMax, applicationName, log } = options
  const settings = settingsOf(options)
  const db: Knex = knex({
    client: 'pg',
    connection: async () => ({
      ...(await postgresOptions(url)),
      application_name: applicationName,
      types,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: connectTimeoutMs
    }),
    pool: {
      min: 0,
      max: poolMax,
      acquireTimeoutMillis: options.acquireTimeoutMs ?? acquireTimeoutDefaultMs,
      createTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: idleTimeoutMs,
      // Knex sends no ROLLBACK when a BEGIN fails halfway; every later statement of the connection would fail.
      validate: (connection: pg.Client) =>
        !endedByServer.has(connection) && connection.getTransactionStatus() === 'I',
      afterCreate(connection: pg.Client, done: (error: Error | null, connection: pg.Client) => void) {
        noteEndByServer(connection)
        endWhenSilent(connection, options.statementTimeoutMs)
        sendSettings(connection, settings)
        if (isTracing()) traceStatements(connection)
        done(null, connection)
      }
    },
    log: {
      warn: (detail: unknown) => {
        log.debug({ detail }, 'the database driver warned')
      },
      error: (detail: unknown) => {
        log.warn({ detail }, 'the database driver reported an error')
      },
      deprecate: (detail: unknown) => {
        log.debug({ detail }, 'the database driver calls something deprecated')
      },
      debug: () => {}
    }
  })
  reportPool(db, applicationName)
  sayWhenBusy(db, poolMax)
  return db
}

/**
 * `jit` is off because none of our statements runs long enough to benefit from it. Before Postgres 18, a
 * statement that reads a table of one row while enable_seqscan is off gets a huge cost estimate and is
 * compiled: a fresh read of lineage took 200 ms instead of 0.1.
 */
const settingsOf = (options: DatabaseOptions): StatementSettings => ({
  statement_timeout: options.statementTimeoutMs,
  lock_timeout: options.lockTimeoutMs,
  idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
  client_connection_check_interval: clientCheckIntervalMs,
  enable_seqscan: options.usesIndexes === true ? 'off' : 'on',
  jit: 'off'
})

/**
 * Connections that the server has announced it will close. The running statement gets the announcement as its
 * error, and the socket closes a moment later. Without this set, the next statement would be sent on the
 * closing connection and fail too.
 */
const endedByServer = new WeakSet<pg.Client>()
const endingCodes = /^(57P0[1-5]|25P0[345]|08P01)$/

function noteEndByServer(connection: pg.Client): void {
  connection.connection.on('errorMessage', (message: { severity?: string; code?: string }) => {
    if (message.severity === 'FATAL' || endingCodes.test(message.code ?? '')) endedByServer.add(connection)
  })
}

/** Knex says the same whether a pool is full or its server does not answer; here the first is a PoolBusyError. */
function sayWhenBusy(db: Knex, poolMax: number): void {
  const acquire: () => Promise<unknown> = db.client.acquireConnection.bind(db.client)
  db.client.acquireConnection = async () => {
    try {
      return await acquire()
    } catch (error) {
      const pool: Pool | undefined = db.client.pool
      if (error instanceof Error && error.name === 'KnexTimeoutError' && (pool?.numUsed() ?? 0) >= poolMax)
        throw new PoolBusyError(`all ${poolMax} connections are in use`, { cause: error })
      throw error
    }
  }
}

/** The counters of knex's pool (tarn), which knex does not type. */
type Pool = {
  numUsed(): number
  numFree(): number
  numPendingAcquires(): number
  numPendingCreates(): number
}

function reportPool(db: Knex, pool: string): void {
  const end = beforeScrape(() => {
    const counters: Pool | undefined = db.client.pool
    if (counters === undefined) {
      end()
      return
    }
    metrics.dbPool.set({ pool, state: 'used' }, counters.numUsed())
    metrics.dbPool.set({ pool, state: 'free' }, counters.numFree())
    metrics.dbPool.set({ pool, state: 'waiting' }, counters.numPendingAcquires())
  })
}
