/**
 * References must exist, or be created together with the change. A refused change has no effect. Deletions.
 */
import t from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { readAspects } from '../shared/catalog/entities/read-aspects.ts'
import { WaitForOlderLoad } from '../shared/catalog/write/wait-for-older-load.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import type { Change, ChangeRecord } from '../shared/model/changes.ts'
import type { Urn } from '../shared/urn/urn.ts'
import {
  addEdge,
  apply,
  applyAsChunk,
  asCall,
  chart,
  column,
  create,
  createDomain,
  dataset,
  domain,
  endLoad,
  hardDelete,
  inDomain,
  job,
  openLoad,
  outcomeOf,
  patch,
  primaryKey,
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
import { withDatabase } from './support/database.ts'
import { changedTables, tableChecksums } from './support/table-checksums.ts'

const here = dataset('here')
const gone = dataset('gone')
const home = domain('home')

const presence = async (db: Db, urn: Urn): Promise<boolean | null> =>
  (await query<{ p: boolean }>(db, 'select is_present as p from entity where urn = ?', [urn]))[0]?.p ?? null
const outcomes = (verdicts: { outcome: string }[]): string[] => verdicts.map((verdict) => verdict.outcome)

const dangling: { name: string; urn: Urn; change: Change; makes?: Urn[] }[] = [
  { name: 'upstream of an edge', urn: gone, change: addEdge(gone, here) },
  { name: 'downstream of an edge', urn: gone, change: addEdge(here, gone) },
  { name: 'asset of an upstream column', urn: gone, change: addEdge(column(gone, 'x'), column(here, 'x')) },
  {
    name: 'end of a removed edge that nobody has named',
    urn: gone,
    change: removeEdge(gone, here),
    makes: []
  },
  {
    name: 'owner of upstreamLineage',
    urn: gone,
    change: upsert(gone, 'upstreamLineage', { upstreams: [upstream(here)] })
  },
  {
    name: 'upstream of upstreamLineage',
    urn: gone,
    change: upsert(here, 'upstreamLineage', { upstreams: [upstream(gone)] })
  },
  {
    name: 'asset of a column in fineGrainedLineages',
    urn: gone,
    change: upsert(here, 'upstreamLineage', {
      upstreams: [],
      fineGrainedLineages: [
        {
          upstreamType: 'FIELD_SET',
          downstreamType: 'FIELD',
          upstreams: [column(gone, 'x')],
          downstreams: [column(here, 'x')]
        }
      ]
    })
  },
  {
    name: 'owner of a patch of upstreamLineage',
    urn: gone,
    change: patch(gone, 'upstreamLineage', {
      op: 'add',
      path: `/upstreams/${segment(here)}`,
      value: { type: 'COPY' }
    })
  },
  {
    name: 'upstream added by a patch',
    urn: gone,
    change: patch(here, 'upstreamLineage', {
      op: 'add',
      path: `/upstreams/${segment(gone)}`,
      value: { type: 'COPY' }
    })
  },
  {
    name: 'upstream in a list set by a patch',
    urn: gone,
    change: patch(here, 'upstreamLineage', {
      op: 'add',
      path: '/upstreams',
      value: [{ dataset: gone, type: 'COPY' }]
    })
  },
  {
    name: 'output of a job',
    urn: gone,
    change: upsert(job('here'), 'dataJobInputOutput', { inputDatasets: [], outputDatasets: [gone] })
  },
  {
    name: 'input of a chart, which itself is made',
    urn: gone,
    change: upsert(chart('new'), 'chartInfo', { title: '', description: '', inputs: [{ string: gone }] }),
    makes: [gone]
  },
  {
    name: 'source of a primary key',
    urn: gone,
    change: upsert(primaryKey('new'), 'mlPrimaryKeyProperties', { sources: [gone] })
  },
  {
    name: 'column of input fields',
    urn: gone,
    change: upsert(chart('here'), 'inputFields', { fields: [{ schemaFieldUrn: column(gone, 'x') }] })
  },
  {
    name: 'edge of a replacement',
    urn: gone,
    change: {
      kind: 'replaceEdges',
      ownerUrn: here,
      aspectName: 'upstreamLineage',
      source: 's',
      edges: [{ upstreamUrn: gone, downstreamUrn: here }]
    }
  },
  { name: 'asset of setDomain', urn: gone, change: setDomain(gone, home) },
  { name: 'domain of setDomain', urn: domain('gone'), change: setDomain(here, domain('gone')) },
  { name: 'asset of unsetDomain', urn: gone, change: unsetDomain(gone), makes: [] },
  {
    name: 'domain of the aspect domains',
    urn: domain('gone'),
    change: upsert(here, 'domains', { domains: [domain('gone')] })
  },
  {
    name: 'domain of a patch of domains',
    urn: domain('gone'),
    change: patch(here, 'domains', { op: 'add', path: `/domains/${domain('gone')}`, value: domain('gone') })
  },
  {
    name: 'parent of a new domain',
    urn: domain('gone'),
    change: createDomain(domain('new'), 'New', domain('gone'))
  },
  {
    name: 'parent in domainProperties',
    urn: domain('gone'),
    change: upsert(domain('new'), 'domainProperties', { name: 'New', parentDomain: domain('gone') })
  },
  {
    name: 'parent in a patch of domainProperties',
    urn: domain('gone'),
    change: patch(home, 'domainProperties', { op: 'add', path: '/parentDomain', value: domain('gone') })
  },
  {
    name: 'parent that a patch copies from elsewhere',
    urn: domain('gone'),
    change: patch(
      home,
      'domainProperties',
      { op: 'add', path: '/customProperties/p', value: domain('gone') },
      { op: 'copy', from: '/customProperties/p', path: '/parentDomain' }
    )
  },
  {
    name: 'new place of a domain',
    urn: domain('gone'),
    change: { kind: 'moveDomain', domainUrn: home, parentDomain: domain('gone') }
  },
  {
    name: 'domain that is renamed',
    urn: domain('gone'),
    change: { kind: 'renameDomain', domainUrn: domain('gone'), name: 'X' },
    makes: []
  },
  {
    name: 'domain that is deleted',
    urn: domain('gone'),
    change: { kind: 'deleteDomain', domainUrn: domain('gone') },
    makes: []
  }
]

const settle = (db: Db) => apply(db, ...create(here, job('here'), chart('here')), createDomain(home, 'Home'))

t.test('an absent reference refuses the change, names it, and nothing changes', async (t) => {
  const { db } = await withDatabase(t)
  await settle(db)
  const before = await tableChecksums(db)
  for (const { name, urn, change } of dangling) {
    await t.test(name, async (t) => {
      const refusal = await refusalOf(apply(db, ...create(dataset('beside')), change))
      t.match(refusal, { code: 'MISSING_REFERENCE', details: { urn } })
      t.ok(refusal.message.includes(urn))
      t.same(changedTables(before, await tableChecksums(db)), [], 'all or nothing')
    })
  }
})

t.test('in a load, only the record is refused, and what it alone named is forgotten', async (t) => {
  const { db } = await withDatabase(t)
  await settle(db)
  const entities = async () =>
    (await query<{ urn: string }>(db, 'select urn from entity order by urn')).map((row) => row.urn)
  const before = await entities()
  const records = dangling.map(({ change }, index) =>
    record(index + 1, ...create(dataset(`beside${index}`)), change)
  )
  const verdicts = await applyAsChunk(db, await openLoad(db), [
    record(0, ...create(dataset('good'))),
    ...records
  ])
  t.equal(verdicts.length, dangling.length + 1)
  t.same(verdicts[0], { line: 0, outcome: 'applied' })
  for (const [index, { name, urn }] of dangling.entries())
    t.match(
      verdicts[index + 1],
      { line: index + 1, outcome: 'rejected', code: 'MISSING_REFERENCE', details: { urn } },
      name
    )
  t.same(await entities(), [...before, dataset('good')].sort())
})

t.test(
  'with missingReferences=create placeholders are made, which do not exist until they are described, and owners of aspects do',
  async (t) => {
    for (const { name, urn, change, makes = [urn] } of dangling.filter(
      (each) => !each.name.includes('copies')
    )) {
      const { db } = await withDatabase(t)
      await settle(db)
      await t.test(name, async (t) => {
        await applyCall(db, [record(0, change)], asCall({ missingReferences: 'create' }))
        for (const made of makes) {
          const isDescribed = name.startsWith('owner of')
          t.equal(await presence(db, made), isDescribed)
          t.equal(
            isDescribed,
            (await readAspects(db, [made], null))
              .get(made)
              ?.has(made.startsWith('urn:li:domain:') ? 'domainKey' : 'datasetKey') ?? false
          )
        }
        await apply(db, ...create(...makes))
        for (const made of makes) t.equal(await presence(db, made), true)
      })
    }
  }
)

t.test('references are resolved in whatever order a call contains them', async (t) => {
  const { db } = await withDatabase(t)
  const [p, q] = [chart('p'), chart('q')]
  const inputs = (urn: Urn): Change =>
    upsert(p === urn ? q : p, 'chartInfo', { title: '', description: '', inputs: [{ string: urn }] })
  await applyCall(
    db,
    [
      record(0, setDomain(here, home)),
      record(1, addEdge(gone, here)),
      record(2, upsert(here, 'upstreamLineage', { upstreams: [upstream(gone)] })),
      record(3, inputs(p)),
      record(4, inputs(q)),
      record(5, createDomain(home, 'Home', domain('above'))),
      record(6, createDomain(domain('above'), 'Above')),
      record(7, ...create(here)),
      record(8, ...create(gone))
    ],
    asCall()
  )
  t.match(await valueOf(db, p, 'chartInfo'), { inputs: [{ string: q }] })
  t.match(await valueOf(db, q, 'chartInfo'), { inputs: [{ string: p }] }, 'also round in a circle')
  t.same(await valueOf(db, here, 'domains'), inDomain(home))
})

t.test(
  'a refused change also refuses the changes that depend on it, in whatever order they are found',
  async (t) => {
    const { db } = await withDatabase(t)
    await settle(db)
    const chain = (from: number) => [
      record(from, setDomain(here, domain('second'))),
      record(from + 1, createDomain(domain('second'), 'Second', domain('first'))),
      record(from + 2, upsert(here, 'domains', { domains: [domain('second')] })),
      record(from + 3, ...create(dataset('fine')))
    ]
    await t.test('a record that creates an entity but misses its own reference', async (t) => {
      const verdicts = await applyAsChunk(db, await openLoad(db), [
        ...chain(1),
        record(5, createDomain(domain('first'), 'First', domain('nowhere')))
      ])
      t.same(outcomes(verdicts), ['rejected', 'rejected', 'rejected', 'applied', 'rejected'])
      t.same(
        verdicts.flatMap((verdict) => (verdict.outcome === 'rejected' ? verdict.details.urn : [])),
        [domain('second'), domain('first'), domain('second'), domain('nowhere')]
      )
    })
    await t.test('a creator that is refused only when it is tried', async (t) => {
      const verdicts = await applyAsChunk(db, await openLoad(db), [
        ...chain(1),
        record(5, createDomain(domain('first'), 'Home'))
      ])
      t.same(outcomes(verdicts), ['rejected', 'rejected', 'rejected', 'unchanged', 'rejected'])
      t.same(
        verdicts.flatMap((verdict) => (verdict.outcome === 'rejected' ? verdict.code : [])),
        ['MISSING_REFERENCE', 'MISSING_REFERENCE', 'MISSING_REFERENCE', 'CONFLICT']
      )
      t.equal(await valueOf(db, here, 'domains'), null)
      t.equal(await presence(db, domain('second')), null)
    })
    await t.test('another record that creates the same entity is enough', async (t) => {
      const verdicts = await applyAsChunk(db, await openLoad(db), [
        ...chain(1),
        record(5, createDomain(domain('first'), 'Home')),
        record(6, createDomain(domain('first'), 'First'))
      ])
      t.same(outcomes(verdicts), ['applied', 'applied', 'unchanged', 'unchanged', 'rejected', 'applied'])
    })
  }
)

t.test('a chunk waits if an older load may still create what it refers to', async (t) => {
  const { db } = await withDatabase(t)
  await settle(db)
  const creating = await openLoad(db, { currentPass: 1 })
  const load = await openLoad(db)
  const before = await tableChecksums(db)
  await t.rejects(
    applyAsChunk(db, load, [record(1, ...create(dataset('x'))), record(2, addEdge(gone, here))]),
    WaitForOlderLoad
  )
  t.same(changedTables(before, await tableChecksums(db)), [])
  t.equal((await refusalOf(apply(db, addEdge(gone, here)))).code, 'MISSING_REFERENCE', 'a call does not wait')
  t.same(
    outcomes(await applyAsChunk(db, creating, [record(1, addEdge(gone, here))])),
    ['rejected'],
    'nor does the older one'
  )
  await endLoad(db, creating)
  t.same(outcomes(await applyAsChunk(db, load, [record(1, addEdge(gone, here))])), ['rejected'])
  const placeholders = await openLoad(db, { missingReferences: 'create' })
  const later = await openLoad(db)
  await t.rejects(
    applyAsChunk(db, later, [record(1, removeEdge(gone, here))]),
    WaitForOlderLoad,
    'one that makes placeholders counts, for a removal is content with them'
  )
  await applyAsChunk(db, placeholders, [record(1, addEdge(gone, here))], { missingReferences: 'create' })
  await endLoad(db, placeholders)
  t.same(outcomes(await applyAsChunk(db, later, [record(1, removeEdge(gone, here))])), ['applied'])
})

t.test('deletion', async (t) => {
  const { db } = await withDatabase(t)
  const statements = async () =>
    (await query<{ n: number }>(db, 'select count(*)::int as n from statement'))[0]?.n
  const build = () =>
    applyCall(
      db,
      [
        record(0, ...create(here, gone, job('here'))),
        record(1, upsert(home, 'domainProperties', { name: 'Home' })),
        record(
          2,
          addEdge(gone, here),
          addEdge(here, gone),
          addEdge(gone, job('here')),
          addEdge(job('here'), gone),
          addEdge(column(gone, 'x'), column(here, 'x')),
          addEdge(column(here, 'x'), column(gone, 'y')),
          setDomain(gone, home)
        ),
        record(
          3,
          upsert(gone, 'datasetProperties', { name: 'G' }),
          upsert(column(gone, 'x'), 'documentation', { documentations: [] }),
          patch(here, 'upstreamLineage', {
            op: 'add',
            path: `/upstreams/${segment(gone)}/type`,
            value: 'COPY'
          })
        )
      ],
      asCall()
    )

  await t.test(
    'soft: an entity is marked, and nothing else changes; an entity that does not exist is not created',
    async (t) => {
      await apply(db, ...create(here))
      t.equal(await outcomeOf(db, { kind: 'deleteEntity', entityUrn: here, hard: false }), 'applied')
      t.same(await valueOf(db, here, 'status'), { removed: true })
      t.equal(await presence(db, here), true)
      t.same(await query(db, 'select is_removed as "isRemoved" from entity where urn = ?', [here]), [
        { isRemoved: true }
      ])
      t.equal(await outcomeOf(db, addEdge(here, here)), 'applied', 'it counts as existing')
      await apply(db, removeEdge(here, here), upsert(here, 'status', { removed: false }))
      t.same(await query(db, 'select is_removed as "isRemoved" from entity where urn = ?', [here]), [
        { isRemoved: false }
      ])
      await applyCall(
        db,
        [record(0, addEdge(dataset('placeholder'), here))],
        asCall({ missingReferences: 'create' })
      )
      t.equal(
        await outcomeOf(
          db,
          { kind: 'deleteEntity', entityUrn: dataset('placeholder'), hard: false },
          { kind: 'deleteEntity', entityUrn: dataset('unheard'), hard: false }
        ),
        'unchanged'
      )
      t.equal(await presence(db, dataset('placeholder')), false)
      await apply(db, removeEdge(dataset('placeholder'), here))
    }
  )
  await t.test(
    'hard: the edges of the entity and of its columns, its aspects and its domain go; others stay',
    async (t) => {
      await build()
      t.equal(await statements(), 6)
      t.equal(await outcomeOf(db, hardDelete(gone)), 'applied')
      t.equal(await statements(), 0)
      t.same(
        [...(await readAspects(db, [gone, column(gone, 'x')], null)).values()].map((views) => [
          ...views.keys()
        ]),
        [[], []]
      )
      t.same(await query(db, 'select * from domain_association where domain_id is not null'), [])
      t.same(await query(db, 'select * from edge_patch'), [])
      t.equal(await presence(db, gone), false)
      t.same(await valueOf(db, here, 'upstreamLineage'), { upstreams: [] }, 'the other end keeps its aspect')
      t.equal(await outcomeOf(db, hardDelete(gone)), 'unchanged')
      t.equal((await refusalOf(apply(db, addEdge(gone, here)))).code, 'MISSING_REFERENCE')
    }
  )
  await t.test('an entity that is created again begins without history', async (t) => {
    await build()
    t.equal(await statements(), 6)
    t.equal(await presence(db, gone), true)
    t.same(
      (await readAspects(db, [gone], ['datasetProperties'])).get(gone)?.get('datasetProperties')?.version,
      1
    )
  })
  await t.test('within one call it is applied between the changes before and after it', async (t) => {
    await build()
    const before = await tableChecksums(db)
    t.equal(
      (
        await refusalOf(
          applyCall(db, [record(0, hardDelete(gone)), record(1, addEdge(gone, here))], asCall())
        )
      ).code,
      'MISSING_REFERENCE'
    )
    t.same(changedTables(before, await tableChecksums(db)), [])
    const records: ChangeRecord[] = [
      record(0, addEdge(gone, here)),
      record(1, ...create(gone)),
      record(2, hardDelete(gone)),
      record(3, ...create(gone)),
      record(4, addEdge(here, gone))
    ]
    t.same(outcomes(await applyCall(db, records, asCall())), [
      'unchanged',
      'unchanged',
      'applied',
      'applied',
      'applied'
    ])
    t.same(await valueOf(db, gone, 'upstreamLineage'), { upstreams: [upstream(here)] })
    t.same(await valueOf(db, here, 'upstreamLineage'), { upstreams: [] })
  })
})
