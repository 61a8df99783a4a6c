/** Brings a database to the newest schema. Any number of processes may start at once: each migration runs once. */
import { setTimeout as sleep } from 'node:timers/promises'
import { migrations, type Index, type Migration } from '../../migrations/index.ts'
import { advisoryLocks } from './advisory-locks.ts'
import type { Db, Tx } from './database.ts'
import { limitStatements } from './end-silent.ts'
import { query } from './query.ts'
import { runAlone } from './run-alone.ts'
import { whyItCannotMigrate } from './rights.ts'
import { isForbidden, isLockTimeout, isReadOnly } from './sql-errors.ts'
import { inTransaction } from './transaction.ts'

/** `needs`: see Migration; null in rows written by a version that did not have it. */
const createTable = `
create table if not exists schema_migration (
  name text collate "C" not null,
  applied_at timestamptz not null default now(),
  needs text collate "C",
  constraint schema_migration_pkey primary key (name)
)`

const addNeeds = 'alter table schema_migration add column if not exists needs text collate "C"'

/**
 * The first migration of databases of a version before the first release. The baseline replaced the
 * migrations of those versions.
 */
const preReleaseName = '0001-entities'

/** The database has migrations that this version does not know, and cannot work beside. */
export class UnknownSchemaError extends Error {
  readonly madeBy: 'newer' | 'pre-release'

  constructor(names: readonly string[]) {
    const isPreRelease = names.includes(preReleaseName)
    super(
      isPreRelease
        ? 'The database was made by a version before the first release and cannot be migrated. Use a new, empty database (for `tributary up`: another data directory) and load your metadata into it again.'
        : `The database has migrations that this version does not know: ${names.join(', ')}. Run the newer version.`
    )
    this.name = 'UnknownSchemaError'
    this.madeBy = isPreRelease ? 'pre-release' : 'newer'
  }
}

/** A migration did not get a lock, because other transactions hold it for long. Nothing of it was applied. */
export class MigrationBlockedError extends Error {
  constructor(name: string, cause: unknown) {
    super(
      `The migration ${name} waited too long for a lock that another transaction holds. Nothing of it was applied. End that transaction (see pg_stat_activity) and migrate again.`,
      { cause }
    )
    this.name = 'MigrationBlockedError'
  }
}

/** The role may not do what a migration does. The message names the SQL that grants it. Nothing was applied. */
export class MigrationForbiddenError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'MigrationForbiddenError'
  }
}

class NoSchemaError extends Error {
  constructor() {
    super('The search_path of this role names no schema that exists')
    this.name = 'NoSchemaError'
  }
}

/**
 * All later statements on the table wait behind a statement that waits for a lock. So a migration waits only
 * this long, lets them run, and tries again.
 */
const lockTimeoutMs = 2_000
const lockMaxAttempts = 60
const giveWayMs = 1_000
const otherMigratesMs = 100

export type MigrateOptions = { known?: readonly Migration[]; lockMaxAttempts?: number }

/**
 * Applies the missing migrations in order, each in its own transaction, and returns their names. `known` are
 * all migrations, by default those of this version. Waits for other processes that migrate; their advisory
 * lock is released when their transaction ends, for whatever reason. If the schema is current, a role that can read
 * the list of migrations is enough, also on a standby.
 *
 * Throws UnknownSchemaError if the database has migrations that this version cannot work beside,
 * MigrationBlockedError if a lock was not free in `lockMaxAttempts` attempts, 60 by default, and
 * MigrationForbiddenError if the role lacks a right.
 */
export async function migrate(db: Db, options: MigrateOptions = {}): Promise<string[]> {
  const known = options.known ?? migrations
  const attemptsMax = options.lockMaxAttempts ?? lockMaxAttempts
  const applied: string[] = []
  let attempts = 0
  for (;;) {
    const step = await inTransaction(db, (tx) => applyNext(db, tx, known)).catch(async (error: unknown) => {
      throw await explained(db, error)
    })
    if (step.is === 'current') return applied
    if (step.is === 'applied') applied.push(step.name)
    if (step.is !== 'blocked') attempts = 0
    else if ((attempts += 1) >= attemptsMax) throw new MigrationBlockedError(step.name, step.cause)
    if (step.is === 'blocked') await sleep(giveWayMs)
    if (step.is === 'other') await sleep(otherMigratesMs)
  }
}

async function explained(db: Db, error: unknown): Promise<unknown> {
  if (!(error instanceof NoSchemaError || isForbidden(error) || isReadOnly(error))) return error
  const reason = await whyItCannotMigrate(db)
  return reason === null ? error : new MigrationForbiddenError(reason, error)
}

/**
 * Names of migrations that have not been applied, in order; empty if the schema is current.
 *
 * Throws UnknownSchemaError if the database has migrations that this version cannot work beside.
 */
export async function pendingMigrations(db: Db): Promise<string[]> {
  return missingMigrations(db, migrations)
}

async function missingMigrations(db: Db | Tx, known: readonly Migration[]): Promise<string[]> {
  const [found] = await query<{ exists: boolean }>(
    db,
    `select to_regclass('schema_migration') is not null as exists`
  )
  const done = found?.exists === true ? await appliedNames(db, known) : new Set<string>()
  return known.map(({ name }) => name).filter((name) => !done.has(name))
}

type Step =
  | { is: 'current' }
  /** The table of migrations has its present form. */
  | { is: 'prepared' }
  | { is: 'applied'; name: string }
  /** Another process is migrating. */
  | { is: 'other' }
  | { is: 'blocked'; name: string; cause: unknown }

