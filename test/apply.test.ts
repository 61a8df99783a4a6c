/** The one write path: aspects are written, patched and read back, and a refused change changes nothing. */
import t from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { readAspect } from '../shared/catalog/entities/read-aspects.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import {
  apply,
  applyAsChunk,
  asCall,
  chart,
  column,
  create,
  dashboard,
  dataset,
  deleteAspect,
  endLoad,
  feature,
  job,
  model,
  openLoad,
  outcomeOf,
  patch,
  primaryKey,
  record,
  refusalOf,
  upsert,
  upstream,
  valueOf
} from './support/changes.ts'
import { withDatabase } from './support/database.ts'

const a = dataset('a')
const b = dataset('b')
const c = dataset('c')

t.test('JSON aspects', async (t) => {
  const { db } = await withDatabase(t)
  const write = (more: JsonObject) => upsert(a, 'datasetProperties', { name: 'A', ...more })
  const versionNow = async (urn: Urn = a) => (await readAspect(db, urn, 'datasetProperties'))?.version ?? null

  t.equal(await outcomeOf(db, write({})), 'applied')
  t.same(
    await valueOf(db, a, 'datasetProperties'),
    { name: 'A', customProperties: {}, tags: [] },
    'an UPSERT creates the aspect, its defaults written out'
  )
  t.same(
    await valueOf(db, a, 'datasetKey'),
    { platform: 'urn:li:dataPlatform:hive', name: 'a', origin: 'PROD' },
    'the entity exists, and its key is read off its URN'
  )
  t.equal(await versionNow(), 1)

  t.equal(await outcomeOf(db, write({})), 'unchanged')
  t.equal(await versionNow(), 1, 'the same value is no new version')

  await apply(db, write({ description: 'two' }))
  await apply(db, patch(a, 'datasetProperties', { op: 'add', path: '/customProperties/k', value: 'three' }))
  t.same(await valueOf(db, a, 'datasetProperties'), {
    name: 'A',
    customProperties: { k: 'three' },
    tags: [],
    description: 'two'
  })
  t.equal(await versionNow(), 3)
  t.same(
    (await readAspect(db, a, 'datasetProperties', 1))?.value,
    { name: 'A', customProperties: {}, tags: [] },
    'older versions can be read'
  )
  t.same((await readAspect(db, a, 'datasetProperties', 2))?.value.description, 'two')
  t.same((await readAspect(db, a, 'datasetProperties', 3))?.value.customProperties, { k: 'three' })
  t.equal(await readAspect(db, a, 'datasetProperties', 4), null)

  t.equal(
    await outcomeOf(db, patch(a, 'datasetProperties', { op: 'remove', path: '/customProperties/absent' })),
    'unchanged'
  )
  t.equal(await outcomeOf(db, deleteAspect(a, 'datasetProperties')), 'applied')
  t.equal(await valueOf(db, a, 'datasetProperties'), null, 'a deleted aspect is not there')
  t.equal(await outcomeOf(db, deleteAspect(a, 'datasetProperties')), 'unchanged')
  await apply(db, write({}))
  t.equal(await versionNow(), 5, 'and goes on counting when it is written again')

  t.test('an aspect we do not model is kept as sent', async (t) => {
    await apply(db, upsert(a, 'somethingElse', { z: [1, { y: null }], a: 'ü' }))
    t.same(await valueOf(db, a, 'somethingElse'), { z: [1, { y: null }], a: 'ü' })
  })

  t.test('an event that is sent again is unchanged, and one that says otherwise replaces it', async (t) => {
    const event = (rowCount: number, more: JsonObject = {}) =>
      upsert(a, 'datasetProfile', { timestampMillis: 1_700_000_000_000, rowCount, ...more })
    const rowCount = async () => ((await valueOf(db, a, 'datasetProfile')) as JsonObject).rowCount
    t.equal(await outcomeOf(db, event(1)), 'applied')
    t.equal(await outcomeOf(db, event(1)), 'unchanged')
    t.equal(await outcomeOf(db, event(2)), 'applied')
    t.equal(await rowCount(), 2)
    t.equal(await outcomeOf(db, event(1, { messageId: 'other' })), 'applied', 'another of the same time')
    const load = await openLoad(db)
    t.equal(await outcomeOf(db, event(3)), 'applied')
    t.same(
      (
        await applyAsChunk(db, load, [
          record(1, event(4)),
          record(2, event(5, { messageId: 'late' })),
          record(3, event(5, { messageId: 'late' }))
        ])
      ).map((verdict) => verdict.outcome),
      ['unchanged', 'applied', 'unchanged'],
      'something newer has replaced the first, and the third repeats the second'
    )
    await endLoad(db, load)
  })

  t.test(
    'CREATE succeeds only if the aspect is absent, and CREATE_ENTITY only if the entity is absent',
    async (t) => {
      t.equal(
        (await refusalOf(apply(db, upsert(a, 'datasetProperties', {}, 'CREATE')))).code,
        'VALIDATION_FAILED'
      )
      t.equal(
        (await refusalOf(apply(db, upsert(a, 'datasetKey', {}, 'CREATE_ENTITY')))).code,
        'VALIDATION_FAILED'
      )
      t.equal(
        await outcomeOf(
          db,
          upsert(b, 'datasetKey', {}, 'CREATE_ENTITY'),
          upsert(b, 'datasetProperties', {}, 'CREATE')
        ),
        'applied'
      )
      t.equal(await versionNow(b), 1)
      t.equal(await outcomeOf(db, upsert(b, 'datasetProperties', { name: 'B' }, 'UPDATE')), 'applied')
      t.equal(await versionNow(b), 2)
    }
  )

  t.test('a write with If-Version-Match succeeds only for the version that was read', async (t) => {
    const at = (version: number) =>
      apply(
        db,
        upsert(b, 'datasetProperties', { name: `after ${version}` }, 'UPSERT', { ifVersionMatch: version })
      )
    t.equal((await refusalOf(at(1))).code, 'PRECONDITION_FAILED')
    await at(2)
    t.equal((await refusalOf(at(2))).code, 'PRECONDITION_FAILED')
    const onAbsent = (version: number) =>
      apply(db, upsert(b, 'status', { removed: false }, 'UPSERT', { ifVersionMatch: version }))
    t.equal((await refusalOf(onAbsent(1))).code, 'PRECONDITION_FAILED')
    await onAbsent(-1)
  })

  t.test(
    'when several writers write with the version they read, one wins each round and no write is lost',
    async (t) => {
      const urn = dataset('contested')
      await apply(db, upsert(urn, 'datasetProperties', {}))
      const writer = async (name: string): Promise<void> => {
        for (;;) {
          const read = await readAspect(db, urn, 'datasetProperties')
          const before = read?.value.customProperties as JsonObject
          const value = { customProperties: { ...before, [name]: 'x' } }
          const refused = await apply(
            db,
            upsert(urn, 'datasetProperties', value, 'UPSERT', { ifVersionMatch: read?.version ?? -1 })
          ).then(
            () => null,
            (error: Error) => error
          )
          if (refused === null) return
          t.match(refused, { code: 'PRECONDITION_FAILED' })
        }
      }
      const names = Array.from({ length: 8 }, (_, index) => `w${index}`)
      await Promise.all(names.map(writer))
      t.same(
        Object.keys(
          (await readAspect(db, urn, 'datasetProperties'))?.value.customProperties as JsonObject
        ).sort(),
        names
      )
    }
  )

  t.test('a patch leaves a whole aspect, with defaults, or is refused', async (t) => {
    const urn = dataset('patched')
    await apply(
      db,
      ...create(urn),
      patch(
        urn,
        'schemaMetadata',
        { op: 'add', path: '/schemaName', value: 's' },
        { op: 'add', path: '/platform', value: 'urn:li:dataPlatform:hive' },
        { op: 'add', path: '/version', value: 0 },
        { op: 'add', path: '/hash', value: '' },
        {
          op: 'add',
          path: '/platformSchema',
          value: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } }
        },
        {
          op: 'add',
          path: '/fields',
          value: [
            { fieldPath: 'x', type: { type: { 'com.linkedin.schema.StringType': {} } }, nativeDataType: 's' }
          ]
        }
      )
    )
    const value = (await valueOf(db, urn, 'schemaMetadata')) as { fields: JsonObject[] }
    t.equal(value.fields[0]?.nullable, false, 'defaults of what the patch added are written out')
    t.equal(
      (await refusalOf(apply(db, patch(urn, 'schemaMetadata', { op: 'remove', path: '/platform' })))).code,
      'VALIDATION_FAILED'
    )
    await apply(db, patch(urn, 'schemaMetadata', { op: 'remove', path: '/fields' }))
    t.strictSame(
      ((await valueOf(db, urn, 'schemaMetadata')) as JsonObject).fields,
      [],
      'a list that must be there is left empty'
    )
  })

  t.test('a limited number of versions is kept', async (t) => {
    const urn = dataset('often')
    for (let n = 1; n <= 30; n += 1) await apply(db, upsert(urn, 'datasetProperties', { name: `${n}` }))
    t.equal((await readAspect(db, urn, 'datasetProperties', 30))?.value.name, '30')
    t.equal((await readAspect(db, urn, 'datasetProperties', 11))?.value.name, '11')
    t.equal(await readAspect(db, urn, 'datasetProperties', 10), null)
  })
})

