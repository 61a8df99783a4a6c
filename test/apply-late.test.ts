/**
 * A change that was accepted earlier and is applied later has the same effect as if it had been applied in
 * order. Also the rows that this needs.
 */
import t from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { readAspect } from '../shared/catalog/entities/read-aspects.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { limits } from '../shared/limits.ts'
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
  deleteAspect,
  domain,
  endLoad,
  hardDelete,
  inDomain,
  openLoad,
  outcomeOf,
  patch,
  record,
  removeEdge,
  segment,
  setDomain,
  somebody,
  unsetDomain,
  upsert,
  upstream,
  valueOf,
  type OpenLoad
} from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { graphOfLog, graphOfTables } from './support/graph-log.ts'

const a = dataset('a')
const b = dataset('b')
const c = dataset('c')
const home = domain('home')

const upstreamsOf = async (db: Db, urn: Urn = a): Promise<unknown[]> =>
  (
    ((await valueOf(db, urn, 'upstreamLineage')) as { upstreams?: { dataset: string }[] } | null)
      ?.upstreams ?? []
  ).map((entry) => entry.dataset)
const lines = (...changes: Change[][]) => changes.map((each, index) => record(index + 1, ...each))
const late = async (db: Db, load: OpenLoad, ...changes: Change[][]): Promise<string[]> =>
  (await applyAsChunk(db, load, lines(...changes))).map((verdict) => verdict.outcome)

