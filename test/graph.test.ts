/**
 * The graph in memory, compared with plain sets and maps: lists that grow and shrink, stable views, URNs in
 * and out, slices.
 */
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import t from 'tap'
import { membersIn, type AdjacencyView } from '../shared/graph/adjacency.ts'
import { BytesPool } from '../shared/graph/bytes-pool.ts'
import { ColumnLists } from '../shared/graph/column-lists.ts'
import {
  LineageGraph,
  type GraphChanges,
  type GraphVersion,
  type GraphView
} from '../shared/graph/lineage-graph.ts'
import { domainIn, isDeletedIn, isKnownIn, isPresentIn, isRemovedIn } from '../shared/graph/nodes.ts'
import { roomOf, sizeClassOf } from '../shared/graph/size-classes.ts'
import { createTurns, type Pause } from '../shared/graph/turns.ts'
import { UrnTable } from '../shared/graph/urn-table.ts'
import { walkGraph } from '../shared/graph/walk-graph.ts'
import { packGraphChanges, unpackGraphChanges, type GraphDelta } from '../shared/statements/graph-delta.ts'
import { viewOf } from '../shared/urn/byte-words.ts'
import { environmentOf, platformOf, schemaFieldParts } from '../shared/urn/kinds.ts'
import { entityTypeOf, toUrn, type Urn } from '../shared/urn/urn.ts'
import { fc, seed } from './support/fast-check.ts'

const noPause: Pause = () => Promise.resolve()
/** Parsing the same shape 300,000 times would take most of the time of the tests. */
const datasetOf = (id: number): Urn => `urn:li:dataset:(urn:li:dataPlatform:hive,n${id},PROD)` as Urn

/**
 * The expected content of a graph: each edge as often as it is stated (`upstream downstream`), and the facts
 * about each id.
 */
type Model = { edges: Map<string, number>; nodes: Map<number, string>; parents: Map<number, number> }

const modelCopy = ({ edges, nodes, parents }: Model): Model => ({
  edges: new Map(edges),
  nodes: new Map(nodes),
  parents: new Map(parents)
})

function listsOf({ edges }: Model, direction: 'UPSTREAM' | 'DOWNSTREAM'): Map<number, number[]> {
  const lists = new Map<number, number[]>()
  for (const [edge, count] of edges) {
    const [upstream = 0, downstream = 0] = edge.split(' ').map(Number)
    const [near, far] = direction === 'DOWNSTREAM' ? [upstream, downstream] : [downstream, upstream]
    lists.set(near, [...(lists.get(near) ?? []), ...Array<number>(count).fill(far)])
  }
  return lists
}

/** The ids of the small graphs, which need more than one page of a table. */
const greatest = 300

const ascending = (ids: Iterable<number>): number[] => [...ids].sort((a, b) => a - b)

/** The differences between a view and the model; empty if they agree. */
function differences(view: GraphView, model: Model, greatestId: number): string[] {
  const found: string[] = []
  const compare = (what: string, expected: string | number, is: string | number): void => {
    if (expected !== is) found.push(`${what}: ${is}, not ${expected}`)
  }
  for (const [direction, adjacency] of [
    ['DOWNSTREAM', view.downstream],
    ['UPSTREAM', view.upstream]
  ] as const) {
    const lists = listsOf(model, direction)
    for (let id = 0; id <= greatestId; id += 1)
      compare(
        `${direction} of ${id}`,
        ascending(lists.get(id) ?? []).join(' '),
        ascending(membersIn(adjacency, id)).join(' ')
      )
  }
  for (let id = 1; id <= greatestId; id += 1) {
    const flags = [isPresentIn(view.nodes, id), isRemovedIn(view.nodes, id), isDeletedIn(view.nodes, id)]
      .map(Number)
      .join('')
    compare(
      `node ${id}`,
      model.nodes.get(id) ?? '',
      isKnownIn(view.nodes, id) ? `${flags} ${domainIn(view.nodes, id)}` : ''
    )
  }
  const inText = (parents: ReadonlyMap<number, number>): string =>
    [...parents]
      .map(([id, parent]) => `${id} ${parent}`)
      .sort()
      .join(', ')
  compare('parents of domains', inText(model.parents), inText(view.domainParents))
  compare(
    'number of edges',
    [...model.edges.values()].reduce((sum, count) => sum + count, 0),
    view.edgeCount
  )
  return found
}

/** A change of a graph: an edge that is stated once more, or a delta of the change log. */
type Change = GraphDelta | { kind: 'stated'; upstreamId: number; downstreamId: number }

