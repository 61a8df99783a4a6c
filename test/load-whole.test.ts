/**
 * Loads that are applied completely or not at all (atomic), and loads that only report what they would do
 * (dry run).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { allChunkGuards } from '../shared/catalog/loads/chunk-guards.ts'
import type { ApplyRecords } from '../shared/catalog/loads/apply-chunk.ts'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import { cancelLoad } from '../shared/catalog/loads/cancel-load.ts'
import { claimChunk } from '../shared/catalog/loads/claim-chunk.ts'
import { prune } from '../shared/catalog/loads/prune.ts'
import { retryLoad } from '../shared/catalog/loads/retry-load.ts'
import { limits } from '../shared/limits.ts'
import {
  admin,
  dataset,
  edge,
  entity,
  rejectsOf,
  removal,
  withLoadBench,
  type LoadBench
} from './support/load-bench.ts'
import { withServer } from './support/server.ts'
import { changedTables, createTableChecksums } from './support/table-checksums.ts'

const domain = (id: string, parent?: string) => ({
  op: 'createDomain',
  id,
  name: id,
  ...(parent === undefined ? {} : { parentDomain: `urn:li:domain:${parent}` })
})
const inDomain = (name: string, id: string) => ({
  op: 'setDomain',
  entityUrn: dataset(name),
  domainUrn: `urn:li:domain:${id}`
})

/** In an order in which everything precedes its references. */
const upsideDown = [
  edge('a', 'b'),
  inDomain('a', 'child'),
  domain('child', 'parent'),
  domain('parent'),
  entity('a'),
  entity('b')
]

/** The tables in which an effect on the catalog would show. */
const ofTheLoadItself = ['audit', 'chunk', 'load', 'reject']

async function catalogUnchanged(
  t: Test,
  bench: LoadBench,
  work: () => Promise<unknown>,
  besides: readonly string[] = ofTheLoadItself
): Promise<void> {
  const checksums = await createTableChecksums(bench.db)
  const before = await checksums()
  await work()
  t.strictSame(
    changedTables(before, await checksums()).filter((name) => !besides.includes(name)),
    [],
    'nothing in the catalog has changed'
  )
}

