/**
 * Ends a connection whose server is silent for longer than its statement may take. If the network was cut
 * silently, the operating system would repeat the statement for a quarter of an hour, and the pool would lack
 * the connection for that time.
 */
import type { Socket } from 'node:net'
import type pg from 'pg'
import type { Tx } from './database.ts'
import { query } from './query.ts'

/** For the network in both directions, in addition to the time that the server may take. */
const graceMs = 5_000
/** Before the second look: the answer may have arrived while this process was too busy to read it. */
const secondLookMs = 1_000

/**
 * `statementMs` is the time limit of a statement. The statement that runs on the connection then fails with
 * ETIMEDOUT.
 */
export function endWhenSilent(connection: pg.Client, statementMs: number): void {
  const stream = socketOf(connection)
  const silenceMs = statementMs + graceMs
  let askedBytes = stream.bytesWritten
  connection.connection.on('readyForQuery', ({ status }: { status: string }) => {
    askedBytes = stream.bytesWritten
    if (status === 'I' && stream.timeout !== silenceMs) stream.setTimeout(silenceMs)
  })
  stream.setTimeout(silenceMs)
  stream.on('timeout', () => {
    const { bytesRead, bytesWritten } = stream
    // Everything has been answered: the connection is idle.
    if (bytesWritten === askedBytes) return
    setTimeout(() => {
      if (stream.bytesRead !== bytesRead || stream.bytesWritten !== bytesWritten) return
      stream.destroy(Object.assign(new Error('The server does not answer'), { code: 'ETIMEDOUT' }))
    }, secondLookMs).unref()
  })
}

/**
 * Sets the time limit of the statements in the rest of the transaction, and with it that of silence. 0:
 * without a limit. Returns a function that restores both.
 */
export async function limitStatements(tx: Tx, statementMs: number): Promise<() => Promise<void>> {
  const [before] = await query<{ limit: string }>(
    tx,
    `select current_setting('statement_timeout') as "limit"`
  )
  const stream = socketOf(await tx.client.acquireConnection())
  const beforeMs = stream.timeout
  const set = async (limit: string, silenceMs: number): Promise<void> => {
    await query(tx, "select set_config('statement_timeout', ?, true)", [limit])
    stream.setTimeout(silenceMs)
  }
  await set(String(statementMs), statementMs === 0 ? 0 : statementMs + graceMs)
  return () => set(before?.limit ?? '0', beforeMs ?? 0)
}

/** Until its next statement outside a transaction is answered, the connection may be silent for any time. */
export function allowSilence(connection: pg.Client): void {
  socketOf(connection).setTimeout(0)
}

/** With TLS too, the stream is a socket of Node. */
const socketOf = (connection: pg.Client): Socket => connection.connection.stream as Socket
