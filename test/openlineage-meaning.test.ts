/** What OpenLineage events mean: which edges they assert, and what replaces what. */
import t from 'tap'
import { prune } from '../shared/catalog/loads/prune.ts'
import { query } from '../shared/db/query.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { ingestEvents, readEvent } from '../shared/catalog/openlineage/ingest-events.ts'
import { somebody } from './support/changes.ts'
import { eventAt, facet } from './support/openlineage.ts'
import { withServer, type TestServer } from './support/server.ts'

const data = (name: string, facets: JsonObject = {}): JsonObject => ({
  namespace: 'postgres://db:5432',
  name,
  facets
})
const file = (name: string, facets: JsonObject = {}): JsonObject => ({ namespace: 's3://lake', name, facets })
const tableAt = (name: string): JsonObject => ({
  symlinks: facet({ identifiers: [{ namespace: 'hive://meta', name, type: 'TABLE' }] })
})
const jobOf = (facets: JsonObject = {}): JsonObject => ({ namespace: 'nightly', name: 'etl.load', facets })
const run = (id = '11111111-1111-1111-1111-111111111111'): JsonObject => ({ runId: id, facets: {} })

const jobUrn = 'urn:li:dataJob:(urn:li:dataFlow:(spark,etl,nightly),etl.load)'
const dataset = (name: string, platform = 'postgres'): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`

type Send = (...events: JsonObject[]) => Promise<void>
type Edges = () => Promise<string[]>

/** A server, and its edges as `up -> down`, with the names of datasets, `etl.load` for the job, and columns behind `#`. */
async function withEvents(
  t: Parameters<typeof withServer>[0]
): Promise<{ server: TestServer; send: Send; edges: Edges }> {
  const server = await withServer(t)
  const send: Send = async (...events) => {
    for (const body of events) {
      const { status, text } = await server.rest({ method: 'POST', url: '/api/v1/lineage', body })
      if (status !== 201) throw new Error(text)
    }
  }
  const edges: Edges = async () => {
    const rows = await query<{ up: string; down: string }>(
      server.db,
      `
      select distinct up.urn as up, down.urn as down
      from statement
      join entity as up on up.id = upstream_id
      join entity as down on down.id = downstream_id`
    )
    return rows.map(({ up, down }) => `${short(up)} -> ${short(down)}`).sort()
  }
  return { server, send, edges }
}

/** As `job` is the one of most tests, so is `other` the second one. */
const otherJob: JsonObject = { namespace: 'nightly', name: 'etl.other' }

function short(urn: string): string {
  if (urn === jobUrn.replace('etl.load', 'etl.other')) return 'other'
  const column = /^urn:li:schemaField:\((.*\)),(.*)\)$/.exec(urn)
  if (column) return `${short(column[1] ?? '')}#${column[2]}`
  return urn.startsWith('urn:li:dataJob')
    ? 'job'
    : (/^urn:li:dataset:\([^,]+,(.*),PROD\)$/.exec(urn)?.[1] ?? urn)
}

t.test('runs', async (t) => {
  const { server, send, edges } = await withEvents(t)
  await send(
    eventAt(0, { eventType: 'START', run: run(), job: jobOf(), inputs: [data('a')] }),
    eventAt(9, { eventType: 'COMPLETE', run: run(), job: jobOf(), outputs: [data('b')] })
  )

  await t.test('inputs and outputs of a run add up over its events', async (t) => {
    t.strictSame(await edges(), ['a -> job', 'job -> b'])
  })

  await t.test('a later run adds to it, and the edge says when it was first and last used', async (t) => {
    await send(
      eventAt(100, {
        eventType: 'COMPLETE',
        run: run('22222222-2222-2222-2222-222222222222'),
        job: jobOf(),
        inputs: [data('a'), data('c')]
      })
    )
    t.strictSame(await edges(), ['a -> job', 'c -> job', 'job -> b'])
    const { body } = await server.rest({
      url: `/openapi/v3/entity/datajob/${encodeURIComponent(jobUrn)}/dataJobInputOutput`
    })
    const [first] = body.value.inputDatasetEdges.filter(
      (edge: { destinationUrn: string }) => edge.destinationUrn === dataset('a')
    )
    t.match(first, {
      created: { time: Date.UTC(2026, 0, 1) },
      lastModified: { time: Date.UTC(2026, 0, 1) + 100_000 }
    })
  })

  await t.test('each run is an entity with its history', async (t) => {
    const urn = 'urn:li:dataProcessInstance:11111111-1111-1111-1111-111111111111'
    const { body } = await server.rest({
      method: 'POST',
      url: '/aspects?action=getTimeseriesAspectValues',
      body: { urn, entity: 'dataProcessInstance', aspect: 'dataProcessInstanceRunEvent', limit: 10 }
    })
    t.strictSame(
      body.value.values
        .map(({ aspect }: { aspect: { value: string } }) => JSON.parse(aspect.value).status)
        .sort(),
      ['COMPLETE', 'STARTED']
    )
    const answer = await server.rest({
      url: `/openapi/v3/entity/dataprocessinstance/${encodeURIComponent(urn)}/dataProcessInstanceRelationships`
    })
    t.match(answer.body, { value: { parentTemplate: jobUrn } })
  })

  await t.test('an edge that a person has made stays', async (t) => {
    const { body } = await server.graphql(
      'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }',
      { input: { edgesToAdd: [{ upstreamUrn: dataset('b'), downstreamUrn: jobUrn }], edgesToRemove: [] } }
    )
    t.match(body, { data: { updateLineage: true } })
    await send(eventAt(200, { eventType: 'COMPLETE', run: run(), job: jobOf(), inputs: [data('a')] }))
    t.ok((await edges()).includes('b -> job'))
  })

  await t.test('a walk along columns passes the job and returns it', async (t) => {
    const columnLineage = facet({
      fields: {
        total: {
          inputFields: [
            { ...data('a'), field: 'amount', transformations: [{ type: 'DIRECT', subtype: 'AGGREGATION' }] }
          ]
        }
      }
    })
    await send(
      eventAt(300, {
        eventType: 'COMPLETE',
        run: run(),
        job: jobOf(),
        outputs: [data('b', { columnLineage })]
      })
    )
    const { body } = await server.graphql(
      `query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { searchResults { degree entity { urn } } } }`,
      { input: { urn: `urn:li:schemaField:(${dataset('a')},amount)`, direction: 'DOWNSTREAM' } }
    )
    t.strictSame(
      body.data.scrollAcrossLineage.searchResults
        .map(
          ({ degree, entity }: { degree: number; entity: { urn: string } }) =>
            `${degree} ${short(entity.urn)}`
        )
        .sort(),
      ['1 b', '1 job']
    )
  })
})

