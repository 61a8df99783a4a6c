/**
 * Lineage edges: stated by their ends, in whole aspects, by patches and by sources, and shown while they
 * exist.
 */
import t from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { readAspect } from '../shared/catalog/entities/read-aspects.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import type { Change, JsonObject } from '../shared/model/changes.ts'
import { edgePairs, lineageFieldByCode } from '../shared/model/lineage-fields.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import {
  addEdge,
  apply,
  asCall,
  chart,
  column,
  create,
  createDomain,
  dashboard,
  dataset,
  deleteAspect,
  domain,
  feature,
  job,
  model,
  outcomeOf,
  patch,
  primaryKey,
  record,
  refusalOf,
  removeEdge,
  segment,
  upsert,
  upstream,
  valueOf
} from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { changedTables, tableChecksums } from './support/table-checksums.ts'

const a = dataset('a')
const b = dataset('b')
const c = dataset('c')
const entities: { [entityType: string]: [Urn, Urn] } = {
  dataset: [a, b],
  dataJob: [job('a'), job('b')],
  chart: [chart('a'), chart('b')],
  dashboard: [dashboard('a'), dashboard('b')],
  mlPrimaryKey: [primaryKey('a'), primaryKey('b')],
  mlFeature: [feature('a'), feature('b')],
  mlModel: [model('a'), model('b')],
  mlModelGroup: [
    toUrn('urn:li:mlModelGroup:(urn:li:dataPlatform:mlflow,a,PROD)'),
    toUrn('urn:li:mlModelGroup:(urn:li:dataPlatform:mlflow,b,PROD)')
  ],
  mlModelDeployment: [
    toUrn('urn:li:mlModelDeployment:(urn:li:dataPlatform:sagemaker,a,PROD)'),
    toUrn('urn:li:mlModelDeployment:(urn:li:dataPlatform:sagemaker,b,PROD)')
  ],
  dataProcessInstance: [toUrn('urn:li:dataProcessInstance:a'), toUrn('urn:li:dataProcessInstance:b')]
}

const from =
  (source: string, ...changes: Change[]) =>
  (db: Db) =>
    applyCall(db, [record(0, ...changes)], asCall({ source }))
const countEdges = async (db: Db): Promise<number> =>
  (await query<{ n: number }>(db, 'select count(*)::int as n from statement'))[0]?.n ?? -1

t.test(
  'an edge that is stated by its ends is written to the aspect of its pair, once, and can be removed',
  async (t) => {
    const { db } = await withDatabase(t)
    await apply(db, ...create(...Object.values(entities).flat(), c))
    const pairs = [
      ...edgePairs
        .filter((pair) => pair.upstreamType !== 'schemaField')
        .map((pair) => ({
          up: entities[pair.upstreamType]?.[1],
          down: entities[pair.downstreamType]?.[0],
          code: pair.fieldCode,
          isUpstreamOwner: pair.owner === 'upstream'
        })),
      { up: column(b, 'x'), down: column(a, 'x'), code: 0x11, isUpstreamOwner: false },
      { up: column(b, 'x'), down: column(chart('a'), 'x'), code: 0x50, isUpstreamOwner: false }
    ]
    for (const { up, down, code, isUpstreamOwner } of pairs) {
      if (!up || !down) throw new Error(`no entities for ${code}`)
      const { aspectName, listName } = lineageFieldByCode(code)
      await t.test(`${up} is upstream of ${down}`, async (t) => {
        const owner = code === 0x11 ? a : code === 0x50 ? chart('a') : isUpstreamOwner ? up : down
        const list = async () => ((await valueOf(db, owner, aspectName)) as JsonObject | null)?.[listName]
        const before = await countEdges(db)
        t.equal(await outcomeOf(db, addEdge(up, down)), 'applied')
        t.equal(await outcomeOf(db, addEdge(up, down)), 'unchanged')
        t.equal(((await list()) as JsonObject[]).length, 1)
        t.equal(await countEdges(db), before + 1)
        t.equal(await outcomeOf(db, removeEdge(up, down)), 'applied')
        t.equal(await outcomeOf(db, removeEdge(up, down)), 'unchanged')
        t.equal(await countEdges(db), before)
        t.same((await list()) ?? [], [])
        t.not(await valueOf(db, owner, aspectName), null, 'an aspect emptied of its edges is still there')
      })
    }
    t.same(await valueOf(db, a, 'upstreamLineage'), { upstreams: [] })
    t.equal(await valueOf(db, c, 'upstreamLineage'), null, 'one that was never written is not')
    const before = await tableChecksums(db)
    t.equal(
      (await refusalOf(apply(db, addEdge(a, c), addEdge(dashboard('a'), a)))).code,
      'BAD_REQUEST',
      'other pairs have no edges'
    )
    t.same(changedTables(before, await tableChecksums(db)), [])
  }
)

