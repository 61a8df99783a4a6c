/**
 * Each rule of the write path with an interleaving that breaks the catalog without it. The result must be
 * right with all rules, as in production, and wrong without the rule, which proves that the test can fail.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { applyChunk } from '../shared/catalog/loads/apply-chunk.ts'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import { allChunkGuards, type ChunkGuards } from '../shared/catalog/loads/chunk-guards.ts'
import { claimChunk } from '../shared/catalog/loads/claim-chunk.ts'
import { allGuards, type Guards } from '../shared/catalog/write/guards.ts'
import { WaitForOlderLoad } from '../shared/catalog/write/wait-for-older-load.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import type { Change, JsonValue, Verdict } from '../shared/model/changes.ts'
import {
  addEdge,
  apply,
  applyAsChunk,
  asCall,
  column,
  create,
  createDomain,
  dataset,
  domain,
  endLoad,
  hardDelete,
  inDomain,
  openLoad,
  patch,
  record,
  removeEdge,
  setDomain,
  unsetDomain,
  upsert,
  upstream,
  valueOf,
  without
} from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { edge, entity, guardsWithout, pretend, withLoadBench } from './support/load-bench.ts'
import { endedOrBlocked, pausedBefore } from './support/paused-tx.ts'

const a = dataset('a')
const b = dataset('b')
const c = dataset('c')
const home = domain('home')
const other = domain('other')

/** Runs a scenario twice, each time on a catalog of three datasets and two domains. */
async function bothWays(
  t: Test,
  name: keyof Guards,
  play: (db: Db, guards: Guards) => Promise<JsonValue>,
  right: JsonValue,
  wrong: JsonValue
): Promise<void> {
  for (const [guards, expected, says] of [
    [allGuards, right, 'with all rules'],
    [without(name), wrong, `without ${name} it would be wrong`]
  ] as const) {
    const { db } = await withDatabase(t)
    await apply(db, ...create(a, b, c), createDomain(home, 'Home'), createDomain(other, 'Other'))
    t.same(await play(db, guards), expected, says)
  }
}

const call = (db: Db, guards: Guards, ...changes: Change[]): Promise<Verdict[]> =>
  inTransaction(db, (tx) => applyRecords(tx, [record(0, ...changes)], asCall({ guards })))

const upstreams = async (db: Db): Promise<JsonValue> => {
  const value = (await valueOf(db, a, 'upstreamLineage')) as { upstreams: { dataset: string }[] } | null
  return (value?.upstreams ?? []).map((entry) => entry.dataset).sort()
}

/**
 * Two concurrent calls: the first pauses before the statement while the second runs as far as it can. Returns
 * the outcome of each.
 */
async function race(
  db: Db,
  statement: RegExp,
  guards: Guards,
  first: Change,
  second: Change
): Promise<string[]> {
  const paused = pausedBefore(db, statement, (tx) => applyRecords(tx, [record(0, first)], asCall({ guards })))
  await paused.reached
  const late = call(db, guards, second).then(
    () => 'done',
    (error: Error & { code?: string }) => error.code ?? error.message
  )
  await endedOrBlocked(db, late)
  paused.goOn()
  const early = await paused.done
  return [early.status === 'fulfilled' ? 'done' : 'failed', await late]
}

t.test(
  'rule 1: a removal, a replacement and an association win over older changes that are applied later',
  async (t) => {
    await bothWays(
      t,
      'keepsOrder',
      async (db, guards) => {
        const older = await openLoad(db)
        await call(db, guards, removeEdge(b, a))
        await applyAsChunk(db, older, [record(1, addEdge(b, a))], { guards })
        return upstreams(db)
      },
      [],
      [b]
    )
    await bothWays(
      t,
      'keepsOrder',
      async (db, guards) => {
        const older = await openLoad(db)
        await call(db, guards, upsert(a, 'upstreamLineage', { upstreams: [upstream(c)] }))
        await applyAsChunk(
          db,
          older,
          [record(1, upsert(a, 'upstreamLineage', { upstreams: [upstream(b)] }))],
          { guards }
        )
        return upstreams(db)
      },
      [c],
      [b]
    )
    await bothWays(
      t,
      'keepsOrder',
      async (db, guards) => {
        const older = await openLoad(db)
        await call(db, guards, setDomain(a, home))
        await applyAsChunk(db, older, [record(1, setDomain(a, other)), record(2, unsetDomain(a))], { guards })
        return valueOf(db, a, 'domains')
      },
      inDomain(home),
      inDomain(null)
    )
    await bothWays(
      t,
      'keepsOrder',
      async (db, guards) => {
        const older = await openLoad(db)
        await call(db, guards, hardDelete(c))
        await applyAsChunk(db, older, [record(1, ...create(c)), record(2, addEdge(c, a))], { guards })
        return [await upstreams(db), (await valueOf(db, c, 'datasetKey')) !== null]
      },
      [[], false],
      [[c], true]
    )
  }
)

