/** Taking a load back: what it changed is as it was before, where nothing newer has changed it. */
import t, { type Test } from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import { cancelLoad } from '../shared/catalog/loads/cancel-load.ts'
import { allGuards } from '../shared/catalog/write/guards.ts'
import { retryLoad } from '../shared/catalog/loads/retry-load.ts'
import type { LoadView } from '../shared/catalog/loads/read-load.ts'
import { undoLoad } from '../shared/catalog/loads/undo-load.ts'
import type { RunOptions } from '../shared/catalog/loads/run-chunk.ts'
import type { Change, JsonValue } from '../shared/model/changes.ts'
import { query } from '../shared/db/query.ts'
import { limits } from '../shared/limits.ts'
import { toUrn } from '../shared/urn/urn.ts'
import {
  addEdge,
  apply,
  asCall,
  createDomain,
  dataset as urn,
  deleteAspect,
  domain,
  hardDelete,
  patch,
  record,
  refusalOf,
  removeEdge,
  segment,
  setDomain,
  unsetDomain,
  upsert,
  upstream,
  valueOf
} from './support/changes.ts'
import { catalogState, type CatalogState } from './support/catalog-state.ts'
import {
  admin,
  dataset,
  edge,
  entity,
  guardsWithout,
  rejectsOf,
  removal,
  withLoadBench,
  type LoadBench
} from './support/load-bench.ts'
import { cut } from './support/play-undo.ts'

type Undoing = LoadBench & {
  state: () => Promise<CatalogState>
  /** Submits records and applies them. */
  send: (records: readonly JsonValue[], source?: string) => Promise<string>
  undo: (id: string, options?: Partial<RunOptions>, isDryRun?: boolean) => Promise<LoadView>
}

async function withUndo(t: Test): Promise<Undoing> {
  const bench = await withLoadBench(t)
  return {
    ...bench,
    state: () => catalogState(bench.db),
    async send(records, source = 'test') {
      const id = await bench.submit(records, { source })
      await bench.drain()
      return id
    },
    async undo(id, options = {}, isDryRun = false) {
      const context = { actor: admin, requestId: null, isDryRun }
      const { id: undoId } = await undoLoad(bench.db, bench.queue, id, context)
      await bench.drain(options)
      return bench.load(undoId)
    }
  }
}

const proposal = (name: string, aspectName: string, aspect: JsonValue, changeType = 'UPSERT'): JsonValue => ({
  entityType: 'dataset',
  entityUrn: dataset(name),
  changeType,
  aspectName,
  aspect
})
const inDomain = (name: string, id: string): JsonValue => ({
  op: 'setDomain',
  entityUrn: dataset(name),
  domainUrn: `urn:li:domain:${id}`
})
const newDomain = (id: string, parent?: string): JsonValue => ({
  op: 'createDomain',
  id,
  name: id.toUpperCase(),
  ...(parent === undefined ? {} : { parentDomain: `urn:li:domain:${parent}` })
})
const a = urn('a')
const b = urn('b')

t.test('the dry run of an undo changes nothing, and counts and reports what the undo changes', async (t) => {
  const bench = await withUndo(t)
  await bench.send([entity('a'), entity('b'), edge('a', 'b')])
  const id = await bench.send([
    newDomain('top'),
    newDomain('sub', 'top'),
    entity('c'),
    edge('b', 'c'),
    removal('a', 'b'),
    inDomain('a', 'sub')
  ])
  const before = await bench.state()
  const tried = await bench.undo(id, {}, true)
  t.strictSame(await bench.state(), before)
  t.match(tried, {
    state: 'done',
    mode: 'undo',
    dryRun: true,
    undoes: id,
    report: {
      edges: { added: 1, removed: 1 },
      domains: { created: 0, deleted: 2, unset: 1 },
      entities: { created: 0, deleted: 3 },
      affected: { assets: { count: 3 }, complete: true },
      wouldFail: false
    }
  })
  t.equal((await bench.load(id)).undoneBy, undefined)

  const undo = await bench.undo(id)
  t.strictSame(undo.counts, tried.counts)
  t.match(undo, { dryRun: false, counts: { received: undo.counts.applied, unchanged: 0, rejected: 0 } })
  t.equal((await bench.load(id)).undoneBy, undo.id)
  await t.rejects(bench.undo(id, {}, true), { code: 'CONFLICT' })
  await t.rejects(bench.undo(tried.id), { code: 'CONFLICT', message: /dry run/ })
})

t.test('the dry run of an undo of a load that changed nothing reports nothing', async (t) => {
  const bench = await withUndo(t)
  await bench.send([entity('a')])
  const tried = await bench.undo(await bench.send([entity('a')]), {}, true)
  t.match(tried, {
    state: 'done',
    counts: { received: 0, applied: 0, unchanged: 0, rejected: 0 },
    report: { edges: { added: 0, removed: 0 }, entities: { created: 0 } }
  })
})

