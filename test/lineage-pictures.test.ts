/**
 * Lineage graphs that grow and shrink: expansions, collapsed nodes, bounded fan-outs, time windows and rows
 * of columns, in SQL and in memory.
 */
import t from 'tap'
import type { JsonObject } from '../shared/model/changes.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { makeAssets } from './support/graph.ts'
import { propose, withBoth, write } from './support/lineage-views.ts'

type Ref = { urn: string }

const { server, ask } = await withBoth(t)

const grownQuery = `query ($input: LineageGraphInput!) { lineageGraph(input: $input) {
  nodes { entity { urn } hiddenUpstream hiddenDownstream expandedUpstream expandedDownstream
    columnRows { total rows { urn path dataType upstreamCount downstreamCount hiddenUpstream hiddenDownstream } } }
  edges { level }
} }`

await t.test('a picture grows and shrinks a node and a direction at a time', async (t) => {
  const children = Array.from({ length: 25 }, (_, index) => `n${String(index).padStart(2, '0')}`)
  const { urn, name } = await write(
    server,
    `hub -> ${children.join(' & ')}; n00 -> deep; n01 -> deep; n02 -> x -> y`,
    'grow'
  )
  const shown = async (input: JsonObject) => {
    const { data, report } = await ask(grownQuery, { urn: urn('hub'), ...input })
    type Grown = {
      entity: Ref
      hiddenUpstream: number
      hiddenDownstream: number
      expandedUpstream: boolean
      expandedDownstream: boolean
    }
    const nodes: Grown[] = data.nodes
    return { nodes, names: nodes.map(({ entity }) => name(entity.urn)), report }
  }
  const fanOut = { above: 20, show: 10 }

  await t.test('a fan-out above the bound shows its first neighbours and counts the others', async (t) => {
    const { nodes, names } = await shown({ fanOut })
    t.strictSame(names, ['hub', ...children.slice(0, 10)])
    t.equal(nodes[0]?.hiddenDownstream, 15)
    t.strictSame(
      (await shown({ fanOut: { above: 25, show: 1 } })).names.length,
      26,
      'one at the bound shows all'
    )
    const deeper = await shown({ fanOut, downHops: 2 })
    t.strictSame(deeper.names.slice(11), ['deep', 'x'], 'the next hop starts at those shown')
  })

  await t.test('an expansion adds the next neighbours, however many the fan-out allows', async (t) => {
    const { names } = await shown({
      fanOut,
      expand: [{ urn: urn('hub'), direction: 'DOWNSTREAM', count: 3 }]
    })
    t.strictSame(names, ['hub', ...children.slice(0, 13)])
  })

  await t.test('pages of an expansion have each neighbour once', async (t) => {
    const page = async (start: number): Promise<string[]> =>
      (
        await shown({
          downHops: 0,
          expand: [{ urn: urn('hub'), direction: 'DOWNSTREAM', start, count: 10 }]
        })
      ).names.slice(1)
    t.strictSame([await page(0), await page(10), await page(20), await page(30)].flat(), children)
    const { error } = await ask(grownQuery, {
      urn: urn('hub'),
      expand: [{ urn: urn('hub'), direction: 'DOWNSTREAM', start: -1 }]
    })
    t.match(error, { reason: 'BAD_REQUEST', field: 'input.expand[0].start' })
  })

  await t.test('or an expansion adds only those that are named, which must be neighbours', async (t) => {
    const { names } = await shown({
      downHops: 0,
      expand: [
        { urn: urn('hub'), direction: 'DOWNSTREAM', neighbours: [urn('n20'), urn('x'), urn('n02')] },
        { urn: urn('n02'), direction: 'DOWNSTREAM', neighbours: [] }
      ]
    })
    t.strictSame(names, ['hub', 'n02', 'n20'])
  })

  await t.test('hops end behind a collapsed node, unless another way leads on', async (t) => {
    const collapse = [{ urn: urn('n00'), direction: 'DOWNSTREAM' }]
    t.ok((await shown({ downHops: 2, collapse })).names.includes('deep'), 'by n01')
    const both = [...collapse, { urn: urn('n01'), direction: 'DOWNSTREAM' }]
    const { nodes, names } = await shown({ downHops: 2, collapse: both })
    t.notOk(names.includes('deep'))
    t.ok(names.includes('x'))
    t.equal(nodes[1]?.hiddenDownstream, 1)
    const wrongWay = await shown({
      downHops: 2,
      collapse: both.map((each) => ({ ...each, direction: 'UPSTREAM' }))
    })
    t.ok(wrongWay.names.includes('deep'), 'only in its direction')
    t.strictSame((await shown({ collapse: [{ urn: urn('hub'), direction: 'DOWNSTREAM' }] })).names, ['hub'])
  })

  await t.test('each node says whether its neighbours were to be shown', async (t) => {
    const { nodes, names } = await shown({
      downHops: 2,
      collapse: [{ urn: urn('n01'), direction: 'DOWNSTREAM' }],
      expand: [{ urn: urn('x'), direction: 'UPSTREAM' }]
    })
    const expanded = (direction: 'Upstream' | 'Downstream'): string[] =>
      names.filter((_, index) => nodes[index]?.[`expanded${direction}`])
    t.strictSame(expanded('Upstream'), ['hub', 'x'])
    t.strictSame(expanded('Downstream'), ['hub', ...children.filter((each) => each !== 'n01')])
  })

  await t.test('and in a time window only edges of that time are shown', async (t) => {
    const old = toUrn('urn:li:dataset:(urn:li:dataPlatform:hive,grow.old,PROD)')
    await makeAssets(server, [old])
    await propose(server, old, 'upstreamLineage', {
      upstreams: [
        { dataset: urn('hub'), type: 'COPY', auditStamp: { time: 1_000, actor: 'urn:li:corpuser:etl' } },
        { dataset: urn('y'), type: 'COPY', auditStamp: { time: 5_000, actor: 'urn:li:corpuser:etl' } }
      ]
    })
    const query =
      'query ($input: LineageGraphInput!) { lineageGraph(input: $input) { nodes { entity { urn } } } }'
    const upstream = async (window: JsonObject): Promise<string[]> => {
      const { body } = await server.graphql(query, { input: { urn: old, ...window } })
      t.equal(body.extensions.lineage.engine, Object.keys(window).length > 0 ? 'sql' : 'memory')
      return body.data.lineageGraph.nodes
        .map((node: { entity: Ref }) => name(node.entity.urn))
        .slice(1)
        .sort()
    }
    t.strictSame(await upstream({}), ['hub', 'y'])
    t.strictSame(await upstream({ startTimeMillis: 2_000 }), ['y'])
    t.strictSame(await upstream({ endTimeMillis: 2_000 }), ['hub'])
    t.strictSame(await upstream({ startTimeMillis: 2_000, endTimeMillis: 3_000 }), [])
  })
})

