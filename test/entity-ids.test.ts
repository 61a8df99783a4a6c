/**
 * The ids of URNs that a worker remembers are correct whatever happens to the entities, are forgotten with a
 * restored database, and are bounded.
 */
import t from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { rememberEntityIds, type EntityIds } from '../shared/catalog/write/entity-ids.ts'
import { keepEpoch } from '../shared/catalog/write/keep-epoch.ts'
import type { Db, Tx } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { ensureEpoch } from '../shared/store/graph-changes.ts'
import { UrnPacker, type PackedUrns } from '../shared/urn/packed-urns.ts'
import type { Urn } from '../shared/urn/urn.ts'
import { addEdge, apply, asCall, create, dataset, hardDelete, record } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { undoLoad } from '../shared/catalog/loads/undo-load.ts'
import { admin, edge, entity, rejectsOf, withLoadBench } from './support/load-bench.ts'

const [a, b, c] = [dataset('a'), dataset('b'), dataset('c')]

function packed(urns: readonly Urn[]): PackedUrns {
  const packer = new UrnPacker()
  for (const urn of urns) packer.placeOf(urn)
  return packer.packed()
}

/** The returned ids, and the number of URNs that were looked up in the database. */
async function find(
  db: Db,
  ids: EntityIds,
  urns: readonly Urn[]
): Promise<{ ids: number[]; askedCount: number }> {
  let askedCount = 0
  const found = await db.transaction((tx: Tx) =>
    ids.find(
      new Proxy(tx, {
        get(target, name, receiver) {
          if (name !== 'raw') return Reflect.get(target, name, receiver) as unknown
          return (sql: string, bindings: readonly unknown[][]) => {
            if (sql.includes('urn_key')) askedCount += bindings[0]?.length ?? 0
            return target.raw(sql, bindings as never)
          }
        }
      }),
      packed(urns),
      new Int32Array(0),
      true
    )
  )
  return { ids: [...found.ids], askedCount }
}

const idsOf = async (db: Db, urns: readonly Urn[]): Promise<number[]> => {
  const rows = await query<{ id: number; urn: string }>(db, 'select id, urn from entity')
  return urns.map((urn) => rows.find((row) => row.urn === urn)?.id ?? 0)
}

t.test(
  'nothing is remembered about a server without an epoch, whose next crash could not be detected',
  async (t) => {
    const { db } = await withDatabase(t)
    await apply(db, ...create(a))
    const ids = rememberEntityIds()
    for (let time = 0; time < 2; time += 1) t.equal((await find(db, ids, [a])).askedCount, 1)
    await keepEpoch(db)
    t.equal((await find(db, ids, [a])).askedCount, 1)
    t.equal((await find(db, ids, [a])).askedCount, 0)
    await query(db, 'truncate graph_epoch')
    t.equal((await find(db, ids, [a])).askedCount, 1, 'as after a crash')
  }
)

t.test('an id is read once, and an entity without an id each time', async (t) => {
  const { db } = await withDatabase(t)
  await ensureEpoch(db)
  await apply(db, ...create(a, b))
  const ids = rememberEntityIds()
  const known = await idsOf(db, [a, b])
  t.same(await find(db, ids, [a, c, b]), { ids: [known[0], 0, known[1]], askedCount: 3 })
  t.same(await find(db, ids, [b, a, c]), { ids: [known[1], known[0], 0], askedCount: 1 })
  await apply(db, ...create(c))
  t.same((await find(db, ids, [c])).ids, await idsOf(db, [c]))
  t.same((await find(db, ids, [])).ids, [])
})

t.test('a limited number of ids is remembered: those asked for last', async (t) => {
  const { db } = await withDatabase(t)
  await ensureEpoch(db)
  const urns = Array.from({ length: 20 }, (_, index) => dataset(`d${index}`))
  await apply(db, ...create(a, ...urns))
  const ids = rememberEntityIds(4)
  for (const urn of urns) t.same((await find(db, ids, [urn, a])).ids, await idsOf(db, [urn, a]))
  t.same((await find(db, ids, [a])).askedCount, 0, 'what is asked for again and again stays')
  t.same((await find(db, ids, urns)).askedCount >= urns.length - 4, true, 'what was not is forgotten')
})

