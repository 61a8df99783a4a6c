/** Which edges are stated already, read by ranges: what looking each up says, however many more an asset has. */
import fc from 'fast-check'
import t from 'tap'
import { inKeyOrder, type EdgeColumns } from '../shared/catalog/edge-columns.ts'
import { findStated } from '../shared/catalog/find-stated.ts'
import type { Tx } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { bareRecordKey } from '../shared/model/record-keys.ts'
import { lookUpStated, type AlreadyStated } from '../shared/store/plain-edges.ts'
import { withDatabase } from './support/database.ts'

type Statement = { downstream: number, upstream: number, ownsUp: boolean, field: number, source: number, isBare: boolean }

/** Two aspects with two lists each. */
const field = fc.constantFrom(0x10, 0x11, 0x20, 0x21)
const statement = fc.record({ downstream: fc.constantFrom(1, 2, 3, 4), upstream: fc.integer({ min: 11, max: 70 }), ownsUp: fc.boolean(), field, source: fc.constantFrom(1, 2), isBare: fc.boolean() })
const wanted = fc.record({ downstream: fc.constantFrom(1, 2, 3, 4, 5), upstream: fc.integer({ min: 11, max: 70 }), ownsUp: fc.boolean(), field })
const ownerOf = ({ downstream, upstream, ownsUp }: Pick<Statement, 'downstream' | 'upstream' | 'ownsUp'>): number => ownsUp ? upstream : downstream

function columnsOf(edges: readonly Omit<Statement, 'source' | 'isBare'>[]): EdgeColumns {
  return inKeyOrder({
    places: Int32Array.from(edges.keys()), lines: Int32Array.from(edges.keys()),
    downstreamIds: Int32Array.from(edges, (edge) => edge.downstream), upstreamIds: Int32Array.from(edges, (edge) => edge.upstream),
    ownerIds: Int32Array.from(edges, ownerOf), fields: Int32Array.from(edges, (edge) => edge.field)
  })
}

const sorted = ({ bySource, byOthers }: AlreadyStated): string => JSON.stringify([[...bySource].sort((a, b) => a - b), [...byOthers].sort((a, b) => a - b)])

t.test('edges read by ranges are those that are found one by one', async (t) => {
  const { db } = await withDatabase(t)
  const seen = { own: 0, others: 0, cut: 0 }
  const end = new Error('taken back')
  await fc.assert(fc.asyncProperty(
    fc.uniqueArray(statement, { maxLength: 150, size: 'max', selector: (each) => JSON.stringify(each) }),
    fc.uniqueArray(wanted, { maxLength: 60, size: 'max', selector: ({ downstream, upstream }) => `${downstream} ${upstream}` }),
    async (statements, edges) => {
      await db.transaction(async (tx: Tx) => {
        for (const each of statements) {
          await query(tx, 'insert into statement (downstream_id, upstream_id, owner_id, field, source_id, record_key, position, seq, line) values (?::int, ?::int, ?::int, ?::int, ?::int, ?::int, 0, 1, 1)',
            [each.downstream, each.upstream, ownerOf(each), each.field, each.source, each.isBare ? bareRecordKey : 7])
        }
        const columns = columnsOf(edges)
        const stamp = { sourceId: 1, recordKey: bareRecordKey, position: 0, seq: 1 }
        const [found, expected] = [await findStated(tx, columns, stamp), await lookUpStated(tx, columns, stamp)]
        if (sorted(found) !== sorted(expected)) throw new Error(`${sorted(found)} for ${sorted(expected)}`)
        seen.own += found.bySource.length
        seen.others += found.byOthers.length
        for (const downstream of [1, 2, 3, 4]) if (statements.filter((each) => each.downstream === downstream).length > 30 && edges.filter((each) => each.downstream === downstream).length === 2) seen.cut += 1
        throw end
      }).catch((error: unknown) => { if (error !== end) throw error })
    }), { numRuns: 60 })
  t.ok(seen.own > 20 && seen.others > 20 && seen.cut > 0, JSON.stringify(seen))
})