t.test('an edge that the aspect says more about is not repeated when it is added by its ends', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b, c, job('a')))
  const written = { upstreams: [upstream(b, { type: 'COPY' }), upstream(c)] }
  await from('proposal', upsert(a, 'upstreamLineage', written))(db)
  t.equal(await outcomeOf(db, addEdge(b, a)), 'unchanged')
  t.same(await valueOf(db, a, 'upstreamLineage'), written)
  await apply(db, upsert(job('a'), 'dataJobInputOutput', { inputDatasets: [a], outputDatasets: [b] }))
  t.equal(await outcomeOf(db, addEdge(a, job('a')), addEdge(job('a'), b)), 'unchanged')
  t.same(await valueOf(db, job('a'), 'dataJobInputOutput'), { inputDatasets: [a], outputDatasets: [b] })
  t.equal(await outcomeOf(db, addEdge(c, job('a'))), 'applied')
  t.same(await valueOf(db, job('a'), 'dataJobInputOutput'), {
    inputDatasets: [a],
    outputDatasets: [b],
    inputDatasetEdges: [{ destinationUrn: c }]
  })
  t.equal(
    await outcomeOf(db, upsert(job('a'), 'dataJobInputOutput', { inputDatasets: [a], outputDatasets: [b] })),
    'applied'
  )
  t.equal(await outcomeOf(db, removeEdge(a, job('a'))), 'applied', 'a removal takes it out of every list')
  t.same(await valueOf(db, job('a'), 'dataJobInputOutput'), { inputDatasets: [], outputDatasets: [b] })
})

t.test('sources', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b, c))
  const list = async () =>
    ((await valueOf(db, a, 'upstreamLineage')) as { upstreams: { dataset: string }[] }).upstreams
      .map((entry) => entry.dataset)
      .sort()
  const replace = (source: string | undefined, ...ups: Urn[]): Change => ({
    kind: 'replaceEdges',
    ownerUrn: a,
    aspectName: 'upstreamLineage',
    ...(source ? { source } : {}),
    edges: ups.map((upstreamUrn) => ({ upstreamUrn, downstreamUrn: a }))
  })

  await t.test('a removal removes an edge whatever sources state it', async (t) => {
    for (const source of ['one', 'two', 'manual']) await from(source, addEdge(b, a), addEdge(c, a))(db)
    t.equal(await countEdges(db), 6)
    await apply(db, removeEdge(b, a))
    t.equal(await countEdges(db), 3)
    t.same(await list(), [c])
  })
  await t.test(
    'an edge lives while any source states it, and a replacement by source leaves the others alone',
    async (t) => {
      t.same(await from('one', replace('one', b))(db), [{ line: 0, outcome: 'applied' }])
      t.same(await list(), [b, c])
      await from('somebody else', replace('two', b))(db)
      t.same(await list(), [b, c], 'two states b, manual still states c')
      await from('one', replace('one'))(db)
      t.same(await list(), [b, c])
      await from('two', replace('two'))(db)
      t.same(await list(), [c])
      t.same(await from('two', replace('two'))(db), [{ line: 0, outcome: 'unchanged' }])
    }
  )
  await t.test("an UPSERT, and a replacement that names no source, replace everybody's", async (t) => {
    await from('one', addEdge(b, a))(db)
    await from('two', upsert(a, 'upstreamLineage', { upstreams: [upstream(b)] }))(db)
    t.same(await list(), [b])
    t.equal(await countEdges(db), 1)
    await from('one', addEdge(c, a))(db)
    await from('three', replace(undefined, c))(db)
    t.same(await list(), [c])
    t.equal(await countEdges(db), 1)
  })
  await t.test('an edge of another owner or aspect is refused', async (t) => {
    t.equal(
      (
        await refusalOf(
          from('one', {
            kind: 'replaceEdges',
            ownerUrn: a,
            aspectName: 'upstreamLineage',
            source: 'one',
            edges: [{ upstreamUrn: a, downstreamUrn: b }]
          })(db)
        )
      ).code,
      'BAD_REQUEST'
    )
  })
})