t.test(
  'rule 2: a replacement or patch locks the owner, so that no other change comes between its read and its write',
  async (t) => {
    await bothWays(
      t,
      'locksOwners',
      async (db, guards) => {
        await race(
          db,
          /^copy$/,
          guards,
          upsert(a, 'upstreamLineage', { upstreams: [upstream(b)] }),
          upsert(a, 'upstreamLineage', { upstreams: [upstream(c)] })
        )
        return upstreams(db)
      },
      [c],
      [b, c]
    )
    await bothWays(
      t,
      'locksOwners',
      async (db, guards) => {
        const add = (key: string) =>
          patch(a, 'datasetProperties', { op: 'add', path: `/customProperties/${key}`, value: 'v' })
        await race(db, /insert into aspect /, guards, add('first'), add('second'))
        return ((await valueOf(db, a, 'datasetProperties')) as { customProperties: JsonValue })
          .customProperties
      },
      { first: 'v', second: 'v' },
      { first: 'v' }
    )
    await bothWays(
      t,
      'locksOwners',
      async (db, guards) => {
        const [x, y] = [column(a, 'x'), column(b, 'y')]
        await race(db, /^copy$/, guards, addEdge(y, x), removeEdge(y, x))
        return (await query(db, 'select 1 from statement')).length
      },
      0,
      1
    )
  }
)

t.test('rule 3: what says the same again is not undone by what was accepted before it', async (t) => {
  const scenario =
    (said: Change, late: Change, shown: (db: Db) => Promise<JsonValue>) =>
    async (db: Db, guards: Guards): Promise<JsonValue> => {
      await apply(db, said)
      const older = await openLoad(db)
      await call(db, guards, said)
      await applyAsChunk(db, older, [record(1, late)], { guards })
      return shown(db)
    }
  await bothWays(t, 'raisesOrder', scenario(addEdge(b, a), removeEdge(b, a), upstreams), [b], [])
  await bothWays(
    t,
    'raisesOrder',
    scenario(setDomain(a, home), unsetDomain(a), (db) => valueOf(db, a, 'domains')),
    inDomain(home),
    inDomain(null)
  )
  const nameOf = async (db: Db) => ((await valueOf(db, a, 'datasetProperties')) as { name: string }).name
  await bothWays(
    t,
    'raisesOrder',
    scenario(
      upsert(a, 'datasetProperties', { name: 'said' }),
      upsert(a, 'datasetProperties', { name: 'late' }),
      nameOf
    ),
    'said',
    'late'
  )
  const profile = (rowCount: number): Change =>
    upsert(a, 'datasetProfile', { timestampMillis: 1_700_000_000_000, rowCount })
  await bothWays(
    t,
    'raisesOrder',
    scenario(
      profile(1),
      profile(2),
      async (db) => ((await valueOf(db, a, 'datasetProfile')) as { rowCount: number }).rowCount
    ),
    1,
    2
  )
})