t.test('the dry run of an undo leaves a failed load to be continued', async (t) => {
  const bench = await withUndo(t)
  const id = await bench.send([entity('a')])
  await query(bench.db, "update load set state = 'failed', error = 'set by the test' where id = ?::uuid", [
    id
  ])
  t.match(await bench.undo(id, {}, true), { state: 'done', counts: { received: 2, applied: 2 } })
  t.match(await bench.load(id), { state: 'failed' })
})

t.test('the dry run of an undo of more changes than one transaction may have is refused', async (t) => {
  const bench = await withUndo(t)
  const id = await bench.send(
    Array.from({ length: limits.loadAtomicMaxRecords + 1 }, (_, number) => entity(`many${number}`))
  )
  await t.rejects(bench.undo(id, {}, true), {
    code: 'LIMIT_EXCEEDED',
    details: { limit: 'loadAtomicMaxRecords', maximum: limits.loadAtomicMaxRecords }
  })
  t.equal((await bench.load(id)).undoneBy, undefined)
})

t.test('a load that made all there is leaves nothing', async (t) => {
  const bench = await withUndo(t)
  const empty = await bench.state()
  const id = await bench.send([
    newDomain('top'),
    newDomain('sub', 'top'),
    newDomain('leaf', 'sub'),
    entity('a'),
    entity('b'),
    { op: 'upsertEntity', urn: dataset('c'), name: 'C' },
    edge('a', 'b'),
    edge('b', 'c'),
    inDomain('a', 'leaf'),
    proposal('b', 'upstreamLineage', { upstreams: [{ dataset: dataset('c'), type: 'COPY' }] })
  ])
  t.not((await bench.state()).edges.length, 0)
  const undo = await bench.undo(id)
  t.match(undo, {
    state: 'done',
    mode: 'undo',
    format: 'undo',
    source: 'test',
    undoes: id,
    counts: { unchanged: 0, rejected: 0 }
  })
  t.equal(undo.counts.applied, undo.counts.received)
  t.same(await bench.state(), empty)
  t.match(await bench.load(id), { state: 'done', undoneBy: undo.id })
  t.same(
    await bench.rows('select entity_id from domain'),
    [],
    'domains are gone from the tree, deepest first'
  )
  t.same(await bench.rows('select urn from entity where is_present'), [])

  await t.test('and an undo can be undone', async (t) => {
    const redo = await bench.undo(undo.id)
    t.match(redo, { undoes: undo.id, counts: { rejected: 0 } })
    t.same((await bench.state()).edges.length, 2)
    t.match(await bench.state(), { present: { length: 6 }, domains: { length: 3 } })
    const again = await bench.undo(redo.id)
    t.match(again, { counts: { rejected: 0 } })
    t.same(await bench.state(), empty)
  })
})

t.test('after an undo, everything that a load found, removed or rewrote is as before', async (t) => {
  const bench = await withUndo(t)
  await bench.send([
    newDomain('one'),
    newDomain('two'),
    ...'abcd'.split('').map(entity),
    edge('a', 'b'),
    edge('c', 'b'),
    inDomain('a', 'one'),
    proposal('d', 'datasetProperties', { description: 'first' })
  ])
  await bench.send([edge('a', 'b')], 'other')
  await apply(
    bench.db,
    upsert(urn('c'), 'upstreamLineage', { upstreams: [upstream(urn('d'), { type: 'VIEW' })] })
  )
  const before = await bench.state()
  const id = await bench.send([
    removal('a', 'b'),
    removal('c', 'b'),
    edge('d', 'b'),
    inDomain('a', 'two'),
    inDomain('b', 'two'),
    proposal('d', 'datasetProperties', { description: 'second' }),
    proposal('c', 'upstreamLineage', { upstreams: [{ dataset: dataset('d'), type: 'COPY' }] }),
    proposal('d', 'status', { removed: true }),
    proposal('d', 'deprecation', { deprecated: true, note: '', actor: 'urn:li:corpuser:x' }),
    { op: 'createDomain', id: 'one', name: 'Renamed' }
  ])
  t.notSame(await bench.state(), before)
  const undo = await bench.undo(id)
  t.match(undo.counts, { unchanged: 0, rejected: 0 })
  t.same(await bench.state(), before)
  t.same(await bench.rows('select name from domain order by name'), [{ name: 'ONE' }, { name: 'TWO' }])
})

t.test(
  'records that were unchanged are not undone, and later unchanged records do not keep an edge',
  async (t) => {
    const bench = await withUndo(t)
    const first = await bench.send([entity('a'), entity('b'), edge('a', 'b')])
    const second = await bench.send([entity('a'), entity('b'), edge('a', 'b')])
    t.match((await bench.undo(second)).counts, { received: 0 })
    t.equal((await bench.state()).edges.length, 1)
    await bench.undo(first)
    t.equal((await bench.state()).edges.length, 0)
  }
)