t.test('an atomic load', async (t) => {
  t.test('is one chunk that is applied in one transaction, its records in any order', async (t) => {
    const bench = await withLoadBench(t)
    const more = Array.from({ length: 6_000 }, (_, index) => [
      edge(`n${index}`, 'b'),
      entity(`n${index}`)
    ]).flat()
    const id = await bench.submit([...upsideDown, ...more], { isAtomic: true })
    t.match(await bench.chunks(id), [{ pass: 1, recordCount: 12_006 }])
    await bench.drain()
    t.match(await bench.load(id), {
      state: 'done',
      atomic: true,
      dryRun: false,
      counts: { received: 12_006, applied: 12_006, unchanged: 0, rejected: 0 }
    })
    t.match(await bench.rows('select count(distinct xid) as transactions from graph_change'), [
      { transactions: 1 }
    ])
    t.match(await bench.rows('select count(*) as entries from audit where load_id = ?::uuid', [id]), [
      { entries: 1 }
    ])
  })

  t.test(
    'with rejects changes nothing and fails, saying how many; each reject is kept with its reason and text',
    async (t) => {
      const bench = await withLoadBench(t)
      await bench.submit([entity('there')])
      await bench.drain()
      let id = ''
      await catalogUnchanged(t, bench, async () => {
        id = await bench.submit([...upsideDown, 'no json', edge('a', 'missing'), edge('there', 'a')], {
          isAtomic: true
        })
        await bench.drain()
      })
      t.match(await bench.load(id), {
        state: 'failed',
        error: '2 of 9 records were rejected, so nothing was applied; the rejects say why',
        counts: { received: 9, applied: 0, unchanged: 0, rejected: 2 },
        finishedAt: Number
      })
      t.match(await rejectsOf(bench, id), [
        { line: 7, code: 'BAD_REQUEST', record: 'no json' },
        {
          line: 8,
          code: 'MISSING_REFERENCE',
          field: 'downstreamUrn',
          record: JSON.stringify(edge('a', 'missing'))
        }
      ])
      t.match(await bench.chunks(id), [{ state: 'dropped', hasPayload: false }], 'its records are freed')
      const onlyBad = await bench.submit(['x', '{}'], { isAtomic: true })
      await bench.drain()
      t.match(await bench.load(onlyBad), {
        state: 'failed',
        counts: { received: 2, applied: 0, rejected: 2 }
      })
    }
  )

  t.test(
    'that failed is over: it is not retried or cancelled, nothing waits for it, and it is deleted in time',
    async (t) => {
      const bench = await withLoadBench(t)
      const id = await bench.submit(['x', entity('a')], { isAtomic: true })
      await bench.drain()
      await t.rejects(retryLoad(bench.db, bench.queue, admin, id), {
        code: 'CONFLICT',
        message: /send it again as a whole/
      })
      await t.rejects(cancelLoad(bench.db, admin, id), { code: 'CONFLICT' })
      await bench.submit([entity('a'), entity('b'), edge('a', 'b')])
      await bench.drain()
      await bench.submit([removal('a', 'b')])
      await bench.drain()
      t.strictSame(
        await bench.rows('select 1 from edge_tombstone'),
        [],
        'removals need not be remembered for it'
      )
      await bench.rows("update load set finished_at = now() - interval '31 days' where id = ?::uuid", [id])
      t.match(await prune(bench.db), { loads: 1 })
    }
  )

  t.test('is refused over its limits before anything is applied, and nothing of it is kept', async (t) => {
    const bench = await withLoadBench(t)
    const records = Array.from({ length: limits.loadAtomicMaxRecords }, (_, index) =>
      index % 2 === 0 ? edge(index, index + 1) : `bad ${index}`
    )
    const fits = await bench.submit(records, { isAtomic: true })
    t.match(await bench.chunks(fits), [{ recordCount: limits.loadAtomicMaxRecords / 2 }])
    await t.rejects(bench.submit([...records, edge('a', 'b')], { isAtomic: true }), {
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'loadAtomicMaxRecords', maximum: limits.loadAtomicMaxRecords }
    })
    const long = {
      op: 'upsertEntity',
      urn: dataset('long'),
      description: 'd'.repeat(limits.descriptionMaxChars)
    }
    const tooLong = Array.from(
      { length: Math.ceil(limits.loadAtomicMaxBytes / limits.descriptionMaxChars) },
      () => long
    )
    await t.rejects(bench.submit(tooLong, { isAtomic: true }), {
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'loadAtomicMaxBytes' }
    })
    t.match(
      await bench.rows('select state, count(*) as loads from load group by state order by state'),
      [
        { state: 'aborted', loads: 2 },
        { state: 'accepted', loads: 1 }
      ]
        .reverse()
        .sort((a, b) => (a.state < b.state ? -1 : 1))
    )
    t.match(await bench.rows('select count(*) as chunks from chunk'), [{ chunks: 1 }])
    t.match(await bench.rows('select count(*) as rejects from reject'), [
      { rejects: limits.loadAtomicMaxRecords / 2 }
    ])
  })

  t.test('waits for an older load that may create what it refers to', async (t) => {
    const bench = await withLoadBench(t)
    await bench.submit([entity('a'), entity('b')])
    const older = bench.told.splice(0)
    const id = await bench.submit([edge('a', 'b')], { isAtomic: true })
    t.match(await bench.look(bench.told.shift() ?? 0), { outcome: 'released' })
    bench.told.push(...older)
    await bench.drain()
    await bench.rows('update chunk set next_at = now()')
    for (const chunk of await bench.chunks(id)) await bench.look(chunk.id)
    t.match(await bench.load(id), { state: 'done', counts: { applied: 1 } })
  })

  t.test('and what refers to entities that it creates waits for it', async (t) => {
    const bench = await withLoadBench(t)
    const older = await bench.submit([edge('a', 'b'), entity('a'), entity('b')], { isAtomic: true })
    const olderChunks = bench.told.splice(0)
    const newer = await bench.submit([edge('b', 'a')])
    t.match(await bench.look(bench.told.shift() ?? 0), { outcome: 'released' })
    bench.told.push(...olderChunks)
    await bench.drain()
    await bench.rows('update chunk set next_at = now()')
    for (const chunk of await bench.chunks(newer)) await bench.look(chunk.id)
    t.match(await bench.load(older), { state: 'done' })
    t.match(await bench.load(newer), { state: 'done', counts: { applied: 1 } })
  })

  const poison: ApplyRecords = async (tx, records, context) => {
    const verdicts = await applyRecords(tx, records, context)
    if (JSON.stringify(records).includes('poison'))
      throw Object.assign(new Error('something with a secret value'), { code: '22P02' })
    return verdicts
  }

  t.test(
    'is never split: a repeated error fails it after three attempts, with a message without internals',
    async (t) => {
      const bench = await withLoadBench(t, { apply: poison })
      let id = ''
      await catalogUnchanged(t, bench, async () => {
        id = await bench.submit([entity('a'), entity('poison'), entity('b')], { isAtomic: true })
        await bench.drain()
      })
      t.match(await bench.load(id), {
        state: 'failed',
        error: 'A value of the load cannot be stored; nothing was applied',
        counts: { received: 3, applied: 0, rejected: 0 }
      })
      t.match(await bench.chunks(id), [{ state: 'dropped', attempts: 2, recordCount: 3 }])
    }
  )

  t.test('whose workers die is done once, or fails when they die of it again and again', async (t) => {
    const bench = await withLoadBench(t)
    const survives = await bench.submit([entity('a'), entity('b')], { isAtomic: true })
    const [chunkId = 0] = bench.told.splice(0)
    for (let death = 0; death < 4; death += 1) {
      t.match(await claimChunk(bench.db, chunkId, allChunkGuards, 0), { next: 'apply' })
      await sleep(2)
    }
    await bench.look(chunkId)
    t.match(await bench.load(survives), { state: 'done', counts: { applied: 2 } })

    const deadly = await bench.submit([entity('c'), entity('d')], { isAtomic: true })
    const [deadlyId = 0] = bench.told.splice(0)
    let deaths = 0
    while ((await claimChunk(bench.db, deadlyId, allChunkGuards, 0))?.next === 'apply' && deaths < 20) {
      deaths += 1
      await sleep(2)
    }
    t.equal(deaths, 6, 'three beside others, three alone')
    await sleep(2)
    await bench.look(deadlyId)
    t.match(await bench.load(deadly), {
      state: 'failed',
      error: 'The worker ended each time it applied this load; nothing was applied',
      counts: { applied: 0 }
    })
  })

  t.test('that is cancelled while it is applied is rolled back whole', async (t) => {
    const bench = await withLoadBench(t)
    await catalogUnchanged(t, bench, async () => {
      const id = await bench.submit(upsideDown, { isAtomic: true })
      const run = await bench.look(bench.told.shift() ?? 0, {
        apply: async (tx, records, context) => {
          const verdicts = await applyRecords(tx, records, context)
          await cancelLoad(bench.db, admin, id)
          return verdicts
        }
      })
      t.equal(run.outcome, 'ended')
      t.match(await bench.load(id), { state: 'cancelled', counts: { applied: 0 } })
    })
  })

  t.test('that a frozen worker finishes late is not applied twice', async (t) => {
    const bench = await withLoadBench(t)
    const id = await bench.submit([entity('a')], { isAtomic: true })
    const [chunkId = 0] = bench.told.splice(0)
    const late = bench.look(chunkId, {
      leaseSeconds: 0,
      apply: async (tx, records, context) => {
        await sleep(300)
        return applyRecords(tx, records, context)
      }
    })
    await late
    t.match(await bench.look(chunkId), { outcome: 'nothing' })
    t.match(await bench.load(id), { state: 'done', counts: { applied: 1 } })
  })
})