t.test('the facet lineage', async (t) => {
  const entries = (...list: JsonObject[]): JsonObject => ({ lineage: facet({ entries: list }) })
  const into = (name: string, ...from: string[]): JsonObject => ({
    ...data(name),
    type: 'DATASET',
    inputs: from.map((each) => ({ ...data(each), type: 'DATASET' }))
  })

  await t.test(
    'says which input goes into which output; inputs and outputs that it does not mention stay with the job',
    async (t) => {
      const { send, edges } = await withEvents(t)
      await send(
        eventAt(0, {
          eventType: 'COMPLETE',
          run: run(),
          job: jobOf(entries(into('x', 'a'), into('y', 'b'))),
          inputs: [data('a'), data('b'), data('settings')],
          outputs: [data('x'), data('y'), data('log')]
        })
      )
      t.strictSame(await edges(), [
        'a -> x',
        'b -> y',
        'job -> log',
        'job -> x',
        'job -> y',
        'settings -> job'
      ])
    }
  )

  await t.test('takes precedence over columnLineage, and creates columns of its own', async (t) => {
    const { send, edges } = await withEvents(t)
    const columnLineage = facet({ fields: { p: { inputFields: [{ ...data('a'), field: 'wrong' }] } } })
    await send(
      eventAt(0, {
        eventType: 'COMPLETE',
        run: run(),
        job: jobOf(
          entries({
            ...into('x'),
            fields: { p: { inputs: [{ ...data('a'), type: 'DATASET', field: 'q' }] } }
          })
        ),
        inputs: [data('a')],
        outputs: [data('x', { columnLineage })]
      })
    )
    t.strictSame(await edges(), ['a -> job', 'a -> x', 'a#q -> x#p', 'job -> x'])
  })

  await t.test('when two jobs make one dataset, each keeps what it says', async (t) => {
    const { send, edges } = await withEvents(t)
    const other = { namespace: 'nightly', name: 'etl.other' }
    await send(
      eventAt(0, { job: jobOf(entries(into('x', 'a', 'b'))) }),
      eventAt(1, { job: { ...other, facets: entries(into('x', 'b', 'c')) } }),
      eventAt(2, { job: { ...other, facets: entries(into('x', 'c')) } })
    )
    t.strictSame(await edges(), ['a -> x', 'b -> x', 'c -> x'])
    await send(eventAt(3, { job: jobOf(entries()) }))
    t.strictSame(await edges(), ['c -> x'])
  })
})

