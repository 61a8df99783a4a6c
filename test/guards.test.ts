/**
 * The ten rules that keep concurrent writes right: each scenario ends right as composed, and wrong without its rule.
 *
 * Rules 5, 8 and 9 have their scenarios in the chunk protocol as well: loads.test.ts and load-recovery.test.ts.
 */
import t from 'tap'
import { applyRecords } from '../shared/catalog/apply-records.ts'
import { allChunkGuards, type ChunkGuards } from '../shared/catalog/chunk-guards.ts'
import { applyChunk } from '../shared/catalog/apply-chunk.ts'
import { claimChunk } from '../shared/catalog/claim-chunk.ts'
import { allGuards, type Guards } from '../shared/catalog/guards.ts'
import { readAspect } from '../shared/catalog/read-aspects.ts'
import { WaitForOlderLoad } from '../shared/catalog/wait-for-older-load.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { CatalogError } from '../shared/errors.ts'
import type { Change } from '../shared/model/changes.ts'
import { addEdge, apply, applyAsChunk, asCall, create, createDomain, dataset, domain, hardDelete, openLoad, patch, record, removeEdge, upsert, valueOf, without } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { edge, entity, guardsWithout, pretend, withLoadBench } from './support/load-bench.ts'

const a = dataset('a')
const b = dataset('b')
const c = dataset('c')

/** One call of one record under some of the rules. */
const call = (db: Db, guards: Guards, ...changes: Change[]) => inTransaction(db, (tx) => applyRecords(tx, [record(0, ...changes)], asCall({ guards })))

const edgesOf = async (db: Db): Promise<string[]> => (await query<{ edge: string }>(db, `
  select upstream.urn || ' -> ' || downstream.urn as edge
  from statement
  join entity as upstream on upstream.id = statement.upstream_id
  join entity as downstream on downstream.id = statement.downstream_id
  order by 1`)).map((row) => row.edge)

/** Waits until as many of our backends wait for a lock: the point that an interleaving is built on. */
async function untilBlocked(db: Db, count: number): Promise<void> {
  for (;;) {
    const [row] = await query<{ blocked: number }>(db, "select count(*)::int as blocked from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")
    if ((row?.blocked ?? 0) >= count) return
  }
}

/** A promise and what settles it. */
function gate(): { opened: Promise<void>, open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => { open = resolve })
  return { opened, open }
}

/** Applies a call and commits it only when told to; resolves when it is applied. */
async function applyHeld(db: Db, guards: Guards, ...changes: Change[]): Promise<{ commit: () => Promise<void> }> {
  const applied = gate()
  const commit = gate()
  const work = inTransaction(db, async (tx) => {
    await applyRecords(tx, [record(0, ...changes)], asCall({ guards }))
    applied.open()
    await commit.opened
  })
  await Promise.race([applied.opened, work])
  return { commit: async () => { commit.open(); await work } }
}

t.test('rule 1: a removal that was accepted later wins over an add that is applied later', async (t) => {
  const end = async (guards: Guards): Promise<string[]> => {
    const { db } = await withDatabase(t)
    await apply(db, ...create(a, b))
    const older = await openLoad(db)
    await call(db, guards, removeEdge(a, b))
    await applyAsChunk(db, older, [record(1, addEdge(a, b))], { guards })
    return edgesOf(db)
  }
  t.same(await end(allGuards), [])
  t.same(await end(without('keepsOrder')), [`${a} -> ${b}`], 'without order the removed edge comes back')
})

