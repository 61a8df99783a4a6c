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