t.test('the facet lineage and other jobs', async (t) => {
  const own = { type: 'JOB' }
  const other = { ...otherJob, type: 'JOB' }
  const at = (name: string): JsonObject => ({ ...data(name), type: 'DATASET' })
  const into = (target: JsonObject, ...inputs: JsonObject[]): JsonObject => ({ ...target, inputs })
  const entries = (...list: JsonObject[]): JsonObject => jobOf({ lineage: facet({ entries: list }) })
  const edgesAfter = async (t: Parameters<typeof withServer>[0], ...events: JsonObject[]) => {
    const { send, edges } = await withEvents(t)
    await send(...events)
    return edges()
  }
  const ran = (job: JsonObject, inputs: string[], outputs: string[], seconds = 0): JsonObject =>
    eventAt(seconds, {
      eventType: 'COMPLETE',
      run: run(),
      job,
      inputs: inputs.map((each) => data(each)),
      outputs: outputs.map((each) => data(each))
    })

  await t.test('an output that is made from another job is written by both', async (t) => {
    t.strictSame(await edgesAfter(t, ran(entries(into(at('x'), other)), ['a'], ['x'])), [
      'a -> job',
      'job -> x',
      'other -> x'
    ])
  })
  await t.test('what another job reads, and the job it follows', async (t) => {
    t.strictSame(
      await edgesAfter(t, ran(entries(into(other, at('a'), own), into(own, at('b'))), ['b'], ['x'])),
      ['a -> other', 'b -> job', 'job -> other', 'job -> x']
    )
  })
  await t.test('a column that the job itself makes takes no output from it', async (t) => {
    const generated = {
      ...at('x'),
      inputs: [],
      fields: { total: { inputs: [{ ...own, transformations: [{ type: 'INDIRECT' }] }] } }
    }
    t.strictSame(await edgesAfter(t, ran(entries(generated), [], ['x'])), ['job -> x'])
  })
  await t.test('a column whose input column is unknown gets an edge from the dataset', async (t) => {
    const partly = { ...at('x'), fields: { region: { inputs: [at('a')] } } }
    t.strictSame(await edgesAfter(t, ran(entries(partly), ['a'], ['x'])), ['a -> job', 'a -> x', 'job -> x'])
  })
  await t.test('a column among the inputs of a dataset leads to each of its columns', async (t) => {
    const joined = {
      ...at('x'),
      inputs: [{ ...at('a'), field: 'id' }],
      fields: { region: { inputs: [at('b')] } }
    }
    t.strictSame(await edgesAfter(t, ran(entries(joined), ['a', 'b'], ['x'])), [
      'a -> job',
      'a -> x',
      'a#id -> x#[rows]',
      'b -> job',
      'b -> x',
      'job -> x',
      'x#[rows] -> x#region'
    ])
  })
  await t.test('an entry with nothing in it says nothing', async (t) => {
    t.strictSame(await edgesAfter(t, ran(entries(at('x')), ['a'], ['x'])), ['a -> job', 'job -> x'])
  })
  await t.test('an empty list of inputs says that there are none', async (t) => {
    t.strictSame(await edgesAfter(t, ran(entries(into(at('x'))), ['a'], ['x', 'y'])), [
      'a -> job',
      'job -> y'
    ])
  })
  await t.test('columnLineage counts for no output of an event that has the facet', async (t) => {
    const columnLineage = facet({ fields: { p: { inputFields: [{ ...data('a'), field: 'q' }] } } })
    const event = eventAt(0, {
      eventType: 'COMPLETE',
      run: run(),
      job: entries(into(at('x'), at('a'))),
      inputs: [data('a')],
      outputs: [data('x'), data('y', { columnLineage })]
    })
    t.strictSame(await edgesAfter(t, event), ['a -> x', 'job -> x', 'job -> y'])
  })
  await t.test('on an output of a run it takes precedence over columnLineage too', async (t) => {
    const facets = {
      lineage: facet({ inputs: [at('a')] }),
      columnLineage: facet({ fields: { p: { inputFields: [{ ...data('b'), field: 'q' }] } } })
    }
    const event = eventAt(0, {
      eventType: 'COMPLETE',
      run: run(),
      job: jobOf(),
      inputs: [data('a'), data('b')],
      outputs: [data('x', facets)]
    })
    t.strictSame(await edgesAfter(t, event), ['a -> job', 'a -> x', 'b -> job', 'job -> x'])
  })
  await t.test('a newer job event removes what an older one declared about other datasets', async (t) => {
    const { send, edges } = await withEvents(t)
    const declared = (seconds: number, ...list: JsonObject[]): JsonObject =>
      eventAt(seconds, { job: entries(...list) })
    await send(declared(0, into(other, at('a')), into(at('x'), other)), declared(2, into(other, at('b'))))
    t.strictSame(await edges(), ['b -> other'])
    await send(declared(1, into(other, at('late'))))
    t.strictSame(await edges(), ['b -> other'], 'an older event that comes late changes nothing')
    await send(declared(3))
    t.strictSame(await edges(), [])
  })
  await t.test(
    'a dataset event names the job that makes the dataset, until a newer one does not',
    async (t) => {
      const { send, edges } = await withEvents(t)
      const made = (seconds: number, ...inputs: JsonObject[]): JsonObject =>
        eventAt(seconds, { dataset: data('view', { lineage: facet({ inputs }) }) })
      await send(made(0, other, at('a')))
      t.strictSame(await edges(), ['a -> view', 'other -> view'])
      await send(made(1, at('a')))
      t.strictSame(await edges(), ['a -> view'])
    }
  )
})

