/** Which edges are stated already, read by ranges: what looking each up says, however many more an asset has. */
import t from 'tap'
import { inKeyOrder, type EdgeColumns } from '../shared/catalog/write/edge-columns.ts'
import { findStated } from '../shared/catalog/write/find-stated.ts'
import type { Db, Tx } from '../shared/db/database.ts'
import { int4Array } from '../shared/db/int4-array.ts'
import { query } from '../shared/db/query.ts'
import { bareRecordKey } from '../shared/model/record-keys.ts'
import { lookUpStated, type AlreadyStated } from '../shared/store/plain-edges.ts'
import { withDatabase } from './support/database.ts'
import { fc } from './support/fast-check.ts'

type Statement = {
  downstream: number
  upstream: number
  ownsUp: boolean
  field: number
  source: number
  isBare: boolean
}

/** Two aspects with two lists each. */
const field = fc.constantFrom(0x10, 0x11, 0x20, 0x21)
const statement = fc.record({
  downstream: fc.constantFrom(1, 2, 3, 4),
  upstream: fc.integer({ min: 11, max: 70 }),
  ownsUp: fc.boolean(),
  field,
  source: fc.constantFrom(1, 2),
  isBare: fc.boolean()
})
const wanted = fc.record({
  downstream: fc.constantFrom(1, 2, 3, 4, 5),
  upstream: fc.integer({ min: 11, max: 70 }),
  ownsUp: fc.boolean(),
  field
})
const ownerOf = ({
  downstream,
  upstream,
  ownsUp
}: Pick<Statement, 'downstream' | 'upstream' | 'ownsUp'>): number => (ownsUp ? upstream : downstream)

function columnsOf(edges: readonly Omit<Statement, 'source' | 'isBare'>[]): EdgeColumns {
  return inKeyOrder({
    places: Int32Array.from(edges.keys()),
    lines: Int32Array.from(edges.keys()),
    downstreamIds: Int32Array.from(edges, (edge) => edge.downstream),
    upstreamIds: Int32Array.from(edges, (edge) => edge.upstream),
    ownerIds: Int32Array.from(edges, ownerOf),
    fields: Int32Array.from(edges, (edge) => edge.field)
  })
}

const sorted = ({ bySource, byOthers }: AlreadyStated): string =>
  JSON.stringify([[...bySource].sort((a, b) => a - b), [...byOthers].sort((a, b) => a - b)])

t.test('edges read by ranges are those that are found one by one', async (t) => {
  const { db } = await withDatabase(t)
  const seen = { own: 0, others: 0 }
  const end = new Error('taken back')
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(statement, { maxLength: 150, size: 'max', selector: (each) => JSON.stringify(each) }),
      fc.uniqueArray(wanted, {
        maxLength: 60,
        size: 'max',
        selector: ({ downstream, upstream }) => `${downstream} ${upstream}`
      }),
      async (statements, edges) => {
        await db
          .transaction(async (tx: Tx) => {
            for (const each of statements) {
              await query(
                tx,
                'insert into statement (downstream_id, upstream_id, owner_id, field, source_id, record_key, position, seq, line) values (?::int, ?::int, ?::int, ?::int, ?::int, ?::int, 0, 1, 1)',
                [
                  each.downstream,
                  each.upstream,
                  ownerOf(each),
                  each.field,
                  each.source,
                  each.isBare ? bareRecordKey : 7
                ]
              )
            }
            const columns = columnsOf(edges)
            const stamp = { sourceId: 1, recordKey: bareRecordKey, position: 0, seq: 1 }
            const [found, expected] = [
              await findStated(tx, columns, stamp),
              await lookUpStated(tx, columns, stamp)
            ]
            if (sorted(found) !== sorted(expected))
              throw new Error(`${sorted(found)} for ${sorted(expected)}`)
            seen.own += found.bySource.length
            seen.others += found.byOthers.length
            throw end
          })
          .catch((error: unknown) => {
            if (error !== end) throw error
          })
      }
    ),
    { numRuns: 150 }
  )
  t.ok(seen.own > 10 && seen.others > 40, JSON.stringify(seen))
})

/** Runs what is asked in a transaction, and tells which statements were sent. */
async function watched<T>(
  db: Db,
  work: (tx: Tx) => Promise<T>
): Promise<{ result: T; statements: string[] }> {
  const statements: string[] = []
  const result = await db.transaction((tx: Tx) =>
    work(
      new Proxy(tx, {
        get(target, name, receiver) {
          if (name !== 'raw') return Reflect.get(target, name, receiver) as unknown
          return (sql: string, bindings: never) => {
            statements.push(sql)
            return target.raw(sql, bindings)
          }
        }
      })
    )
  )
  return { result, statements }
}

const stamp = { sourceId: 1, recordKey: bareRecordKey, position: 0, seq: 1 }
const fill = (db: Db, downstreams: string, upstreams: string): Promise<unknown> =>
  query(
    db,
    `
  insert into statement (downstream_id, upstream_id, owner_id, field, source_id, record_key, position, seq, line)
  select downstream, upstream, downstream, 16, 1, ${bareRecordKey}, 0, 1, 1
  from generate_series(${downstreams}) as downstream
  cross join generate_series(${upstreams}) as upstream`
  )
const plain = (downstream: number, upstream: number) => ({ downstream, upstream, ownsUp: false, field: 0x10 })

t.test('an asset with many more upstreams than are asked for is looked up edge by edge', async (t) => {
  const { db } = await withDatabase(t)
  await fill(db, '1, 1', '1001, 1100')
  for (const [upstreams, isCut] of [
    [[1001, 1100], true],
    [[1001, 1002, 2000], true],
    [[1001, 1009], false],
    [[1050], false]
  ] as const) {
    const { result, statements } = await watched(db, (tx) =>
      findStated(tx, columnsOf(upstreams.map((upstream) => plain(1, upstream))), stamp)
    )
    t.same(
      [...result.bySource].sort((a, b) => a - b),
      upstreams.flatMap((upstream, at) => (upstream <= 1100 ? [at] : [])),
      upstreams.join()
    )
    t.equal(statements.length, isCut ? 2 : 1, `${upstreams.join()} is ${isCut ? '' : 'not '}looked up`)
  }
})

t.test(
  'a range is read by the primary key, though the table was analyzed while it had one downstream',
  async (t) => {
    const { db } = await withDatabase(t)
    await fill(db, '1, 1', '1001, 1200')
    await query(db, 'analyze statement')
    await fill(db, '2, 3000', '1001, 1020')
    const {
      statements: [sql = '']
    } = await watched(db, (tx) => findStated(tx, columnsOf([plain(5, 1001), plain(5, 1020)]), stamp))
    const plan = await query<{ 'QUERY PLAN': string }>(db, `explain ${sql}`, [
      ...[[5], [1001], [1020]].map(int4Array),
      1,
      bareRecordKey,
      28
    ])
    const text = plan.map((row) => row['QUERY PLAN']).join('\n')
    t.match(text, /using statement_pkey on statement/)
    t.notMatch(text, /statement_upstream_id_idx|Seq Scan/)
  }
)
