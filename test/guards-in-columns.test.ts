/**
 * Edges applied in columns next to other writers: the result follows the order of acceptance, wherever the
 * others interrupt, and each rule that ensures this is shown to be needed here too.
 */
import t, { type Test } from 'tap'
import { applyRecords } from '../shared/catalog/write/apply-records.ts'
import { createEdgeGatherer } from '../shared/catalog/loads/edge-gatherer.ts'
import { rememberEntityIds } from '../shared/catalog/write/entity-ids.ts'
import { allGuards, type Guards } from '../shared/catalog/write/guards.ts'
import type { Db, Tx } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { createPlainEdgeReader } from '../shared/formats/plain-edges.ts'
import type { Change, JsonValue, MissingReferences } from '../shared/model/changes.ts'
import type { Urn } from '../shared/urn/urn.ts'
import {
  addEdge,
  apply,
  applyAsChunk,
  asCall,
  chunkContext,
  column,
  create,
  dataset,
  deleteAspect,
  endLoad,
  hardDelete,
  openLoad,
  patch,
  record,
  removeEdge,
  segment,
  upsert,
  upstream,
  valueOf,
  without,
  type OpenLoad
} from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { endedOrBlocked, latch, pausedBefore } from './support/paused-tx.ts'

type Ends = readonly [upstream: Urn, downstream: Urn]

const ids = rememberEntityIds()

/** Applies edges as a worker applies a chunk of them. */
async function applyInColumns(
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
  await applyRecords(tx, [], { ...context, guards }, { batch, ids })
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
    [without(name), wrong, `without ${name} it would be wrong`]
  ] as const) {
    const { db } = await withDatabase(t)
    await apply(db, ...create(a, b, c))
    t.same(await play(db, guards), expected, says)
  }
}

/** The edge pauses before it is written while the change runs as far as it can. */
async function race(db: Db, guards: Guards, change: Change): Promise<void> {
  const load = await openLoad(db)
  const inColumns = pausedBefore(db, /^copy$/, (tx) => applyInColumns(tx, load, [[b, a]], { guards }))
  await inColumns.reached
  const late = call(db, change)
  await endedOrBlocked(db, late)
  inColumns.goOn()
  t.equal((await inColumns.done).status, 'fulfilled')
  await late
}