t.test('what is declared', async (t) => {
  await t.test(
    'by a job event replaces what an older one declared, and nothing that runs have shown',
    async (t) => {
      const { send, edges } = await withEvents(t)
      await send(
        eventAt(0, { eventType: 'COMPLETE', run: run(), job: jobOf(), inputs: [data('seen')] }),
        eventAt(1, { job: jobOf(), inputs: [data('a')], outputs: [data('b')] }),
        eventAt(3, { job: jobOf(), inputs: [data('c')], outputs: [data('b')] }),
        eventAt(2, { job: jobOf(), inputs: [data('late')], outputs: [] })
      )
      t.strictSame(await edges(), ['c -> job', 'job -> b', 'seen -> job'])
    }
  )

  await t.test('by a dataset event needs no job, and is replaced by the next one', async (t) => {
    const { send, edges } = await withEvents(t)
    const from = (...names: string[]) => ({
      lineage: facet({ inputs: names.map((name) => ({ ...data(name), type: 'DATASET' })) })
    })
    await send(eventAt(0, { dataset: data('view', from('a', 'b')) }))
    t.strictSame(await edges(), ['a -> view', 'b -> view'])
    await send(eventAt(1, { dataset: data('view', from('b')) }))
    t.strictSame(await edges(), ['b -> view'])
    await send(eventAt(2, { dataset: data('view', from()) }))
    t.strictSame(await edges(), [], 'an empty list says that there is none')
  })

  await t.test('stays when a later event of the job or the dataset does not speak of it', async (t) => {
    const { send, edges } = await withEvents(t)
    const documentation = facet({ description: 'what it is for' })
    await send(
      eventAt(0, { job: jobOf(), inputs: [data('a')], outputs: [data('b')] }),
      eventAt(1, { job: jobOf({ documentation }) }),
      eventAt(0, {
        dataset: data('view', { lineage: facet({ inputs: [{ ...data('b'), type: 'DATASET' }] }) })
      }),
      eventAt(1, { dataset: data('view', { documentation }) })
    )
    t.strictSame(await edges(), ['a -> job', 'b -> view', 'job -> b'])
  })

  await t.test('by columnLineage includes datasets that only decide which rows there are', async (t) => {
    const { send, edges } = await withEvents(t)
    const columnLineage = facet({
      fields: { total: { inputFields: [{ ...data('orders'), field: 'amount' }] } },
      dataset: [
        { ...data('customers'), field: 'id', transformations: [{ type: 'INDIRECT', subtype: 'JOIN' }] }
      ]
    })
    await send(eventAt(0, { dataset: data('view', { columnLineage }) }))
    t.strictSame(await edges(), [
      'customers -> view',
      'customers#id -> view#[rows]',
      'orders -> view',
      'orders#amount -> view#total',
      'view#[rows] -> view#total'
    ])
  })

  await t.test('ends with a deleted facet, and so do description, owners and tags', async (t) => {
    const { server, send, edges } = await withEvents(t)
    const said = {
      documentation: facet({ description: 'of events' }),
      ownership: facet({ owners: [{ name: 'ann' }] }),
      tags: facet({ tags: [{ key: 'pii' }] })
    }
    const columnLineage = facet({ fields: { x: { inputFields: [{ ...data('a'), field: 'y' }] } } })
    const texts = async (): Promise<number> => {
      const rows = await query<{ count: number }>(
        server.db,
        String.raw`select count(*)::int as count from aspect where value::text ~ 'of events|corpuser:ann\M|tag:pii\M'`
      )
      return rows[0]?.count ?? -1
    }
    const gone = (facets: JsonObject): JsonObject =>
      Object.fromEntries(Object.keys(facets).map((name) => [name, facet({ _deleted: true })]))
    const dataset = (facets: JsonObject): JsonObject => ({ dataset: data('view', facets) })
    await send(eventAt(0, dataset({ ...said, columnLineage })), eventAt(0, { job: jobOf(said) }))
    t.equal(await texts(), 6)
    t.strictSame(await edges(), ['a -> view', 'a#y -> view#x'])
    await send(
      eventAt(2, dataset(gone({ ...said, columnLineage }))),
      eventAt(2, { job: jobOf(gone(said)) }),
      eventAt(1, dataset({ ...said, columnLineage }))
    )
    t.equal(await texts(), 0)
    t.strictSame(await edges(), [])
  })
})

