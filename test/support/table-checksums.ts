/** A checksum of every table, for tests that say "nothing changed". */
import type { Db } from '../../shared/db/database.ts'

export type TableChecksums = { [tableName: string]: string }

/**
 * Reads the checksums: for every table of the schema public except the ledger of migrations, the md5 of its
 * rows in order. For small tables. The list of tables is read once.
 */
export const createTableChecksums = async (db: Db): Promise<() => Promise<TableChecksums>> => {
  const names = await db.raw<{ rows: { name: string }[] }>(`
    select tablename as name
    from pg_tables
    where schemaname = 'public' and tablename not like 'knex%' and tablename not like 'migration%'
    order by tablename`)
  const parts = names.rows.map(
    ({ name }) =>
      `select '${name}' as name, md5(coalesce(string_agg(r::text, '|' order by r::text), '')) as sum from "${name}" r`
  )
  return async () => {
    const sums = await db.raw<{ rows: { name: string; sum: string }[] }>(parts.join(' union all '))
    return Object.fromEntries(sums.rows.map(({ name, sum }) => [name, sum]))
  }
}

/** The present checksums, for a test that asks once or twice. */
export const tableChecksums = async (db: Db): Promise<TableChecksums> => (await createTableChecksums(db))()

/** The tables whose checksum differs. */
export const changedTables = (before: TableChecksums, after: TableChecksums): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => before[name] !== after[name])
    .sort()