/** Applies the same change to the model. */
function note(model: Model, delta: Change): void {
  if (delta.kind === 'stated' || delta.kind === 'unstated') {
    const edge = `${delta.upstreamId} ${delta.downstreamId}`
    const count = (model.edges.get(edge) ?? 0) + (delta.kind === 'stated' ? 1 : -1)
    if (count === 0) model.edges.delete(edge)
    else model.edges.set(edge, count)
  }
  if (delta.kind === 'created') model.nodes.set(delta.id, '000 0')
  if (delta.kind === 'entity')
    model.nodes.set(
      delta.id,
      `${[delta.isPresent, delta.isRemoved, delta.isDeleted].map(Number).join('')} ${model.nodes.get(delta.id)?.split(' ')[1] ?? 0}`
    )
  if (delta.kind === 'domain')
    model.nodes.set(delta.id, `${model.nodes.get(delta.id)?.split(' ')[0] ?? '000'} ${delta.domainId ?? 0}`)
  if (delta.kind === 'parentDomain') {
    if (delta.parentId === null) model.parents.delete(delta.id)
    else model.parents.set(delta.id, delta.parentId)
  }
}

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

const emptyModel = (): Model => ({ edges: new Map(), nodes: new Map(), parents: new Map() })

/** An edge that can be removed, or null. */
const statedEdge = (model: Model, drawn: number): { upstreamId: number; downstreamId: number } | null => {
  const [upstreamId, downstreamId] = ([...model.edges.keys()][drawn % Math.max(1, model.edges.size)] ?? '')
    .split(' ')
    .map(Number)
  return upstreamId && downstreamId ? { upstreamId, downstreamId } : null
}

t.test('every length has room, and at most a third of it is empty', (t) => {
  const around = (power: number): number[] =>
    [-1, 0, 1].flatMap((more) => [2 ** power + more, 3 * 2 ** (power - 1) + more])
  const greatest = 2 ** 31 - 1
  for (const length of [
    ...Array.from({ length: 5_000 }, (_, before) => before + 1),
    ...[20, 29, 30, 31].flatMap(around),
    greatest
  ].filter((each) => each <= greatest)) {
    const room = roomOf(sizeClassOf(length))
    if (room < length || room - length > room / 3) t.fail(`${length} in ${room}`)
    if (sizeClassOf(length) < sizeClassOf(length - 1))
      t.fail(`the class of ${length} is below that of ${length - 1}`)
    if (sizeClassOf(room) !== sizeClassOf(length)) t.fail(`${room} is of another class than ${length}`)
  }
  t.equal(roomOf(sizeClassOf(0)), 0)
  t.end()
})

const drawnDelta = fc.record({
  kind: fc.constantFrom(
    'stated',
    'stated',
    'stated',
    'unstated',
    'unstated',
    'unstated',
    'entity',
    'domain',
    'parentDomain'
  ),
  // Most changes concern few nodes, so that their lists pass through many sizes.
  one: fc.oneof(
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 3 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: greatest }) }
  ),
  other: fc.integer({ min: 1, max: greatest }),
  flags: fc.nat(7)
})
const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('apply' as const),
      drawn: fc.array(drawnDelta, { minLength: 1, maxLength: 60, size: 'max' })
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pin' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('unpin' as const), at: fc.nat(20) }) }
)

/** Deltas that are valid for the model, which applies them. New ids are created. */
function deltasFor(
  model: Model,
  drawn: readonly { kind: string; one: number; other: number; flags: number }[]
): Change[] {
  const deltas: Change[] = []
  const say = (delta: Change): void => {
    deltas.push(delta)
    note(model, delta)
  }
  const known = (id: number): number => {
    if (!model.nodes.has(id)) say({ kind: 'created', id })
    return id
  }
  for (const { kind, one, other, flags } of drawn) {
    if (kind === 'stated')
      say({
        kind: 'stated',
        upstreamId: known(flags % 2 === 0 ? one : other),
        downstreamId: known(flags % 2 === 0 ? other : one)
      })
    else if (kind === 'unstated') {
      const edge = statedEdge(model, one * 997 + other)
      if (edge) say({ kind: 'unstated', ...edge })
    } else if (kind === 'entity')
      say({
        kind: 'entity',
        id: known(one),
        isPresent: (flags & 1) !== 0,
        isRemoved: (flags & 2) !== 0,
        isDeleted: (flags & 4) !== 0
      })
    else if (kind === 'domain') say({ kind: 'domain', id: known(one), domainId: flags === 0 ? null : other })
    else say({ kind: 'parentDomain', id: known(one), parentId: flags === 0 ? null : other })
  }
  return deltas
}

const entitiesIn = (deltas: readonly Change[]) =>
  deltas.flatMap((delta) =>
    delta.kind === 'created' ? [{ id: delta.id, urn: datasetOf(delta.id), parentId: 0 }] : []
  )