t.test('names', async (t) => {
  await t.test(
    'a path that is a table is that table, also for producers that know the path only',
    async (t) => {
      const { send, edges } = await withEvents(t)
      await send(
        eventAt(0, { eventType: 'COMPLETE', run: run(), job: jobOf(), inputs: [file('sales')] }),
        eventAt(1, {
          eventType: 'COMPLETE',
          run: run(),
          job: { ...jobOf(), name: 'etl.write' },
          outputs: [file('sales', tableAt('shop.sales'))]
        }),
        eventAt(2, { eventType: 'COMPLETE', run: run(), job: jobOf(), inputs: [file('sales')] })
      )
      t.strictSame(await edges(), ['job -> shop.sales', 'shop.sales -> job'])
    }
  )

  await t.test('a renamed dataset keeps its edges', async (t) => {
    const { send, edges } = await withEvents(t)
    await send(
      eventAt(0, { eventType: 'COMPLETE', run: run(), job: jobOf(), outputs: [data('before')] }),
      eventAt(1, {
        dataset: data('after', {
          lifecycleStateChange: facet({ lifecycleStateChange: 'RENAME', previousIdentifier: data('before') })
        })
      })
    )
    t.strictSame(await edges(), ['job -> after'])
  })

  const renamed = (from: string, to: string): JsonObject => ({
    dataset: data(to, {
      lifecycleStateChange: facet({ lifecycleStateChange: 'RENAME', previousIdentifier: data(from) })
    })
  })
  const described = (name: string, description: string): JsonObject => ({
    dataset: data(name, { documentation: facet({ description }) })
  })
  const descriptions = async (server: TestServer): Promise<string[]> =>
    (
      await query<{ urn: string; text: string }>(
        server.db,
        `
        select urn, value ->> 'description' as text
        from entity
        join aspect on entity_id = entity.id
        where aspect_name = 'datasetProperties' and value ->> 'description' is not null and not is_removed`
      )
    )
      .map(({ urn, text }) => `${short(urn)}: ${text}`)
      .sort()
  const swap = [
    eventAt(0, { eventType: 'COMPLETE', run: run(), job: jobOf(), inputs: [data('t')] }),
    eventAt(0, described('t', 'first')),
    eventAt(1, described('t_new', 'second')),
    eventAt(2, {
      eventType: 'COMPLETE',
      run: run('2'),
      job: { ...jobOf(), name: 'etl.build' },
      outputs: [data('t_new')]
    }),
    eventAt(3, renamed('t', 't_old')),
    eventAt(4, renamed('t_new', 't'))
  ]
  const resolve = async (server: TestServer, name: string): Promise<string> => {
    const url = `/openlineage/resolve?namespace=${encodeURIComponent('postgres://db:5432')}&name=${name}`
    return short((await server.rest({ url })).body.urn)
  }

  await t.test(
    'tables that are swapped: the name is the new table, the old one keeps its facts',
    async (t) => {
      for (const groups of [swap.map((event) => [event]), [swap], [swap.slice(0, 5), swap.slice(5)]]) {
        const { server, send, edges } = await withEvents(t)
        for (const group of groups)
          await ingestEvents(
            server.db,
            group.map((event) => readEvent(event)),
            { actor: somebody, requestId: null }
          )
        t.strictSame(await edges(), ['job -> t', 't -> job'])
        t.strictSame(await descriptions(server), ['t: second', 't_old: first'])
        t.strictSame(
          [await resolve(server, 't'), await resolve(server, 't_new'), await resolve(server, 't_old')],
          ['t', 't', 't_old']
        )
        await send(eventAt(5, described('t', 'third')))
        t.strictSame(await descriptions(server), ['t: third', 't_old: first'])
      }
    }
  )

  await t.test('a dataset that is renamed and gets its name back keeps everything', async (t) => {
    const { server, send, edges } = await withEvents(t)
    await send(
      eventAt(0, { eventType: 'COMPLETE', run: run(), job: jobOf(), outputs: [data('a')] }),
      eventAt(0, described('a', 'kept')),
      eventAt(1, renamed('a', 'b'))
    )
    t.strictSame([await edges(), await descriptions(server)], [['job -> b'], ['b: kept']])
    await send(eventAt(2, renamed('b', 'a')))
    t.strictSame([await edges(), await descriptions(server)], [['job -> a'], ['a: kept']])
    t.strictSame([await resolve(server, 'a'), await resolve(server, 'b')], ['a', 'a'])
  })

  await t.test('a table created again under a renamed name is a separate dataset', async (t) => {
    const { server, send } = await withEvents(t)
    const made = data('a', {
      lifecycleStateChange: facet({ lifecycleStateChange: 'CREATE' }),
      documentation: facet({ description: 'second' })
    })
    await send(eventAt(0, described('a', 'first')), eventAt(1, renamed('a', 'b')))
    await send(eventAt(2, { dataset: made }))
    t.strictSame(await descriptions(server), ['a: second', 'b: first'])
    t.equal(await resolve(server, 'a'), 'a')
  })

  await t.test('a path that is a table stays that table when it is made again', async (t) => {
    const { send, edges } = await withEvents(t)
    const made = file('sales', { lifecycleStateChange: facet({ lifecycleStateChange: 'CREATE' }) })
    await send(
      eventAt(0, { dataset: file('sales', tableAt('shop.sales')) }),
      eventAt(1, { eventType: 'COMPLETE', run: run(), job: jobOf(), outputs: [made] })
    )
    t.strictSame(await edges(), ['job -> shop.sales'])
  })

  await t.test('the content of a path follows it from table to table by the time of events', async (t) => {
    const events: JsonObject[] = [
      eventAt(1, { eventType: 'COMPLETE', run: run(), job: jobOf(), outputs: [file('p')] }),
      eventAt(2, { eventType: 'COMPLETE', run: run(), job: otherJob, outputs: [file('p', tableAt('t1'))] }),
      eventAt(3, { dataset: file('p', { documentation: facet({ description: 'of the path' }) }) }),
      eventAt(4, { eventType: 'COMPLETE', run: run(), job: jobOf(), inputs: [file('p', tableAt('t2'))] })
    ]
    const expected = ['job -> t2', 'other -> t1', 't2 -> job']
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [1, 3, 0, 2]
    ]) {
      const { server, send, edges } = await withEvents(t)
      await send(...order.map((index) => events[index] ?? {}))
      t.strictSame(await edges(), expected, `in the order ${order.join()}`)
      const descriptionOf = async (name: string): Promise<unknown> =>
        (
          await server.rest({
            url: `/openapi/v3/entity/dataset/${encodeURIComponent(dataset(name, 'hive'))}/datasetProperties`
          })
        ).body?.value?.description
      t.equal(await descriptionOf('t2'), 'of the path')
      t.equal(await descriptionOf('t1'), undefined)
    }
  })

  await t.test(
    'a dropped dataset that a run writes later is there again, whichever event comes first',
    async (t) => {
      const { server, send } = await withEvents(t)
      const drop = (seconds: number, name: string): JsonObject =>
        eventAt(seconds, {
          dataset: data(name, { lifecycleStateChange: facet({ lifecycleStateChange: 'DROP' }) })
        })
      const write = (seconds: number, name: string): JsonObject =>
        eventAt(seconds, { eventType: 'COMPLETE', run: run(), job: jobOf(), outputs: [data(name)] })
      const read = (seconds: number, name: string): JsonObject =>
        eventAt(seconds, { eventType: 'COMPLETE', run: run(), job: jobOf(), inputs: [data(name)] })
      const isThere = async (name: string, platform?: string): Promise<boolean> => {
        const [row] = await query<{ isRemoved: boolean }>(
          server.db,
          `select is_removed as "isRemoved" from entity where urn = ?`,
          [dataset(name, platform)]
        )
        return row?.isRemoved === false
      }
      await send(write(1, 'w'), drop(5, 'w'))
      t.notOk(await isThere('w'))
      await send(write(4, 'w'), read(7, 'w'))
      t.notOk(await isThere('w'), 'written before it was dropped, and only read since')
      await send(write(6, 'w'))
      t.ok(await isThere('w'))
      await send(drop(5.5, 'w'))
      t.ok(await isThere('w'), 'dropped before it was written')
      await send(drop(8, 'w'), write(7, 'w'))
      t.notOk(await isThere('w'))

      const describe = (seconds: number, description: string): JsonObject =>
        eventAt(seconds, { dataset: data('w', { documentation: facet({ description }) }) })
      await send(describe(7.5, 'of old'))
      t.notOk(await isThere('w'), 'described before it was dropped')
      await server.rest({
        method: 'POST',
        url: '/aspects?action=ingestProposal',
        body: {
          proposal: {
            entityUrn: dataset('w'),
            entityType: 'dataset',
            changeType: 'UPSERT',
            aspectName: 'status',
            aspect: { contentType: 'application/json', value: JSON.stringify({ removed: false }) }
          }
        }
      })
      t.ok(await isThere('w'))
      await send(describe(7.6, 'as old'))
      t.ok(await isThere('w'), 'brought back by somebody else')

      await send(write(6, 'late'), drop(5, 'late'))
      t.ok(await isThere('late'), 'the drop comes after the later write')

      const made = { ...data('made'), type: 'DATASET', inputs: [{ ...data('a'), type: 'DATASET' }] }
      const job = jobOf({ lineage: facet({ entries: [made] }) })
      const ran = eventAt(6, { eventType: 'COMPLETE', run: run(), job, outputs: [] })
      await send(ran, drop(5, 'made'))
      t.ok(await isThere('made'), 'written according to the facet lineage of the job alone')

      await send(
        eventAt(1, { dataset: file('dir', tableAt('fact')) }),
        eventAt(6, { eventType: 'COMPLETE', run: run(), job: jobOf(), outputs: [file('dir')] }),
        eventAt(5, {
          dataset: file('dir', {
            ...tableAt('fact'),
            lifecycleStateChange: facet({ lifecycleStateChange: 'DROP' })
          })
        })
      )
      t.ok(await isThere('fact', 'hive'), 'written under its path alone')
    }
  )

  await t.test('a dropped dataset is soft-deleted until it is made again', async (t) => {
    const { server, send } = await withEvents(t)
    const change = (state: string) =>
      data('a', { lifecycleStateChange: facet({ lifecycleStateChange: state }) })
    const isRemoved = async () =>
      (
        await query<{ isRemoved: boolean }>(
          server.db,
          `select is_removed as "isRemoved" from entity where urn = ?`,
          [dataset('a')]
        )
      )[0]?.isRemoved
    await send(eventAt(0, { dataset: change('DROP') }))
    t.equal(await isRemoved(), true)
    await send(eventAt(1, { dataset: change('CREATE') }))
    t.equal(await isRemoved(), false)
  })

  const resolved: readonly (readonly [namespace: string, name: string, urn: string])[] = [
    ['postgres://db:5432', 'shop.public.orders', dataset('shop.public.orders')],
    ['postgresql://db', 'shop.public.orders', dataset('shop.public.orders')],
    ['bigquery', 'p.d.t', dataset('p.d.t', 'bigquery')],
    ['snowflake://org-account', 'DB.S.T', dataset('DB.S.T', 'snowflake')],
    ['sqlserver://h:1433', 'd.s.t', dataset('d.s.t', 'mssql')],
    ['awsathena://athena.eu-central-1.amazonaws.com', 'c.d.t', dataset('c.d.t', 'athena')],
    ['unitycatalog://host', 'c.s.t', dataset('c.s.t', 'databricks')],
    ['s3a://lake', '/sales/2026/', dataset('lake/sales/2026', 's3')],
    ['gs://lake', 'sales', dataset('lake/sales', 'gcs')],
    ['abfss://box@account.dfs.core.windows.net', '/a', dataset('box@account.dfs.core.windows.net/a', 'abs')],
    ['hdfs://nn:8020', '/user/a', dataset('/user/a', 'hdfs')],
    ['file', '/tmp/a/', dataset('/tmp/a', 'file')],
    ['arn:aws:glue:eu-central-1:12', 'table/shop/orders', dataset('shop.orders', 'glue')],
    ['kafka://b1:9092', 'topic', dataset('topic', 'kafka')],
    ['azurecosmos://h.documents.azure.com/dbs/crm', 'colls/orders', dataset('crm.orders', 'cosmosdb')],
    ['azurecosmos://h.documents.azure.com', 'colls/orders', dataset('colls/orders', 'cosmosdb')],
    ['old', 's3://lake/sales', dataset('lake/sales', 's3')],
    ['what is this?', 'x', dataset('what is this?/x', 'unknown')],
    ['postgres://db', 'odd (name', dataset('odd %28name')]
  ]
  await t.test('GET /openlineage/resolve shows what a name becomes, and by which rule', async (t) => {
    const server = await withServer(t)
    for (const [namespace, name, urn] of resolved) {
      const answer = await server.rest({
        url: `/openlineage/resolve?namespace=${encodeURIComponent(namespace)}&name=${encodeURIComponent(name)}`
      })
      t.match(answer, { status: 200, body: { urn, rule: String } }, `${namespace} ${name}`)
    }
    t.match(await server.rest({ url: '/openlineage/resolve?namespace=x' }), {
      status: 400,
      body: { field: 'name' }
    })
  })
})