async function applyNext(db: Db, tx: Tx, known: readonly Migration[]): Promise<Step> {
  const schema = await useOwnSchema(tx)
  if ((await missingMigrations(tx, known)).length === 0) return { is: 'current' }
  if (!(await lockMigrations(tx))) return { is: 'other' }
  const done = await appliedNames(tx, known)
  const next = known.find(({ name }) => !done.has(name))
  if (next === undefined) return { is: 'current' }
  try {
    if (!(await hasNeeds(tx))) {
      await tx.transaction((inner) => query(inner, addNeeds))
      // Committed at once, because its lock would hold up readers until the migration ends.
      return { is: 'prepared' }
    }
    if ('indexes' in next) for (const index of next.indexes) await createIndex(db, schema, index)
    // In a savepoint, because a statement that fails would end the transaction.
    else await tx.transaction((inner) => runScript(inner, next.up))
  } catch (error) {
    if (isLockTimeout(error)) return { is: 'blocked', name: next.name, cause: error }
    throw error
  }
  await query(tx, 'insert into schema_migration (name, needs) values (?, ?)', [next.name, next.needs])
  return { is: 'applied', name: next.name }
}

/**
 * Leaves only the schema of the catalog in the search_path of the transaction, and returns its quoted name:
 * the first schema in the role's path with a schema_migration that this role owns, otherwise the schema in
 * which the role creates tables. So another role that may create schemas cannot put its own schema first,
 * whose triggers and functions would run with the rights of this role. The schema of the extension that
 * indexes need stays in the path; temporary tables come last. Throws NoSchemaError if the path has no schema.
 */
async function useOwnSchema(tx: Tx): Promise<string> {
  // Functions are named with their schema, because the search_path is still that of the role.
  const [found] = await query<{ schema: string }>(
    tx,
    `
    with own as (
      select coalesce(
        (
          select path.name
          from pg_catalog.unnest(pg_catalog.current_schemas(false)) with ordinality as path (name, ordinal)
          join pg_catalog.pg_namespace namespace on namespace.nspname = path.name
          join pg_catalog.pg_class ledger on ledger.relnamespace = namespace.oid and ledger.relname = 'schema_migration'
          where pg_catalog.pg_has_role(ledger.relowner, 'usage')
          order by pg_catalog.pg_get_userbyid(ledger.relowner) = current_user desc, path.ordinal
          limit 1
        ),
        pg_catalog.current_schema()
      ) as name
    ),
    extension as (
      select namespace.nspname as name
      from pg_catalog.pg_extension
      join pg_catalog.pg_namespace namespace on namespace.oid = pg_extension.extnamespace
      where pg_extension.extname = 'pg_trgm'
    )
    select
      pg_catalog.quote_ident(own.name) as schema,
      pg_catalog.set_config(
        'search_path',
        pg_catalog.concat_ws(', ', pg_catalog.quote_ident(own.name), pg_catalog.quote_ident(extension.name), 'pg_temp'),
        true
      ) as path
    from own
    left join extension on extension.name <> own.name
    where own.name is not null`
  )
  if (found === undefined) throw new NoSchemaError()
  return found.schema
}

/**
 * Returns false while another process migrates. Does not wait in Postgres, because the waiting statement
 * would have a snapshot, and an index that is created concurrently waits for the end of all older snapshots.
 */
async function lockMigrations(tx: Tx): Promise<boolean> {
  // The time limits of the pool are for requests. A migration may run long, and holds this transaction open
  // meanwhile.
  await limitStatements(tx, 0)
  await query(
    tx,
    `
    select set_config('idle_in_transaction_session_timeout', '0', true), set_config('lock_timeout', ?::text, true)`,
    [String(lockTimeoutMs)]
  )
  const [lock] = await query<{ isHeld: boolean }>(
    tx,
    'select pg_try_advisory_xact_lock(?::int, ?::int) as "isHeld"',
    advisoryLocks.migrations
  )
  if (lock?.isHeld !== true) return false
  await query(tx, createTable)
  return true
}

async function hasNeeds(tx: Tx): Promise<boolean> {
  const rows = await query(
    tx,
    `select from pg_attribute where attrelid = 'schema_migration'::regclass and attname = 'needs'`
  )
  return rows.length > 0
}

/** Throws UnknownSchemaError if a migration is unknown and needs another that is unknown too. */
async function appliedNames(db: Db | Tx, known: readonly Migration[]): Promise<Set<string>> {
  const rows = await query<{ name: string; needs: string | null }>(
    db,
    // The column is missing in a database of a version that did not write it.
    `select name, to_jsonb(schema_migration) ->> 'needs' as needs from schema_migration order by name`
  )
  const names = new Set(known.map(({ name }) => name))
  const unfit = rows.filter(({ name, needs }) => !names.has(name) && !(needs !== null && names.has(needs)))
  if (unfit.length > 0) throw new UnknownSchemaError(unfit.map(({ name }) => name))
  return new Set(rows.map(({ name }) => name))
}

/**
 * Creates an index without holding up writers, outside of the transaction. An index that an interrupted
 * attempt has left is replaced, because Postgres would never use it.
 */
async function createIndex(db: Db, schema: string, { name, on }: Index): Promise<void> {
  const [found] = await query<{ isValid: boolean }>(
    db,
    'select indisvalid as "isValid" from pg_index where indexrelid = to_regclass(?::text)',
    [`${schema}.${name}`]
  )
  if (found?.isValid === true) return
  await runAlone(db, [
    ...(found ? [`drop index concurrently ${schema}.${name}`] : []),
    `create index concurrently ${name} on ${schema}.${on}`
  ])
}

/** Sends a script without bindings: its question marks are part of the SQL. */
async function runScript(tx: Tx, script: string): Promise<void> {
  await tx.raw(script.replaceAll('?', '\\?'))
}