t.test('each rule is needed for edges in columns', async (t) => {
  await bothWays(
    t,
    'keepsOrder',
    async (db, guards) => {
      const older = await openLoad(db)
      await call(db, removeEdge(b, a))
      await db.transaction((tx: Tx) => applyInColumns(tx, older, [[b, a]], { guards }))
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
      await db.transaction((tx: Tx) => applyInColumns(tx, newer, [[b, a]], { guards }))
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
      await db.transaction((tx: Tx) => applyInColumns(tx, older, [[b, a]], { op: 'removeEdge', guards }))
      return upstreamsOf(db, a)
    },
    [b],
    []
  )
  await bothWays(
    t,
    'locksOwners',
    async (db, guards) => {
      // From two sources: the first to write the name of a new source blocks the other.
      const [older, newer] = [await openLoad(db, { source: 'another-load' }), await openLoad(db)]
      const inColumns = pausedBefore(db, /insert into edge_tombstone/, (tx) =>
        applyInColumns(tx, newer, [[b, a]], { op: 'removeEdge', guards })
      )
      await inColumns.reached
      const late = applyAsChunk(db, older, [record(1, addEdge(b, a))])
      await endedOrBlocked(db, late)
      inColumns.goOn()
      t.equal((await inColumns.done).status, 'fulfilled')
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

const [ax, ay, bx] = [column(a, 'x'), column(a, 'y'), column(b, 'x')]
const columnEdges = (db: Db): Promise<string[]> =>
  query<{ edge: string }>(
    db,
    "select distinct concat_ws(' to ', up.urn, down.urn) as edge from statement join entity up on up.id = upstream_id join entity down on down.id = downstream_id where down.entity_type = 'schemaField' order by 1"
  ).then((rows) => rows.map(({ edge }) => edge))

t.test('each rule is needed for edges between columns', async (t) => {
  const emptied = patch(a, 'upstreamLineage', {
    op: 'remove',
    path: `/fineGrainedLineages/TRANSFORM/${segment(ax)}`
  })
  for (const [what, change, left] of [
    ['a removal of the edge', removeEdge(bx, ax), [`${bx} to ${ay}`]],
    ['a removal of everything into its column', emptied, [`${bx} to ${ay}`]],
    ['a deletion of the upstream asset', hardDelete(b), []],
    ['a deletion of the upstream column', hardDelete(bx), []],
    ['a deletion of the downstream column', hardDelete(ax), [`${bx} to ${ay}`]],
    ['a replacement', upsert(a, 'upstreamLineage', { upstreams: [] }), []]
  ] as const)
    await t.test(`next to ${what}`, (t) =>
      bothWays(
        t,
        'keepsOrder',
        async (db, guards) => {
          // The columns have rows, so a deletion finds them.
          await apply(db, addEdge(bx, ax), addEdge(bx, ay))
          const older = await openLoad(db)
          await call(db, change)
          await db.transaction((tx: Tx) =>
            applyInColumns(
              tx,
              older,
              [
                [bx, ax],
                [bx, ay]
              ],
              { guards, missingReferences: 'create' }
            )
          )
          return columnEdges(db)
        },
        [...left],
        [`${bx} to ${ax}`, `${bx} to ${ay}`]
      )
    )
})

t.test('edges between columns need the assets of the columns', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a))
  const missing = column(dataset('missing'), 'x')
  for (const missingReferences of ['reject', 'create'] as const) {
    const load = await openLoad(db, { missingReferences })
    await db.transaction((tx: Tx) =>
      applyInColumns(
        tx,
        load,
        [
          [missing, ax],
          [ay, ax]
        ],
        { missingReferences }
      )
    )
    t.same(
      await columnEdges(db),
      missingReferences === 'reject' ? [`${ay} to ${ax}`] : [`${ay} to ${ax}`, `${missing} to ${ax}`],
      missingReferences
    )
    await endLoad(db, load)
  }
  t.same(
    await query(
      db,
      'select entity.urn, parent.urn as asset from entity join entity parent on parent.id = entity.parent_id order by 1'
    ),
    [
      { urn: ax, asset: a },
      { urn: ay, asset: a },
      { urn: missing, asset: dataset('missing') }
    ],
    'each column has its asset as parent'
  )
})

/** A change accepted after the edge from b to a, and the resulting upstreams of a. */
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

const additionStatements = [
  /pg_advisory_xact_lock/,
  /with unfinished/,
  /from statement_source/,
  /as placeholders/,
  /for no key update/,
  /has_removals/,
  /as stated$/,
  /^copy$/,
  /update aspect/,
  /insert into load_journal/,
  /insert into graph_change/,
  /insert into audit/
]
const removalStatements = [
  /pg_advisory_xact_lock/,
  /with unfinished/,
  /from statement_source/,
  /as placeholders/,
  /for no key update/,
  /has_removals/,
  /as stated$/,
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

t.test('the order of acceptance decides, whatever is applied in between', async (t) => {
  const { db } = await withDatabase(t)
  let count = 0
  for (const [op, isLoadPaused] of [
    ['addEdge', true],
    ['addEdge', false],
    ['removeEdge', true],
    ['removeEdge', false]
  ] as const) {
    for (const [statementAt, statement] of (!isLoadPaused
      ? callStatements
      : op === 'addEdge'
        ? additionStatements
        : removalStatements
    ).entries()) {
      for (const [besideAt, [name, change, left]] of beside.entries()) {
        count += 1
        const [a, b, c] = [dataset(`a${count}`), dataset(`b${count}`), dataset(`c${count}`)]
        await apply(db, ...create(a, b, c))
        if (op === 'removeEdge') await apply(db, addEdge(b, a))
        const turn = op === 'addEdge' ? ['absent', 'there'][(statementAt + besideAt) % 2] : 'there'
        const load = await openLoad(db)
        if (op === 'addEdge' && turn !== 'absent') await applyAsChunk(db, load, [record(1, addEdge(b, a))])
        const inColumns = (tx: Tx): Promise<void> => applyInColumns(tx, load, [[b, a]], { op })
        const other = (tx: Tx): Promise<unknown> => applyRecords(tx, [record(0, change(a, b, c))], asCall())
        const paused = pausedBefore<unknown>(db, statement, isLoadPaused ? inColumns : other)
        await paused.reached
        const late = db.transaction<unknown>(isLoadPaused ? other : inColumns).then(
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
          `${op}, ${name}, ${isLoadPaused ? 'the edge' : 'the change'} waiting before ${String(statement)}`
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
  for (const [says, isByRecord] of [
    ['columns beside columns', false],
    ['columns beside records', true]
  ] as const) {
    for (const statement of additionStatements) {
      const [one, two] = [await openLoad(db), await openLoad(db)]
      const paused = pausedBefore(db, statement, (tx) => applyInColumns(tx, one, edges))
      await paused.reached
      const late = isByRecord
        ? db.transaction<unknown>((tx: Tx) =>
            applyRecords(
              tx,
              edges.toReversed().map(([up, down], at) => record(at, addEdge(up, down))),
              chunkContext(two)
            )
          )
        : db.transaction<unknown>((tx: Tx) => applyInColumns(tx, two, edges.toReversed()))
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
  for (const [says, op, isByRecord] of [
    ['columns beside columns', 'addEdge', false],
    ['columns beside records', 'addEdge', true],
    ['columns beside a removal', 'removeEdge', false]
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
        isByRecord ? y : x
      ]
      await apply(db, ...create(present))
      const [one, two] = [await openLoad(db), await openLoad(db)]
      const edges: Ends[] = [[placeholder, present]]
      const inColumns =
        (load: OpenLoad, op: 'addEdge' | 'removeEdge' = 'addEdge') =>
        (tx: Tx): Promise<unknown> =>
          applyInColumns(tx, load, edges, { op, missingReferences: 'create' })
      const byRecord =
        (load: OpenLoad) =>
        (tx: Tx): Promise<unknown> =>
          applyRecords(
            tx,
            [record(1, addEdge(placeholder, present))],
            chunkContext(load, { missingReferences: 'create' })
          )
      // Both pause before the statement, then both continue.
      const pausedOne = pausedBefore<unknown>(db, statement, inColumns(one))
      await pausedOne.reached
      const pausedTwo = pausedBefore<unknown>(
        db,
        op === 'removeEdge' ? /insert into entity/ : /for no key update/,
        isByRecord ? byRecord(two) : inColumns(two, op)
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

t.test('a removal waits for an owner that another writer is about to give the edge', async (t) => {
  const { db } = await withDatabase(t)
  const [upstreamUrn, downstreamUrn] = [dataset('never named'), dataset('known')]
  await apply(db, ...create(downstreamUrn))
  // The call creates the upstream, and pauses before it writes the edge.
  const adding = pausedBefore(db, /^copy$/, (tx) =>
    applyRecords(
      tx,
      [record(0, addEdge(upstreamUrn, downstreamUrn))],
      asCall({ missingReferences: 'create' })
    )
  )
  await adding.reached
  const load = await openLoad(db, { remaining: 1 })
  const removal = db.transaction((tx: Tx) =>
    applyInColumns(tx, load, [[upstreamUrn, downstreamUrn]], {
      op: 'removeEdge',
      missingReferences: 'create'
    })
  )
  await endedOrBlocked(db, removal)
  adding.goOn()
  await adding.done
  await removal
  t.same(await upstreamsOf(db, downstreamUrn), [])
})