t.test('a chunk that comes late', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b, c), createDomain(home, 'Home'), createDomain(domain('other'), 'Other'))

  await t.test(
    'adds no edge that was removed, replaced or deleted later, and removes no edge that was added later',
    async (t) => {
      const load = await openLoad(db)
      t.equal(
        await outcomeOf(db, removeEdge(b, a)),
        'unchanged',
        'what is not there is remembered as removed'
      )
      await apply(db, addEdge(c, a))
      t.same(await late(db, load, [addEdge(b, a)], [removeEdge(c, a)], [addEdge(a, b)]), [
        'unchanged',
        'unchanged',
        'applied'
      ])
      t.same(await upstreamsOf(db), [c])
      await apply(db, upsert(b, 'upstreamLineage', { upstreams: [upstream(c)] }))
      t.same(await late(db, load, [addEdge(a, b)]), ['unchanged'])
      t.same(await upstreamsOf(db, b), [c])
      await apply(db, deleteAspect(b, 'upstreamLineage'))
      t.same(await late(db, load, [addEdge(c, b)]), ['unchanged'])
      t.equal(await valueOf(db, b, 'upstreamLineage'), null)
      await endLoad(db, load)
    }
  )

  await t.test('replaces only what is older', async (t) => {
    const load = await openLoad(db)
    await apply(db, removeEdge(c, a), addEdge(b, a))
    t.same(
      await late(db, load, [
        upsert(a, 'upstreamLineage', { upstreams: [upstream(c), upstream(a)], extra: 'kept' })
      ]),
      ['applied']
    )
    t.same(await upstreamsOf(db), [a, b], 'c was removed since, b was added since')
    t.match(await valueOf(db, a, 'upstreamLineage'), { extra: 'kept' })
    await apply(db, upsert(a, 'upstreamLineage', { upstreams: [] }))
    t.same(await late(db, load, [upsert(a, 'upstreamLineage', { upstreams: [upstream(c)] })]), ['unchanged'])
    t.same(await valueOf(db, a, 'upstreamLineage'), { upstreams: [] })
    await endLoad(db, load)
  })

  await t.test(
    'replaces a column pair of an older list although the pair was removed since from a record of another kind',
    async (t) => {
      const owner = dataset('with columns')
      await apply(db, ...create(owner))
      const [down, other, up] = [column(owner, 'down'), column(owner, 'other'), column(b, 'up')]
      const columnRecord = (...downstreams: Urn[]) => ({
        upstreamType: 'FIELD_SET',
        downstreamType: 'FIELD',
        upstreams: [up],
        downstreams
      })
      const records = async (): Promise<unknown> =>
        ((await valueOf(db, owner, 'upstreamLineage')) as { fineGrainedLineages?: unknown } | null)
          ?.fineGrainedLineages
      for (const replacement of [
        patch(owner, 'upstreamLineage', {
          op: 'add',
          path: '/fineGrainedLineages',
          value: [columnRecord(down)]
        }),
        upsert(owner, 'upstreamLineage', {
          upstreams: [upstream(b)],
          fineGrainedLineages: [columnRecord(down)]
        })
      ]) {
        const load = await openLoad(db)
        await applyAsChunk(db, load, [
          record(
            1,
            upsert(owner, 'upstreamLineage', {
              upstreams: [upstream(b)],
              fineGrainedLineages: [columnRecord(down, other)]
            })
          )
        ])
        // No path names a record with several downstreams, so this does not remove the pair of line 1.
        await apply(
          db,
          patch(owner, 'upstreamLineage', {
            op: 'remove',
            path: `/fineGrainedLineages/NONE/${segment(down)}/NONE/${segment(up)}`
          })
        )
        t.match(await records(), [{ downstreams: [down, other] }])
        await applyAsChunk(db, load, [record(2, replacement)])
        t.same(await records(), [])
        await endLoad(db, load)
      }
    }
  )

  await t.test(
    'leaves no patch of an entry that its own record states anew, however late the entry is',
    async (t) => {
      const owner = dataset('stated anew')
      await apply(db, ...create(owner))
      const load = await openLoad(db, { source: 's' })
      await apply(db, {
        kind: 'replaceEdges',
        ownerUrn: owner,
        aspectName: 'upstreamLineage',
        source: 's',
        edges: [{ upstreamUrn: b, downstreamUrn: owner }]
      })
      const path = `/upstreams/${segment(b)}`
      await applyAsChunk(
        db,
        load,
        lines([
          patch(
            owner,
            'upstreamLineage',
            { op: 'add', path: `${path}/type`, value: 'COPY' },
            { op: 'add', path, value: upstream(b, { type: 'VIEW' }) }
          )
        ])
      )
      t.match(await valueOf(db, owner, 'upstreamLineage'), {
        upstreams: [{ dataset: b, type: 'TRANSFORMED' }]
      })
      await endLoad(db, load)
    }
  )

  await t.test('does not set attributes of an edge that was removed later', async (t) => {
    const owner = dataset('said and unsaid')
    await apply(db, ...create(owner), upsert(owner, 'upstreamLineage', { upstreams: [upstream(b)] }))
    const load = await openLoad(db)
    const path = `/upstreams/${segment(b)}/properties/q`
    await apply(db, patch(owner, 'upstreamLineage', { op: 'remove', path }))
    await late(db, load, [patch(owner, 'upstreamLineage', { op: 'add', path, value: 'late' })])
    t.same(await valueOf(db, owner, 'upstreamLineage'), { upstreams: [{ ...upstream(b), properties: {} }] })
    await endLoad(db, load)
  })

  await t.test(
    'is inserted at its place in the history of an aspect, and newer changes are applied again',
    async (t) => {
      const load = await openLoad(db)
      await apply(
        db,
        patch(
          a,
          'datasetProperties',
          { op: 'add', path: '/customProperties/late', value: 'patched since' },
          { op: 'add', path: '/name', value: 'renamed since' }
        )
      )
      const before = (await readAspect(db, a, 'datasetProperties'))?.version ?? 0
      t.same(
        await late(
          db,
          load,
          [
            upsert(a, 'datasetProperties', {
              name: 'early',
              description: 'early',
              customProperties: { late: 'early' }
            })
          ],
          [patch(a, 'datasetProperties', { op: 'add', path: '/customProperties/more', value: 'early' })]
        ),
        ['applied', 'applied']
      )
      t.same(await valueOf(db, a, 'datasetProperties'), {
        name: 'renamed since',
        description: 'early',
        customProperties: { late: 'patched since', more: 'early' },
        tags: []
      })
      t.ok(
        ((await readAspect(db, a, 'datasetProperties'))?.version ?? 0) > before,
        'two values are never shown under one version'
      )
      t.same((await readAspect(db, a, 'datasetProperties', before))?.value.name, 'early')
      await apply(db, upsert(a, 'datasetProperties', { name: 'whole' }))
      t.same(
        await late(
          db,
          load,
          [patch(a, 'datasetProperties', { op: 'add', path: '/customProperties/never', value: 'x' })],
          [deleteAspect(a, 'datasetProperties')]
        ),
        ['unchanged', 'unchanged']
      )
      t.same(await valueOf(db, a, 'datasetProperties'), { name: 'whole', customProperties: {}, tags: [] })
      await endLoad(db, load)
    }
  )

  await t.test('finds its base however often the aspect has changed since', async (t) => {
    await apply(db, upsert(b, 'datasetProperties', { description: 'base' }))
    const load = await openLoad(db)
    for (let n = 0; n < 30; n += 1)
      await apply(db, patch(b, 'datasetProperties', { op: 'add', path: '/name', value: `${n}` }))
    await late(db, load, [patch(b, 'datasetProperties', { op: 'add', path: '/externalUrl', value: 'u' })])
    t.same(await valueOf(db, b, 'datasetProperties'), {
      name: '29',
      description: 'base',
      externalUrl: 'u',
      customProperties: {},
      tags: []
    })
    await endLoad(db, load)
    await apply(db, patch(b, 'datasetProperties', { op: 'add', path: '/name', value: 'end' }))
    t.ok(
      ((
        await query<{ n: number }>(
          db,
          "select count(*)::int as n from aspect_history where aspect_name = 'datasetProperties'"
        )
      )[0]?.n ?? 99) < 30,
      'and what nobody needs is forgotten again'
    )
  })

  await t.test('does not undo a later change with the same content', async (t) => {
    await apply(db, addEdge(b, a), setDomain(a, home), upsert(c, 'datasetProperties', { name: 'C' }))
    const load = await openLoad(db)
    t.same(
      await outcomeOf(db, addEdge(b, a), setDomain(a, home), upsert(c, 'datasetProperties', { name: 'C' })),
      'unchanged'
    )
    t.same(
      await late(
        db,
        load,
        [removeEdge(b, a)],
        [unsetDomain(a)],
        [upsert(c, 'datasetProperties', { name: 'late' })]
      ),
      ['unchanged', 'unchanged', 'unchanged']
    )
    t.same(await upstreamsOf(db), [b])
    t.same(await valueOf(db, a, 'domains'), inDomain(home))
    t.match(await valueOf(db, c, 'datasetProperties'), { name: 'C' })
    await endLoad(db, load)
  })

  await t.test('moves no asset that was moved since, and no domain', async (t) => {
    const load = await openLoad(db)
    await apply(db, setDomain(a, domain('other')), {
      kind: 'renameDomain',
      domainUrn: home,
      name: 'Renamed since'
    })
    t.same(
      await late(
        db,
        load,
        [setDomain(a, home)],
        [unsetDomain(a)],
        [createDomain(home, 'Late', domain('other'))]
      ),
      ['unchanged', 'unchanged', 'applied']
    )
    t.same(await valueOf(db, a, 'domains'), inDomain(domain('other')))
    t.match(
      await valueOf(db, home, 'domainProperties'),
      { name: 'Renamed since', parentDomain: domain('other') },
      'the name is newer, the place is not'
    )
    t.same(
      await query(
        db,
        'select domain.name, parent.urn as parent from domain join entity on entity.id = entity_id join entity as parent on parent.id = domain.parent_id where entity.urn = ?',
        [home]
      ),
      [{ name: 'Renamed since', parent: domain('other') }]
    )
    await apply(db, { kind: 'moveDomain', domainUrn: home, parentDomain: null })
    await endLoad(db, load)
  })

  await t.test('comes before a later patch or list about the domain of an asset', async (t) => {
    const asset = dataset('in a domain')
    const other = domain('other')
    const said = { domains: [home], domainAssociations: [{ domain: home, context: 'said' }] }
    const cases = [
      {
        before: setDomain(asset, home),
        since: patch(asset, 'domains', { op: 'remove', path: `/domains/${other}` }),
        older: setDomain(asset, other),
        left: inDomain(null)
      },
      {
        before: setDomain(asset, home),
        since: upsert(asset, 'domains', { domains: [home] }),
        older: upsert(asset, 'domains', said),
        left: said
      },
      {
        before: setDomain(asset, home),
        since: upsert(asset, 'domains', { domains: [], domainAssociations: [{ domain: home }] }),
        older: setDomain(asset, other),
        left: inDomain(home)
      },
      {
        before: upsert(asset, 'domains', said),
        since: upsert(asset, 'domains', { domains: [home] }),
        older: hardDelete(asset),
        left: inDomain(home)
      }
    ]
    // Also if the chunk is the last of its load, so that nothing older is unfinished.
    for (const { before, since, older, left, remaining } of cases.flatMap((each) =>
      [1, 2].map((remaining) => ({ ...each, remaining }))
    )) {
      await apply(db, ...create(asset), before)
      const load = await openLoad(db, { remaining })
      await apply(db, since)
      t.same(await late(db, load, [older]), ['applied'])
      t.same(await valueOf(db, asset, 'domains'), left)
      await endLoad(db, load)
    }
    t.same(await graphOfLog(db), await graphOfTables(db))
  })

  await t.test(
    'takes an asset out of a domain that it deletes, except if a later change put the asset there',
    async (t) => {
      const [asset, gone] = [dataset('in a domain to delete'), domain('gone')]
      await apply(db, ...create(asset), createDomain(gone, 'Gone'), setDomain(asset, gone))
      const load = await openLoad(db)
      await apply(db, patch(asset, 'domains', { op: 'remove', path: `/domains/${home}` }))
      t.same(await valueOf(db, asset, 'domains'), inDomain(gone))
      t.same(await late(db, load, [{ kind: 'deleteDomain', domainUrn: gone }]), ['applied'])
      t.same(await valueOf(db, asset, 'domains'), inDomain(null))
      t.same(await graphOfLog(db), await graphOfTables(db))
      await endLoad(db, load)
    }
  )

  await t.test(
    'restores nothing that was deleted later, and deletes nothing that was created later',
    async (t) => {
      const early = await openLoad(db)
      await apply(db, addEdge(c, a))
      await apply(db, hardDelete(c))
      t.same(
        await late(
          db,
          early,
          [...create(c)],
          [upsert(c, 'datasetProperties', { name: 'back' })],
          [addEdge(c, a)],
          [addEdge(column(c, 'x'), column(a, 'x'))],
          [setDomain(c, home)]
        ),
        Array(5).fill('unchanged')
      )
      t.equal(await valueOf(db, c, 'datasetKey'), null)
      t.same(await upstreamsOf(db), [b])
      t.equal(await outcomeOf(db, hardDelete(dataset('unheard of'))), 'unchanged')
      t.same(await late(db, early, [...create(dataset('unheard of'))]), ['unchanged'])
      t.equal(
        await valueOf(db, dataset('unheard of'), 'datasetKey'),
        null,
        'what nobody had named yet was deleted all the same'
      )

      await apply(db, ...create(c))
      await apply(
        db,
        patch(c, 'datasetProperties', { op: 'add', path: '/name', value: 'anew' }),
        addEdge(c, a),
        addEdge(b, c),
        setDomain(c, home)
      )
      t.same(await late(db, early, [hardDelete(c)]), ['unchanged'])
      t.match(await valueOf(db, c, 'datasetProperties'), { name: 'anew' })
      t.same(await upstreamsOf(db), [b, c])
      t.same(await upstreamsOf(db, c), [b])
      t.same(await valueOf(db, c, 'domains'), inDomain(home))
      await endLoad(db, early)
    }
  )

  await t.test('deletes what is older and leaves what is newer standing on its own', async (t) => {
    const d = dataset('d')
    await apply(
      db,
      ...create(d),
      upsert(d, 'datasetProperties', { name: 'old', description: 'old' }),
      addEdge(a, d),
      addEdge(d, b)
    )
    const load = await openLoad(db)
    await apply(db, patch(d, 'datasetProperties', { op: 'add', path: '/name', value: 'new' }), addEdge(c, d))
    t.same(await late(db, load, [hardDelete(d)]), ['applied'])
    t.same(await valueOf(db, d, 'datasetProperties'), { name: 'new', customProperties: {}, tags: [] })
    t.same(await upstreamsOf(db, d), [c])
    t.notOk((await upstreamsOf(db, b)).includes(d))
    t.match(await valueOf(db, d, 'datasetKey'), { name: 'd' })
    await endLoad(db, load)
  })

  await t.test('deletes no aspect whose edges were patched later, even if no edge is left', async (t) => {
    const owner = dataset('emptied')
    await apply(db, ...create(owner), addEdge(b, owner))
    const load = await openLoad(db)
    await apply(db, patch(owner, 'upstreamLineage', { op: 'remove', path: `/upstreams/${segment(b)}` }))
    t.same(await late(db, load, [deleteAspect(owner, 'upstreamLineage')]), ['unchanged'])
    t.same(await valueOf(db, owner, 'upstreamLineage'), { upstreams: [] })
    await endLoad(db, load)
  })

  await t.test(
    'leaves a placeholder of a chart for which no more than an edge was stated since, and a chart that was written since',
    async (t) => {
      const cases: { since: (owner: Urn) => Change[]; isPresent: boolean }[] = [
        { since: (owner) => [addEdge(b, owner)], isPresent: false },
        { since: (owner) => [deleteAspect(owner, 'chartInfo'), addEdge(b, owner)], isPresent: false },
        {
          since: (owner) => [
            patch(owner, 'chartInfo', { op: 'add', path: `/inputEdges/${segment(b)}`, value: {} })
          ],
          isPresent: true
        },
        {
          since: (owner) => [
            { kind: 'upsertEntity', entityUrn: owner, name: 'anew' },
            deleteAspect(owner, 'chartInfo')
          ],
          isPresent: true
        }
      ]
      for (const [index, { since, isPresent }] of cases.entries()) {
        const owner = chart(`late ${index}`)
        await apply(db, ...create(owner))
        const load = await openLoad(db)
        await apply(db, ...since(owner))
        t.same(await late(db, load, [hardDelete(owner)]), ['applied'])
        t.equal((await valueOf(db, owner, 'chartKey')) !== null, isPresent, `case ${index}`)
        await endLoad(db, load)
      }
    }
  )

  await t.test(
    'with placeholders: a removal is remembered for an entity that nobody had named',
    async (t) => {
      const load = await openLoad(db, { missingReferences: 'create' })
      const newer = await openLoad(db, { missingReferences: 'create' })
      const [x, y] = [dataset('x'), dataset('y')]
      t.same(
        (
          await applyAsChunk(
            db,
            newer,
            lines(
              [removeEdge(x, y)],
              [patch(a, 'upstreamLineage', { op: 'remove', path: `/upstreams/${segment(x)}` })],
              [unsetDomain(y)]
            ),
            { missingReferences: 'create' }
          )
        ).map((verdict) => verdict.outcome),
        Array(3).fill('unchanged')
      )
      const verdicts = await applyAsChunk(
        db,
        load,
        lines([addEdge(x, y)], [addEdge(x, a)], [setDomain(y, home)]),
        { missingReferences: 'create' }
      )
      t.notOk((await upstreamsOf(db)).includes(x))
      t.same(await upstreamsOf(db, y), [])
      t.match(await valueOf(db, y, 'domains'), { domains: { length: 0 } })
      t.same(
        verdicts.map((verdict) => verdict.line),
        [1, 2, 3]
      )
      await endLoad(db, load)
      await endLoad(db, newer)
    }
  )
})