const stamped: JsonObject = {
  created: { time: 5, actor: 'urn:li:corpuser:x' },
  lastModified: { time: 6, actor: 'urn:li:corpuser:y' }
}
const record1 = (upstreams: Urn[] | null, downstreams: Urn[] | null, more: JsonObject = {}): JsonObject => ({
  upstreamType: 'FIELD_SET',
  downstreamType: 'FIELD',
  confidenceScore: 1,
  ...(upstreams ? { upstreams } : {}),
  ...(downstreams ? { downstreams } : {}),
  ...more
})

const j = job('j')
const look = chart('look')
const board = dashboard('board')
const group = toUrn('urn:li:mlModelGroup:(urn:li:dataPlatform:mlflow,g,PROD)')
const documents: { urn: Urn; aspectName: string; value: JsonObject; name: string }[] = [
  { name: 'nothing', urn: a, aspectName: 'upstreamLineage', value: { upstreams: [] } },
  {
    name: 'an upstream twice, each with its own words',
    urn: a,
    aspectName: 'upstreamLineage',
    value: {
      upstreams: [
        upstream(b),
        upstream(c, { type: 'COPY', properties: { x: 'y' } }),
        upstream(b, { type: 'VIEW' }),
        upstream(b)
      ]
    }
  },
  {
    name: 'empty column records',
    urn: a,
    aspectName: 'upstreamLineage',
    value: { upstreams: [upstream(b)], fineGrainedLineages: [] }
  },
  {
    name: 'column records with no, one and several ends',
    urn: a,
    aspectName: 'upstreamLineage',
    value: {
      upstreams: [
        upstream(b, { auditStamp: { time: 7, actor: 'urn:li:corpuser:z' }, query: 'urn:li:query:q' })
      ],
      fineGrainedLineages: [
        record1([], [column(a, 'x')], { upstreamType: 'NONE' }),
        record1(null, null),
        record1([column(b, 'x')], [column(a, 'x')]),
        record1([column(b, 'x')], [column(a, 'x')], { transformOperation: 'AGAIN', confidenceScore: 0.5 }),
        record1([column(b, 'x'), column(b, 'sum(y)')], [column(a, 'x'), column(a, 'y')], {
          downstreamType: 'FIELD_SET',
          query: 'urn:li:query:q'
        }),
        record1([b], [column(a, 'z')], { upstreamType: 'DATASET' }),
        record1([b, column(c, 'v')], [column(a, 'z')], { upstreamType: 'DATASET' })
      ],
      anUnknownField: { kept: [true] }
    }
  },
  {
    name: 'all lists',
    urn: j,
    aspectName: 'dataJobInputOutput',
    value: {
      inputDatasets: [a, b, a],
      outputDatasets: [c],
      inputDatasetEdges: [
        { destinationUrn: b, ...stamped, properties: { p: 'q' } },
        { destinationUrn: a, sourceUrn: j }
      ],
      outputDatasetEdges: [{ destinationUrn: c }, { destinationUrn: b }],
      inputDatajobs: [job('before')],
      inputDatajobEdges: [{ destinationUrn: job('before') }],
      inputDatasetFields: [column(a, 'x')],
      outputDatasetFields: [column(c, 'x')],
      fineGrainedLineages: [record1([column(a, 'x')], [column(c, 'x')])]
    }
  },
  {
    name: 'required lists only',
    urn: j,
    aspectName: 'dataJobInputOutput',
    value: { inputDatasets: [], outputDatasets: [b] }
  },
  {
    name: 'inputs as a union',
    urn: look,
    aspectName: 'chartInfo',
    value: {
      customProperties: {},
      title: 'T',
      description: '',
      lastModified: { ...stamped },
      inputs: [{ string: b }, { string: a }],
      inputEdges: [{ destinationUrn: chart('other'), ...stamped }]
    }
  },
  {
    name: 'absent and empty inputs',
    urn: look,
    aspectName: 'chartInfo',
    value: {
      customProperties: { k: 'v' },
      title: 'T',
      description: 'd',
      lastModified: { ...stamped },
      inputs: []
    }
  },
  {
    name: 'all lists of a dashboard',
    urn: board,
    aspectName: 'dashboardInfo',
    value: {
      customProperties: {},
      title: 'B',
      description: '',
      lastModified: { ...stamped },
      charts: [look, chart('other')],
      chartEdges: [{ destinationUrn: look }],
      datasets: [a],
      datasetEdges: [{ destinationUrn: b, properties: {} }],
      dashboards: [{ destinationUrn: dashboard('inner'), ...stamped }]
    }
  },
  {
    name: 'input fields with their schema fields',
    urn: look,
    aspectName: 'inputFields',
    value: {
      fields: [
        {
          schemaFieldUrn: column(a, 'x'),
          schemaField: {
            fieldPath: 'x (1)',
            nullable: false,
            recursive: false,
            isPartOfKey: false,
            nativeDataType: 's',
            type: { type: { 'com.linkedin.schema.StringType': {} } }
          }
        },
        { schemaFieldUrn: column(a, 'x') },
        { schemaFieldUrn: column(b, 'y') }
      ]
    }
  },
  {
    name: 'sources of a primary key',
    urn: primaryKey('k'),
    aspectName: 'mlPrimaryKeyProperties',
    value: { sources: [b, a, b], description: 'key' }
  },
  {
    name: 'sources of a feature',
    urn: feature('f'),
    aspectName: 'mlFeatureProperties',
    value: { dataType: 'COUNT', sources: [a] }
  },
  {
    name: 'a feature without sources',
    urn: feature('f'),
    aspectName: 'mlFeatureProperties',
    value: { dataType: 'COUNT' }
  },
  {
    name: 'a model',
    urn: model('m'),
    aspectName: 'mlModelProperties',
    value: { mlFeatures: [feature('f')], groups: [group], trainingJobs: [j], downstreamJobs: [job('before')] }
  }
]