t.test(
  'the same file sent again, whole and in several chunks, does not hold what the first made',
  async (t) => {
    const bench = await withUndo(t)
    const file = [
      entity('a'),
      entity('b'),
      newDomain('one'),
      inDomain('b', 'one'),
      proposal('a', 'datasetProperties', { description: 'A' }),
      edge('b', 'a'),
      proposal('b', 'upstreamLineage', { upstreams: [{ dataset: dataset('a'), type: 'COPY' }] })
    ]
    const empty = await bench.state()
    const first = await bench.send(file)
    const second = await bench.send(file)
    t.match((await bench.load(second)).counts, { applied: 0, unchanged: file.length })
    await bench.undo(first)
    t.same(await bench.state(), empty)
  }
)

t.test('undos stack: newest first, each load leads back to what was before it', async (t) => {
  const bench = await withUndo(t)
  await bench.send(['a', 'b', 'c'].map(entity))
  const lineage = (type: string): JsonValue =>
    proposal('b', 'upstreamLineage', { upstreams: [{ dataset: dataset('a'), type }] })
  const states: CatalogState[] = []
  const ids: string[] = []
  for (const records of [
    [
      proposal('a', 'datasetProperties', { description: 'a' }),
      lineage('COPY'),
      newDomain('one'),
      newDomain('two'),
      inDomain('a', 'one'),
      edge('a', 'c')
    ],
    [
      proposal('a', 'datasetProperties', { description: 'b' }),
      lineage('VIEW'),
      { op: 'createDomain', id: 'one', name: 'Renamed' },
      inDomain('a', 'two'),
      removal('a', 'c')
    ],
    [
      proposal('a', 'datasetProperties', { description: 'c' }),
      lineage('TRANSFORMED'),
      { op: 'unsetDomain', entityUrn: dataset('a') },
      edge('a', 'c')
    ]
  ]) {
    states.push(await bench.state())
    ids.push(await bench.send(records))
  }
  for (const [index, id] of [...ids.entries()].reverse()) {
    t.match((await bench.undo(id)).counts, { rejected: 0, unchanged: 0 })
    t.same(await bench.state(), states[index])
  }
})

t.test('an edge that a load states twice and a second load states again belongs to the first', async (t) => {
  const bench = await withUndo(t)
  await bench.send([entity('a')])
  const before = await bench.state()
  const twice = [
    proposal('a', 'datasetProperties', { description: 'one' }),
    proposal('a', 'datasetProperties', { description: 'two' })
  ]
  const first = await bench.send(twice)
  await bench.send(twice)
  await bench.undo(first)
  t.same(await bench.state(), before)
})

t.test(
  'a change that a load makes in one chunk and reverts in the next belongs to the load before, once it is undone',
  async (t) => {
    const bench = await withUndo(t)
    const inChunks = async (records: readonly JsonValue[], most: number): Promise<string> => {
      const id = await bench.submit(records)
      await cut(bench, id, most)
      await bench.drain()
      return id
    }
    await bench.send([entity('a'), entity('b'), newDomain('one'), newDomain('two')])
    const lineage = (type: string): JsonValue =>
      proposal('b', 'upstreamLineage', { upstreams: [{ dataset: dataset('a'), type }] })
    const before = await bench.state()
    const first = await bench.send([lineage('COPY'), inDomain('a', 'one')])
    const back = await inChunks(
      [lineage('VIEW'), inDomain('a', 'two'), lineage('COPY'), inDomain('a', 'one')],
      2
    )
    const same = await inChunks([lineage('COPY'), inDomain('a', 'one')], 1)
    t.match((await bench.undo(same)).counts, { received: 0 }, 'what was found as it says is not noted')
    for (const id of [back, first]) t.match((await bench.undo(id)).counts, { rejected: 0 })
    t.same(await bench.state(), before)
  }
)

t.test('the last statement of another source is shown again', async (t) => {
  const bench = await withUndo(t)
  await bench.send([entity('a'), entity('b')])
  const stated = (type: string): JsonValue =>
    proposal(
      'b',
      'upstreamLineage',
      { patch: [{ op: 'add', path: `/upstreams/${segment(a)}`, value: { dataset: dataset('a'), type } }] },
      'PATCH'
    )
  await bench.send([stated('COPY')], 'north')
  await bench.send([stated('VIEW')], 'south')
  const before = await bench.state()
  const again = await bench.send([stated('COPY')], 'north')
  t.match(await valueOf(bench.db, b, 'upstreamLineage'), { upstreams: [{ type: 'COPY' }] })
  await bench.undo(again)
  t.same(await bench.state(), before)
})