t.test('patches of a list name its entries by their URN', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b, c, dataset('d/1'), job('a'), chart('a')))
  const at = (urn: Urn, rest = '') => `/upstreams/${segment(urn)}${rest}`
  const now = () => valueOf(db, a, 'upstreamLineage')
  const change = (...operations: Parameters<typeof patch>[2][]) =>
    outcomeOf(db, patch(a, 'upstreamLineage', ...operations))

  t.equal(
    await change({
      op: 'add',
      path: at(b),
      value: { auditStamp: { time: 0, actor: 'urn:li:corpuser:unknown' }, dataset: b, type: 'COPY' }
    }),
    'applied',
    'what the SDK sends'
  )
  t.same(await now(), { upstreams: [upstream(b, { type: 'COPY' })] })
  await change({ op: 'add', path: at(dataset('d/1')), value: { type: 'VIEW' } })
  t.same(
    await now(),
    { upstreams: [upstream(b, { type: 'COPY' }), upstream(dataset('d/1'), { type: 'VIEW' })] },
    'a slash in a URN is escaped; the key says the dataset; defaults are written out'
  )
  const version = (await readAspect(db, a, 'upstreamLineage'))?.version
  t.equal(await change({ op: 'remove', path: at(c) }), 'unchanged', 'removing an absent value does nothing')
  t.equal((await readAspect(db, a, 'upstreamLineage'))?.version, version)
  await change({ op: 'remove', path: at(dataset('d/1')) })

  await apply(
    db,
    upsert(a, 'upstreamLineage', { upstreams: [upstream(c), upstream(b), upstream(dataset('d/1'))] })
  )
  await change({ op: 'replace', path: at(b), value: { dataset: b, type: 'VIEW' } })
  t.same(
    await now(),
    { upstreams: [upstream(c), upstream(b, { type: 'VIEW' }), upstream(dataset('d/1'))] },
    'an entry keeps its place'
  )
  await change(
    { op: 'replace', path: at(c, '/type'), value: 'COPY' },
    { op: 'add', path: at(c, '/properties/k'), value: 'v' }
  )
  t.same(
    await now(),
    {
      upstreams: [
        upstream(c, { type: 'COPY', properties: { k: 'v' } }),
        upstream(b, { type: 'VIEW' }),
        upstream(dataset('d/1'))
      ]
    },
    'a deeper path changes what the entry says'
  )
  await change({ op: 'remove', path: at(c, '/properties') })
  t.same(await now(), {
    upstreams: [upstream(c, { type: 'COPY' }), upstream(b, { type: 'VIEW' }), upstream(dataset('d/1'))]
  })
  await apply(db, addEdge(c, a))
  await apply(db, removeEdge(c, a), addEdge(c, a))
  t.same(
    await now(),
    { upstreams: [upstream(b, { type: 'VIEW' }), upstream(dataset('d/1')), upstream(c)] },
    'what was patched goes with the edge'
  )
  await change({ op: 'add', path: '/upstreams', value: [{ dataset: a, type: 'COPY' }] })
  t.same(
    await now(),
    { upstreams: [upstream(a, { type: 'COPY' })] },
    'a whole list is replaced, its defaults written out'
  )
  await change({ op: 'add', path: '/upstreams/-', value: { dataset: b, type: 'COPY' } })
  t.same(await now(), { upstreams: [upstream(a, { type: 'COPY' }), upstream(b, { type: 'COPY' })] })
  await change({ op: 'remove', path: '/upstreams' })
  t.same(await now(), { upstreams: [] })
  t.equal(await countEdges(db), 0)

  const refused: Parameters<typeof patch>[2][] = [
    { op: 'add', path: at(b), value: {} },
    { op: 'add', path: at(b), value: { type: 'WRONG' } },
    { op: 'add', path: '/upstreams/no-urn', value: { type: 'COPY' } },
    { op: 'add', path: at(job('a')), value: { type: 'COPY' } },
    { op: 'test', path: at(b), value: {} },
    { op: 'copy', path: '/x', from: '/upstreams' },
    { op: 'replace', path: '', value: { upstreams: [] } },
    { op: 'add', path: '/upstreams', value: 'x' },
    { op: 'add', path: '/upstreams', value: [{}] }
  ]
  await apply(db, addEdge(b, a))
  const before = await tableChecksums(db)
  for (const operation of refused)
    t.match(
      await refusalOf(apply(db, patch(a, 'upstreamLineage', operation))),
      { name: 'CatalogError' },
      `${operation.op} ${operation.path}`
    )
  t.equal(
    (await refusalOf(change({ op: 'add', path: at(b, '/type'), value: 'WRONG' }))).code,
    'VALIDATION_FAILED'
  )
  t.same(
    changedTables(before, await tableChecksums(db)),
    [],
    'what a list cannot hold is refused and changes nothing'
  )

  await apply(
    db,
    patch(
      job('a'),
      'dataJobInputOutput',
      { op: 'add', path: `/inputDatasetEdges/${segment(a)}`, value: { destinationUrn: a } },
      { op: 'add', path: `/outputDatasets/${segment(b)}`, value: b }
    )
  )
  t.same(await valueOf(db, job('a'), 'dataJobInputOutput'), {
    inputDatasets: [],
    outputDatasets: [b],
    inputDatasetEdges: [{ destinationUrn: a }]
  })
  await apply(db, upsert(chart('a'), 'chartInfo', { title: 'T', description: '' }))
  await apply(db, patch(chart('a'), 'chartInfo', { op: 'add', path: '/title', value: 'U' }))
  t.match(
    await valueOf(db, chart('a'), 'chartInfo'),
    { title: 'U' },
    'what is no edge is patched as in any aspect'
  )
  t.equal(
    (await refusalOf(apply(db, patch(chart('a'), 'chartInfo', { op: 'add', path: '/title', value: 5 }))))
      .code,
    'VALIDATION_FAILED'
  )
})