t.test('after a database was restored, its entities may have other ids', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b))
  await ensureEpoch(db)
  const ids = rememberEntityIds()
  await find(db, ids, [a, b])
  await query(db, 'update entity set id = id + 1000')
  await query(db, 'update graph_epoch set epoch = gen_random_uuid()')
  t.same((await find(db, ids, [a, b])).ids, await idsOf(db, [a, b]))
})

t.test('an entity given by its id is read once, and again after any deletion', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b))
  await applyCall(db, [record(0, addEdge(c, a))], asCall({ missingReferences: 'create' }))
  await ensureEpoch(db)
  const ids = rememberEntityIds()
  const [idA = 0, idB = 0, placeholder = 0] = await idsOf(db, [a, b, c])
  const judge = async (...numbered: number[]): Promise<number[]> =>
    [
      ...(await db.transaction((tx: Tx) => ids.find(tx, packed([]), Int32Array.from(numbered), true)))
        .deletedOrAbsent
    ].sort((one, other) => one - other)
  t.same(await judge(idB, idA, idB), [])
  t.same(
    await judge(placeholder, 900_000_000, idA),
    [placeholder, 900_000_000],
    'a placeholder and what is not there'
  )
  await apply(db, hardDelete(a))
  t.same(await judge(idA, idB), [idA])
  await query(db, 'update entity set is_present = false where id = ?', [idB])
  t.same(await judge(idB), [], 'what is known is not asked for again')
  await query(db, 'update graph_epoch set epoch = gen_random_uuid()')
  t.same(await judge(idB), [idB], 'but in another life of the database')
})

t.test('an edge to a deleted entity is refused, and applied when the entity exists again', async (t) => {
  const bench = await withLoadBench(t)
  await apply(bench.db, ...create(a, b))
  const load = async (): Promise<object> => {
    const id = await bench.submit([edge('a', 'b')])
    await bench.drain()
    return { ...(await bench.load(id)).counts, codes: (await rejectsOf(bench, id)).map(({ code }) => code) }
  }
  t.match(await load(), { applied: 1, rejected: 0 })
  await applyCall(bench.db, [record(0, hardDelete(a))], asCall())
  t.match(await load(), { applied: 0, rejected: 1, codes: ['MISSING_REFERENCE'] })
  await apply(bench.db, ...create(a))
  t.match(await load(), { applied: 1, rejected: 0 })
  t.match(await load(), { unchanged: 1, rejected: 0 })
})

t.test(
  'an edge between entities whose creation was undone, the first of the catalog, is refused',
  async (t) => {
    const bench = await withLoadBench(t)
    await ensureEpoch(bench.db)
    const first = await bench.submit([entity('a'), entity('b'), edge('a', 'b')])
    await bench.drain()
    await undoLoad(bench.db, bench.queue, first, { actor: admin, requestId: null })
    await bench.drain()
    const second = await bench.submit([edge('a', 'b')])
    await bench.drain()
    t.match((await bench.load(second)).counts, { applied: 0, rejected: 1 })
    t.match(await rejectsOf(bench, second), [{ code: 'MISSING_REFERENCE' }])
  }
)

t.test('the memory is told of an entity that was deleted since, and asks the database again', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b))
  await ensureEpoch(db)
  const ids = rememberEntityIds()
  await find(db, ids, [a, b])
  t.equal((await find(db, ids, [a, b])).askedCount, 0)
  await apply(db, hardDelete(a))
  const { deletedOrAbsent: excluded } = await db.transaction((tx: Tx) =>
    ids.find(tx, packed([a, b]), new Int32Array(0), true)
  )
  t.same([...excluded], [(await idsOf(db, [a]))[0]], 'and b is not')
})
