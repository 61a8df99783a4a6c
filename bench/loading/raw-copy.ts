/**
 * The measure for loads: a COPY of the same edges as pairs of integers into a table with the same two
 * indexes.
 */
import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Edges } from './edges.ts'

/**
 * The seconds of one COPY into a new, empty table, after a checkpoint, with a durable commit, and rows in
 * the order of the load.
 */
export async function timeRawCopy(url: string, { upstream, downstream }: Edges): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('drop table if exists raw_edge')
    await client.query(
      'create table raw_edge (downstream_id int not null, upstream_id int not null, primary key (downstream_id, upstream_id))'
    )
    await client.query('create index raw_edge_upstream_id_idx on raw_edge (upstream_id)')
    await client.query('checkpoint')
    const begun = performance.now()
    const stream = client.query(copyFrom('copy raw_edge from stdin'))
    const done = finished(stream)
    let piece = ''
    for (let index = 0; index < upstream.length; index += 1) {
      piece += `${(downstream[index] ?? 0) + 1}\t${(upstream[index] ?? 0) + 1}\n`
      if (piece.length < 65_536) continue
      if (!stream.write(piece)) await new Promise((resolve) => stream.once('drain', resolve))
      piece = ''
    }
    stream.end(piece)
    await done
    const seconds = (performance.now() - begun) / 1_000
    await client.query('drop table raw_edge')
    return seconds
  } finally {
    await client.end()
  }
}