t.test('an aspect that states lineage reads back as it was written', async (t) => {
  const { db } = await withDatabase(t)
  await apply(
    db,
    ...create(
      a,
      b,
      c,
      j,
      job('before'),
      look,
      chart('other'),
      board,
      dashboard('inner'),
      feature('f'),
      primaryKey('k'),
      model('m')
    )
  )
  await applyCall(db, [record(0, ...create(group))], asCall())
  for (const { name, urn, aspectName, value } of documents) {
    await t.test(`${aspectName}: ${name}`, async (t) => {
      t.equal(await outcomeOf(db, upsert(urn, aspectName, value)), 'applied')
      t.same(await valueOf(db, urn, aspectName), value)
      const version = (await readAspect(db, urn, aspectName))?.version
      t.equal(await outcomeOf(db, upsert(urn, aspectName, value)), 'unchanged')
      t.equal((await readAspect(db, urn, aspectName))?.version, version, 'the same value is no new version')
    })
  }
})

t.test('one record is one step of an aspect, and one version, however often it changes it', async (t) => {
  const { db } = await withDatabase(t)
  const several = [
    upsert(a, 'datasetProperties', { name: 'A' }),
    patch(a, 'datasetProperties', { op: 'add', path: '/customProperties/k', value: 'v' }),
    { kind: 'upsertEntity', entityUrn: a, description: 'd' } as const,
    patch(a, 'datasetProperties', { op: 'add', path: '/customProperties/l', value: 'v' })
  ]
  const value = { name: 'A', customProperties: { k: 'v', l: 'v' }, tags: [], description: 'd' }
  t.equal(await outcomeOf(db, ...several), 'applied')
  t.same(await valueOf(db, a, 'datasetProperties'), value)
  t.equal((await readAspect(db, a, 'datasetProperties'))?.version, 1)
  await apply(db, upsert(a, 'datasetProperties', { name: 'B' }))
  await apply(db, ...several)
  await apply(db, upsert(a, 'datasetProperties', { name: 'C' }))
  t.same((await readAspect(db, a, 'datasetProperties', 3))?.value, value)
})

t.test(
  'a proposal that is repeated in a batch, or comes before the one it depends on, is folded in the order of lines',
  async (t) => {
    const { db } = await withDatabase(t)
    const verdicts = await applyCall(
      db,
      [
        record(0, upsert(a, 'upstreamLineage', { upstreams: [upstream(b)] })),
        record(1, upsert(a, 'datasetProperties', { name: '1' })),
        record(
          2,
          upsert(b, 'datasetProperties', { name: '1' }),
          upsert(b, 'upstreamLineage', { upstreams: [upstream(a)] })
        ),
        record(3, upsert(b, 'datasetProperties', { name: '2' })),
        record(4, upsert(a, 'datasetProperties', { name: '1' }))
      ],
      asCall()
    )
    t.same(
      verdicts.map((verdict) => verdict.outcome),
      ['applied', 'applied', 'applied', 'applied', 'unchanged']
    )
    t.match(
      await valueOf(db, b, 'datasetProperties'),
      { name: '2' },
      'line 3 is newer than line 2, though line 2 refers to something and is tried later'
    )
    t.same(await valueOf(db, a, 'upstreamLineage'), { upstreams: [upstream(b)] })
  }
)