t.test(
  'patches of an edge that nobody states are undone, and return when their replacement is undone',
  async (t) => {
    const bench = await withUndo(t)
    await bench.send(['a', 'b'].map(entity))
    const typed = (type: string): JsonValue =>
      proposal(
        'b',
        'upstreamLineage',
        { patch: [{ op: 'add', path: `/upstreams/${segment(a)}/type`, value: type }] },
        'PATCH'
      )
    const patches = () => bench.rows("select operation->>'value' as type from edge_patch")
    const first = await bench.send([typed('COPY')])
    const again = await bench.send([typed('COPY')])
    t.match((await bench.undo(again)).counts, { received: 0 })
    const second = await bench.send([typed('VIEW')])
    t.same(await patches(), [{ type: 'VIEW' }])
    await bench.undo(second)
    t.same(await patches(), [{ type: 'COPY' }])

    const stated = await bench.send([edge('a', 'b')])
    t.match(await valueOf(bench.db, b, 'upstreamLineage'), { upstreams: [{ type: 'COPY' }] })
    await bench.undo(stated)
    t.same(await patches(), [{ type: 'COPY' }], 'what was patched before the edge was stated')
    await bench.undo(first)
    t.same(await patches(), [])

    const both = proposal(
      'b',
      'upstreamLineage',
      {
        patch: [
          { op: 'remove', path: `/upstreams/${segment(a)}/properties/q` },
          { op: 'add', path: `/upstreams/${segment(a)}/type`, value: 'COPY' }
        ]
      },
      'PATCH'
    )
    const ids = [await bench.send([both]), await bench.send([both])]
    await bench.undo(ids[1] ?? '')
    t.equal((await patches()).length, 2, 'what was said again stands once')
    await bench.undo(ids[0] ?? '')
    t.same(await patches(), [])

    await bench.send([typed('COPY')])
    const replaced = await bench.submit([typed('COPY'), proposal('b', 'upstreamLineage', { upstreams: [] })])
    await cut(bench, replaced, 1)
    await bench.drain()
    t.same(await patches(), [])
    await bench.undo(replaced)
    t.same(await patches(), [{ type: 'COPY' }], 'also what one chunk said again and the next took away')
  }
)

t.test('a patch of an edge that one chunk added and the next removed is undone', async (t) => {
  for (const wasThere of [false, true]) {
    const bench = await withUndo(t)
    await bench.send(['a', 'b'].map(entity))
    if (wasThere) await bench.send([edge('a', 'b')])
    const before = await bench.state()
    const id = await bench.submit([
      proposal('b', 'upstreamLineage', { upstreams: [{ dataset: a, type: 'COPY' }] }),
      proposal(
        'b',
        'upstreamLineage',
        {
          patch: [
            { op: 'remove', path: '/upstreams' },
            { op: 'replace', path: `/upstreams/${segment(a)}/type`, value: 'VIEW' }
          ]
        },
        'PATCH'
      )
    ])
    await cut(bench, id, 1)
    await bench.drain()
    t.match(await bench.rows("select operation->>'value' as type from edge_patch"), [{ type: 'VIEW' }])
    await bench.undo(id)
    t.same(await bench.rows('select * from edge_patch'), [])
    t.same(await bench.state(), before)
  }
})

t.test(
  'an earlier reference to an entity does not keep it when the load that created it is undone',
  async (t) => {
    const bench = await withUndo(t)
    await bench.submit(
      [
        edge('new', 'a'),
        edge('b', 'c'),
        inDomain('a', 'one'),
        inDomain('b', 'never made'),
        { op: 'moveDomain', domainUrn: 'urn:li:domain:below', parentDomain: 'urn:li:domain:two' }
      ],
      { missingReferences: 'create' }
    )
    await bench.drain()
    const before = await bench.state()
    const id = await bench.send([entity('new'), newDomain('one'), newDomain('two')])
    await bench.undo(id)
    t.same(await bench.state(), before)

    const moved = await bench.send([{ op: 'unsetDomain', entityUrn: b }])
    t.match((await bench.undo(moved)).counts, { rejected: 0 })
    t.same(await bench.state(), before, 'also an asset is in a domain that was only named')

    const taken = await bench.send([{ op: 'unsetDomain', entityUrn: b }])
    await bench.undo(await bench.send([newDomain('never made')]))
    await bench.undo(taken)
    t.same(await bench.state(), before, 'also where that domain was made since, and its making undone')

    const rewritten = await bench.send([entity('c'), proposal('c', 'upstreamLineage', { upstreams: [] })])
    await bench.undo(rewritten)
    t.same(await bench.state(), before, 'also an aspect that says what it said')
  }
)