t.test('the state of a job that writes another path each day is bounded, and every edge stays', async (t) => {
  const { server, edges } = await withEvents(t)
  const days = Array.from({ length: 1_400 }, (_, day) =>
    readEvent(
      eventAt((day - 1_400) * 86_400, {
        eventType: 'COMPLETE',
        run: run(`day-${day}`),
        job: jobOf(),
        inputs: [data('a')],
        outputs: [file(`sales/day=${day}`)]
      })
    )
  )
  for (let at = 0; at < days.length; at += 200)
    await ingestEvents(server.db, days.slice(at, at + 200), { actor: somebody, requestId: null })
  const [row] = await query<{ links: number; asserted: number }>(
    server.db,
    `
    select (select count(*) from jsonb_object_keys(state -> 'seen'))::int as links,
      (select count(*) from jsonb_object_keys(asserted -> urn -> 'dataJobInputOutput'))::int as asserted
    from openlineage_state where urn = ?`,
    [jobUrn]
  )
  t.ok(row && row.links <= 1_250 && row.links >= 1_000, `${row?.links} links`)
  t.equal(row?.asserted, row?.links)
  t.equal((await edges()).length, 1_401)
})

t.test('jobs of one name under two orchestrators', async (t) => {
  const jobsAfter = async (...events: JsonObject[]): Promise<string[]> => {
    const { server, send } = await withEvents(t)
    await send(...events)
    const rows = await query<{ urn: string }>(
      server.db,
      "select urn from entity where entity_type = 'dataJob' and is_present order by urn"
    )
    return rows.map(({ urn }) => urn)
  }
  const ran = (seconds: number, facets: JsonObject, runFacets: JsonObject = {}): JsonObject =>
    eventAt(seconds, { eventType: 'RUNNING', run: { ...run(), facets: runFacets }, job: jobOf(facets) })
  const typed = (integration: string): JsonObject => ({
    jobType: facet({ integration, processingType: 'BATCH' })
  })
  t.strictSame(
    await jobsAfter(ran(0, typed('AIRFLOW')), ran(1, typed('DAGSTER'))),
    [jobUrn.replace('spark', 'airflow'), jobUrn.replace('spark', 'dagster')],
    'are two, for the orchestrator is in the URN'
  )
  t.strictSame(
    await jobsAfter(
      ran(0, typed('SPARK')),
      ran(1, {}, { processing_engine: facet({ name: 'Spark', version: '3' }) }),
      ran(2, {})
    ),
    [jobUrn],
    'facet, engine and producer of one client name the same'
  )
})

