/** A checksum of every table, for tests that say "nothing changed". */
import type { Db, Tx } from '../../shared/db/database.ts'

export type TableChecksums = { [tableName: string]: string }

/** Workers write here without being asked: that they live. */
const ownTables = ['worker']
/** Workers delete rows here every 30 seconds, when nothing needs them any longer. Only a new row is a change. */
const prunedTables = ['edge_tombstone', 'replace_watermark']

/**
 * Reads the checksums: for every table of the schema public except the ledger of migrations and what workers
 * keep for themselves, the md5 of its rows in order; for a table that workers prune, the md5 of each row. For
 * small tables. The list of tables is read once.
 */
export const createTableChecksums = async (db: Db | Tx): Promise<() => Promise<TableChecksums>> => {
  const names = await db.raw<{ rows: { name: string }[] }>(`
    select tablename as name
    from pg_tables
    where schemaname = 'public' and tablename not like 'knex%' and tablename not like 'migration%'
    order by tablename`)
  const parts = names.rows
    .filter(({ name }) => !ownTables.includes(name))
    .map(({ name }) => {
      const sum = prunedTables.includes(name)
        ? "string_agg(md5(r::text), ' ')"
        : "md5(string_agg(r::text, '|' order by r::text))"
      return `select '${name}' as name, coalesce(${sum}, '') as sum from "${name}" r`
    })
  return async () => {
    const sums = await db.raw<{ rows: { name: string; sum: string }[] }>(parts.join(' union all '))
    return Object.fromEntries(sums.rows.map(({ name, sum }) => [name, sum]))
  }
}

/** The present checksums, for a test that asks once or twice. */
export const tableChecksums = async (db: Db | Tx): Promise<TableChecksums> =>
  (await createTableChecksums(db))()

/** The tables whose checksum differs, or that have a new row where rows are pruned. */
export const changedTables = (before: TableChecksums, after: TableChecksums): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) =>
      prunedTables.includes(name)
        ? hasNewRow(before[name] ?? '', after[name] ?? '')
        : before[name] !== after[name]
    )
    .sort()

function hasNewRow(before: string, after: string): boolean {
  const known = new Set(before.split(' '))
  return after.split(' ').some((row) => row !== '' && !known.has(row))
}