/** The changes in the form of a row of the change log: stated edges in columns, after the deltas. */
function rowOf(changes: readonly Change[]): Pick<GraphChanges, 'stated' | 'deltas'> {
  const stated = changes.filter((change) => change.kind === 'stated')
  const deltas = changes.filter((change) => change.kind !== 'stated')
  const row = packGraphChanges(deltas, {
    downstreamIds: Int32Array.from(stated, ({ downstreamId }) => downstreamId),
    upstreamIds: Int32Array.from(stated, ({ upstreamId }) => upstreamId)
  })
  const unpacked = unpackGraphChanges(row)
  return { stated: [unpacked.stated], deltas: [...unpacked.deltas] }
}

t.test(
  'a graph has exactly the changes made to it, and each view those at the time it was pinned',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40, size: 'max' }), async (commands) => {
        const graph = new LineageGraph({ entityCount: 10, greatestId: 10 })
        const model = emptyModel()
        const pinned: { view: GraphView; model: Model }[] = []
        for (const each of commands) {
          if (each.do === 'pin') pinned.push({ view: graph.pin(), model: modelCopy(model) })
          else if (each.do === 'unpin')
            for (const { view } of pinned.splice(each.at % Math.max(1, pinned.length), 1)) graph.unpin(view)
          else {
            const deltas = deltasFor(model, each.drawn)
            const entities = entitiesIn(deltas)
            await graph.apply({ ...rowOf(deltas), entities, documents: new Map() }, noPause)
          }
          // Reading the current state also opens a view. Without these reads, some changes would be made while
          // no view is open.
          const now = graph.pin()
          const wrong = [
            ...differences(now, model, greatest),
            ...pinned.flatMap((old) =>
              differences(old.view, old.model, greatest).map((text) => `of a pinned view: ${text}`)
            )
          ]
          graph.unpin(now)
          if (wrong.length > 0) throw new Error(wrong.slice(0, 5).join('\n'))
        }
      }),
      { numRuns: 25, seed }
    )
    t.pass(`seed ${seed}`)
  }
)

t.test('a graph loaded from a snapshot continues like one that received every change', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(drawnDelta, { maxLength: 300, size: 'max' }),
      fc.array(drawnDelta, { maxLength: 300, size: 'max' }),
      async (before, after) => {
        const model = emptyModel()
        deltasFor(model, before)
        const graph = new LineageGraph({
          entityCount: model.nodes.size,
          greatestId: Math.max(0, ...model.nodes.keys())
        })
        for (const [id, text] of model.nodes) {
          graph.load({
            id,
            urn: datasetOf(id),
            parentId: 0,
            isPresent: text.startsWith('1'),
            isRemoved: text[1] === '1',
            isDeleted: text[2] === '1'
          })
          graph.loadDomain(id, Number(text.split(' ')[1]))
        }
        graph.loadDomainTree(new Map(model.parents), new Map())
        const pairs = [...model.edges].flatMap(([edge, count]) =>
          Array<number[]>(count).fill(edge.split(' ').map(Number))
        )
        const pieces = [pairs.slice(0, pairs.length >> 1), pairs.slice(pairs.length >> 1)]
        await graph.loadEdges(
          pieces.map((piece) => Int32Array.from(piece, ([upstream = 0]) => upstream)),
          pieces.map((piece) => Int32Array.from(piece, ([, downstream = 0]) => downstream)),
          noPause
        )
        const loaded = { view: graph.pin(), model: modelCopy(model) }
        const deltas = deltasFor(model, after)
        await graph.apply({ ...rowOf(deltas), entities: entitiesIn(deltas), documents: new Map() }, noPause)
        const wrong = [
          ...differences(loaded.view, loaded.model, greatest),
          ...differences(graph.pin(), model, greatest)
        ]
        if (wrong.length > 0) throw new Error(wrong.slice(0, 5).join('\n'))
      }
    ),
    { numRuns: 30, seed }
  )
  t.pass(`seed ${seed}`)
})

