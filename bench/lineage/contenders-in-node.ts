/** Contenders that ask Postgres for the neighbours hop by hop and remember in the process what they have seen. */
import type { Tx } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { keepDeadline } from '../../shared/store/deadline.ts'
import { idArray } from '../../shared/store/id-array.ts'
import { idSet } from '../../shared/store/id-set.ts'
import { walkLineage } from '../../shared/store/lineage-walk.ts'
import { answerOf } from './answers.ts'
import type { Contender } from './contender.ts'

/** Neighbours of a frontier, with or without duplicates. */
type Ask = (tx: Tx, frontier: Int32Array) => Promise<ArrayLike<number>>

const hopByHop = (name: string, ask: Ask): Contender => ({
  name,
  givesDegrees: true,
  async walk(tx, { id: start }) {
    const seen = idSet()
    seen.add(start)
    const ids: number[] = []
    const degrees: number[] = []
    let frontier = Int32Array.of(start)
    for (let hop = 1; frontier.length > 0; hop += 1) {
      const neighbours = await ask(tx, frontier)
      const begin = ids.length
      for (let index = 0; index < neighbours.length; index += 1) {
        const id = neighbours[index] ?? 0
        if (!seen.add(id)) continue
        ids.push(id)
        degrees.push(hop)
      }
      frontier = Int32Array.from(ids.slice(begin))
    }
    return () => answerOf(ids, (index) => degrees[index] ?? 0)
  }
})

const rows: Ask = async (tx, frontier) =>
  (
    await query<{ down: number }>(tx, 'select down from bench_edge where up = any(?::int[])', [
      idArray(frontier)
    ])
  ).map((row) => row.down)

const distinctRows: Ask = async (tx, frontier) =>
  (
    await query<{ down: number }>(tx, 'select distinct down from bench_edge where up = any(?::int[])', [
      idArray(frontier)
    ])
  ).map((row) => row.down)

const packed: Ask = async (tx, frontier) => {
  const [row] = await query<{ packed: Buffer | null }>(
    tx,
    `select string_agg(int4send(down), '') as packed from bench_edge where up = any(?::int[])`,
    [idArray(frontier)]
  )
  const bytes = row?.packed ?? Buffer.alloc(0)
  return Int32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readInt32BE(index * 4))
}

/** The product's fallback and oracle, on the product's own table. */
export const ownSqlWalk = (level: 'asset' | 'column', maxMs: number): Contender => ({
  name: 'Tributary, its SQL walk',
  givesDegrees: true,
  async walk(tx, { id }) {
    const bounds = { maxHops: 10_000, maxEntities: 10_000_000 }
    const withinDeadline = keepDeadline(tx, maxMs, 'the SQL walk took too long')
    const walk = await walkLineage(tx, {
      startIds: [id],
      direction: 'DOWNSTREAM',
      level,
      hopsWanted: Infinity,
      bounds,
      withinDeadline
    })
    return () => answerOf(walk.ids, (index) => walk.degrees[index] ?? 0)
  }
})

export const contendersInNode: readonly Contender[] = [
  hopByHop('Node, a query a hop, rows', rows),
  hopByHop('Node, a query a hop, distinct rows', distinctRows),
  hopByHop('Node, a query a hop, packed', packed)
]
