/** What runs keep of their own: inputs and outputs, and which columns the newest of them state. */
import t from 'tap'
import { query } from '../shared/db/query.ts'
import type { JsonObject, JsonValue } from '../shared/model/changes.ts'
import { limits } from '../shared/limits.ts'
import { eventAt, facet, timeAt } from './support/openlineage.ts'
import { withServer, type TestServer } from './support/server.ts'

const data = (name: string, facets: JsonObject = {}): JsonObject => ({
  namespace: 'postgres://db:5432',
  name,
  facets
})
const at = (name: string): JsonObject => ({ ...data(name), type: 'DATASET' })
const into = (name: string, ...from: string[]): JsonObject => ({ ...at(name), inputs: from.map(at) })
const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:postgres,${name},PROD)`
const column = (name: string): string => {
  const [table = '', field = ''] = name.split('#')
  return `urn:li:schemaField:(${dataset(table)},${field})`
}
const jobUrn = (name = 'load'): string => `urn:li:dataJob:(urn:li:dataFlow:(spark,etl,nightly),etl.${name})`
const runUrn = (id: string): string => `urn:li:dataProcessInstance:${id}`

type Ran = {
  job?: string
  jobFacets?: JsonObject
  inputs?: JsonObject[]
  outputs?: JsonObject[]
  type?: string
}
const ran = (seconds: number, runId: string, { job = 'load', jobFacets = {}, ...rest }: Ran): JsonObject => {
  const { inputs = [], outputs = [], type = 'COMPLETE' } = rest
  return eventAt(seconds, {
    eventType: type,
    run: { runId, facets: {} },
    job: { namespace: 'nightly', name: `etl.${job}`, facets: jobFacets },
    inputs,
    outputs
  })
}
const entries = (...list: JsonObject[]): JsonObject => ({ lineage: facet({ entries: list }) })
/** The facet columnLineage: each text is `x from table#column, table#column`. */
const columns = (...texts: string[]): JsonObject => ({
  columnLineage: facet({
    fields: Object.fromEntries(
      texts.map((text) => {
        const [field = '', from = ''] = text.split(' from ')
        const inputFields = from.split(', ').map((each) => {
          const [table = '', name = ''] = each.split('#')
          return { namespace: 'postgres://db:5432', name: table, field: name }
        })
        return [field, { inputFields }]
      })
    )
  })
})

async function withEvents(t: Parameters<typeof withServer>[0]) {
  const server = await withServer(t)
  const send = async (...events: JsonObject[]): Promise<void> => {
    for (const body of events) {
      const { status, text } = await server.rest({ method: 'POST', url: '/api/v1/lineage', body })
      if (status !== 201) throw new Error(text)
    }
  }
  return { server, send }
}

/** The results of a walk, as `degree urn`, in the order of the URNs. */
async function walk(
  server: TestServer,
  urn: string,
  direction: string,
  more: JsonObject = {}
): Promise<string[]> {
  const { body } = await server.graphql(
    'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { searchResults { degree entity { urn } } } }',
    { input: { urn, direction, count: 1_000, ...more } }
  )
  return body.data.scrollAcrossLineage.searchResults
    .map(({ degree, entity }: { degree: number; entity: { urn: string } }) => `${degree} ${entity.urn}`)
    .sort()
}

async function aspect(server: TestServer, type: string, urn: string, name: string): Promise<JsonObject> {
  const { body } = await server.rest({
    url: `/openapi/v3/entity/${type}/${encodeURIComponent(urn)}/${name}`
  })
  return body.value
}

const columnEdges = async (server: TestServer): Promise<string[]> =>
  (
    await query<{ up: string; down: string }>(
      server.db,
      `
      select distinct up.urn as up, down.urn as down
      from statement
      join entity as up on up.id = upstream_id and up.entity_type = 'schemaField'
      join entity as down on down.id = downstream_id`
    )
  )
    .map(({ up, down }) =>
      `${up} -> ${down}`.replaceAll(
        /urn:li:schemaField:\(urn:li:dataset:\([^,]+,(.*?),PROD\),(.*?)\)/g,
        '$1#$2'
      )
    )
    .sort()

