/**
 * What was soft-deleted is back when something newer describes it, whichever door it comes through; what only
 * names it, and what is older, does not bring it back.
 */
import t from 'tap'
import { readEvent, ingestEvents } from '../shared/catalog/openlineage/ingest-events.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import type { Change, JsonObject, JsonValue } from '../shared/model/changes.ts'
import type { Urn } from '../shared/urn/urn.ts'
import {
  addEdge,
  apply,
  applyAsChunk,
  chart,
  column,
  create,
  createDomain,
  dataset,
  deleteAspect,
  domain,
  endLoad,
  job,
  openLoad,
  outcomeOf,
  patch,
  record,
  segment,
  setDomain,
  somebody,
  upsert,
  upstream
} from './support/changes.ts'
import { catalogState } from './support/catalog-state.ts'
import { withDatabase } from './support/database.ts'
import { manifest, node } from './support/dbt-projects.ts'
import { graphOfLog, graphOfTables } from './support/graph-log.ts'
import { eventAt, facet } from './support/openlineage.ts'
import { withServer } from './support/server.ts'

const a = dataset('a')
const b = dataset('b')
const home = domain('home')

const remove = (urn: Urn): Change => upsert(urn, 'status', { removed: true })
const softDelete = (entityUrn: Urn): Change => ({ kind: 'deleteEntity', entityUrn, hard: false })

/** Whether the row, the aspect, the log for processes and their copy agree that it is removed. */
async function isRemoved(db: Db, urn: Urn): Promise<boolean> {
  const [row] = await query<{ isRemoved: boolean; value: JsonObject | null }>(
    db,
    `
    select entity.is_removed as "isRemoved", aspect.value
    from entity
    left join aspect on aspect.entity_id = entity.id and aspect.aspect_name = 'status'
    where entity.urn = ?`,
    [urn]
  )
  const inAspect = row?.value?.removed === true
  if (row?.isRemoved !== inAspect) throw new Error(`row and status of ${urn} differ`)
  return inAspect
}

t.test('what a call describes is back, and its verdict is applied', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b, job('load'), chart('sales')), createDomain(home, 'Home'))
  await apply(
    db,
    upsert(a, 'datasetProperties', { name: 'orders', customProperties: {} }),
    upsert(a, 'upstreamLineage', { upstreams: [upstream(b)] })
  )
  const describing: { [name: string]: [Urn, Change] } = {
    'upsertEntity that changes nothing': [a, { kind: 'upsertEntity', entityUrn: a }],
    'upsertEntity with a name': [a, { kind: 'upsertEntity', entityUrn: a, name: 'orders' }],
    'the same aspect again': [a, upsert(a, 'datasetProperties', { name: 'orders', customProperties: {} })],
    'a schema': [
      a,
      upsert(a, 'schemaMetadata', {
        schemaName: 's',
        platform: 'urn:li:dataPlatform:hive',
        version: 0,
        hash: '',
        platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
        fields: []
      })
    ],
    'the lineage that it states itself': [a, upsert(a, 'upstreamLineage', { upstreams: [upstream(b)] })],
    'a patch that adds': [
      a,
      patch(a, 'datasetProperties', { op: 'add', path: '/customProperties/x', value: '1' })
    ],
    'a column of it': [a, upsert(column(a, 'id'), 'documentation', { documentations: [] })],
    'a profile, which is an event': [a, upsert(a, 'datasetProfile', { timestampMillis: 1, rowCount: 3 })],
    'a job': [job('load'), { kind: 'upsertEntity', entityUrn: job('load') }],
    'a chart': [
      chart('sales'),
      upsert(chart('sales'), 'chartInfo', {
        title: 'Sales',
        description: '',
        lastModified: {
          created: { time: 0, actor: 'urn:li:corpuser:unknown' },
          lastModified: { time: 0, actor: 'urn:li:corpuser:unknown' }
        }
      })
    ]
  }
  for (const [name, [urn, change]] of Object.entries(describing)) {
    for (const removal of [remove(urn), softDelete(urn)]) {
      await apply(db, removal)
      t.equal(await isRemoved(db, urn), true)
      t.equal(await outcomeOf(db, change), 'applied', name)
      t.equal(await isRemoved(db, urn), false, name)
    }
  }

  const naming: { [name: string]: Change } = {
    'an edge to it': addEdge(b, a),
    'an edge from it': addEdge(a, b),
    'a domain': setDomain(a, home),
    'the removal of an aspect': deleteAspect(a, 'datasetProperties'),
    'a patch of its edges': patch(a, 'upstreamLineage', {
      op: 'add',
      path: `/upstreams/${segment(b)}`,
      value: { dataset: b, type: 'TRANSFORMED' }
    }),
    'a patch that removes': patch(a, 'datasetProperties', { op: 'remove', path: '/customProperties/x' }),
    'its own status': remove(a)
  }
  await apply(db, remove(a))
  for (const [name, change] of Object.entries(naming)) {
    await apply(db, change)
    t.equal(await isRemoved(db, a), true, name)
  }
  t.strictSame(await graphOfLog(db), await graphOfTables(db))
})