t.test('nothing is remembered when nothing older is unfinished', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b))
  await apply(db, addEdge(b, a))
  await apply(db, removeEdge(b, a), upsert(a, 'upstreamLineage', { upstreams: [] }))
  await apply(db, unsetDomain(a))
  for (const table of ['edge_tombstone', 'replace_watermark', 'domain_association'])
    t.same(await query(db, `select * from ${table}`), [], table)
  const before = await query(db, 'select seq, line from statement')
  await apply(db, addEdge(b, a))
  await apply(db, addEdge(b, a))
  t.equal(before.length + 1, (await query(db, 'select seq from statement')).length)
})

t.test('each call has one audit row that says who did what, and each chunk at most one', async (t) => {
  const { db } = await withDatabase(t)
  await applyCall(
    db,
    [record(0, ...create(a, b)), record(1, addEdge(b, a))],
    asCall({ operation: 'updateLineage', requestId: 'r-1' })
  )
  const load = await openLoad(db)
  await applyAsChunk(db, load, lines([addEdge(b, a)], [addEdge(c, a)], [removeEdge(b, a)]))
  await apply(db, addEdge(c, a)).catch(() => {})
  const rows = await query(
    db,
    'select actor, operation, request_id as "requestId", load_id as "loadId", details from audit order by id'
  )
  t.match(rows, [
    {
      actor: somebody.urn,
      operation: 'updateLineage',
      requestId: 'r-1',
      loadId: null,
      details: { records: 2, applied: 2, unchanged: 0, rejected: 0, urns: [a, b], urnCount: 2 }
    },
    { operation: 'load', loadId: load.id, details: { records: 3, applied: 1, unchanged: 1, rejected: 1 } }
  ])
  t.equal(rows.length, 2, 'a refused call has none')
  const [chunk] = await query<{ id: number }>(
    db,
    'select chunk_id as id from audit where chunk_id is not null'
  )
  await t.rejects(
    query(db, "insert into audit (actor, operation, chunk_id) values ('x', 'y', ?::bigint)", [
      chunk?.id ?? 0
    ]),
    /audit_chunk_id_key/
  )
})

