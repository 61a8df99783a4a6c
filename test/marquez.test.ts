/** Marquez' read API: the same requests about the same events, in its shapes, and our additions. */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createReadGate } from '../shared/catalog/lineage/read-gate.ts'
import { createReadWork } from '../shared/catalog/lineage/read-work.ts'
import { listNamed, listNamespaces, readNamespace } from '../shared/catalog/openlineage/list-named-assets.ts'
import { nodeIdOf, readNodeId } from '../shared/openlineage/node-id.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { addEdge, apply, column, create, dataset, job } from './support/changes.ts'
import { withDatabase } from './support/database.ts'
import { eventAt, facet } from './support/openlineage.ts'
import { withServer } from './support/server.ts'

const db = 'postgres://db:5432'
const ids = {
  orders: `dataset:${db}:shop.public.orders`,
  items: `dataset:${db}:shop.public.items`,
  revenue: `dataset:${db}:shop.public.revenue`,
  report: `dataset:${db}:shop.public.report`,
  load: 'job:nightly:shop.load',
  sum: 'job:nightly:shop.sum'
}

const schema = (...names: string[]): JsonObject => ({
  schema: facet({ fields: names.map((name) => ({ name, type: 'INTEGER', description: `The ${name}` })) })
})
const run = (seconds: number, name: string, inputs: JsonObject[], outputs: JsonObject[]): JsonObject =>
  eventAt(seconds, {
    eventType: 'COMPLETE',
    run: { runId: `c5b1c3a4-0000-7000-8000-00000000000${seconds}` },
    job: { namespace: 'nightly', name },
    inputs,
    outputs
  })
const at = (name: string, facets: JsonObject = {}): JsonObject => ({
  namespace: db,
  name: `shop.public.${name}`,
  facets
})
const columnLineage = {
  columnLineage: facet({
    fields: { sum: { inputFields: [{ namespace: db, name: 'shop.public.revenue', field: 'amount' }] } }
  })
}
const events = [
  run(1, 'shop.load', [at('orders', schema('id')), at('items')], [at('revenue', schema('id', 'amount'))]),
  run(2, 'shop.sum', [at('revenue')], [at('report', { ...schema('sum'), ...columnLineage })])
]

const marked = (name: keyof typeof ids, others: readonly (keyof typeof ids)[], isIn: boolean) =>
  others.map((other) =>
    isIn ? { origin: ids[other], destination: ids[name] } : { origin: ids[name], destination: ids[other] }
  )

t.test('node ids are read whatever colons are in them', (t) => {
  for (const [namespace, name] of [
    ['food', 'public.a'],
    [db, 'db.t'],
    ['arn:aws:glue:eu-west-1:123456789012', 'table/a/b'],
    ['s3://bucket', 'a:b/c'],
    ['bigquery', 'p.d.t']
  ] as const) {
    const { names } = readNodeId(nodeIdOf('dataset', { namespace, name }), ['dataset'])
    t.ok(
      names.some((each) => each.namespace === namespace && each.name === name),
      `${namespace} and ${name} is among the ways to read it`
    )
  }
  t.match(readNodeId(`dataset:${db}:db.t`, ['dataset']).names[0], { namespace: db, name: 'db.t' })
  t.match(readNodeId(`datasetField:${db}:db.t:c`, ['datasetField']).names[0], {
    namespace: db,
    name: 'db.t',
    field: 'c'
  })
  t.end()
})

t.test('listings take turns with other heavy reads', async (t) => {
  const { db: database } = await withDatabase(t)
  const gate = createReadGate({ atOnce: 1 })
  const sources = () => ({ db: database, memory: null, work: createReadWork(gate, 'somebody') })
  const page = { offset: 0, count: 10 }
  for (const [name, list] of [
    ['namespaces', () => listNamespaces(sources(), page)],
    ['a namespace', () => readNamespace(sources(), 'none').catch(() => null)],
    ['datasets', () => listNamed(sources(), 'dataset', 'none', page).catch(() => null)]
  ] as const) {
    const leave = await gate.enter('somebody')
    let isDone = false
    const listed = list().then(() => (isDone = true))
    await sleep(50)
    t.notOk(isDone, `${name} wait`)
    leave()
    t.ok(await listed, `${name} are read when it is their turn`)
  }
})