t.test('a call or load that states the status itself decides, wherever the status is', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a))
  const name: Change = { kind: 'upsertEntity', entityUrn: a, name: 'orders' }
  for (const changes of [
    [remove(a), name],
    [name, remove(a)]
  ]) {
    await apply(db, upsert(a, 'status', { removed: false }))
    await apply(db, ...changes)
    t.equal(await isRemoved(db, a), true, 'in one call')
    for (const order of [changes, changes.toReversed()]) {
      const load = await openLoad(db)
      for (const change of order) await applyAsChunk(db, load, [record(changes.indexOf(change) + 1, change)])
      await endLoad(db, load)
      t.equal(await isRemoved(db, a), true, 'in one load, chunks in any order')
    }
  }
})

t.test('the order of acceptance decides, whatever the order of arrival', async (t) => {
  const name: Change = { kind: 'upsertEntity', entityUrn: a, name: 'orders' }
  const steps: { [name: string]: [changes: Change[], removed: boolean] } = {
    'described after the deletion': [[remove(a), name], false],
    'described without a difference after the deletion': [
      [name, remove(a), { kind: 'upsertEntity', entityUrn: a }],
      false
    ],
    'deleted after it was described': [[name, remove(a)], true],
    'deleted, described, deleted': [[remove(a), name, softDelete(a)], true],
    'deleted twice, then described by a patch': [
      [
        softDelete(a),
        remove(a),
        patch(a, 'datasetProperties', { op: 'add', path: '/customProperties/x', value: '1' })
      ],
      false
    ],
    'deleted, and only named after it': [[remove(a), addEdge(b, a), setDomain(a, home)], true]
  }
  for (const [what, [changes, removed]] of Object.entries(steps)) {
    for (const order of permutations(changes.map((_, index) => index))) {
      const { db } = await withDatabase(t)
      await apply(db, ...create(a, b), createDomain(home, 'Home'))
      const loads = []
      for (const _ of changes) loads.push(await openLoad(db))
      for (const index of order) {
        const [load, change] = [loads[index], changes[index]]
        if (!load || !change) continue
        await applyAsChunk(db, load, [record(1, change)])
        await endLoad(db, load)
      }
      t.equal(await isRemoved(db, a), removed, `${what}: ${order.join(' ')}`)
      t.strictSame(await graphOfLog(db), await graphOfTables(db))
    }
  }
})

const permutations = (list: readonly number[]): number[][] =>
  list.length < 2
    ? [[...list]]
    : list.flatMap((first) =>
        permutations(list.filter((each) => each !== first)).map((rest) => [first, ...rest])
      )