t.test('a dry run', async (t) => {
  const bench = await withLoadBench(t)
  // one -> two -> three -> four, and an unconnected asset; two and four are each in a domain
  await bench.submit([
    ...['one', 'two', 'three', 'four', 'aside', 'gone'].map(entity),
    edge('one', 'two'),
    edge('two', 'three'),
    edge('three', 'four'),
    domain('left'),
    domain('right'),
    inDomain('two', 'left'),
    inDomain('four', 'right')
  ])
  await bench.drain()
  await bench.rows('select 1')
  const idOf = async (): Promise<number> =>
    (await bench.rows<{ last: number }>(`select last_value as last from entity_id_seq`))[0]?.last ?? 0
  const dryRun = async (
    records: Parameters<LoadBench['submit']>[0],
    more: Parameters<LoadBench['submit']>[1] = {}
  ) => {
    const id = await bench.submit(records, { isDryRun: true, ...more })
    await bench.drain()
    return bench.load(id)
  }

  t.test('counts what would change and leaves no trace, not even an id', async (t) => {
    const lastId = await idOf()
    await catalogUnchanged(
      t,
      bench,
      async () => {
        const load = await dryRun([
          edge('aside', 'two'),
          edge('one', 'two'),
          removal('three', 'four'),
          edge('new', 'one'),
          entity('new'),
          domain('below', 'left'),
          inDomain('aside', 'below'),
          { op: 'unsetDomain', entityUrn: dataset('four') },
          edge('one', 'nowhere'),
          'no json'
        ])
        t.match(load, {
          state: 'done',
          dryRun: true,
          atomic: false,
          error: null,
          counts: { received: 10, applied: 7, unchanged: 1, rejected: 2 }
        })
        t.match(load.report, {
          edges: { added: 2, removed: 1 },
          columnEdges: { added: 0, removed: 0 },
          domains: { created: 1, deleted: 0, set: 1, unset: 1 },
          entities: {
            created: 2,
            deleted: 0,
            placeholders: 0,
            byType: [
              { type: 'dataset', created: 1 },
              { type: 'domain', created: 1 }
            ]
          },
          wouldFail: false
        })
        t.match(await rejectsOf(bench, load.id), [
          { line: 9, code: 'MISSING_REFERENCE' },
          { line: 10, code: 'BAD_REQUEST' }
        ])
      },
      ['chunk', 'load', 'reject']
    )
    t.equal(await idOf(), lastId, 'no id is used up')
  })

  t.test('says which assets and domains lie downstream of the change', async (t) => {
    const { report } = await dryRun([edge('aside', 'two')])
    t.match(report, {
      affected: {
        complete: true,
        assets: { count: 3 },
        domains: { count: 2, urns: ['urn:li:domain:left', 'urn:li:domain:right'] }
      }
    })
    const affected = async (...records: Parameters<LoadBench['submit']>[0][number][]) => {
      const found = (await dryRun(records)).report
      return found === undefined ? [] : JSON.parse(JSON.stringify(found)).affected.assets.urns.sort()
    }
    t.strictSame(await affected(edge('aside', 'two')), ['two', 'three', 'four'].map(dataset).sort())
    t.strictSame(await affected(removal('three', 'four')), [dataset('four')])
    t.strictSame(
      await affected(removal('one', 'two'), removal('two', 'three')),
      ['two', 'three', 'four'].map(dataset).sort(),
      'also what a removed edge led to'
    )
    t.strictSame(
      await affected(edge('new', 'three'), entity('new')),
      ['new', 'three', 'four'].map(dataset).sort()
    )
    t.strictSame(await affected(inDomain('three', 'left')), ['three', 'four'].map(dataset).sort())
    t.strictSame(await affected(edge('one', 'two')), [], 'nothing where nothing would change')
  })

  t.test('lists a limited number and counts all', async (t) => {
    const names = Array.from({ length: limits.dryRunListMaxCount + 7 }, (_, index) => `fan${index}`)
    const { report } = await dryRun(names.flatMap((name) => [entity(name), edge('one', name)]))
    const { assets } = JSON.parse(JSON.stringify(report)).affected
    t.match([assets.count, assets.urns.length], [names.length, limits.dryRunListMaxCount])
  })

  t.test('tells what an atomic load would come to', async (t) => {
    t.match(await dryRun(['no json', edge('aside', 'two')], { isAtomic: true }), {
      state: 'done',
      counts: { applied: 1, rejected: 1 },
      report: { wouldFail: true }
    })
    t.match(await dryRun([edge('aside', 'two')], { isAtomic: true }), {
      state: 'done',
      report: { wouldFail: false }
    })
    t.match(await dryRun(['no json']), {
      state: 'done',
      counts: { applied: 0, rejected: 1 },
      report: { edges: { added: 0 }, wouldFail: false }
    })
  })

  t.test('counts what would be deleted, which is affected even without edges', async (t) => {
    await bench.submit([entity('lonely')])
    await bench.drain()
    t.match(
      await dryRun([
        {
          entityType: 'dataset',
          entityUrn: dataset('lonely'),
          changeType: 'DELETE',
          aspectName: 'datasetKey'
        },
        { op: 'deleteDomain', domainUrn: 'urn:li:domain:left' },
        entity('brief')
      ]),
      {
        report: {
          domains: { deleted: 1 },
          entities: { created: 1, deleted: 2 }
        }
      }
    )
  })

  t.test('counts placeholders that would be made', async (t) => {
    t.match(await dryRun([edge('unknown1', 'unknown2')], { missingReferences: 'create' }), {
      report: { edges: { added: 1 }, entities: { created: 0, placeholders: 2 } }
    })
  })

  t.test('is not retried, and no newer load waits for it or takes it into account', async (t) => {
    const load = await dryRun(['no json'])
    await t.rejects(retryLoad(bench.db, bench.queue, admin, load.id), {
      code: 'CONFLICT',
      message: /dry run/
    })
    const waiting = await bench.submit([entity('promised'), removal('one', 'two')], { isDryRun: true })
    const dryChunks = bench.told.splice(0)
    const newer = await bench.submit([edge('promised', 'one')])
    await bench.drain()
    t.match(
      await bench.load(newer),
      { state: 'done', counts: { rejected: 1 } },
      'what it would create will not be there'
    )
    bench.told.push(...dryChunks)
    await bench.drain()
    t.match(await bench.load(waiting), { state: 'done', report: { edges: { removed: 1 } } })
  })
})

