/**
 * Rows sent as COPY takes them in its binary form: the fastest way into a table.
 *
 * By pg's own interface for statements and not by pg-copy-streams: its stream continues writing after the server has refused the
 * COPY, to a connection that it no longer has, and what that throws nobody can catch.
 */
import type pg from 'pg'
import type { Tx } from './database.ts'

/** Eleven bytes that every file begins with, flags, and the length of an extension. */
const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const ending = Buffer.from([0xff, 0xff])

/**
 * Runs `copy … from stdin (format binary)`. `rows` are in the form of copy's manual: for each a count of columns, and for each
 * of these its length in bytes and its value as the type's receive function reads it. Throws what the server says.
 */
export async function copyIn(tx: Tx, sql: string, rows: Buffer): Promise<void> {
  // The connection of one that has ended may be another's by now.
  if (tx.isCompleted()) throw new Error('COPY in a transaction that has ended')
  // knex has no COPY: the statement goes out on the connection that the transaction runs on.
  const connection: pg.Client = await tx.client.acquireConnection()
  await new Promise<void>((resolve, reject) => {
    connection.query({
      submit: (wire: pg.Connection) => {
        wire.query(sql)
      },
      handleCopyInResponse(wire: Wire) {
        for (const piece of [signature, rows, ending]) wire.sendCopyFromChunk(piece)
        wire.endCopyFrom()
      },
      handleCommandComplete() {},
      handleReadyForQuery: resolve,
      handleError: reject
    })
  })
}

/** What of pg's connection is used that its types do not tell. */
type Wire = { sendCopyFromChunk(bytes: Buffer): void; endCopyFrom(): void }