t.test('the verdict says what stays removed', async (t) => {
  const { db } = await withDatabase(t)
  await apply(db, ...create(a, b, job('load')), createDomain(home, 'Home'))
  await apply(db, remove(a))
  const told = async (...changes: Change[]): Promise<readonly Urn[]> =>
    (await apply(db, ...changes)).flatMap((verdict) =>
      verdict.outcome === 'rejected' ? [] : (verdict.staysRemoved ?? [])
    )
  const hidden: { [name: string]: Change } = {
    'an edge to it': addEdge(b, a),
    'an edge from it': addEdge(a, b),
    'an edge of one of its columns': addEdge(column(a, 'x'), column(b, 'x')),
    'lineage that another states': upsert(b, 'upstreamLineage', { upstreams: [upstream(a)] }),
    'a patch of its edges': patch(a, 'upstreamLineage', {
      op: 'add',
      path: `/upstreams/${segment(b)}`,
      value: { dataset: b, type: 'TRANSFORMED' }
    }),
    'a domain': setDomain(a, home),
    'the same domain again': setDomain(a, home),
    'no domain': { kind: 'unsetDomain', entityUrn: a },
    'a proposal of its domain': upsert(a, 'domains', { domains: [home] }),
    'the removal of an aspect': deleteAspect(a, 'datasetProperties'),
    'a patch that removes': patch(a, 'datasetProperties', { op: 'remove', path: '/customProperties/x' })
  }
  for (const [name, change] of Object.entries(hidden)) t.strictSame(await told(change), [a], name)
  t.strictSame(
    await told(...Object.values(hidden).filter((change) => change.kind !== 'deleteAspect')),
    [a],
    'one call names it once'
  )
  for (const [name, changes] of Object.entries({
    'what is not removed': [setDomain(b, home), addEdge(b, job('load'))],
    'its own status': [remove(a)],
    'its own deletion': [softDelete(a)],
    'a call that removes what it names': [remove(a), setDomain(a, home)],
    'a call that describes it too': [setDomain(a, home), { kind: 'upsertEntity', entityUrn: a } as const]
  }))
    t.strictSame(await told(...changes), [], name)
  t.equal(await isRemoved(db, a), false)

  const older = await openLoad(db)
  await apply(db, remove(a))
  t.match(
    await applyAsChunk(db, older, [record(1, { kind: 'upsertEntity', entityUrn: a, name: 'orders' })]),
    [{ staysRemoved: [a] }],
    'a description that is older than the deletion'
  )
})

t.test('every caller is told what stays removed', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const column2 = (urn: Urn): Urn => column(urn, 'x')
  await apply(server.db, ...create(a, b, dataset('c')), createDomain(home, 'Home'))
  await apply(server.db, remove(a), remove(b))
  const load = async (body: string, format: string): Promise<JsonObject> => {
    const { body: answer } = await server.rest({
      method: 'POST',
      url: `/loads?wait=25&format=${format}`,
      body,
      headers: { 'content-type': 'application/json' }
    })
    t.match(answer, { state: 'done', counts: { rejected: 0 } })
    return answer
  }
  const edges = Array.from({ length: 50 }, (_, index) => `${dataset(`new${index}`)},${a}`)
  await apply(server.db, ...create(...edges.map((_, index) => dataset(`new${index}`))))
  const about = (urn: Urn): RegExp =>
    new RegExp(`^${urn.replaceAll(/[().]/g, '\\$&')} is soft-deleted and stays hidden`)
  const csv = (...rows: string[]): string => ['upstream,downstream', ...rows].join('\n')
  const quoted = (upstreamUrn: Urn, downstreamUrn: Urn): string => `"${upstreamUrn}","${downstreamUrn}"`
  const wanted: [body: string, format: string, urns: Urn[]][] = [
    [csv(...edges.map((_, index) => quoted(dataset(`new${index}`), a))), 'csv', [a]],
    [csv(quoted(b, a), quoted(dataset('new1'), dataset('c'))), 'csv', [b, a]],
    [csv(quoted(column2(b), column2(dataset('c')))), 'csv', [b]],
    [JSON.stringify({ op: 'setDomain', entityUrn: a, domainUrn: home }), 'ndjson', [a]],
    [JSON.stringify({ op: 'unsetDomain', entityUrn: b }), 'ndjson', [b]]
  ]
  for (const [body, format, urns] of wanted) {
    const { warnings } = await load(body, format)
    t.match(warnings, { count: urns.length }, body.slice(0, 200))
    t.match(
      (warnings as { messages: string[] }).messages.toSorted(),
      urns.map(about).toSorted((x, y) => (String(x) < String(y) ? -1 : 1)),
      body.slice(0, 200)
    )
  }
  t.notOk((await load(csv(quoted(dataset('new1'), dataset('c'))), 'csv')).warnings)
  const { body: dry } = await server.rest({
    method: 'POST',
    url: '/loads?wait=25&format=csv&dryRun=true',
    body: csv(quoted(b, a)),
    headers: { 'content-type': 'application/json' }
  })
  t.match(dry, { state: 'done', warnings: { count: 2 } }, 'a dry run')

  const { body: set } = await server.graphql(
    'mutation ($a: String!, $b: String!, $home: String!) { one: setDomain(entityUrn: $a, domainUrn: $home) two: setDomain(entityUrn: $b, domainUrn: $home) }',
    { a, b, home }
  )
  t.match(set, {
    data: { one: true, two: true },
    extensions: { warnings: { count: 2, messages: [about(a), about(b)] } }
  })
  const { body: drawn } = await server.graphql(
    'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }',
    { input: { edgesToAdd: [{ upstreamUrn: dataset('c'), downstreamUrn: a }] } }
  )
  t.match(drawn, { data: { updateLineage: true }, extensions: { warnings: { messages: [about(a)] } } })

  const propose = (aspectName: string, value: JsonObject): Promise<{ body: JsonObject; status: number }> =>
    server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        proposal: {
          entityType: 'dataset',
          entityUrn: a,
          changeType: 'UPSERT',
          aspectName,
          aspect: { contentType: 'application/json', value: JSON.stringify(value) }
        }
      })
    })
  const told = await propose('domains', { domains: [home] })
  t.match(told.body, { value: 'success', warnings: { count: 1, messages: [about(a)] } })
  t.strictSame((await propose('datasetProperties', { name: 'orders' })).body, { value: 'success' })
})