t.test("domains that a load moved or renamed in each other's way are put back", async (t) => {
  const below = (id: string, parentDomain: string | null): JsonValue => ({
    op: 'moveDomain',
    domainUrn: `urn:li:domain:${id}`,
    parentDomain: parentDomain && `urn:li:domain:${parentDomain}`
  })
  const named = (id: string, name: string): JsonValue => ({
    op: 'renameDomain',
    domainUrn: `urn:li:domain:${id}`,
    name
  })
  const ways: { [what: string]: { before: JsonValue[][]; load: JsonValue[] } } = {
    'one above the other, the other way round': {
      before: [[newDomain('one'), newDomain('two', 'one'), newDomain('three', 'two')]],
      load: [below('two', null), below('one', 'three')]
    },
    'below a domain that had only been named': {
      before: [[below('one', 'two')]],
      load: [newDomain('one'), newDomain('two', 'one')]
    },
    'three in a ring': {
      before: [[newDomain('one'), newDomain('two', 'one'), newDomain('three', 'two')]],
      load: [below('three', null), below('one', 'three'), below('two', 'three')]
    },
    'names that were exchanged': {
      before: [[newDomain('one'), newDomain('two')]],
      load: [named('one', 'between'), named('two', 'ONE'), named('one', 'TWO')]
    },
    'a name that two had before': {
      before: [
        [newDomain('one')],
        [
          {
            entityType: 'domain',
            entityUrn: 'urn:li:domain:two',
            changeType: 'UPSERT',
            aspectName: 'domainProperties',
            aspect: { name: 'ONE' }
          }
        ]
      ],
      load: [named('two', 'TWO')]
    }
  }
  for (const [what, { before, load }] of Object.entries(ways)) {
    for (const most of [Infinity, 1]) {
      await t.test(most === 1 ? `${what}, each in a chunk of its own` : what, async (t) => {
        const bench = await withUndo(t)
        const submit = async (records: readonly JsonValue[]): Promise<string> => {
          const id = await bench.submit(records, { missingReferences: 'create' })
          await bench.drain()
          return id
        }
        for (const records of before)
          t.match((await bench.load(await submit(records))).counts, { rejected: 0 })
        const state = await bench.state()
        const tree = () =>
          bench.rows(
            'select entity.urn, domain.name, domain.parent_id from domain join entity on entity.id = domain.entity_id order by urn'
          )
        const found = await tree()
        const id = await submit(load)
        t.match((await bench.load(id)).counts, { rejected: 0 })
        t.notSame(await tree(), found)
        const { id: undoId } = await undoLoad(bench.db, bench.queue, id, { actor: admin, requestId: null })
        await cut(bench, undoId, most)
        await bench.drain()
        t.same(await rejectsOf(bench, undoId), [])
        t.same(await tree(), found)
        t.same(await bench.state(), state)
      })
    }
  }
})