t.test('room that lists have given up is used again, and never under a view', async (t) => {
  const graph = new LineageGraph({ entityCount: 100, greatestId: 100 })
  const model = emptyModel()
  const change = async (deltas: readonly Change[]): Promise<void> => {
    for (const delta of deltas) note(model, delta)
    await graph.apply({ ...rowOf(deltas), entities: entitiesIn(deltas), documents: new Map() }, noPause)
  }
  await change(Array.from({ length: 100 }, (_, index) => ({ kind: 'created', id: index + 1 })))
  let bytesEarly = 0
  for (let round = 0; round < 160; round += 1) {
    // One node gains and loses dozens of edges, with and without an open view.
    const looked = round % 3 === 0 ? null : { view: graph.pin(), model: modelCopy(model) }
    await change(
      Array.from({ length: 40 }, (_, index) => ({
        kind: 'stated',
        upstreamId: 1,
        downstreamId: 2 + ((round + index) % 90)
      }))
    )
    const middle = { view: graph.pin(), model: modelCopy(model) }
    for (const { upstreamId, downstreamId } of Array.from({ length: 40 }, (_, index) => ({
      upstreamId: 1,
      downstreamId: 2 + ((round + index) % 90)
    })))
      await change([{ kind: 'unstated', upstreamId, downstreamId }])
    const wrong = [middle, ...(looked ? [looked] : [])].flatMap(({ view, model: was }) =>
      differences(view, was, 100)
    )
    if (wrong.length > 0) return t.fail(wrong.slice(0, 5).join('\n'))
    graph.unpin(middle.view)
    if (looked) graph.unpin(looked.view)
    if (round === 40) bytesEarly = graph.bytes
  }
  t.equal(graph.pinnedCount, 0)
  t.ok(
    graph.bytes <= bytesEarly,
    `${graph.bytes} bytes at the end, ${bytesEarly} after a quarter of the changes`
  )
})

t.test('a change that contradicts the graph is refused, and views pinned before do not change', async (t) => {
  const graph = new LineageGraph({ entityCount: 10, greatestId: 10 })
  const model = emptyModel()
  const deltas = deltasFor(
    model,
    Array.from({ length: 200 }, (_, index) => ({
      kind: 'stated',
      one: 1 + (index % 3),
      other: 1 + (index % 7),
      flags: 0
    }))
  )
  await graph.apply({ ...rowOf(deltas), entities: entitiesIn(deltas), documents: new Map() }, noPause)
  const view = graph.pin()
  await t.rejects(
    graph.apply(
      { deltas: [{ kind: 'unstated', upstreamId: 1, downstreamId: 99 }], entities: [], documents: new Map() },
      noPause
    ),
    /lacks/
  )
  await t.rejects(
    graph.apply(
      { deltas: [{ kind: 'unstated', upstreamId: 7, downstreamId: 7 }], entities: [], documents: new Map() },
      noPause
    ),
    /lacks/
  )
  await t.rejects(
    graph.apply(
      {
        deltas: [{ kind: 'entity', id: 99, isPresent: true, isRemoved: false, isDeleted: false }],
        entities: [],
        documents: new Map()
      },
      noPause
    ),
    /99/
  )
  t.strictSame(differences(view, model, greatest), [])
})

t.test('no two states have a version in common, of whichever graph', async (t) => {
  const versions: GraphVersion[] = []
  for (let count = 0; count < 3; count += 1) {
    const graph = new LineageGraph({ entityCount: 10, greatestId: 10 })
    for (let change = 0; change < 3; change += 1) {
      versions.push(graph.pin().version, graph.pin().version)
      await graph.apply(
        {
          deltas: [{ kind: 'created', id: change + 1 }],
          entities: [{ id: change + 1, urn: datasetOf(change + 1), parentId: 0 }],
          documents: new Map()
        },
        noPause
      )
    }
  }
  t.equal(new Set(versions).size, 9)
})

t.test(
  'an entity keeps its domain and flags however many combinations of them there are, and so does a view',
  async (t) => {
    const graph = new LineageGraph({ entityCount: 10, greatestId: 10 })
    const flagsOf = (id: number) => ({ isPresent: id % 2 === 0, isRemoved: id % 3 === 0, isDeleted: false })
    const views: GraphView[] = []
    // Types whose numbers take one byte, two, and four.
    const ends = [200, 300, 66_000, 70_000]
    for (const [step, end] of ends.entries()) {
      const ids = Array.from(
        { length: end - (ends[step - 1] ?? 0) },
        (_, index) => (ends[step - 1] ?? 0) + index + 1
      )
      await graph.apply(
        {
          deltas: ids.flatMap((id): GraphDelta[] => [
            { kind: 'entity', id, ...flagsOf(id) },
            { kind: 'domain', id, domainId: id }
          ]),
          entities: ids.map((id) => ({
            id,
            urn: toUrn(`urn:li:dataset:(urn:li:dataPlatform:p,d${id},PROD)`),
            parentId: 0
          })),
          documents: new Map()
        },
        noPause
      )
      views.push(graph.pin())
    }
    const wrongIn = ({ nodes, idsEnd }: GraphView): number =>
      Array.from({ length: idsEnd - 1 }, (_, index) => index + 1).filter(
        (id) =>
          domainIn(nodes, id) !== id ||
          isPresentIn(nodes, id) !== flagsOf(id).isPresent ||
          isRemovedIn(nodes, id) !== flagsOf(id).isRemoved
      ).length
    t.strictSame(
      views.map(({ idsEnd }) => idsEnd - 1),
      ends
    )
    t.strictSame(views.map(wrongIn), [0, 0, 0, 0])
  }
)

