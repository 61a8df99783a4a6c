/**
 * The lean way of applying plain edges beside other writers: what is left is what the order of acceptance says, wherever
 * the others come between, and each rule that sees to it is shown to be needed in the lean way too.
 */
import t, { type Test } from 'tap'
import { createEdgeApplier } from '../shared/catalog/write/apply-edges.ts'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import { recordsOfEdges } from '../shared/catalog/loads/chunk-records.ts'
import { createEdgeGatherer } from '../shared/catalog/loads/edge-gatherer.ts'
import { rememberEntityIds } from '../shared/catalog/write/entity-ids.ts'
import { allGuards, type Guards } from '../shared/catalog/write/guards.ts'
import type { Db, Tx } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { parseNdjsonRecord } from '../shared/formats/ndjson.ts'
import { createPlainEdgeReader } from '../shared/formats/plain-edges.ts'
import type { Change, JsonValue, MissingReferences } from '../shared/model/changes.ts'
import type { Urn } from '../shared/urn/urn.ts'
import {
  addEdge,
  apply,
  applyAsChunk,
  asCall,
  chunkContext,
  create,
  dataset,
  deleteAspect,
  endLoad,
  hardDelete,
  openLoad,
  record,
  removeEdge,
  upsert,
  upstream,
  valueOf,
  without,
  type OpenLoad
} from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { endedOrBlocked, latch, pausedBefore } from './support/paused-tx.ts'

type Ends = readonly [upstream: Urn, downstream: Urn]

const applyEdges = createEdgeApplier(rememberEntityIds())

/** Applies edges as the worker does a chunk of them. `guards` are those of the lean way alone: what it leaves is applied with all. */
async function applyLean(
  tx: Tx,
  load: OpenLoad,
  edges: readonly Ends[],
  {
    op = 'addEdge',
    guards = allGuards,
    missingReferences = 'reject'
  }: { op?: 'addEdge' | 'removeEdge'; guards?: Guards; missingReferences?: MissingReferences } = {}
): Promise<void> {
  const read = createPlainEdgeReader()
  const gatherer = createEdgeGatherer()
  edges.forEach(([upstreamUrn, downstreamUrn], at) => {
    const edge = read(JSON.stringify({ op, upstreamUrn, downstreamUrn }), at + 1)
    if (!edge) throw new Error('no plain edge')
    gatherer.add(edge)
  })
  const batch = gatherer.take().batch
  const context = chunkContext(load, { missingReferences })
  const { rest, ...before } = await applyEdges(tx, batch, { ...context, guards })
  if (rest.length > 0)
    await applyRecords(
      tx,
      (await recordsOfEdges(tx, batch, rest)).map(({ line, text }) => parseNdjsonRecord(text, line)),
      { ...context, before }
    )
}

const upstreamsOf = async (db: Db, urn: Urn): Promise<JsonValue> => {
  const value = (await valueOf(db, urn, 'upstreamLineage')) as { upstreams: { dataset: string }[] } | null
  return (value?.upstreams ?? []).map((entry) => entry.dataset).sort()
}

const call = (db: Db, ...changes: Change[]): Promise<unknown> =>
  db.transaction((tx: Tx) => applyRecords(tx, [record(0, ...changes)], asCall()))

const [a, b, c] = [dataset('a'), dataset('b'), dataset('c')]

async function bothWays(
  t: Test,
  name: keyof Guards,
  play: (db: Db, guards: Guards) => Promise<JsonValue>,
  right: JsonValue,
  wrong: JsonValue
): Promise<void> {
  for (const [guards, expected, says] of [
    [allGuards, right, 'with all rules'],
    [without(name), wrong, `without ${name} in the lean way it would be wrong`]
  ] as const) {
    const { db } = await withDatabase(t)
    await apply(db, ...create(a, b, c))
    t.same(await play(db, guards), expected, says)
  }
}

/** The lean way stands before it adds statements while the change does what it can. */
async function race(db: Db, guards: Guards, change: Change): Promise<void> {
  const load = await openLoad(db)
  const lean = pausedBefore(db, /^copy$/, (tx) => applyLean(tx, load, [[b, a]], { guards }))
  await lean.reached
  const late = call(db, change)
  await endedOrBlocked(db, late)
  lean.goOn()
  t.equal((await lean.done).status, 'fulfilled')
  await late
}