t.test('after a permanent deletion', async (t) => {
  const { server, send, edges } = await withEvents(t)
  const columnLineage = facet({ fields: { total: { inputFields: [{ ...data('a'), field: 'amount' }] } } })
  const described = { documentation: facet({ description: 'a table' }) }
  const ran = (seconds: number, facets: JsonObject): JsonObject =>
    eventAt(seconds, {
      eventType: 'COMPLETE',
      run: run(),
      job: jobOf(),
      inputs: [data('a'), data('c')],
      outputs: [data('b', facets)]
    })
  const remove = async (urn: string): Promise<void> => {
    const { status } = await server.rest({ method: 'POST', url: '/entities?action=delete', body: { urn } })
    t.equal(status, 200)
  }
  const stateCount = async (urn: string): Promise<number> =>
    (await query(server.db, 'select from openlineage_state where urn = ?', [urn])).length
  await send(ran(0, { ...described, columnLineage }), ran(10, {}))

  await t.test('nothing of a dataset is left, and other events bring nothing of it back', async (t) => {
    await remove(dataset('b'))
    t.equal(await stateCount(dataset('b')), 0)
    await send(eventAt(20, { eventType: 'COMPLETE', run: run(), job: jobOf(), inputs: [data('a')] }))
    t.strictSame(await edges(), ['a -> job', 'c -> job'])
  })
  await t.test('a later event starts from nothing, also one that is dated earlier than others', async (t) => {
    await send(ran(5, described))
    t.strictSame(await edges(), ['a -> job', 'c -> job', 'job -> b'], 'without the columns of before')
    const { body } = await server.rest({
      url: `/openapi/v3/entity/dataset/${encodeURIComponent(dataset('b'))}/datasetProperties`
    })
    t.equal(body.value.description, 'a table')
  })
  await t.test('nothing of a job is left either, and other events bring nothing of it back', async (t) => {
    await remove(jobUrn)
    t.equal(await stateCount(jobUrn), 0)
    t.strictSame(await edges(), [])
    await send(eventAt(30, { eventType: 'COMPLETE', run: run(), job: jobOf(), inputs: [data('a')] }))
    t.strictSame(await edges(), ['a -> job'])
  })
})

t.test('odd events are taken', async (t) => {
  const { server, send, edges } = await withEvents(t)
  const odd: JsonObject[] = [
    {
      ...eventAt(0, { job: jobOf(), outputs: [data('x', { columnLineage: facet({}) })] }),
      eventTime: '2026-01-01T00:00:00'
    },
    {
      ...eventAt(0, {
        job: jobOf(),
        outputs: [data('x', { columnLineage: facet({ fields: {} }), schema: facet({}) })]
      }),
      eventTime: '2026-01-01T00:00:00.123456789Z'
    },
    { ...eventAt(0, { job: jobOf() }), eventTime: '2026-01-01 00:00:00+0200' },
    {
      eventTime: '2026-01-01T00:00:00Z',
      run: { runId: 'no uuid, (at all)' },
      job: { namespace: 'a:b', name: 'without-a-dot' }
    },
    eventAt(1, {
      eventType: 'complete',
      run: run(),
      job: { namespace: 'a,b (c)', name: 'x(y,z' },
      inputs: [data('größe, (sum) 表')],
      outputs: [
        data('out', {
          columnLineage: facet({
            fields: { 'sum(word_count)': { inputFields: [{ ...data('in'), field: 'a.b,(c' }] } }
          }),
          unheardOf: facet({ deep: { er: [1, 2] } }),
          documentation: { ...facet({ description: 'gone' }), _deleted: true }
        })
      ]
    }),
    eventAt(2, {
      eventType: 'COMPLETE',
      run: run(),
      job: jobOf(),
      inputs: [data('same')],
      outputs: [data('same')]
    })
  ]
  for (const event of odd) await send(event)
  const found = await edges()
  t.ok(found.some((edge) => edge.endsWith('#sum(word_count)')))
  t.ok(found.includes('same -> job') && found.includes('job -> same'))
  const [row] = await query<{ text: string }>(
    server.db,
    `select event::text as text from openlineage_event where event::text like '%unheardOf%'`
  )
  t.match(row?.text, /"deep":\{"er":\[1,2\]\}/, 'a facet that is not known is kept')
})