t.test('the change log tells a graph all that it must know, and nothing twice', async (t) => {
  const { db } = await withDatabase(t)
  const steps: [string, ...Change[]][] = [
    ['create', ...create(a, b, c), createDomain(home, 'Home'), createDomain(domain('below'), 'Below', home)],
    [
      'state',
      addEdge(b, a),
      addEdge(column(b, 'x'), column(a, 'x')),
      setDomain(a, home),
      setDomain(b, domain('below'))
    ],
    ['state twice', upsert(a, 'upstreamLineage', { upstreams: [upstream(b), upstream(b), upstream(c)] })],
    ['again', upsert(a, 'upstreamLineage', { upstreams: [upstream(b), upstream(b), upstream(c)] })],
    [
      'say otherwise',
      patch(a, 'upstreamLineage', { op: 'add', path: `/upstreams/${segment(b)}`, value: { type: 'COPY' } })
    ],
    [
      'replace',
      upsert(a, 'upstreamLineage', { upstreams: [upstream(c)] }),
      { kind: 'moveDomain', domainUrn: domain('below'), parentDomain: null }
    ],
    ['soft', { kind: 'deleteEntity', entityUrn: c, hard: false }, unsetDomain(a), setDomain(c, home)],
    [
      'back',
      upsert(c, 'status', { removed: false }),
      { kind: 'moveDomain', domainUrn: domain('below'), parentDomain: home },
      setDomain(a, domain('below'))
    ],
    ['delete', hardDelete(c), { kind: 'deleteDomain', domainUrn: domain('below') }],
    ['anew', ...create(c), addEdge(c, b), addEdge(b, c)]
  ]
  for (const [name, ...changes] of steps) {
    await apply(db, ...changes)
    t.same(await graphOfLog(db), await graphOfTables(db), name)
  }
  const rowsBefore = (await query(db, 'select id from graph_change')).length
  await apply(db, addEdge(c, b), upsert(c, 'datasetProperties', { name: 'nothing that a graph holds' }))
  t.equal(
    (await query(db, 'select id from graph_change')).length,
    rowsBefore,
    'a call that changes none of it writes no row'
  )
  await applyAsChunk(
    db,
    await openLoad(db),
    lines([addEdge(dataset('nowhere'), dataset('else'))], [addEdge(a, c)])
  )
  t.same(await graphOfLog(db), await graphOfTables(db), 'a chunk with a refused record')
})