t.test('each rule is needed in the lean way', async (t) => {
  await bothWays(
    t,
    'keepsOrder',
    async (db, guards) => {
      const older = await openLoad(db)
      await call(db, removeEdge(b, a))
      await db.transaction((tx: Tx) => applyLean(tx, older, [[b, a]], { guards }))
      return upstreamsOf(db, a)
    },
    [],
    [b]
  )
  await bothWays(
    t,
    'raisesOrder',
    async (db, guards) => {
      const source = 'a-load'
      const first = await openLoad(db, { source })
      await applyAsChunk(db, first, [record(1, addEdge(b, a))])
      await endLoad(db, first)
      const [older, newer] = [await openLoad(db), await openLoad(db, { source })]
      await db.transaction((tx: Tx) => applyLean(tx, newer, [[b, a]], { guards }))
      await applyAsChunk(db, older, [record(1, removeEdge(b, a))])
      return upstreamsOf(db, a)
    },
    [b],
    []
  )
  await bothWays(
    t,
    'locksOwners',
    async (db, guards) => {
      await race(db, guards, removeEdge(b, a))
      return upstreamsOf(db, a)
    },
    [],
    [b]
  )
  await bothWays(
    t,
    'keepsOrder',
    async (db, guards) => {
      const older = await openLoad(db)
      await call(db, addEdge(b, a))
      await db.transaction((tx: Tx) => applyLean(tx, older, [[b, a]], { op: 'removeEdge', guards }))
      return upstreamsOf(db, a)
    },
    [b],
    []
  )
  await bothWays(
    t,
    'locksOwners',
    async (db, guards) => {
      // Of two sources: who writes down the name of one first holds up the other.
      const [older, newer] = [await openLoad(db, { source: 'another-load' }), await openLoad(db)]
      const lean = pausedBefore(db, /insert into edge_tombstone/, (tx) =>
        applyLean(tx, newer, [[b, a]], { op: 'removeEdge', guards })
      )
      await lean.reached
      const late = applyAsChunk(db, older, [record(1, addEdge(b, a))])
      await endedOrBlocked(db, late)
      lean.goOn()
      t.equal((await lean.done).status, 'fulfilled')
      await late
      return upstreamsOf(db, a)
    },
    [],
    [b]
  )
  await bothWays(
    t,
    'excludesDeletes',
    async (db, guards) => {
      await race(db, guards, hardDelete(b))
      return query<{ urn: string }>(
        db,
        'select distinct entity.urn from statement join entity on entity.id = upstream_id where not is_present'
      )
    },
    [],
    [{ urn: b }]
  )
})

/** What comes beside the edge from b to a, accepted after it, and what a has upstream in the end. */
const beside: readonly [
  name: string,
  change: (a: Urn, b: Urn, c: Urn) => Change,
  left: (b: Urn, c: Urn) => Urn[]
][] = [
  ['add', (a, b) => addEdge(b, a), (b) => [b]],
  ['remove', (a, b) => removeEdge(b, a), () => []],
  [
    'replace',
    (a, _, c) => ({
      kind: 'replaceEdges',
      ownerUrn: a,
      aspectName: 'upstreamLineage',
      edges: [{ upstreamUrn: c, downstreamUrn: a }]
    }),
    (_, c) => [c]
  ],
  ['UPSERT', (a, _, c) => upsert(a, 'upstreamLineage', { upstreams: [upstream(c)] }), (_, c) => [c]],
  ['delete aspect', (a) => deleteAspect(a, 'upstreamLineage'), () => []],
  ['hard delete', (_, b) => hardDelete(b), () => []]
]

const leanStatements = [
  /pg_advisory_xact_lock/,
  /with unfinished/,
  /from statement_source/,
  /is_fit/,
  /for no key update/,
  /has_removals/,
  /found\.own/,
  /^copy$/,
  /update aspect/,
  /insert into load_journal/,
  /insert into graph_change/,
  /insert into audit/
]
const leanRemovalStatements = [
  /pg_advisory_xact_lock/,
  /with unfinished/,
  /from statement_source/,
  /is_fit/,
  /for no key update/,
  /has_removals/,
  /is_plain/,
  /delete from statement/,
  /update aspect/,
  /insert into edge_tombstone/,
  /insert into load_journal/,
  /insert into graph_change/,
  /insert into audit/
]
const callStatements = [
  /urn_key/,
  /for no key update/,
  /nextval/,
  /^copy$|delete from statement/,
  /(insert into|update) aspect/,
  /insert into edge_tombstone/,
  /insert into audit/
]