t.test('templates and kinds count as memory if there are as many as entities', (t) => {
  const [all, templates, kinds] = Array.from(
    { length: 3 },
    () => new LineageGraph({ entityCount: 10_000, greatestId: 10_000 })
  )
  if (!all || !templates || !kinds) throw new Error('three graphs')
  const flags = { isPresent: true, isRemoved: false, isDeleted: false }
  for (let id = 1; id <= 10_000; id += 1) {
    for (const graph of [all, kinds])
      graph.load({ id, urn: toUrn(`urn:li:mlFeature:(t,f${id})`), parentId: 0, ...flags })
    templates.load({ id, urn: toUrn(`urn:li:mlFeature:(t${id},f)`), parentId: 0, ...flags })
    kinds.loadDomain(id, id)
  }
  t.ok(templates.bytes - all.bytes > 7_500_000, 'a namespace of its own takes 880 bytes of the heap')
  t.ok(kinds.bytes - all.bytes > 1_200_000, 'a domain of its own takes 136')
  t.end()
})

t.test('URNs of all kinds lead to their ids and back', (t) => {
  const name = fc.oneof(
    fc.string({ minLength: 1, maxLength: 12 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    fc.string({ minLength: 200, maxLength: 400 }),
    fc.constantFrom('f(a,b)', 'a.b', '%2C%28', '((x))', 'ß', '数据', '💧', 'a', ',')
  )
  const part = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('hive', 'snowflake', 'airflow', 'looker') },
    { weight: 1, arbitrary: name }
  )
  const origin = fc.constantFrom('PROD', 'DEV', 'TEST')
  const assetText = fc.oneof(
    fc
      .tuple(part, name, origin)
      .map(([platform, own, env]) => `urn:li:dataset:(urn:li:dataPlatform:${platform},${own},${env})`),
    fc
      .tuple(part, name, origin)
      .map(([platform, own, env]) => `urn:li:mlModel:(urn:li:dataPlatform:${platform},${own},${env})`),
    fc
      .tuple(part, name, origin, name)
      .map(
        ([tool, flow, cluster, job]) => `urn:li:dataJob:(urn:li:dataFlow:(${tool},${flow},${cluster}),${job})`
      ),
    fc
      .tuple(fc.constantFrom('chart', 'dashboard', 'mlFeature', 'mlPrimaryKey', 'notebook'), part, name)
      .map(([kind, tool, own]) => `urn:li:${kind}:(${tool},${own})`),
    fc
      .tuple(part, name)
      .map(([platform, own]) => `urn:li:mlFeatureTable:(urn:li:dataPlatform:${platform},${own})`),
    fc
      .tuple(
        fc.constantFrom(
          'domain',
          'container',
          'dataProcessInstance',
          'dataPlatform',
          'glossaryTerm',
          'ourOwn'
        ),
        name
      )
      .map(([kind, own]) => `urn:li:${kind}:${own}`),
    fc.tuple(name, name).map(([one, other]) => `urn:li:ourOwn:(${one},${other})`)
  )
  const valid = (texts: readonly string[]): Urn[] => [
    ...new Set(
      texts.flatMap((text) => {
        try {
          return [toUrn(text)]
        } catch {
          return []
        }
      })
    )
  ]
  const assets = valid(fc.sample(assetText, { numRuns: 2_500, seed }))
  const paths = fc.sample(name, { numRuns: 2_500, seed: seed + 1 })
  // So many that some have the same 32-bit hash: usually a hundred pairs.
  const plain = Array.from({ length: 150_000 }, (_, index) => datasetOf(index * 7))
  const assetIds = [...assets, ...plain].map((urn, index) => ({
    urn,
    id: 1 + ((index * 7_919) % 200_003),
    parentId: 0
  }))
  const columnsOf = (owners: readonly { urn: Urn; id: number }[], begin: number) =>
    owners.flatMap(({ urn, id }, index) =>
      valid([`urn:li:schemaField:(${urn},${paths[index % paths.length] ?? 'c'})`])
        // The id of an entity may contain a comma; inside the tuple of a column, the comma ends the id.
        .filter((column) => schemaFieldParts(column).parentUrn === urn)
        .map((column) => ({ urn: column, id: begin + index, parentId: id }))
    )
  const columns = columnsOf(assetIds.slice(0, 10_000), 500_000)
  const deeper = columnsOf(columns.slice(0, 3_000), 700_000)
  const all = [...assetIds, ...columns, ...deeper]
  const table = new UrnTable(10, 10)
  for (const { id, urn, parentId } of all) table.add(id, urn, parentId)
  t.equal(new Set(all.map(({ id }) => id)).size, all.length)
  t.equal(table.count, all.length)
  t.ok(
    assets.length > 1_000 && deeper.length > 1_000,
    `${assets.length} assets, ${columns.length} columns, ${deeper.length} columns of columns`
  )
  const rootOf = new Map(all.map(({ id, urn, parentId }) => [id, { urn, parentId }]))
  const root = (id: number): Urn => {
    const found = rootOf.get(id)
    return found && found.parentId !== 0 ? root(found.parentId) : (found?.urn ?? toUrn('urn:li:domain:none'))
  }
  const wrong = all.filter(({ id, urn, parentId }, index) => {
    const template = table.templateOf(id)
    // All names of one template give the same result, so a few of those that differ only in a number are
    // enough.
    const isOdd = index < assets.length || parentId !== 0 || index % 50 === 0
    return (
      table.idOf(urn) !== id ||
      table.urnOf(id) !== urn ||
      table.parentOf(id) !== parentId ||
      table.isColumn(id) !== (parentId !== 0) ||
      (isOdd &&
        (template.entityType !== entityTypeOf(root(id)) ||
          template.platformUrn !== platformOf(urn) ||
          template.origin !== environmentOf(urn)))
    )
  })
  t.strictSame(wrong.slice(0, 3), [], `seed ${seed}`)
  const inAscii = all
    .filter(({ urn }) => isAscii(urn))
    .flatMap((each, index) => (index % 3 === 0 ? [each, each] : [each]))
  t.same(
    idsInBytes(
      table,
      inAscii.map(({ urn }) => urn)
    ),
    inAscii.map(({ id }) => id),
    'in ASCII a URN is found by its bytes'
  )
  const others = plain
    .slice(0, 5_000)
    .flatMap((urn) => [`${urn.slice(0, -2)}x)`, `x${urn.slice(1)}`, urn.slice(0, -1), `${urn})`])
    .filter((text) => table.idOf(text as Urn) === 0)
  t.same(
    idsInBytes(table, others).filter((id) => id !== 0),
    [],
    'and what is not here is not'
  )
  t.same(
    idsInBytes(
      table,
      others.flatMap((text, index) => [text, plain[index] ?? ''])
    ).filter((id) => id !== 0),
    plain.slice(0, others.length).map((urn) => table.idOf(urn)),
    'also where they take turns'
  )
  t.ok(others.length > 19_000)
  const absent = [
    ...plain.map((_, index) => datasetOf(index * 7 + 3)),
    ...columns.map(({ urn }) => toUrn(`${urn.slice(0, -1)}!)`))
  ].filter((urn) => table.idOf(urn) !== 0)
  const known = new Set(all.map(({ urn }) => urn))
  t.strictSame(
    absent.filter((urn) => !known.has(urn)),
    [],
    'what was not added is not found'
  )
  t.equal(table.urnOf(999_999), null)
  t.equal(table.has(0), false)
  t.end()
})