t.test(
  'rule 4: a late change of an aspect comes before the newer ones, and they are made again',
  async (t) => {
    await bothWays(
      t,
      'replaysHistory',
      async (db, guards) => {
        const older = await openLoad(db)
        await call(db, guards, patch(a, 'datasetProperties', { op: 'add', path: '/name', value: 'newer' }))
        await applyAsChunk(
          db,
          older,
          [record(1, upsert(a, 'datasetProperties', { name: 'older', description: 'older' }))],
          { guards }
        )
        return valueOf(db, a, 'datasetProperties')
      },
      { name: 'newer', description: 'older', customProperties: {}, tags: [] },
      { name: 'older', description: 'older', customProperties: {}, tags: [] }
    )
    await bothWays(
      t,
      'replaysHistory',
      async (db, guards) => {
        const older = await openLoad(db)
        await call(db, guards, { kind: 'renameDomain', domainUrn: home, name: 'Newer' })
        await applyAsChunk(db, older, [record(1, createDomain(home, 'Older', other))], { guards })
        return query<{ name: string }>(
          db,
          'select name from domain join entity on id = entity_id where urn = ?',
          [home]
        )
      },
      [{ name: 'Newer' }],
      [{ name: 'Older' }]
    )
  }
)

t.test('rule 5: nothing is called missing that an older load may yet create', async (t) => {
  await bothWays(
    t,
    'waitsForOlderLoads',
    async (db, guards) => {
      const older = await openLoad(db, { currentPass: 1 })
      const newer = await openLoad(db)
      const refers = [record(1, addEdge(dataset('coming'), a))]
      const first = await applyAsChunk(db, newer, refers, { guards }).catch((error: unknown) => error)
      await applyAsChunk(db, older, [record(1, ...create(dataset('coming')))])
      await endLoad(db, older)
      if (first instanceof WaitForOlderLoad) await applyAsChunk(db, newer, refers, { guards })
      return upstreams(db)
    },
    [dataset('coming')],
    []
  )
})

t.test(
  'rule 5: the records of a load that refer come after those that create, whichever job comes first',
  async (t) => {
    for (const [guards, rejected] of [
      [allChunkGuards, 0],
      [guardsWithout('passOrder'), 1]
    ] as const) {
      const bench = await withLoadBench(t)
      const id = await bench.submit([edge('a', 'b'), entity('a'), entity('b')])
      const chunks = await bench.chunks(id)
      for (const chunk of chunks.toReversed()) await bench.look(chunk.id, { guards })
      await bench.drain({ guards })
      t.equal((await bench.load(id)).counts.rejected, rejected)
    }
  }
)

t.test(
  'rule 6: nobody writes to an entity during its deletion, and no entity is deleted during a write to it',
  async (t) => {
    await bothWays(
      t,
      'excludesDeletes',
      async (db, guards) => {
        await race(db, /^copy$/, guards, addEdge(b, a), hardDelete(b))
        return query<{ urn: string }>(
          db,
          'select distinct entity.urn from statement join entity on entity.id = upstream_id where not is_present'
        )
      },
      [],
      [{ urn: b }]
    )
    await bothWays(
      t,
      'excludesDeletes',
      async (db, guards) => {
        await race(db, /insert into domain_association /, guards, setDomain(a, home), {
          kind: 'deleteDomain',
          domainUrn: home
        })
        return valueOf(db, a, 'domains')
      },
      inDomain(null),
      inDomain(home)
    )
  }
)

t.test('rule 7: two moves, each right alone, make no cycle, and two creations no twins', async (t) => {
  const move = (urn: Change & { kind: 'moveDomain' }) => urn
  await bothWays(
    t,
    'locksDomainTree',
    async (db, guards) => {
      const outcomes = await race(
        db,
        /insert into domain /,
        guards,
        move({ kind: 'moveDomain', domainUrn: home, parentDomain: other }),
        move({ kind: 'moveDomain', domainUrn: other, parentDomain: home })
      )
      return [outcomes, (await query(db, 'select entity_id from domain where parent_id is not null')).length]
    },
    [['done', 'CONFLICT'], 1],
    [['done', 'done'], 2]
  )
  await bothWays(
    t,
    'locksDomainTree',
    async (db, guards) =>
      race(
        db,
        /insert into domain /,
        guards,
        createDomain(domain('x'), 'Twin'),
        createDomain(domain('y'), 'Twin')
      ),
    ['done', 'CONFLICT'],
    ['done', 'done']
  )
})