t.test('loads through every door, and their undo', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const load = async (body: string, format: string): Promise<JsonObject> => {
    const answer = await server.rest({
      method: 'POST',
      url: `/loads?wait=25&format=${format}`,
      body,
      headers: { 'content-type': 'application/json' }
    })
    t.match(answer.body, { state: 'done', counts: { rejected: 0 } }, answer.text)
    return answer.body
  }
  const project = manifest([node('source.shop.raw'), node('model.shop.orders', ['source.shop.raw'])])
  const inDbt: Urn[] = ['raw', 'orders'].map(
    (table) => `urn:li:dataset:(urn:li:dataPlatform:postgres,shop.public.${table},PROD)` as Urn
  )
  const lines = (...records: JsonValue[]): string => records.map((each) => JSON.stringify(each)).join('\n')
  const proposal = (changeType: string, aspectName: string, aspect: JsonObject): JsonObject => ({
    entityType: 'dataset',
    entityUrn: a,
    changeType,
    aspectName,
    aspect: { json: aspect }
  })
  for (const [door, body, format, urns] of [
    ['dbt', JSON.stringify(project), 'dbt', inDbt],
    ['upsertEntity', lines({ op: 'upsertEntity', urn: a }), 'ndjson', [a]],
    ['proposals', lines(proposal('UPSERT', 'datasetProperties', { name: 'orders' })), 'ndjson', [a]],
    [
      'a file of proposals',
      JSON.stringify([proposal('UPSERT', 'subTypes', { typeNames: ['Table'] })]),
      'mcp',
      [a]
    ]
  ] as const) {
    await load(body, format)
    for (const urn of urns) await apply(server.db, remove(urn))
    const before = await catalogState(server.db)
    const again = await load(body, format)
    t.match(again, { counts: { applied: urns.length } }, door)
    for (const urn of urns) {
      t.equal(await isRemoved(server.db, urn), false, door)
      const found = await server.graphql(
        'query ($urn: String!) { searchAcrossEntities(input: { query: "*", count: 100, orFilters: [{ and: [{ field: "urn", values: [$urn] }] }] }) { total } }',
        { urn }
      )
      t.equal(found.body.data.searchAcrossEntities.total, 1, `${door}: found by a search`)
    }
    const undone = await server.rest({ method: 'POST', url: `/loads/${String(again.id)}/undo?wait=25` })
    t.match(undone.body, { state: 'done' }, undone.text)
    t.strictSame(await catalogState(server.db), before, `${door}: the undo removes it again`)
  }
})