t.test('something newer', async (t) => {
  const newer: {
    [what: string]: {
      records: JsonValue[]
      since: Change[]
      left: (state: CatalogState) => unknown
      overtaken: number
    }
  } = {
    'a removal of an edge': {
      records: [edge('a', 'b')],
      since: [removeEdge(a, b)],
      left: ({ edges }) => edges.length === 1,
      overtaken: 1
    },
    'an edge that was stated again after a removal': {
      records: [removal('c', 'b')],
      since: [addEdge(urn('c'), b)],
      left: ({ edges }) => edges.some((text) => text.includes('manual')),
      overtaken: 0
    },
    'a rewritten edge': {
      records: [proposal('b', 'upstreamLineage', { upstreams: [{ dataset: dataset('a'), type: 'COPY' }] })],
      since: [upsert(b, 'upstreamLineage', { upstreams: [upstream(a, { type: 'VIEW' })] })],
      left: ({ edges }) => edges.some((text) => text.includes('VIEW')),
      overtaken: 1
    },
    'a patched edge': {
      records: [proposal('b', 'upstreamLineage', { upstreams: [{ dataset: dataset('a'), type: 'COPY' }] })],
      since: [
        patch(b, 'upstreamLineage', { op: 'add', path: `/upstreams/${segment(a)}/type`, value: 'VIEW' })
      ],
      left: ({ documents }) => documents.some((text) => text.includes('VIEW')),
      overtaken: 1
    },
    'an aspect': {
      records: [proposal('a', 'status', { removed: true })],
      since: [upsert(a, 'status', { removed: false }), upsert(a, 'status', { removed: true })],
      left: ({ documents }) => documents.some((text) => text.includes('"removed":true')),
      overtaken: 1
    },
    'a deleted aspect': {
      records: [proposal('a', 'status', { removed: true })],
      since: [deleteAspect(a, 'status')],
      left: ({ documents }) => !documents.some((text) => text.includes('removed')),
      overtaken: 1
    },
    'another domain': {
      records: [inDomain('a', 'one')],
      since: [setDomain(a, domain('two'))],
      left: ({ associations }) => associations.some((text) => text.includes('two')),
      overtaken: 1
    },
    'no domain': {
      records: [inDomain('a', 'one')],
      since: [unsetDomain(a)],
      left: ({ associations }) => !associations.some((text) => text.includes('one')),
      overtaken: 1
    },
    'an asset in a domain': {
      records: [newDomain('new')],
      since: [setDomain(a, domain('new'))],
      left: ({ domains }) => domains.some((text) => text.includes('NEW')),
      overtaken: 1
    },
    'a domain below': {
      records: [newDomain('new')],
      since: [createDomain(domain('under'), 'U', domain('new'))],
      left: ({ domains }) => domains.some((text) => text.includes('NEW')),
      overtaken: 1
    },
    'a rename': {
      records: [newDomain('new')],
      since: [{ kind: 'renameDomain', domainUrn: domain('new'), name: 'Better' }],
      left: ({ domains }) => domains.some((text) => text.includes('Better')),
      overtaken: 1
    },
    'an edge to a new asset': {
      records: [entity('new')],
      since: [addEdge(urn('new'), a)],
      left: ({ present }) => present.some((text) => text.includes('new')),
      overtaken: 1
    },
    'a column edge of a new asset': {
      records: [entity('new')],
      since: [
        addEdge(
          toUrn(`urn:li:schemaField:(${dataset('new')},x)`),
          toUrn(`urn:li:schemaField:(${dataset('a')},x)`)
        )
      ],
      left: ({ present }) => present.some((text) => text.includes('new')),
      overtaken: 1
    },
    'a deletion for good': {
      records: [edge('a', 'b')],
      since: [hardDelete(a)],
      left: ({ present }) => !present.some((text) => text.includes(dataset('a'))),
      overtaken: 1
    }
  }
  for (const [what, { records, since, left, overtaken }] of Object.entries(newer)) {
    await t.test(`${what} stays`, async (t) => {
      const bench = await withUndo(t)
      await bench.send([newDomain('one'), newDomain('two'), ...'abc'.split('').map(entity), edge('c', 'b')])
      const id = await bench.send(records)
      for (const change of since) await apply(bench.db, change)
      t.ok(left(await bench.state()), 'before')
      const undo = await bench.undo(id)
      t.ok(left(await bench.state()), 'after')
      t.ok(undo.counts.unchanged >= overtaken, JSON.stringify(undo.counts))
      t.equal(undo.counts.rejected, 0)
      t.equal(undo.counts.received, undo.counts.applied + undo.counts.unchanged)
    })
  }

  await t.test('is lost without the guard that looks for it', async (t) => {
    const bench = await withUndo(t)
    await bench.send(['a', 'b'].map(entity))
    const id = await bench.send([proposal('a', 'status', { removed: true })])
    await apply(bench.db, upsert(a, 'status', { removed: false }))
    await bench.undo(id, {
      apply: (tx, records, context) =>
        applyRecords(tx, records, { ...context, guards: { ...allGuards, undoesOnlyItsOwn: false } })
    })
    t.equal(await valueOf(bench.db, a, 'status'), null)
  })
})

t.test('a change that cannot be undone is rejected, with the reason', async (t) => {
  const bench = await withUndo(t)
  await bench.send([newDomain('one'), newDomain('two'), entity('a'), entity('b'), inDomain('b', 'one')])
  const id = await bench.send([
    { entityType: 'dataset', entityUrn: dataset('a'), changeType: 'DELETE', aspectName: 'datasetKey' },
    inDomain('b', 'two'),
    { op: 'createDomain', id: 'one', name: 'Free' },
    proposal('b', 'datasetProfile', { timestampMillis: 1_700_000_000_000, rowCount: 3 })
  ])
  await apply(bench.db, createDomain(domain('third'), 'ONE'))
  const undo = await bench.undo(id)
  const rejects = await rejectsOf(bench, undo.id)
  t.same(
    rejects.map(({ code }) => code).sort(),
    ['CONFLICT', 'UNSUPPORTED', 'UNSUPPORTED'].sort(),
    JSON.stringify(rejects)
  )
  t.match(rejects.map(({ message }) => message).join('\n'), /permanently deleted/)
  t.match(undo.counts, { rejected: 3 })

  await t.test('and can be tried again when what was in the way is gone', async (t) => {
    await apply(bench.db, { kind: 'renameDomain', domainUrn: domain('third'), name: 'Third' })
    await retryLoad(bench.db, bench.queue, admin, undo.id)
    await bench.drain()
    t.match((await bench.load(undo.id)).counts, { rejected: 2 })
    t.match(
      await bench.rows(
        "select name from domain join entity on entity.id = domain.entity_id where urn = 'urn:li:domain:one'"
      ),
      [{ name: 'ONE' }]
    )
  })

  await t.test('and the domain that an asset was in must be there', async (t) => {
    const moved = await bench.send([newDomain('x'), inDomain('b', 'x')])
    const back = await bench.send([inDomain('b', 'one')])
    await apply(bench.db, hardDelete(domain('x')))
    t.match((await bench.undo(back)).counts, { rejected: 1 })
    t.match(await bench.load(moved), { state: 'done' })
  })
})