t.test('a job whose event has the facet lineage keeps what it writes, without a cross product', async (t) => {
  const { server, send } = await withEvents(t)
  await send(
    ran(0, 'r1', {
      jobFacets: entries(into('c', 'a'), into('d', 'b')),
      inputs: [data('a'), data('b')],
      outputs: [data('c'), data('d')]
    })
  )
  t.strictSame(await walk(server, dataset('c'), 'UPSTREAM'), [`1 ${jobUrn()}`, `1 ${dataset('a')}`])
  t.strictSame(await walk(server, dataset('d'), 'UPSTREAM'), [`1 ${jobUrn()}`, `1 ${dataset('b')}`])
  t.strictSame(await walk(server, dataset('a'), 'DOWNSTREAM'), [`1 ${dataset('c')}`])
  t.match(await aspect(server, 'datajob', jobUrn(), 'dataJobInputOutput'), {
    outputDatasetEdges: [{ destinationUrn: dataset('c') }, { destinationUrn: dataset('d') }]
  })

  await t.test('and what it reads, where each of its outputs is made from it', async (t) => {
    await send(
      ran(0, 'r2', {
        job: 'one',
        jobFacets: entries(into('e', 'a', 'b')),
        inputs: [data('a'), data('b')],
        outputs: [data('e')]
      }),
      ran(0, 'r3', {
        job: 'two',
        jobFacets: entries(into('f', 'a', 'b'), into('g', 'b')),
        inputs: [data('a'), data('b')],
        outputs: [data('f'), data('g')]
      })
    )
    t.strictSame(await walk(server, jobUrn('one'), 'UPSTREAM'), [`1 ${dataset('a')}`, `1 ${dataset('b')}`])
    t.strictSame(await walk(server, jobUrn('two'), 'UPSTREAM'), [`1 ${dataset('b')}`])
    t.strictSame(await walk(server, dataset('g'), 'UPSTREAM'), [`1 ${jobUrn('two')}`, `1 ${dataset('b')}`])
  })

  await t.test('a dataset made from nothing has its job only if the job reads nothing', async (t) => {
    await send(
      ran(0, 'r4', { job: 'make', jobFacets: entries(into('numbers')), outputs: [data('numbers')] }),
      ran(0, 'r5', {
        job: 'mixed',
        jobFacets: entries(into('dates')),
        inputs: [data('a')],
        outputs: [data('dates'), data('copy')]
      })
    )
    t.strictSame(await walk(server, dataset('numbers'), 'UPSTREAM'), [`1 ${jobUrn('make')}`])
    t.strictSame(await walk(server, dataset('dates'), 'UPSTREAM'), [])
    t.strictSame(await walk(server, dataset('copy'), 'UPSTREAM'), [
      `1 ${jobUrn('mixed')}`,
      `2 ${dataset('a')}`
    ])
  })
})

t.test('columns of a job', async (t) => {
  await t.test('are those that the newest run states, in whatever order the events come', async (t) => {
    const first = ran(0, 'r1', {
      outputs: [data('t', columns('x from old#p', 'y from old#r')), data('other', columns('z from old#p'))]
    })
    const second = ran(100, 'r2', { outputs: [data('t', columns('x from new#q'))] })
    const silent = ran(200, 'r3', { outputs: [data('t')] })
    for (const order of [
      [first, second, silent],
      [silent, second, first]
    ]) {
      const { server, send } = await withEvents(t)
      await send(...order)
      t.strictSame(await columnEdges(server), ['new#q -> t#x', 'old#p -> other#z'])
    }
  })

  await t.test('add up over the events of one run, and of runs that overlap', async (t) => {
    const { server, send } = await withEvents(t)
    await send(
      ran(0, 'r1', { type: 'RUNNING', outputs: [data('t', columns('x from a#p'))] }),
      ran(2, 'r2', { type: 'RUNNING', outputs: [data('t', columns('x from b#p'))] }),
      ran(5, 'r1', { outputs: [data('t', columns('y from a#q'))] })
    )
    t.strictSame(await columnEdges(server), ['a#p -> t#x', 'a#q -> t#y', 'b#p -> t#x'])
    await send(ran(9, 'r3', { outputs: [data('t', columns('x from a#p'))] }))
    t.strictSame(await columnEdges(server), ['a#p -> t#x'])
  })

  await t.test('of the facet lineage end in the same way, each job for itself', async (t) => {
    const { server, send } = await withEvents(t)
    const made = (from: string): JsonObject => ({
      ...at('t'),
      fields: { x: { inputs: [{ ...at(from), field: 'p' }] } }
    })
    await send(
      ran(0, 'r1', { jobFacets: entries(made('old')) }),
      ran(1, 'r2', { job: 'second', jobFacets: entries(made('kept')) }),
      ran(2, 'r3', { jobFacets: entries(made('new')) })
    )
    t.strictSame(await columnEdges(server), ['kept#p -> t#x', 'new#p -> t#x'])
  })

  await t.test('that a job event declares stay until the next one', async (t) => {
    const { server, send } = await withEvents(t)
    const declared = (seconds: number, from: string): JsonObject =>
      eventAt(seconds, {
        job: { namespace: 'nightly', name: 'etl.load' },
        outputs: [data('t', columns(`x from ${from}#p`))]
      })
    await send(
      declared(0, 'said'),
      ran(5, 'r1', { outputs: [data('t', columns('x from a#p'))] }),
      ran(9, 'r2', { outputs: [data('t', columns('x from b#p'))] })
    )
    t.strictSame(await columnEdges(server), ['b#p -> t#x', 'said#p -> t#x'])
    await send(declared(10, 'b'))
    t.strictSame(await columnEdges(server), ['b#p -> t#x'])
  })

  await t.test('say when they were last used, and count in a window of time', async (t) => {
    const { server, send } = await withEvents(t)
    const outputs = [data('t', columns('x from a#p'))]
    await send(ran(0, 'r1', { outputs }), ran(500, 'r2', { outputs }))
    const lastUsed = async (): Promise<number | null> => {
      const { body } = await server.graphql(
        'query ($up: String!, $down: String!) { lineageEdge(upstreamUrn: $up, downstreamUrn: $down) { lastUsed } }',
        { up: column('a#p'), down: column('t#x') }
      )
      return body.data.lineageEdge.lastUsed
    }
    t.equal(await lastUsed(), Date.parse(timeAt(500)))
    await send(ran(300, 'r0', { outputs }))
    t.equal(await lastUsed(), Date.parse(timeAt(500)), 'a late event is not the last use')
    const { fineGrainedLineages } = await aspect(server, 'datajob', jobUrn(), 'dataJobInputOutput')
    t.strictSame(fineGrainedLineages, [
      {
        upstreamType: 'FIELD_SET',
        upstreams: [column('a#p')],
        downstreamType: 'FIELD',
        downstreams: [column('t#x')],
        transformOperation: 'NONE',
        confidenceScore: 0.5
      }
    ])
  })
})