t.test('over HTTP and GraphQL', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const post = (query: string, ...records: unknown[]) =>
    server.rest({
      method: 'POST',
      url: `/loads?wait=20${query}`,
      body: records.map((record) => JSON.stringify(record)).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' }
    })

  t.test('a load says that it is atomic or a dry run, and what it would do', async (t) => {
    t.match(await post('&atomic=true', entity('a'), entity('b')), {
      status: 200,
      body: { state: 'done', atomic: true, dryRun: false }
    })
    t.match((await post('&atomic=true', entity('c'), edge('c', 'missing'))).body, {
      state: 'failed',
      error: /^1 of 2 records/
    })
    const { body } = await post('&dryRun=true', edge('a', 'b'))
    t.match(body, {
      state: 'done',
      dryRun: true,
      report: {
        edges: { added: 1, removed: 0 },
        affected: { assets: { count: 1, urns: [dataset('b')] }, complete: true }
      }
    })
    t.match((await post('', entity('d'))).body, { atomic: false, dryRun: false, report: undefined })
    const {
      body: { data }
    } = await server.graphql(
      'query ($id: String!) { load(id: $id) { dryRun atomic report { edges { added } entities { created byType { type created } } domains { set } affected { assets { count urns } domains { count } complete } wouldFail } } }',
      { id: body.id }
    )
    t.match(data.load, {
      dryRun: true,
      report: { edges: { added: 1 }, affected: { assets: { count: 1 } }, wouldFail: false }
    })
    t.match((await post('&atomic=yes', entity('a'))).body, { code: 'BAD_REQUEST', field: 'atomic' })
    t.match((await post('&dryRun=1', entity('a'))).body, { code: 'BAD_REQUEST', field: 'dryRun' })
  })

  t.test('submitChanges takes both options', async (t) => {
    const { body } = await server.graphql(
      'mutation { submitChanges(input: { createDomains: [{ name: "X" }], atomic: true, dryRun: true }) { id atomic dryRun } }'
    )
    t.match(body.data.submitChanges, { atomic: true, dryRun: true })
    t.match((await server.rest({ url: `/loads/${body.data.submitChanges.id}?wait=20` })).body, {
      state: 'done',
      report: { domains: { created: 1 } }
    })
  })
})