await t.test('a picture lists the columns of its nodes, those with lineage first', async (t) => {
  const { urn } = await write(
    server,
    'a -> b -> c; a#two -> b#x; a#two -> b#y; b#z -> c#z; b#old -> c#z',
    'rows',
    { removed: ['b#old'] }
  )
  const field = (fieldPath: string, nativeDataType: string): JsonObject => ({
    fieldPath,
    nativeDataType,
    type: { type: { 'com.linkedin.schema.StringType': {} } }
  })
  await propose(server, urn('b'), 'schemaMetadata', {
    schemaName: 'b',
    platform: 'urn:li:dataPlatform:hive',
    version: 0,
    hash: '',
    platformSchema: { 'com.linkedin.schema.MySqlDDL': { tableSchema: '' } },
    fields: [
      ...Array.from({ length: 9 }, (_, index) => field(`c${index}`, 'int')),
      field('old', 'int'),
      field('z', 'text'),
      field('y', 'text')
    ]
  })
  const rows = async (input: JsonObject) => {
    const { data } = await ask(grownQuery, { urn: urn('b'), columns: true, ...input })
    return new Map<string, ReturnType<typeof JSON.parse>>(
      data.nodes.map((node: ReturnType<typeof JSON.parse>) => [node.entity.urn, node.columnRows])
    )
  }
  const line = (row: ReturnType<typeof JSON.parse>): string =>
    `${row.path} ${row.dataType} ${row.hiddenUpstream}/${row.upstreamCount} ${row.hiddenDownstream}/${row.downstreamCount}`
  const near = await rows({ downHops: 0, columnRows: 4 })
  const own = near.get(urn('b'))
  t.equal(own.total, 12, 'the nine, z and y, and x that only lineage names; a removed one does not count')
  t.strictSame(own.rows.map(line), ['y text 0/1 0/0', 'x null 0/1 0/0', 'z text 0/0 1/1', 'c0 int 0/0 0/0'])
  t.equal(own.rows[0].urn, urn('b#y'))
  t.strictSame(near.get(urn('a')).rows.map(line), ['two null 0/0 0/2'])
  t.equal((await rows({})).get(urn('b')).rows.length, 8, 'eight by default')
  t.strictSame((await rows({ columnRows: 0 })).get(urn('b')), { total: 12, rows: [] })
  t.strictSame((await rows({ columns: false })).get(urn('b')), null)
})

await t.test(
  'totals include the number of assets on both sides, so that each asset can be counted once',
  async (t) => {
    const { urn } = await write(server, 'u -> s -> a -> b -> s; b -> d; job:j -> s; a -> job:j', 'ring')
    const query =
      'query ($input: LineageGraphInput!) { lineageGraph(input: $input) { complete totals { upstream downstream both } } }'
    const totals = async (input: JsonObject) => {
      const { data } = await ask(query, { urn: urn('s'), ...input })
      t.equal(data.complete, true)
      return data.totals
    }
    t.strictSame(await totals({}), { upstream: 4, downstream: 4, both: 3 })
    t.strictSame(await totals({ hideJobs: true }), { upstream: 3, downstream: 3, both: 2 })
    const { data } = await ask(query.replace('upstream downstream ', ''), { urn: urn('u') })
    t.strictSame(data.totals, { both: 0 }, 'asked for alone')
  }
)