t.test('rule 2: two writers of one aspect do not lose each other\'s changes', async (t) => {
  const end = async (guards: Guards): Promise<unknown> => {
    const { db } = await withDatabase(t)
    await apply(db, upsert(a, 'datasetProperties', { customProperties: {} }))
    const set = (key: string) => call(db, guards, patch(a, 'datasetProperties', { op: 'add', path: `/customProperties/${key}`, value: 'yes' }))
    const release = gate()
    const held = gate()
    // The row that both will write is held, so that without the rule both have read before either writes.
    const holder = inTransaction(db, async (tx) => {
      await query(tx, "select 1 from aspect where aspect_name = 'datasetProperties' for update")
      held.open()
      await release.opened
    })
    await held.opened
    const writers = [set('one'), set('two')]
    await untilBlocked(db, 2)
    release.open()
    await Promise.all([holder, ...writers])
    const value = await readAspect(db, a, 'datasetProperties')
    return value?.value.customProperties
  }
  t.same(await end(allGuards), { one: 'yes', two: 'yes' })
  t.equal(Object.keys(await end(without('locksOwners')) as object).length, 1, 'without the lock one of the two is lost')
})

t.test('rule 3: an add that finds its edge there still wins over an older removal that comes after it', async (t) => {
  const end = async (guards: Guards): Promise<string[]> => {
    const { db } = await withDatabase(t)
    await apply(db, ...create(a, b), addEdge(a, b))
    const older = await openLoad(db)
    await call(db, guards, addEdge(a, b))
    await applyAsChunk(db, older, [record(1, removeEdge(a, b))], { guards })
    return edgesOf(db)
  }
  t.same(await end(allGuards), [`${a} -> ${b}`])
  t.same(await end(without('raisesOrder')), [], 'without raising the order the older removal takes the edge away')
})

t.test('rule 4: a late UPSERT goes before the patch that was accepted after it', async (t) => {
  const end = async (guards: Guards): Promise<unknown> => {
    const { db } = await withDatabase(t)
    await apply(db, upsert(a, 'datasetProperties', { description: 'first' }))
    const older = await openLoad(db)
    await call(db, guards, patch(a, 'datasetProperties', { op: 'add', path: '/customProperties/tier', value: 'gold' }))
    await applyAsChunk(db, older, [record(1, upsert(a, 'datasetProperties', { description: 'second' }))], { guards })
    return valueOf(db, a, 'datasetProperties')
  }
  t.match(await end(allGuards), { description: 'second', customProperties: { tier: 'gold' } })
  t.same((await end(without('replaysHistory')) as { customProperties: object }).customProperties, {}, 'without the replay the newer patch is lost')
})

t.test('rule 5: a reference is not called missing while an older load may still create it', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a))
  await openLoad(db, { currentPass: 1 })
  const newer = await openLoad(db)
  const refer = (guards: Guards) => applyAsChunk(db, newer, [record(1, addEdge(a, b))], { guards })
  await t.rejects(refer(allGuards), WaitForOlderLoad)
  t.match(await refer(without('waitsForOlderLoads')), [{ outcome: 'rejected', code: 'MISSING_REFERENCE' }], 'without waiting it is rejected, though it was sent after what creates it')
})

t.test('rule 6: no edge is left at an entity that was deleted while the edge was being written', async (t) => {
  const end = async (guards: Guards): Promise<string[]> => {
    const { db } = await withDatabase(t)
    await apply(db, ...create(a, b))
    const writer = await applyHeld(db, guards, addEdge(a, b))
    const deletion = call(db, guards, hardDelete(a))
    await (guards.excludesDeletes ? untilBlocked(db, 1) : deletion)
    await writer.commit()
    await deletion
    return edgesOf(db)
  }
  t.same(await end(allGuards), [])
  t.same(await end(without('excludesDeletes')), [`${a} -> ${b}`], 'without the lock the edge hangs on a deleted entity')
})

