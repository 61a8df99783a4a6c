/** Runs statements that Postgres refuses in a transaction. */
import pg from 'pg'
import type { Db } from './database.ts'
import { allowSilence } from './end-silent.ts'

/**
 * Runs the statements one after the other on a connection of their own, without time limits, because they may
 * wait for the end of older transactions, however long those take. Behind a pooler the session is shared, so
 * the limits of the role apply.
 */
export async function runAlone(db: Db, statements: readonly string[]): Promise<void> {
  const connection: pg.Client = await db.client.acquireConnection()
  try {
    if ((await processOf(connection)).isOwn)
      await send(connection, 'set statement_timeout = 0; set lock_timeout = 0')
    for (const sql of statements) await send(connection, sql)
  } finally {
    // The connection has these settings, so it is not returned to the pool.
    await connection.end()
    await db.client.releaseConnection(connection)
  }
}

/**
 * The server process that has answered, and whether it is the process that was named when the connection was
 * made: a pooler invents that name.
 */
export async function processOf(connection: pg.Client): Promise<{ pid: number; isOwn: boolean }> {
  const { rows } = await send<{ pid: number }>(connection, 'select pg_backend_pid() as pid')
  const pid = rows[0]?.pid ?? 0
  // pg's types lack it
  return { pid, isOwn: pid === (connection as pg.Client & { processID?: number }).processID }
}

/** Sent without the settings of the pool, which would put the statement into a transaction. */
const send = <Row extends pg.QueryResultRow>(
  connection: pg.Client,
  sql: string
): Promise<pg.QueryResult<Row>> =>
  new Promise((resolve, reject) => {
    allowSilence(connection)
    connection.query(
      new pg.Query<Row>(sql, (error, result) => {
        if (error) reject(error)
        else resolve(result)
      })
    )
  })