t.test('rule 8: a chunk ends once, by the holder of its newest fence', async (t) => {
  for (const [guards, expected] of [
    [allChunkGuards, ['the newest']],
    [guardsWithout('fence'), ['the frozen one']]
  ] as const) {
    const bench = await withLoadBench(t)
    const id = await bench.submit([entity('a'), entity('b'), edge('a', 'b')])
    const chunkId = bench.told.shift() ?? 0
    const frozen = await claimChunk(bench.db, chunkId, guards, 0)
    await sleep(5)
    const newest = await claimChunk(bench.db, chunkId, guards)
    const settled: string[] = []
    for (const [name, claim] of [
      ['the frozen one', frozen],
      ['the newest', newest]
    ] as const) {
      if (claim)
        await applyChunk(bench.db, claim.chunk, { apply: applyRecords, guards }).then(
          () => settled.push(name),
          () => {}
        )
    }
    t.same(settled, expected)
    t.equal((await bench.rows('select 1 from audit where load_id = ?::uuid', [id])).length, 1)
  }
})

t.test(
  'rule 9: a record that fails for good is found, tried alone, and refused; what passes counts for nothing',
  async (t) => {
    const fault = (code: string): Error => Object.assign(new Error('a fault'), { code })
    async function play(guards: ChunkGuards): Promise<JsonValue> {
      let passing = 6
      const bench = await withLoadBench(t, {
        apply: async (tx, records, context) => {
          passing -= 1
          if (passing >= 0) throw fault('40001')
          if (JSON.stringify(records).includes('poison')) throw fault('22P02')
          return pretend(tx, records, context)
        }
      })
      const id = await bench.submit([entity('a'), entity('poison'), entity('b')])
      for (let looks = 0; looks < 40 && (await bench.load(id)).state !== 'done'; looks += 1) {
        await bench.rows("update chunk set next_at = now() where state = 'waiting'")
        for (const chunk of (await bench.chunks(id)).filter((each) => each.hasPayload))
          await bench.look(chunk.id, { guards })
      }
      const { state, counts } = await bench.load(id)
      return [state, counts.applied, counts.rejected]
    }
    t.same(await play(allChunkGuards), ['done', 2, 1])
    t.same(await play(guardsWithout('attempts')), ['applying', 0, 0])
  }
)

t.test('rule 9: a record that kills its worker is isolated, and the others are applied', async (t) => {
  async function play(guards: ChunkGuards): Promise<JsonValue> {
    const bench = await withLoadBench(t, { apply: pretend })
    const id = await bench.submit([entity('a'), entity('killer'), entity('b')])
    for (let deaths = 0; deaths < 20 && (await bench.load(id)).state !== 'done';) {
      for (const chunk of (await bench.chunks(id)).filter((each) => each.hasPayload)) {
        const isDeadly =
          (
            await bench.rows<{ line: number }>(
              'select first_line as line from chunk where id = ? and first_line <= 2 and first_line + record_count > 2',
              [chunk.id]
            )
          ).length > 0
        // A worker that dies has claimed the chunk, and its lease runs out.
        const claim = isDeadly ? await claimChunk(bench.db, chunk.id, guards, 0) : null
        if (claim?.next === 'apply') deaths += 1
        else await bench.look(chunk.id, { guards })
        await sleep(2)
      }
    }
    const { state, counts } = await bench.load(id)
    return [state, counts.applied, counts.rejected]
  }
  t.same(await play(allChunkGuards), ['done', 2, 1])
  t.same(await play(guardsWithout('isolation')), ['applying', 0, 0])
})

t.test(
  "rule 10: a replacement by source touches no other's edges, and is not undone by what the source said before it",
  async (t) => {
    await bothWays(
      t,
      'keepsOrder',
      async (db, guards) => {
        const older = await openLoad(db, { source: 'etl' })
        await call(db, guards, addEdge(c, a))
        await applyAsChunk(db, older, [record(1, addEdge(b, a))], { guards })
        const newer = await openLoad(db, { source: 'etl' })
        await applyAsChunk(
          db,
          newer,
          [
            record(1, {
              kind: 'replaceEdges',
              ownerUrn: a,
              aspectName: 'upstreamLineage',
              source: 'etl',
              edges: [{ upstreamUrn: a, downstreamUrn: a }]
            })
          ],
          { guards }
        )
        await applyAsChunk(db, older, [record(2, addEdge(b, a)), record(3, addEdge(c, a))], { guards })
        await call(db, guards, removeEdge(a, a))
        return upstreams(db)
      },
      [c],
      [b, c]
    )
  }
)