for (const memory of [true, false])
  t.test(memory ? 'from memory' : 'in SQL', async (t) => {
    const server = await withServer(t, { memory })
    const get = (path: string, token?: string | null) =>
      server.rest({ url: `/api/v1${path}`, ...(token === undefined ? {} : { token }) })
    const lineage = (nodeId: string, more = '') => get(`/lineage?nodeId=${encodeURIComponent(nodeId)}${more}`)
    const nodesOf = (body: { graph: { id: string }[] }): string[] => body.graph.map(({ id }) => id).sort()
    const sent = await server.rest({ method: 'POST', url: '/api/v1/lineage/batch', body: events })
    t.match(sent.body, { status: 'success' })

    await t.test('lineage is a graph of datasets and jobs with their edges', async (t) => {
      const { status, body } = await lineage(ids.revenue)
      t.equal(status, 200)
      t.strictSame(nodesOf(body), Object.values(ids).sort())
      t.match(body, { complete: true, truncatedBy: null, leftOut: 0 })
      const node = (id: string) => body.graph.find((each: { id: string }) => each.id === id)
      t.match(node(ids.revenue), {
        type: 'DATASET',
        inEdges: marked('revenue', ['load'], true),
        outEdges: marked('revenue', ['sum'], false),
        data: {
          id: { namespace: db, name: 'shop.public.revenue' },
          type: 'DB_TABLE',
          name: 'shop.public.revenue',
          physicalName: 'shop.public.revenue',
          namespace: db,
          sourceName: db,
          fields: [
            { name: 'id', type: 'INTEGER', tags: { length: 0 }, description: 'The id' },
            { name: 'amount', type: 'INTEGER', tags: { length: 0 }, description: 'The amount' }
          ],
          tags: { length: 0 },
          facets: {},
          deleted: false
        }
      })
      const { inEdges, outEdges, type, data } = node(ids.load)
      t.equal(type, 'JOB')
      t.same(new Set(inEdges), new Set(marked('load', ['orders', 'items'], true)))
      t.strictSame(outEdges, marked('load', ['revenue'], false))
      t.match(data, {
        id: { namespace: 'nightly', name: 'shop.load' },
        type: 'BATCH',
        namespace: 'nightly',
        outputs: [{ namespace: db, name: 'shop.public.revenue' }],
        inputs: { length: 2 }
      })
      t.match(data.createdAt, /^\d{4}-\d\d-\d\dT/)
    })

    await t.test('depth counts jobs, and the answer says what is cut off', async (t) => {
      const near = await lineage(ids.orders, '&depth=0')
      t.strictSame(nodesOf(near.body), [ids.items, ids.orders, ids.revenue, ids.load].sort())
      t.match(near.body, { complete: false, truncatedBy: 'depth' })
      const far = await lineage(ids.orders, '&depth=1')
      t.strictSame(nodesOf(far.body), Object.values(ids).sort())
      t.match(far.body, { complete: true })
      t.strictSame(
        nodesOf((await lineage(ids.load, '&depth=0')).body),
        [ids.items, ids.orders, ids.revenue, ids.load].sort()
      )
    })

    await t.test('a direction leaves out the other, and the inputs of other jobs', async (t) => {
      const down = await lineage(ids.orders, '&direction=downstream')
      t.strictSame(nodesOf(down.body), [ids.orders, ids.revenue, ids.report, ids.load, ids.sum].sort())
      const up = await lineage(ids.revenue, '&direction=UPSTREAM')
      t.strictSame(nodesOf(up.body), [ids.items, ids.orders, ids.revenue, ids.load].sort())
    })

    await t.test('columns', async (t) => {
      const field = `datasetField:${db}:shop.public.report:sum`
      const source = `datasetField:${db}:shop.public.revenue:amount`
      const ask = (nodeId: string, more = '') =>
        get(`/column-lineage?nodeId=${encodeURIComponent(nodeId)}${more}`)
      const { body } = await ask(field)
      t.strictSame(nodesOf(body), [field, source].sort())
      t.match(
        body.graph.find((each: { id: string }) => each.id === field),
        {
          type: 'DATASET_FIELD',
          data: {
            namespace: db,
            dataset: 'shop.public.report',
            field: 'sum',
            fieldType: 'INTEGER',
            inputFields: [{ namespace: db, dataset: 'shop.public.revenue', field: 'amount' }]
          },
          inEdges: [{ origin: field, destination: source }],
          outEdges: { length: 0 }
        }
      )
      t.strictSame(nodesOf((await ask(source)).body), [source])
      t.strictSame(nodesOf((await ask(source, '&withDownstream=true')).body), [field, source].sort())
      t.strictSame(nodesOf((await ask(ids.report)).body), [field, source].sort(), 'of a dataset')
      t.strictSame(nodesOf((await ask(ids.sum)).body), [field, source].sort(), 'of a job')
    })

    await t.test('namespaces, jobs and datasets are listed page by page', async (t) => {
      const { body } = await get('/namespaces')
      t.strictSame(
        body.namespaces.map(({ name }: { name: string }) => name),
        ['nightly', db]
      )
      t.match(body.namespaces[0], { ownerName: 'anonymous', createdAt: /^\d{4}/, updatedAt: /^\d{4}/ })
      t.match((await get(`/namespaces/${encodeURIComponent(db)}`)).body, { name: db })
      const jobs = await get('/namespaces/nightly/jobs')
      t.match(jobs.body, { totalCount: 2, jobs: [{ name: 'shop.load' }, { name: 'shop.sum' }] })
      const list = `/namespaces/${encodeURIComponent(db)}/datasets`
      const names: string[] = []
      for (let offset = 0; offset < 4; offset += 3) {
        const page = await get(`${list}?limit=3&offset=${offset}`)
        t.equal(page.body.totalCount, 4)
        names.push(...page.body.datasets.map(({ name }: { name: string }) => name))
      }
      t.strictSame(
        names.sort(),
        ['items', 'orders', 'report', 'revenue'].map((name) => `shop.public.${name}`)
      )
      t.match((await get(`${list}?offset=9`)).body, { totalCount: 4, datasets: { length: 0 } })
      t.match((await get(`${list}/shop.public.orders`)).body, { namespace: db, fields: [{ name: 'id' }] })
      t.match((await get('/namespaces/nightly/jobs/shop.sum')).body, { name: 'shop.sum', type: 'BATCH' })
      const tail = eventAt(9, {
        job: {
          namespace: 'flink',
          name: 'tail',
          facets: { jobType: facet({ processingType: 'STREAMING', integration: 'SPARK' }) }
        }
      })
      t.equal((await server.rest({ method: 'POST', url: '/api/v1/lineage', body: tail })).status, 201)
      t.match((await get('/namespaces/flink/jobs')).body, { jobs: [{ name: 'tail', type: 'STREAM' }] })
      t.match((await get('/namespaces/flink/datasets')).body, { totalCount: 0, datasets: { length: 0 } })
    })

    await t.test('events are given as they came, in the order of their time', async (t) => {
      const asc = await get('/events/lineage?sortDirection=asc')
      t.match(asc.body, { totalCount: 3, truncatedBy: null })
      t.strictSame(asc.body.events.slice(0, 2), events)
      t.strictSame((await get('/events/lineage')).body.events, [...asc.body.events].reverse())
      t.strictSame((await get('/events/lineage?sortDirection=asc&limit=1&offset=1')).body.events, [events[1]])
      t.strictSame((await get('/events/lineage?before=2026-01-01T00:00:02Z')).body.events, [events[0]])
      t.strictSame(
        (await get('/events/lineage?after=2026-01-01T00:00:02Z&limit=1&sortDirection=asc')).body.events,
        [events[1]]
      )
    })

    await t.test('search finds datasets and jobs', async (t) => {
      const { body } = await get('/search?q=revenue')
      t.match(body, {
        totalCount: 1,
        results: [{ type: 'DATASET', name: 'shop.public.revenue', namespace: db, nodeId: ids.revenue }]
      })
      t.match((await get('/search?q=shop%25&filter=job&sort=name')).body, {
        totalCount: 2,
        results: [{ nodeId: ids.load }, { nodeId: ids.sum }]
      })
      // The server of Marquez knows the second, its documentation the third.
      for (const sort of ['NAME', 'UPDATE_AT', 'UPDATED_AT'])
        t.match(await get(`/search?q=revenue&sort=${sort}`), { status: 200, body: { totalCount: 1 } }, sort)
    })

    await t.test(
      'an asset that no event has named is called by its URN, and assets that are not datasets or jobs are counted',
      async (t) => {
        const dev = 'urn:li:dataset:(urn:li:dataPlatform:hive,a.b,DEV)' as ReturnType<typeof dataset>
        const chart = 'urn:li:chart:(looker,sales)' as ReturnType<typeof dataset>
        await apply(server.db, ...create(dataset('a.b'), dev, job('copy'), chart))
        await apply(server.db, addEdge(dataset('a.b'), dev), addEdge(dev, chart))
        await apply(server.db, addEdge(column(dataset('a.b'), 'x:y'), column(dev, 'z')))
        const { body } = await lineage('dataset:hive:a.b')
        t.strictSame(nodesOf(body), ['dataset:hive:a.b', 'dataset:hive@DEV:a.b'])
        t.equal(body.leftOut, 1)
        t.strictSame(
          nodesOf((await lineage('dataset:hive@DEV:a.b', '&direction=upstream')).body),
          nodesOf(body)
        )
        t.match((await get('/namespaces/hive@DEV/datasets')).body, {
          totalCount: 1,
          datasets: [{ name: 'a.b' }]
        })
        t.match((await get('/namespaces/PROD/jobs')).body, { totalCount: 1, jobs: [{ name: 'copy' }] })
        t.match((await lineage('job:PROD:copy')).body, { graph: [{ id: 'job:PROD:copy' }] })
        const columns = await get('/column-lineage?nodeId=datasetField:hive:a.b:x:y&withDownstream=true')
        t.strictSame(nodesOf(columns.body), ['datasetField:hive:a.b:x:y', 'datasetField:hive@DEV:a.b:z'])
      }
    )

    await t.test('a wrong question is refused in clear words', async (t) => {
      for (const [path, status, field] of [
        ['/lineage', 400, 'nodeId'],
        ['/lineage?nodeId=table:a:b', 400, 'nodeId'],
        ['/lineage?nodeId=dataset:a', 400, 'nodeId'],
        ['/lineage?nodeId=dataset:a:nothing', 404, 'nodeId'],
        ['/lineage?nodeId=job:nightly:nothing', 404, 'nodeId'],
        ['/lineage?nodeId=dataset:a:b&depth=-1', 400, 'depth'],
        ['/lineage?nodeId=dataset:a:b&depth=1001', 400, 'depth'],
        ['/lineage?nodeId=dataset:a:b&direction=left', 400, 'direction'],
        ['/lineage?nodeId=dataset:a:b&direction=toString', 400, 'direction'],
        ['/lineage?nodeId=dataset:a:b%23b1d626a2-6d3a-475e-9ecf-943176d4a8c6', 400, 'nodeId'],
        [`/lineage?nodeId=dataset:${'a:'.repeat(1200)}b`, 400, 'nodeId'],
        ['/column-lineage?nodeId=datasetField:a:b', 400, 'nodeId'],
        ['/column-lineage?nodeId=datasetField:a:b:c', 404, 'nodeId'],
        ['/column-lineage?nodeId=dataset:a:b&withDownstream=1', 400, 'withDownstream'],
        ['/namespaces?limit=1001', 400, 'limit'],
        ['/namespaces?limit=x', 400, 'limit'],
        ['/namespaces/none', 404, 'namespace'],
        ['/namespaces/none/jobs', 404, 'namespace'],
        ['/namespaces/nightly/jobs/none', 404, 'name'],
        ['/events/lineage?sortDirection=up', 400, 'sortDirection'],
        ['/events/lineage?before=soon', 400, 'before'],
        ['/search', 400, 'q'],
        ['/search?q=a&filter=table', 400, 'filter'],
        ['/search?q=a&more=1', 400, 'more']
      ] as const) {
        const answer = await get(path)
        t.equal(answer.status, status, `${path.slice(0, 80)} ${answer.text.slice(0, 200)}`)
        t.equal(answer.body.field, field, path.slice(0, 80))
      }
      t.equal((await get('/lineage?nodeId=dataset:a:b', null)).status, 401)
      t.equal((await get('/namespaces', await server.tokenWith(['read']))).status, 200)
    })
  })