t.test('patches of column records name operation, downstream, query and upstream', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b, c))
  const [x, y, z] = [column(a, 'x'), column(a, 'y'), column(a, 'z')]
  const [p, q] = [column(b, 'p'), column(b, 'q')]
  const at = (down: Urn, up?: Urn, operation = 'NONE', by = 'NONE') =>
    `/fineGrainedLineages/${operation}/${segment(down)}${up ? `/${segment(by)}/${segment(up)}` : ''}`
  const pair = (upstreams: Urn[], downstreams: Urn[], more: JsonObject = {}): JsonObject => ({
    upstreamType: 'FIELD_SET',
    upstreams,
    downstreamType: 'FIELD',
    downstreams,
    confidenceScore: 1,
    ...more
  })
  const now = async () => ((await valueOf(db, a, 'upstreamLineage')) as JsonObject).fineGrainedLineages
  const change = (...operations: Parameters<typeof patch>[2][]) =>
    outcomeOf(db, patch(a, 'upstreamLineage', ...operations))
  const write = (...records: JsonObject[]) =>
    apply(db, upsert(a, 'upstreamLineage', { upstreams: [], fineGrainedLineages: records }))

  await change(
    { op: 'add', path: at(x, p), value: { confidenceScore: 1 } },
    { op: 'add', path: at(x, q), value: { confidenceScore: 0.5 } },
    { op: 'add', path: at(y, p, 'SUM', 'urn:li:query:q'), value: {} }
  )
  t.same(
    await now(),
    [
      pair([p, q], [x], { confidenceScore: 0.5, transformOperation: 'NONE' }),
      pair([p], [y], { transformOperation: 'SUM', query: 'urn:li:query:q' })
    ],
    'one record an operation, downstream and query, with the least score'
  )
  await change({ op: 'remove', path: at(x, q) })
  t.same(((await now()) as JsonObject[])[0], pair([p], [x], { transformOperation: 'NONE' }))
  await change({ op: 'remove', path: at(x, p) })
  t.equal(((await now()) as JsonObject[]).length, 1, 'a record left without upstreams vanishes')

  const many = pair([p, q], [x, y], { downstreamType: 'FIELD_SET' })
  const none = pair([], [z], { upstreamType: 'NONE' })
  await write(many, pair([p], [z]), none)
  await change(
    { op: 'add', path: at(z, q), value: { confidenceScore: 0.9 } },
    { op: 'add', path: at(x, q, 'MAX'), value: {} }
  )
  t.same(
    await now(),
    [
      many,
      pair([p, q], [z], { confidenceScore: 0.9, transformOperation: 'NONE' }),
      none,
      pair([q], [x], { transformOperation: 'MAX' })
    ],
    'records with no or several downstreams are kept as they are'
  )
  await apply(db, addEdge(p, x))
  t.equal(
    ((await now()) as JsonObject[]).length,
    4,
    'a pair that a record has is not repeated when it is added by its ends'
  )
  await apply(db, removeEdge(p, x))
  t.same(
    ((await now()) as JsonObject[]).slice(0, 2),
    [pair([q], [x], { downstreamType: 'FIELD_SET' }), pair([p, q], [y], { downstreamType: 'FIELD_SET' })],
    'one that lost a pair is shown as what is left of it'
  )
  await change({ op: 'remove', path: at(y) })
  t.notOk(
    ((await now()) as JsonObject[]).some((each) => (each.downstreams as Urn[]).includes(y)),
    'a shorter path removes all that leads into a column'
  )

  await write(pair([p], [x]), pair([b], [y], { upstreamType: 'DATASET' }))
  await change(
    { op: 'add', path: at(z, b), value: {} },
    { op: 'add', path: at(y, c), value: { confidenceScore: 0.5 } }
  )
  t.same(
    await now(),
    [
      pair([p], [x]),
      pair([b, c], [y], { upstreamType: 'DATASET', transformOperation: 'NONE', confidenceScore: 0.5 }),
      pair([b], [z], { upstreamType: 'DATASET', transformOperation: 'NONE' })
    ],
    'a whole dataset may be the source of a column'
  )
  await change({ op: 'remove', path: at(y, b) }, { op: 'remove', path: at(y, c) })
  await apply(db, addEdge(q, z))
  await change({ op: 'remove', path: at(z, b) })
  t.same(await now(), [pair([p], [x]), pair([q], [z])], 'and is taken away by its key')
  t.equal(
    (await refusalOf(change({ op: 'add', path: `${at(x, p)}/confidenceScore`, value: 1 }))).code,
    'BAD_REQUEST'
  )
  t.equal(
    (await refusalOf(change({ op: 'add', path: at(x, p), value: { confidenceScore: 2 } }))).code,
    'VALIDATION_FAILED'
  )
})