t.test(
  'the undo of a load that changes one thing in several chunks restores its state before the first',
  async (t) => {
    const bench = await withUndo(t)
    const filler = (at: number): JsonValue[] =>
      Array.from({ length: 5_000 }, (_, index) => ({
        op: 'removeEdge',
        upstreamUrn: dataset(`f${at}`),
        downstreamUrn: dataset(`g${index}`)
      }))
    await bench.send([
      newDomain('one'),
      newDomain('two'),
      ...'abcd'.split('').map(entity),
      edge('a', 'b'),
      edge('c', 'd'),
      inDomain('a', 'one'),
      proposal('c', 'upstreamLineage', { upstreams: [{ dataset: dataset('d'), type: 'VIEW' }] })
    ])
    const before = await bench.state()
    const id = await bench.submit(
      [
        removal('a', 'b'),
        edge('b', 'a'),
        inDomain('a', 'two'),
        proposal('c', 'upstreamLineage', { upstreams: [{ dataset: dataset('d'), type: 'COPY' }] }),
        ...filler(1),
        edge('a', 'b'),
        removal('b', 'a'),
        { op: 'unsetDomain', entityUrn: dataset('a') },
        removal('d', 'c'),
        ...filler(2),
        removal('a', 'b'),
        edge('b', 'a'),
        inDomain('a', 'one'),
        edge('d', 'c')
      ],
      { missingReferences: 'create' }
    )
    await bench.drain()
    t.equal((await bench.rows('select 1 from load_journal where load_id = ?::uuid', [id])).length > 2, true)
    t.match((await bench.undo(id)).counts, { rejected: 0 })
    t.same((await bench.state()).edges, before.edges)
    t.same((await bench.state()).documents, before.documents)
  }
)

t.test('only an ended load is undone, once, by tokens that may', async (t) => {
  const bench = await withUndo(t)
  const refused = async (id: string): Promise<string> => {
    const { code, message } = await refusalOf(
      undoLoad(bench.db, bench.queue, id, { actor: admin, requestId: null })
    )
    return `${code}: ${message}`
  }
  const id = await bench.submit([entity('a'), entity('b'), edge('a', 'b')])
  t.match(await refused(id), /^CONFLICT: The load is accepted/)
  await bench.drain()
  const other = { ...admin, tokenId: '00000000-0000-4000-8000-000000000001', scopes: ['write' as const] }
  t.equal(
    (await refusalOf(undoLoad(bench.db, bench.queue, id, { actor: other, requestId: null }))).code,
    'NOT_FOUND'
  )
  const undo = await bench.undo(id)
  t.match(await refused(id), new RegExp(`^CONFLICT: The load has been undone by the load ${undo.id}`))
  t.equal((await refusalOf(retryLoad(bench.db, bench.queue, admin, id))).code, 'CONFLICT')
  t.match(await refused('00000000-0000-4000-8000-000000000002'), /^NOT_FOUND/)

  const dry = await bench.send([entity('d')])
  await bench.rows('update load set is_dry_run = true where id = ?::uuid', [dry])
  t.match(await refused(dry), /^CONFLICT: The load was a dry run/)
})

t.test(
  'what a cancelled or failed load had applied can be undone, and a cancelled undo can be finished by another one',
  async (t) => {
    const bench = await withUndo(t)
    await bench.send('abcd'.split('').map(entity))
    const before = await bench.state()
    const id = await bench.submit([entity('e'), entity('f'), edge('a', 'b'), edge('c', 'd')])
    await bench.look(bench.told.shift() ?? 0)
    await cancelLoad(bench.db, admin, id)
    bench.told.length = 0
    t.notSame(await bench.state(), before)

    const { id: part } = await undoLoad(bench.db, bench.queue, id, { actor: admin, requestId: null })
    await bench.look(bench.told.shift() ?? 0)
    await cancelLoad(bench.db, admin, part)
    bench.told.length = 0
    await bench.undo(id)
    t.same(await bench.state(), before)

    const failed = await bench.submit([entity('g'), edge('a', 'b')])
    await bench.look(bench.told.shift() ?? 0)
    await bench.rows("update load set state = 'failed', finished_at = now() where id = ?::uuid", [failed])
    await bench.undo(failed)
    t.match(await bench.load(failed), { state: 'cancelled' })
    t.same(await bench.state(), before)
  }
)

