/** Brings a database to the newest schema. Any number of processes may start at once: each migration runs once. */
import { migrations } from '../../migrations/index.ts'
import { advisoryLocks } from './advisory-locks.ts'
import type { Db, Tx } from './database.ts'
import { query } from './query.ts'
import { inTransaction } from './transaction.ts'

const createTable = `
create table if not exists schema_migration (
  name text collate "C" not null,
  applied_at timestamptz not null default now(),
  constraint schema_migration_pkey primary key (name)
)`

/** In databases that a version before the first release migrated. The baseline replaced those migrations. */
const preReleaseName = '0001-entities'

/** The database has migrations that this version does not know, so this version must not write to it. */
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

/**
 * Applies the missing migrations in order, each in its own transaction, and returns their names.
 *
 * Waits for other processes that migrate; their advisory lock is released when their transaction ends,
 * however it ends. Throws UnknownSchemaError if the database has migrations that this version does not know.
 */
export async function migrate(db: Db): Promise<string[]> {
  const applied: string[] = []
  for (;;) {
    const name = await inTransaction(db, applyNext)
    if (name === undefined) return applied
    applied.push(name)
  }
}

/**
 * Names of migrations that have not been applied, in order; empty if the schema is current.
 *
 * Throws UnknownSchemaError if the database has migrations that this version does not know.
 */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const [found] = await query<{ exists: boolean }>(
    db,
    `select to_regclass('schema_migration') is not null as exists`
  )
  const done = found?.exists === true ? await appliedNames(db) : new Set<string>()
  return migrations.map(({ name }) => name).filter((name) => !done.has(name))
}

async function applyNext(tx: Tx): Promise<string | undefined> {
  await lockMigrations(tx)
  const done = await appliedNames(tx)
  const next = migrations.find(({ name }) => !done.has(name))
  if (next === undefined) return undefined
  await runScript(tx, next.up)
  await query(tx, 'insert into schema_migration (name) values (?)', [next.name])
  return next.name
}

/** Removes the timeouts of the pool, which are for requests: migrations may take as long as they need. */
async function lockMigrations(tx: Tx): Promise<void> {
  await query(tx, `select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)`)
  await query(tx, 'select pg_advisory_xact_lock(?::int, ?::int)', advisoryLocks.migrations)
  await query(tx, createTable)
}

async function appliedNames(db: Db | Tx): Promise<Set<string>> {
  const rows = await query<{ name: string }>(db, 'select name from schema_migration order by name')
  const known = new Set(migrations.map(({ name }) => name))
  const unknown = rows.map(({ name }) => name).filter((name) => !known.has(name))
  if (unknown.length > 0) throw new UnknownSchemaError(unknown)
  return new Set(rows.map(({ name }) => name))
}

/** Sends a script without bindings: its question marks are part of the SQL. */
async function runScript(tx: Tx, script: string): Promise<void> {
  await tx.raw(script.replaceAll('?', '\\?'))
}
