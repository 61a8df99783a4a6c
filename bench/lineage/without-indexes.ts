/** Drops a table's indexes while it is filled: for L this takes 20 seconds instead of more than a minute. */
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { runAlone } from '../../shared/db/run-alone.ts'
import { inTransaction } from '../../shared/db/transaction.ts'

type Index = { name: string; isConstraint: boolean; definition: string }

/** Afterwards the table has its indexes again, and current statistics. */
export async function withoutIndexes(db: Db, table: string, fill: () => Promise<void>): Promise<void> {
  const indexes = await query<Index>(
    db,
    `
    select relation.relname as name, con.oid is not null as "isConstraint", coalesce(pg_get_constraintdef(con.oid), pg_get_indexdef(relation.oid)) as definition
    from pg_index
    join pg_class as relation on relation.oid = pg_index.indexrelid
    left join pg_constraint as con on con.conindid = relation.oid
    where pg_index.indrelid = ?::regclass`,
    [table]
  )
  for (const { name, isConstraint } of indexes)
    await runLong(db, isConstraint ? `alter table ${table} drop constraint ${name}` : `drop index ${name}`)
  await fill()
  for (const { name, isConstraint, definition } of indexes)
    await runLong(db, isConstraint ? `alter table ${table} add constraint ${name} ${definition}` : definition)
  await analyze(db, table)
}

/** Writes statistics and hint bits, so that the first measured query does not have to. */
export async function analyze(db: Db, table: string): Promise<void> {
  await runAlone(db, [`vacuum (analyze) ${table}`])
}

/** Runs a statement without a time limit. */
async function runLong(db: Db, sql: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    await query(tx, 'set local statement_timeout = 0')
    await query(tx, sql)
  })
}