/** Consecutive equal texts have the same position, as a reader of edges gives them. */
function idsInBytes(table: UrnTable, texts: readonly string[]): number[] {
  const [begins, ends, ids] = [
    new Int32Array(texts.length + 1),
    new Int32Array(texts.length + 1),
    new Int32Array(texts.length + 1)
  ]
  const bytes = Buffer.from(`<${texts.join('><')}>`)
  let at = 1
  for (const [index, text] of texts.entries()) {
    const isAgain = index > 0 && texts[index - 1] === text
    begins[index + 1] = isAgain ? (begins[index] ?? 0) : at
    ends[index + 1] = isAgain ? (ends[index] ?? 0) : at + text.length
    at += text.length + 2
  }
  // In parts: the first text of one part may equal the last of the previous part, whose position is no longer
  // known.
  const found: number[] = []
  for (let from = 1; from <= texts.length; from += 997) {
    const to = Math.min(texts.length + 1, from + 997)
    table.idsOfBytes(viewOf(bytes), begins, ends, from, to, ids.fill(-7))
    found.push(...ids.subarray(from, to))
  }
  return found
}

t.test('texts of any length are kept as they are', (t) => {
  const pool = new BytesPool()
  const texts = [
    ...fc.sample(fc.string({ unit: 'grapheme', maxLength: 50 }), { numRuns: 3_000, seed }),
    'x'.repeat(65_535),
    'ü'.repeat(32_000),
    '',
    '数'.repeat(21_000),
    ...Array.from({ length: 100 }, (_, index) => 'y'.repeat(30_000 + index))
  ]
  const places = texts.map((text) => pool.add(text))
  t.ok(places.every((place, index) => pool.at(place) === texts[index]))
  t.throws(() => pool.add('ü'.repeat(40_000)))
  t.end()
})

