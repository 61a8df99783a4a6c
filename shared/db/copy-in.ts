/**
 * Sends rows with binary COPY, the fastest way to fill a table.
 *
 * Uses pg's own interface for statements instead of pg-copy-streams: after the server has refused the COPY,
 * that stream keeps writing to a connection that it no longer has, and the error cannot be caught.
 */
import type pg from 'pg'
import type { Tx } from './database.ts'

/**
 * The header of the binary format: eleven bytes that every file begins with, flags, and the length of an
 * extension.
 */
const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const ending = Buffer.from([0xff, 0xff])

/**
 * Runs `copy … from stdin (format binary)`. `rows` are in the binary format of the manual page of COPY: for
 * each row the number of columns, then for each column its length in bytes and its value as the type's
 * receive function reads it. Throws the server's error.
 */
export async function copyIn(tx: Tx, sql: string, rows: Buffer): Promise<void> {
  // The connection of an ended transaction may already be used by another.
  if (tx.isCompleted()) throw new Error('COPY in a transaction that has ended')
  // knex has no COPY, so the statement is sent on the connection of the transaction.
  const connection: pg.Client = await tx.client.acquireConnection()
  await new Promise<void>((resolve, reject) => {
    connection.query({
      // Named for the span of the statement.
      text: sql,
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

/** The methods of pg's connection that are used here but are missing in its types. */
type Wire = { sendCopyFromChunk(bytes: Buffer): void; endCopyFrom(): void }