t.test('events', async (t) => {
  const { db } = await withDatabase(t)
  const call = { actor: somebody, requestId: null }
  const send = (...events: JsonObject[]): Promise<void> =>
    ingestEvents(
      db,
      events.map((event) => readEvent(event)),
      call
    )
  const named = (name: string, facets: JsonObject = {}): JsonObject => ({
    namespace: 'hive://h:1',
    name,
    facets
  })
  const theJob = { namespace: 'etl', name: 'nightly.load' }
  const run = (seconds: number, more: JsonObject = {}, runId = seconds): JsonObject =>
    eventAt(seconds, {
      eventType: 'COMPLETE',
      run: { runId: `00000000-0000-4000-8000-${String(runId).padStart(12, '0')}` },
      job: theJob,
      inputs: [named('in')],
      outputs: [named('out')],
      ...more
    })
  await send(run(1))
  const rows = await query<{ urn: Urn }>(db, 'select urn from entity where is_present order by urn')
  const urnOf = (text: string): Urn => {
    const found = rows.find(({ urn }) => urn.includes(text))
    if (!found) throw new Error(`nothing is called ${text}`)
    return found.urn
  }
  const [input, output, itsJob, itsFlow] = [
    urnOf(',in,'),
    urnOf(',out,'),
    urnOf('dataJob'),
    urnOf('dataFlow')
  ]
  const all = [input, output, itsJob, itsFlow]
  const removed = async (): Promise<boolean[]> => Promise.all(all.map((urn) => isRemoved(db, urn)))
  const removeAll = (): Promise<unknown> => apply(db, ...all.map(remove))

  await removeAll()
  await send(run(2))
  t.strictSame(await removed(), [true, false, false, false], 'an input is only named')

  await removeAll()
  await send(run(3, { inputs: [named('in', { documentation: facet({ description: 'What comes in' }) })] }))
  t.strictSame(await removed(), [false, false, false, false], 'an input with facets is described')

  await removeAll()
  await send(run(0, {}, 9))
  t.strictSame(await removed(), [true, true, true, true], 'a run before those known brings nothing back')

  await send(run(3, { inputs: [named('in', { documentation: facet({ description: 'What comes in' }) })] }))
  t.strictSame(await removed(), [true, true, true, true], 'nor does an event that is sent again')

  await send(
    eventAt(4, { dataset: named('out', { schema: facet({ fields: [{ name: 'id' }] }) }) }),
    eventAt(4, { job: { ...theJob, facets: { documentation: facet({ description: 'Loads it' }) } } })
  )
  t.strictSame(await removed(), [true, false, false, false], 'events of datasets and jobs')

  const lifecycle = (lifecycleStateChange: string): JsonObject => ({
    lifecycleStateChange: facet({ lifecycleStateChange })
  })
  await send(run(5, { outputs: [named('out', lifecycle('DROP'))] }))
  t.equal(await isRemoved(db, output), true, 'DROP')
  await send(run(6, { outputs: [named('out', lifecycle('CREATE'))] }))
  t.equal(await isRemoved(db, output), false, 'CREATE after DROP')
  await apply(db, softDelete(output))
  await send(run(7, { outputs: [named('out', lifecycle('CREATE'))] }))
  t.equal(await isRemoved(db, output), false, 'CREATE after a deletion by a person')
  await send(run(8, { outputs: [named('out', lifecycle('DROP'))] }))
  await send(run(9, { outputs: [named('out', lifecycle('DROP'))] }))
  t.equal(await isRemoved(db, output), true, 'DROP twice')
  await send(run(10))
  t.equal(await isRemoved(db, output), false, 'a run that writes it after DROP')
  await send(run(11, { outputs: [named('out', lifecycle('DROP'))] }))
  t.equal(await isRemoved(db, output), true, 'and DROP again')
  t.strictSame(await graphOfLog(db), await graphOfTables(db))
})