t.test('a run keeps its own inputs and outputs', async (t) => {
  const { server, send } = await withEvents(t)
  const day = (number: number): JsonObject =>
    ran(number * 100, `day${number}`, {
      inputs: [data(`in/dt=${number}`)],
      outputs: [data(`out/dt=${number}`)]
    })
  await send(
    day(1),
    { ...day(2), outputs: [], eventType: 'START' },
    { ...day(2), eventTime: timeAt(250), inputs: [] },
    day(3)
  )
  const listOf = async (run: string, what: 'Input' | 'Output'): Promise<JsonValue | undefined> =>
    (await aspect(server, 'dataprocessinstance', runUrn(run), `dataProcessInstance${what}`))[
      `${what.toLowerCase()}s`
    ]

  await t.test('whatever the other runs of the job have read and written', async (t) => {
    for (const number of [1, 2, 3]) {
      t.strictSame(await listOf(`day${number}`, 'Input'), [dataset(`in/dt=${number}`)])
      t.strictSame(await listOf(`day${number}`, 'Output'), [dataset(`out/dt=${number}`)])
    }
  })

  await t.test('which can be read from both ends as relationships', async (t) => {
    const related = async (urn: string, direction: string, ...types: string[]): Promise<string[]> => {
      const { body } = await server.graphql(
        `query ($urn: String!, $input: RelationshipsInput!) {
          entity(urn: $urn) { ... on EntityWithRelationships { relationships(input: $input) { relationships { type entity { urn } } } } }
        }`,
        { urn, input: { types, direction, start: 0, count: 10 } }
      )
      return body.data.entity.relationships.relationships.map(
        ({ type, entity }: { type: string; entity: { urn: string } }) => `${type} ${entity.urn}`
      )
    }
    t.strictSame(await related(runUrn('day2'), 'OUTGOING', 'Consumes', 'Produces'), [
      `Consumes ${dataset('in/dt=2')}`,
      `Produces ${dataset('out/dt=2')}`
    ])
    t.strictSame(await related(dataset('out/dt=3'), 'INCOMING', 'Produces'), [
      `Produces ${jobUrn()}`,
      `Produces ${runUrn('day3')}`
    ])
  })

  await t.test('and stays out of the lineage of other assets', async (t) => {
    t.strictSame(
      await walk(server, dataset('out/dt=1'), 'UPSTREAM', {
        orFilters: [{ and: [{ field: 'degree', values: ['1'] }] }]
      }),
      [`1 ${jobUrn()}`]
    )
  })

  await t.test('as far as a run may show, and it says so if there are more', async (t) => {
    const count = limits.runDatasetsMaxCount
    const many = Array.from({ length: count + 1 }, (_, number) =>
      data(`part${String(number).padStart(5, '0')}`)
    )
    await send(ran(0, 'wide', { outputs: many }), ran(0, 'full', { job: 'other', outputs: many.slice(1) }))
    const outputs = await listOf('wide', 'Output')
    t.equal(Array.isArray(outputs) && outputs.length, count)
    const properties = (run: string): Promise<JsonObject> =>
      aspect(server, 'dataprocessinstance', runUrn(run), 'dataProcessInstanceProperties')
    t.match(await properties('wide'), { customProperties: { outputs: `the first ${count}` } })
    t.notOk((await properties('full')).customProperties?.toString())
  })
})