t.test('rule 7: two moves that are right alone never make a cycle together', async (t) => {
  const one = domain('one')
  const two = domain('two')
  const end = async (guards: Guards): Promise<{ refused: string | null, parents: number }> => {
    const { db } = await withDatabase(t)
    await apply(db, createDomain(one, 'One'))
    await apply(db, createDomain(two, 'Two'))
    const first = await applyHeld(db, guards, { kind: 'moveDomain', domainUrn: one, parentDomain: two })
    const second = call(db, guards, { kind: 'moveDomain', domainUrn: two, parentDomain: one }).then(() => null, (error: unknown) => error)
    await (guards.locksDomainTree ? untilBlocked(db, 1) : second)
    await first.commit()
    const refusal = await second
    const [row] = await query<{ parents: number }>(db, 'select count(parent_id)::int as parents from domain')
    return { refused: refusal instanceof CatalogError ? refusal.code : null, parents: row?.parents ?? 0 }
  }
  t.same(await end(allGuards), { refused: 'CONFLICT', parents: 1 })
  t.same(await end(without('locksDomainTree')), { refused: null, parents: 2 }, 'without the lock each becomes the parent of the other')
})

t.test('rule 8: a worker that has lost its chunk does not settle it', async (t) => {
  const settledBy = async (guards: ChunkGuards): Promise<string[]> => {
    const bench = await withLoadBench(t)
    await bench.submit([entity('a'), entity('b'), edge('a', 'b')])
    const chunkId = bench.told.shift() ?? 0
    const lost = await claimChunk(bench.db, chunkId, guards)
    // The lease runs out while its holder is frozen.
    await bench.rows("update chunk set lease_until = now() - interval '1 second' where id = ?::bigint", [chunkId])
    const held = await claimChunk(bench.db, chunkId, guards)
    const names: string[] = []
    for (const [name, claim] of [['who lost it', lost], ['who holds it', held]] as const) {
      if (claim) await applyChunk(bench.db, claim.chunk, { apply: pretend, guards }).then(() => names.push(name), () => {})
    }
    return names
  }
  t.same(await settledBy(allChunkGuards), ['who holds it'])
  t.same(await settledBy(guardsWithout('fence')), ['who lost it'], 'without the fence the frozen worker settles it')
})

t.test('rule 9: a record that cannot be applied is found and does not block its load', async (t) => {
  const stateOf = async (guards: ChunkGuards): Promise<string> => {
    const poisoned: typeof pretend = (tx, records, context) => {
      if (JSON.stringify(records).includes('poison')) throw Object.assign(new Error('invalid input'), { code: '22P02' })
      return pretend(tx, records, context)
    }
    const bench = await withLoadBench(t, { apply: poisoned })
    const id = await bench.submit([entity('a'), entity('poison'), entity('b'), entity('d')])
    for (let look = 0; look < 40; look += 1) {
      await bench.rows("update chunk set next_at = now() where state = 'waiting'")
      for (const { id: chunkId } of await bench.rows<{ id: number }>("select id from chunk where state = 'waiting'")) await bench.look(chunkId, { guards })
    }
    const load = await bench.load(id)
    return `${load.state}, ${load.counts.rejected} rejected`
  }
  t.equal(await stateOf(allChunkGuards), 'done, 1 rejected')
  t.equal(await stateOf(guardsWithout('attempts')), 'applying, 0 rejected', 'without counting attempts it is tried for ever')
})

t.test('rule 10: replacing what a source states leaves others alone, and an older add of that source does not come back', async (t) => {
  const end = async (guards: Guards): Promise<string[]> => {
    const { db } = await withDatabase(t)
    await apply(db, ...create(a, b, c, dataset('d')))
    await call(db, guards, addEdge(c, b))
    const older = await openLoad(db, { source: 'etl' })
    const newer = await openLoad(db, { source: 'etl' })
    await applyAsChunk(db, newer, [record(1, { kind: 'replaceEdges', ownerUrn: b, aspectName: 'upstreamLineage', source: 'etl', edges: [{ upstreamUrn: dataset('d'), downstreamUrn: b }] })], { guards })
    await applyAsChunk(db, older, [record(1, addEdge(a, b))], { guards })
    return edgesOf(db)
  }
  t.same(await end(allGuards), [`${c} -> ${b}`, `${dataset('d')} -> ${b}`])
  t.same(await end(without('keepsOrder')), [`${a} -> ${b}`, `${c} -> ${b}`, `${dataset('d')} -> ${b}`], 'without order what the source no longer states comes back')
})