t.test('columns are listed by asset, also those of columns', (t) => {
  const lists = new ColumnLists()
  const expected = new Map<number, number[]>()
  for (const [index, drawn] of fc.sample(fc.nat(50), { numRuns: 3_000, seed }).entries()) {
    const id = 5_000 - index
    const owner = drawn === 0 ? id + 1 : drawn
    lists.add(owner, id)
    expected.set(owner, [id, ...(expected.get(owner) ?? [])])
  }
  for (let id = 0; id <= 5_001; id += 1)
    if (JSON.stringify(lists.of(id)) !== JSON.stringify(expected.get(id) ?? [])) t.fail(`columns of ${id}`)
  t.end()
})

/** Computes the smallest degrees with sets, hop by hop; ids within a degree are ascending. */
function naiveWalk(lists: ReadonlyMap<number, readonly number[]>, starts: readonly number[]): string[] {
  const seen = new Set(starts)
  const found: string[] = []
  for (let frontier: number[] = [...starts], degree = 1; frontier.length > 0; degree += 1) {
    const next = ascending(
      new Set(frontier.flatMap((id) => lists.get(id) ?? []).filter((id) => !seen.has(id)))
    )
    for (const id of next) seen.add(id)
    found.push(...next.map((id) => `${degree} ${id}`))
    frontier = next
  }
  return found
}

t.test('changes between the slices of walks never show in their answers', async (t) => {
  const random = fc.sample(fc.nat(2 ** 30), { numRuns: 200_000, seed })
  let drawn = 0
  const below = (end: number): number => (random[drawn++ % random.length] ?? 0) % end
  const layer = 700
  const graph = new LineageGraph({ entityCount: 10, greatestId: 10 })
  const model = emptyModel()
  const change = async (deltas: Change[], pause: Pause): Promise<void> => {
    for (const delta of deltas) note(model, delta)
    await graph.apply({ ...rowOf(deltas), entities: entitiesIn(deltas), documents: new Map() }, pause)
  }
  // A start and four layers with more ids than one slice follows; most edges go to the next layer, some
  // anywhere.
  const last = 1 + layer * 4
  const anEdge = () => {
    if (below(6) === 0) return { upstreamId: 1, downstreamId: 2 + below(layer) }
    const place = below(last - 1)
    const inNext = ((Math.floor(place / layer) + 1) % 4) * layer + below(layer)
    return { upstreamId: 2 + place, downstreamId: 2 + (below(9) === 0 ? below(last - 1) : inNext) }
  }
  await change(
    Array.from({ length: last }, (_, index) => ({ kind: 'created', id: index + 1 })),
    noPause
  )
  await change(
    [
      ...Array.from({ length: layer }, (_, index): Change => ({
        kind: 'stated',
        upstreamId: 1,
        downstreamId: 2 + index
      })),
      ...Array.from({ length: layer * 6 }, (): Change => ({ kind: 'stated', ...anEdge() }))
    ],
    noPause
  )

  let slices = 0
  let reached = 0
  let isChanging = false
  const others: { view: GraphView; model: Model }[] = []
  // While a walk pauses, edges come and go: at random, and dozens of times at one node that the walk has not
  // followed yet.
  const busyPause: Pause = async () => {
    slices += 1
    await turnOfLoop()
    if (isChanging) return
    isChanging = true
    const churned = 2 + below(last - 1)
    for (let times = 0; times < 2; times += 1) {
      const stated = [...model.edges.keys()]
      const removed = new Set(Array.from({ length: 30 }, () => stated[below(stated.length)] ?? ''))
      await change(
        [
          ...[...removed].map((edge): Change => {
            const [upstreamId = 0, downstreamId = 0] = edge.split(' ').map(Number)
            return { kind: 'unstated', upstreamId, downstreamId }
          }),
          ...Array.from({ length: 30 }, (): Change => ({ kind: 'stated', ...anEdge() })),
          ...Array.from({ length: below(20) }, (): Change => ({
            kind: 'stated',
            upstreamId: churned,
            downstreamId: 2 + below(last - 1)
          }))
        ],
        turnOfLoop
      )
      if (below(3) === 0) others.push({ view: graph.pin(), model: modelCopy(model) })
      if (others.length > 2) for (const { view } of others.splice(below(others.length), 1)) graph.unpin(view)
    }
    isChanging = false
  }
  const walks = 9
  for (let walk = 0; walk < walks; walk += 1) {
    const direction = walk % 3 === 2 ? 'UPSTREAM' : 'DOWNSTREAM'
    const view = graph.pin()
    const lists = listsOf(model, direction)
    const starts = direction === 'DOWNSTREAM' ? [1] : [...lists.keys()].slice(-3)
    const adjacency: AdjacencyView = direction === 'DOWNSTREAM' ? view.downstream : view.upstream
    const question = {
      startIds: starts,
      hopsWanted: Infinity,
      bounds: { maxHops: 1_000, maxEntities: 1_000_000 }
    }
    const { ids, degrees } = await walkGraph(adjacency, view.idsEnd, question, busyPause)
    const found = [...ids].map((id, place) => `${degrees[place]} ${id}`)
    const expected = naiveWalk(lists, starts)
    if (JSON.stringify(found) !== JSON.stringify(expected))
      return t.fail(
        `walk ${walk} of seed ${seed}: ${found.length} results, not ${expected.length}; first ${found.find((each, place) => each !== expected[place])}`
      )
    reached += found.length
    for (const other of others) {
      const wrong = differences(other.view, other.model, last)
      if (wrong.length > 0) return t.fail(`seed ${seed}: ${wrong.slice(0, 3).join('\n')}`)
    }
    graph.unpin(view)
  }
  t.ok(slices > walks * 2 && reached > layer * walks, `${slices} slices, ${reached} reached`)
  t.strictSame(differences(graph.pin(), model, last), [], 'and the graph is what was said of it')
})