t.test('a patch that comes late is applied, however many large ones are replayed over it', async (t) => {
  const { db } = await withDatabase(t)
  const a = dataset('a')
  const wide = { a: Array.from({ length: 90_000 }, (_, index) => index) }
  await apply(db, upsert(a, 'moonPhase', wide))
  const older = await openLoad(db)
  const patched = (name: string): ChangeRecord =>
    record(1, patch(a, 'moonPhase', { op: 'add', path: `/${name}`, value: name }))
  for (let index = 0; index < 25; index += 1)
    await applyAsChunk(db, await openLoad(db), [patched(`k${index}`)])
  t.match(await applyAsChunk(db, older, [patched('late')]), [{ outcome: 'applied' }])
  t.match(await valueOf(db, a, 'moonPhase'), { late: 'late', k0: 'k0', k24: 'k24' })
})

t.test('a late change is not followed by all newer ones if it leaves the next one as it was', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a))
  const load = await openLoad(db)
  // Each of one half over each of the other would be twice the work that a chunk may do.
  const count = Math.ceil(Math.sqrt(2 * limits.patchValuesPerChunkMaxCount))
  const lines = (from: number): ChangeRecord[] =>
    Array.from({ length: count }, (_, index) => {
      const added = dataset(`u${from + index}`)
      return record(
        from + index,
        patch(a, 'upstreamLineage', {
          op: 'add',
          path: `/upstreams/${segment(added)}`,
          value: upstream(added)
        })
      )
    })
  await applyAsChunk(db, load, lines(count + 1), { missingReferences: 'create' })
  const verdicts = await applyAsChunk(db, load, lines(1), { missingReferences: 'create' })
  t.ok(verdicts.every(({ outcome }) => outcome === 'applied'))
  t.equal((await upstreamsOf(db)).length, 2 * count)
})