t.test(
  'an owner, a tag, a parent or a symlink that cannot be a URN is left out, and the rest counts',
  async (t) => {
    const { server, send, edges } = await withEvents(t)
    const symlinks = facet({
      identifiers: [
        { ...file('x'), type: 'TABLE' },
        { namespace: 'hive://meta', type: 'TABLE' },
        { namespace: 'hive://meta', name: ' ', type: 'TABLE' }
      ]
    })
    const long = { symlinks: facet({ identifiers: [{ ...data('y'.repeat(3_000)), type: 'TABLE' }] }) }
    await send(
      eventAt(0, {
        eventType: 'COMPLETE',
        run: { ...run('1'), facets: { parent: facet({ run: { runId: 'a\u0007b' } }) } },
        job: jobOf(),
        inputs: [file('long', long)],
        outputs: [
          data('a', {
            ownership: facet({
              owners: [
                { name: 'team: data' },
                { name: 'a\u0007b' },
                { name: ' ann ' },
                { name: 'z'.repeat(3_000) },
                { name: 'user:' }
              ]
            }),
            tags: facet({
              tags: [{ key: 'pii ' }, { key: 'a\u0007b' }, { key: ' ' }, { key: ' tier', value: ' 1 ' }]
            })
          }),
          file('sales', { symlinks })
        ]
      }),
      eventAt(1, {
        eventType: 'START',
        run: { ...run('2'), facets: { parent: facet({ run: { runId: ' 1' } }) } },
        job: jobOf()
      })
    )
    t.strictSame(await edges(), ['job -> a', 'job -> x', 'lake/long -> job'])
    const parts = await query<{ part: string }>(
      server.db,
      `
    select each ->> 'owner' as part
    from aspect, jsonb_array_elements(value::jsonb -> 'owners') as each
    where aspect_name = 'ownership'
    union all
    select each ->> 'tag'
    from aspect, jsonb_array_elements(value::jsonb -> 'tags') as each
    where aspect_name = 'globalTags'
    union all
    select value::jsonb ->> 'parentInstance'
    from aspect
    where aspect_name = 'dataProcessInstanceRelationships' and value::jsonb ->> 'parentInstance' is not null
    order by part`
    )
    t.strictSame(
      parts.map(({ part }) => part),
      [
        'urn:li:corpGroup:data',
        'urn:li:corpuser:ann',
        'urn:li:corpuser:user:',
        'urn:li:dataProcessInstance:1',
        'urn:li:tag:pii',
        'urn:li:tag:tier:1'
      ]
    )
  }
)

t.test('events that name the same new things at once all succeed', async (t) => {
  const { server, edges } = await withEvents(t)
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      server.rest({
        method: 'POST',
        url: '/api/v1/lineage',
        body: eventAt(index, {
          eventType: 'RUNNING',
          run: run(),
          job: jobOf(),
          inputs: [data('a')],
          outputs: [data(`out${index % 3}`)]
        })
      })
    )
  )
  t.strictSame([...new Set(answers.map(({ status }) => status))], [201])
  t.strictSame(await edges(), ['a -> job', 'job -> out0', 'job -> out1', 'job -> out2'])
})

t.test(
  'events that several processes commit at once all succeed and leave what they leave one by one',
  async (t) => {
    const processCount = 8
    const events = Array.from({ length: 3 * processCount }, (_, index) =>
      eventAt(index, {
        eventType: 'RUNNING',
        run: run(`run${index % 4}`),
        job: { namespace: 'nightly', name: `etl.job${index % 3}` },
        inputs: [file(`p${index % 2}`), data(`in${(index + 1) % 2}`)],
        outputs: [file(`p${(index + 1) % 2}`, index % 5 === 4 ? tableAt(`shop.t${(index + 1) % 2}`) : {})]
      })
    )
    const call = { actor: somebody, requestId: null }
    const together = await withEvents(t)
    // each process has a connection: a commit that waits for another's must not wait for a connection as well
    await Promise.all(
      Array.from({ length: processCount }, async (_, process) => {
        for (const event of events.filter((_, index) => index % processCount === process))
          await ingestEvents(together.server.db, [readEvent(event)], call)
      })
    )
    const apart = await withEvents(t)
    await apart.send(...events)
    t.strictSame(await together.edges(), await apart.edges())
  }
)

t.test('events and the states of runs are kept for 30 days, the lineage stays', async (t) => {
  const { server, send, edges } = await withEvents(t)
  const both = { run: run(), job: jobOf(), inputs: [data('a')], outputs: [data('b')] }
  await send(eventAt(0, { eventType: 'START', ...both }), eventAt(1, { eventType: 'COMPLETE', ...both }))
  const before = await edges()
  t.match(await prune(server.db), { openLineageEvents: 0, openLineageRuns: 0 })
  await query(server.db, "update openlineage_event set received_at = received_at - interval '31 days'")
  await query(server.db, "update openlineage_state set changed_at = changed_at - interval '31 days'")
  t.match(await prune(server.db), { openLineageEvents: 2, openLineageRuns: 1 })
  t.same(await edges(), before)
  await send(eventAt(2, { eventType: 'START', ...both, run: run('2') }))
  t.same(await edges(), before, 'the job and its datasets are still known')
})