t.test(
  'when two sources give an edge attributes, the last ones given are shown, even if they had been given before',
  async (t) => {
    const { db } = await withDatabase(t)
    await apply(db, ...create(a, b))
    const said = (source: string, type: string) =>
      from(
        source,
        patch(a, 'upstreamLineage', {
          op: 'add',
          path: `/upstreams/${segment(b)}`,
          value: upstream(b, { type })
        })
      )(db)
    for (const [source, type] of [
      ['one', 'COPY'],
      ['two', 'VIEW'],
      ['one', 'COPY']
    ] as const)
      t.same(
        (await said(source, type)).map(({ outcome }) => outcome),
        ['applied'],
        `${source} says ${type}`
      )
    t.same(await valueOf(db, a, 'upstreamLineage'), { upstreams: [upstream(b, { type: 'COPY' })] })
    t.same(
      (await said('one', 'COPY')).map(({ outcome }) => outcome),
      ['unchanged']
    )
  }
)

t.test(
  'an entry that is patched under its own key is shown instead of the list that replaced it, even if it says what it said before',
  async (t) => {
    const { db } = await withDatabase(t)
    const [owner, other] = [dashboard('a'), chart('b')]
    await apply(db, ...create(owner, other))
    const entry = patch(owner, 'dashboardInfo', {
      op: 'add',
      path: `/charts/${segment(other)}`,
      value: other
    })
    await apply(db, entry)
    await applyCall(
      db,
      [
        record(1, patch(owner, 'dashboardInfo', { op: 'add', path: '/charts', value: [other, other] })),
        record(2, entry)
      ],
      asCall()
    )
    t.same(((await valueOf(db, owner, 'dashboardInfo')) as { charts?: unknown } | null)?.charts, [other])
  }
)

t.test('a deleted aspect takes its edges with it', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b), addEdge(b, a), createDomain(domain('d'), 'D'))
  t.equal(await outcomeOf(db, deleteAspect(a, 'upstreamLineage')), 'applied')
  t.equal(await valueOf(db, a, 'upstreamLineage'), null)
  t.equal(await countEdges(db), 0)
  await apply(db, addEdge(b, a))
  t.same(await valueOf(db, a, 'upstreamLineage'), { upstreams: [upstream(b)] })
  t.equal((await refusalOf(apply(db, deleteAspect(domain('d'), 'domainProperties')))).code, 'BAD_REQUEST')
})