t.test('an undo waits for what was accepted before it', async (t) => {
  const bench = await withUndo(t)
  await bench.send('ab'.split('').map(entity))
  const id = await bench.send([proposal('a', 'status', { removed: true })])
  const newer = await bench.submit([proposal('a', 'status', { removed: false })])
  const [late = 0] = bench.told.splice(0)
  const { id: undoId } = await undoLoad(bench.db, bench.queue, id, { actor: admin, requestId: null })
  const [chunk = 0] = bench.told.splice(0)
  t.match(await bench.look(chunk), { outcome: 'released' })
  await bench.look(late)
  await bench.rows('update chunk set next_at = now() where id = ?', [chunk])
  t.match(await bench.look(chunk), { outcome: 'settled' })
  t.match(await bench.load(newer), { state: 'done' })
  t.match(await bench.load(undoId), { counts: { applied: 0, unchanged: 1 } })
  t.match(await valueOf(bench.db, a, 'status'), { removed: false })

  await t.test('without that guard it undoes what a newer load was about to change', async (t) => {
    const id = await bench.send([proposal('b', 'status', { removed: true })])
    await bench.submit([proposal('b', 'status', { removed: false })])
    const [late = 0] = bench.told.splice(0)
    await undoLoad(bench.db, bench.queue, id, { actor: admin, requestId: null })
    const [chunk = 0] = bench.told.splice(0)
    t.match(await bench.look(chunk, { guards: guardsWithout('undoWaits') }), { outcome: 'settled' })
    await bench.look(late)
    t.equal(await valueOf(bench.db, b, 'status'), null)
  })
})

t.test(
  'a worker that dies in the middle of an undo leaves nothing half undone, and a poisoned record is found alone',
  async (t) => {
    const bench = await withUndo(t)
    const names = Array.from({ length: 40 }, (_, index) => `n${index}`)
    await bench.send(names.map(entity))
    const before = await bench.state()
    const id = await bench.send(names.slice(1).map((name, index) => edge(`n${index}`, name)))
    let deaths = 0
    const dies: RunOptions['apply'] = async (tx, records, context) => {
      const verdicts = await applyRecords(tx, records, context)
      deaths += 1
      if (deaths <= 2) throw Object.assign(new Error('connection lost'), { code: '57P01' })
      return verdicts
    }
    const undo = await bench.undo(id, { apply: dies })
    t.ok(deaths > 2)
    t.match(undo.counts, { applied: undo.counts.received, rejected: 0 })
    t.same(await bench.state(), before)

    const again = await bench.send(names.slice(1).map((name, index) => edge(`n${index}`, name)))
    await bench.rows(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no' using errcode = '23514'; end $$`
    )
    await bench.rows(
      `create trigger refuse before delete on statement for each row when (old.upstream_id = (old.upstream_id / 7) * 7) execute function refuse()`
    )
    const poisoned = await bench.undo(again)
    const { edges } = await bench.state()
    t.ok(edges.length > 0)
    t.match(poisoned.counts, { rejected: edges.length })
    t.equal((await rejectsOf(bench, poisoned.id)).length, edges.length)
  }
)

t.test('a token that is limited to a domain undoes what is in it', async (t) => {
  const bench = await withUndo(t)
  await bench.send([newDomain('mine'), ...'ab'.split('').map(entity), inDomain('a', 'mine')])
  const id = await bench.send([
    proposal('a', 'status', { removed: true }),
    proposal('b', 'status', { removed: true })
  ])
  const limited = { ...admin, domainUrns: [domain('mine')], tokenId: '00000000-0000-4000-8000-000000000003' }
  await bench.rows('update load set token_id = ?::uuid where id = ?::uuid', [limited.tokenId, id])
  const { id: undoId } = await undoLoad(bench.db, bench.queue, id, { actor: limited, requestId: null })
  await bench.drain()
  t.match((await bench.load(undoId)).counts, { applied: 1, rejected: 1 })
  t.match(await valueOf(bench.db, b, 'status'), { removed: true })
})

t.test(
  'a token that is limited to several domains undoes what is in them, and moves between them',
  async (t) => {
    const bench = await withUndo(t)
    await bench.send([
      ...['mine', 'ours', 'theirs'].map((id) => newDomain(id)),
      ...'abcd'.split('').map(entity),
      inDomain('a', 'mine'),
      inDomain('b', 'ours'),
      inDomain('c', 'mine'),
      inDomain('d', 'theirs')
    ])
    const id = await bench.send([
      proposal('a', 'status', { removed: true }),
      proposal('b', 'status', { removed: true }),
      inDomain('c', 'ours'),
      inDomain('d', 'mine')
    ])
    const limited = {
      ...admin,
      domainUrns: [domain('mine'), domain('ours')],
      tokenId: '00000000-0000-4000-8000-000000000003'
    }
    await bench.rows('update load set token_id = ?::uuid where id = ?::uuid', [limited.tokenId, id])
    const { id: undoId } = await undoLoad(bench.db, bench.queue, id, { actor: limited, requestId: null })
    await bench.drain()
    t.match((await bench.load(undoId)).counts, { applied: 3, rejected: 1 }, 'd would leave them')
    for (const [name, place] of [
      ['c', 'mine'],
      ['d', 'mine']
    ] as const)
      t.match(await valueOf(bench.db, urn(name), 'domains'), { domains: [domain(place)] }, name)
  }
)

t.test('a call is no load, so it is not in the journal', async (t) => {
  const bench = await withUndo(t)
  await applyCall(bench.db, [record(0, { kind: 'upsertEntity', entityUrn: a })], asCall())
  t.same(await bench.rows('select 1 from load_journal'), [])
})
