/** Fills a table by COPY, on a connection of the pool. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Db } from '../../shared/db/database.ts'

const pieceChars = 65_536

/** `lines` are rows in COPY's text format without line ends; `target` is a table with its columns. */
export async function copyIn(db: Db, target: string, lines: Iterable<string>): Promise<void> {
  const connection: pg.Client = await db.client.acquireConnection()
  try {
    await pipeline(Readable.from(pieces(lines)), connection.query(copyFrom(`copy ${target} from stdin`)))
  } finally {
    await db.client.releaseConnection(connection)
  }
}

function* pieces(lines: Iterable<string>): Generator<Buffer> {
  let piece = ''
  for (const line of lines) {
    piece += line
    piece += '\n'
    if (piece.length < pieceChars) continue
    yield Buffer.from(piece)
    piece = ''
  }
  if (piece) yield Buffer.from(piece)
}