t.test('a walk is bounded by hops and by entities, and says so', async (t) => {
  const edge = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }))
  await fc.assert(
    fc.asyncProperty(
      fc.array(edge, { maxLength: 120, size: 'max' }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 40 }),
      async (edges, maxHops, maxEntities, start) => {
        const graph = new LineageGraph({ entityCount: 40, greatestId: 40 })
        for (let id = 1; id <= 40; id += 1)
          graph.load({
            id,
            urn: datasetOf(id),
            parentId: 0,
            isPresent: true,
            isRemoved: false,
            isDeleted: false
          })
        await graph.loadEdges(
          [Int32Array.from(edges, ([upstream]) => upstream)],
          [Int32Array.from(edges, ([, downstream]) => downstream)],
          noPause
        )
        const view = graph.pin()
        const all = naiveWalk(
          listsOf(
            { ...emptyModel(), edges: new Map(edges.map((each) => [each.join(' '), 1])) },
            'DOWNSTREAM'
          ),
          [start]
        )
        const inHops = all.filter((each) => Number(each.split(' ')[0]) <= maxHops)
        const { ids, degrees, cutBy } = await walkGraph(
          view.downstream,
          view.idsEnd,
          { startIds: [start, start, 0, 99], hopsWanted: Infinity, bounds: { maxHops, maxEntities } },
          noPause
        )
        const found = [...ids].map((id, place) => `${degrees[place]} ${id}`)
        const expected = {
          found: inHops.slice(0, maxEntities),
          cutBy: inHops.length > maxEntities ? 'maxEntities' : inHops.length < all.length ? 'maxHops' : null
        }
        if (JSON.stringify({ found, cutBy }) !== JSON.stringify(expected))
          throw new Error(JSON.stringify({ found, cutBy, expected }))
      }
    ),
    { numRuns: 300, seed }
  )
  t.pass(`seed ${seed}`)
})

t.test(
  'pieces of work take turns, one slice in a turn of the loop, and a deadline ends one at its turn',
  async (t) => {
    const turns = createTurns({ sliceMs: 0 })
    const order: string[] = []
    const work = async (name: string, pause: Pause): Promise<void> => {
      for (let slice = 0; slice < 4; slice += 1) {
        order.push(name)
        await pause()
      }
    }
    await Promise.all([work('a', turns.begin()), work('b', turns.begin())])
    t.equal(order.join(''), 'abababab')
    const late = turns.begin(() => {
      throw new Error('too late')
    })
    await t.rejects(async () => {
      await late()
    }, /too late/)
  }
)

t.test(
  'when many long pieces of work begin at once, few have a second slice before the loop turns',
  async (t) => {
    const sliceMs = 4
    const turns = createTurns({ sliceMs })
    const looks: number[] = Array.from({ length: 40 }, () => 0)
    const wentOn = new Promise<number>((resolve) => {
      setImmediate(() => {
        resolve(looks.filter((count) => count > 1).length)
      })
    })
    await Promise.all(
      looks.map(async (_, index) => {
        const pause = turns.begin()
        for (let look = 0; look < 10; look += 1) {
          looks[index] = look + 1
          for (const until = performance.now() + sliceMs / 8; performance.now() < until;);
          const turn = pause()
          if (turn) await turn
        }
      })
    )
    t.ok((await wentOn) <= 4)
  }
)