t.test('a late change that leaves the newest one as it was still counts for what comes later', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b, c), upsert(a, 'datasetProperties', { name: 'kept' }))
  const [oldest, older] = [await openLoad(db), await openLoad(db)]
  await apply(db, patch(a, 'datasetProperties', { op: 'add', path: '/description', value: 'new' }))
  t.same(await late(db, older, [upsert(a, 'datasetProperties', { name: 'kept' })]), ['unchanged'])
  t.same(await late(db, oldest, [upsert(a, 'datasetProperties', { name: 'oldest' })]), ['unchanged'])
  t.match(await valueOf(db, a, 'datasetProperties'), { name: 'kept', description: 'new' })

  const stating = (note: string) => upsert(b, 'upstreamLineage', { upstreams: [], note })
  await apply(db, stating('first'))
  const between = await openLoad(db)
  await apply(db, stating('last'))
  // These count as versions, so the newest row keeps its version.
  await apply(db, addEdge(a, b))
  await apply(db, addEdge(c, b))
  t.same(await late(db, between, [stating('between')]), ['unchanged'])
  t.match(
    await query(db, "select value from aspect_history where aspect_name = 'upstreamLineage' order by seq"),
    [{ value: { note: 'first' } }, { value: { note: 'between' } }],
    'and an undo of what came later finds it'
  )

  await apply(db, upsert(c, 'upstreamLineage', { upstreams: [] }))
  const again = await openLoad(db)
  await apply(db, upsert(c, 'upstreamLineage', { upstreams: [] }))
  await apply(db, addEdge(a, c))
  const shown = (await readAspect(db, c, 'upstreamLineage'))?.version
  t.same(await late(db, again, [upsert(c, 'upstreamLineage', { upstreams: [] })]), ['unchanged'])
  t.equal((await readAspect(db, c, 'upstreamLineage'))?.version, shown, 'and the version does not go back')
})