t.test('whoever comes between, the order of acceptance decides', async (t) => {
  const { db } = await withDatabase(t)
  let count = 0
  for (const [op, isLeanPaused] of [
    ['addEdge', true],
    ['addEdge', false],
    ['removeEdge', true],
    ['removeEdge', false]
  ] as const) {
    for (const [statementAt, statement] of (!isLeanPaused
      ? callStatements
      : op === 'addEdge'
        ? leanStatements
        : leanRemovalStatements
    ).entries()) {
      for (const [besideAt, [name, change, left]] of beside.entries()) {
        count += 1
        const [a, b, c] = [dataset(`a${count}`), dataset(`b${count}`), dataset(`c${count}`)]
        await apply(db, ...create(a, b, c))
        if (op === 'removeEdge') await apply(db, addEdge(b, a))
        const turn = op === 'addEdge' ? ['absent', 'there'][(statementAt + besideAt) % 2] : 'there'
        const load = await openLoad(db)
        if (op === 'addEdge' && turn !== 'absent') await applyAsChunk(db, load, [record(1, addEdge(b, a))])
        const lean = (tx: Tx): Promise<void> => applyLean(tx, load, [[b, a]], { op })
        const other = (tx: Tx): Promise<unknown> => applyRecords(tx, [record(0, change(a, b, c))], asCall())
        const paused = pausedBefore<unknown>(db, statement, isLeanPaused ? lean : other)
        await paused.reached
        const late = db.transaction<unknown>(isLeanPaused ? other : lean).then(
          () => 'done',
          (error: Error) => error.message
        )
        await endedOrBlocked(db, late)
        paused.goOn()
        t.match(
          [await paused.done, await late],
          [{ status: 'fulfilled' }, 'done'],
          `${op}, ${turn}, ${name}, ${String(statement)}`
        )
        t.same(
          await upstreamsOf(db, a),
          left(b, c),
          `${op}, ${name}, ${isLeanPaused ? 'the edge' : 'the change'} waiting before ${String(statement)}`
        )
        await endLoad(db, load)
      }
    }
  }
})

t.test('chunks that share owners wait for each other in one order, whichever way they go', async (t) => {
  const { db } = await withDatabase(t)
  const [x, y, z] = [dataset('x'), dataset('y'), dataset('z')]
  await apply(db, ...create(x, y, z))
  const edges: Ends[] = [
    [z, x],
    [z, y],
    [x, y],
    [y, x]
  ]
  for (const [says, isGeneral] of [
    ['lean beside lean', false],
    ['lean beside general', true]
  ] as const) {
    for (const statement of leanStatements) {
      const [one, two] = [await openLoad(db), await openLoad(db)]
      const paused = pausedBefore(db, statement, (tx) => applyLean(tx, one, edges))
      await paused.reached
      const late = isGeneral
        ? db.transaction<unknown>((tx: Tx) =>
            applyRecords(
              tx,
              edges.toReversed().map(([up, down], at) => record(at, addEdge(up, down))),
              chunkContext(two)
            )
          )
        : db.transaction<unknown>((tx: Tx) => applyLean(tx, two, edges.toReversed()))
      await endedOrBlocked(db, late)
      paused.goOn()
      t.match(
        await Promise.allSettled([paused.done, late]),
        [{ value: { status: 'fulfilled' } }, { status: 'fulfilled' }],
        `${says}, ${String(statement)}`
      )
      for (const load of [one, two]) await endLoad(db, load)
    }
  }
})

t.test("chunks that make placeholders for each other's owners do not wait in a circle", async (t) => {
  const { db } = await withDatabase(t)
  const [x, y] = [dataset('x'), dataset('y')]
  for (const [says, op, isGeneral] of [
    ['lean beside lean', 'addEdge', false],
    ['lean beside general', 'addEdge', true],
    ['lean beside lean removal', 'removeEdge', false]
  ] as const) {
    for (const statement of [
      /for no key update/,
      /has_removals/,
      /insert into entity/,
      /^copy$/,
      /insert into audit/
    ]) {
      const [placeholder, present] = [
        dataset(`${says} ${String(statement)}`.replaceAll(/\W/g, '')),
        isGeneral ? y : x
      ]
      await apply(db, ...create(present))
      const [one, two] = [await openLoad(db), await openLoad(db)]
      const edges: Ends[] = [[placeholder, present]]
      const lean =
        (load: OpenLoad, op: 'addEdge' | 'removeEdge' = 'addEdge') =>
        (tx: Tx): Promise<unknown> =>
          applyLean(tx, load, edges, { op, missingReferences: 'create' })
      const general =
        (load: OpenLoad) =>
        (tx: Tx): Promise<unknown> =>
          applyRecords(
            tx,
            [record(1, addEdge(placeholder, present))],
            chunkContext(load, { missingReferences: 'create' })
          )
      // Both stand before the statement, then both go on.
      const pausedOne = pausedBefore<unknown>(db, statement, lean(one))
      await pausedOne.reached
      const pausedTwo = pausedBefore<unknown>(
        db,
        op === 'removeEdge' ? /insert into entity/ : /for no key update/,
        isGeneral ? general(two) : lean(two, op)
      )
      await endedOrBlocked(db, pausedTwo.reached)
      pausedOne.goOn()
      const gate = latch()
      void endedOrBlocked(db, pausedOne.done).then(gate.open)
      await gate.opened
      pausedTwo.goOn()
      t.match(
        await Promise.all([pausedOne.done, pausedTwo.done]),
        [{ status: 'fulfilled' }, { status: 'fulfilled' }],
        `${says}, ${String(statement)}`
      )
      for (const load of [one, two]) await endLoad(db, load)
    }
  }
})
