/**
 * The tables that the contenders walk: edges of ids and of URNs, with no other columns, and an index for
 * each direction.
 */
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { copyIn } from './copy-in.ts'
import { entityIdOf, walkedEdges, type BenchGraph } from './graphs.ts'
import { analyze } from './without-indexes.ts'

/**
 * With more edges a table of URNs would take gigabytes, so contenders that walk by URNs are only measured on
 * smaller graphs.
 */
const textEdgesMaxCount = 500_000

/** `hasTexts` says whether there is a table of URNs. */
export async function makePlainTables(db: Db, graph: BenchGraph): Promise<{ hasTexts: boolean }> {
  const { upstream, downstream } = walkedEdges(graph)
  await query(db, 'create table bench_edge (up int not null, down int not null)')
  await copyIn(
    db,
    'bench_edge (up, down)',
    lines(upstream, downstream, (node) => entityIdOf(node))
  )
  await query(db, 'alter table bench_edge add primary key (up, down)')
  await query(db, 'create index on bench_edge (down, up)')
  await analyze(db, 'bench_edge')
  const hasTexts = upstream.length <= textEdgesMaxCount
  if (hasTexts) {
    await query(
      db,
      'create table bench_text_edge (up text collate "C" not null, down text collate "C" not null)'
    )
    await copyIn(db, 'bench_text_edge (up, down)', lines(upstream, downstream, graph.urnOf))
    await query(db, 'alter table bench_text_edge add primary key (up, down)')
    await query(db, 'create index on bench_text_edge (down, up)')
    await analyze(db, 'bench_text_edge')
  }
  return { hasTexts }
}

function* lines(
  upstream: Int32Array,
  downstream: Int32Array,
  nameOf: (node: number) => number | string
): Generator<string> {
  for (let edge = 0; edge < upstream.length; edge += 1)
    yield `${nameOf(upstream[edge] ?? 0)}\t${nameOf(downstream[edge] ?? 0)}`
}
