/** Columns that filter or join the rows of a table reach its columns, through a node that no answer shows. */
import t from 'tap'
import { query } from '../shared/db/query.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { onBothEngines } from './support/engines.ts'
import { eventAt, facet } from './support/openlineage.ts'
import { withServer, type TestServer } from './support/server.ts'

const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, number) => `${prefix}${number}`)
const data = (name: string, facets: JsonObject = {}): JsonObject => ({
  namespace: 'postgres://db:5432',
  name,
  facets
})
const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:postgres,${name},PROD)`
const column = (table: string, field: string): string => `urn:li:schemaField:(${dataset(table)},${field})`
const jobUrn = 'urn:li:dataJob:(urn:li:dataFlow:(spark,etl,nightly),etl.load)'

/** `x from a#p` for values, and columns of tables that filter, as `a#k`. */
const output = (table: string, schema: readonly string[], values: string[], keys: string[]): JsonObject => {
  const input = (text: string, type: string): JsonObject => {
    const [name = '', field = ''] = text.split('#')
    return { namespace: 'postgres://db:5432', name, field, transformations: [{ type, subtype: 'FILTER' }] }
  }
  return data(table, {
    schema: facet({ fields: schema.map((name) => ({ name })) }),
    columnLineage: facet({
      fields: Object.fromEntries(
        values.map((text) => {
          const [field = '', from = ''] = text.split(' from ')
          return [field, { inputFields: [input(from, 'DIRECT')] }]
        })
      ),
      dataset: keys.map((key) => input(key, 'INDIRECT'))
    })
  })
}
const ran = (seconds: number, runId: string, ...outputs: JsonObject[]): JsonObject =>
  eventAt(seconds, {
    eventType: 'COMPLETE',
    run: { runId },
    job: { namespace: 'nightly', name: 'etl.load' },
    outputs
  })

const send = async (server: TestServer, ...events: JsonObject[]): Promise<void> => {
  for (const body of events) {
    const { status, text } = await server.rest({ method: 'POST', url: '/api/v1/lineage', body })
    if (status !== 201) throw new Error(text)
  }
}

type Found = { columns: string[]; indirect: string[]; report: JsonObject }
/** The columns that a walk reaches, as `degree urn`, and those of them that are marked. */
async function reached(server: TestServer, urn: string, direction: string): Promise<Found> {
  const { body } = await server.graphql(
    `query ($input: ScrollAcrossLineageInput!) {
      scrollAcrossLineage(input: $input) { searchResults { degree indirect entity { urn } } }
    }`,
    {
      input: {
        urn,
        direction,
        count: 10_000,
        foldColumns: false
      }
    }
  )
  const results: { degree: number; indirect: boolean; entity: { urn: string } }[] =
    body.data.scrollAcrossLineage.searchResults.filter(
      ({ entity }: { entity: { urn: string } }) => entity.urn !== jobUrn
    )
  return {
    columns: results.map(({ degree, entity }) => `${degree} ${entity.urn}`).sort(),
    indirect: results.flatMap(({ indirect, entity }) => (indirect ? [entity.urn] : [])).sort(),
    report: body.extensions.lineage
  }
}

const columnStatements = async (server: TestServer): Promise<number> => {
  const [row] = await query<{ count: number }>(
    server.db,
    "select count(*)::int as count from statement join entity on entity.id = upstream_id where entity_type = 'schemaField'"
  )
  return row?.count ?? -1
}

onBothEngines(
  'keys of wide tables reach every column, with an edge for each key and each column',
  async (t, server) => {
    for (const [table, keys, columns] of [
      ['spark', 5, 101],
      ['wide', 200, 300],
      ['single', 1, 501],
      ['narrow', 501, 1]
    ] as const) {
      const before = await columnStatements(server)
      const schema = names('c', columns)
      await send(
        server,
        ran(
          0,
          table,
          output(
            table,
            schema,
            [],
            names('k', keys).map((key) => `of_${table}#${key}`)
          )
        )
      )
      t.equal((await columnStatements(server)) - before, keys + columns)
      const down = await reached(server, column(`of_${table}`, 'k0'), 'DOWNSTREAM')
      const all = schema.map((name) => column(table, name)).sort()
      t.strictSame(down.columns, all.map((urn) => `1 ${urn}`).sort())
      t.strictSame(down.indirect, all)
      t.match(down.report, { indirect: columns, complete: true })
      const up = await reached(server, column(table, 'c0'), 'UPSTREAM')
      t.strictSame(
        up.columns,
        names('k', keys)
          .map((key) => `1 ${column(`of_${table}`, key)}`)
          .sort()
      )
    }
  }
)

onBothEngines('rows are no hop, and mark only what no value reaches', async (t, server) => {
  await send(
    server,
    ran(
      0,
      'r',
      output('b', ['x', 'y'], ['x from a#v'], ['a#k', 'a#v']),
      output('c', ['z', 'w'], ['z from b#y', 'w from b#x'], [])
    )
  )
  const fromKey = await reached(server, column('a', 'k'), 'DOWNSTREAM')
  t.strictSame(
    fromKey.columns,
    [
      `1 ${column('b', 'x')}`,
      `1 ${column('b', 'y')}`,
      `2 ${column('c', 'w')}`,
      `2 ${column('c', 'z')}`
    ].sort()
  )
  t.equal(fromKey.indirect.length, 4)
  const fromValue = await reached(server, column('a', 'v'), 'DOWNSTREAM')
  t.strictSame(fromValue.columns, fromKey.columns)
  t.strictSame(fromValue.indirect, [column('b', 'y'), column('c', 'z')].sort())
  t.match(fromValue.report, { visited: 4, indirect: 2 })
  const up = await reached(server, column('c', 'z'), 'UPSTREAM')
  t.strictSame(up.indirect, [column('a', 'k'), column('a', 'v')].sort())
  t.strictSame((await reached(server, column('c', 'w'), 'UPSTREAM')).indirect, [column('a', 'k')])

  await t.test('paths and single edges lead through them', async (t) => {
    const { body } = await server.graphql(
      `query ($from: String!, $to: String!, $up: String!, $down: String!) {
        lineagePaths(input: { from: $from, to: $to }) { hops paths { steps { entity { urn } via { urn } } } }
        lineageEdge(upstreamUrn: $up, downstreamUrn: $down) { statements { owner { urn } } lastUsed }
        none: lineageEdge(upstreamUrn: $from, downstreamUrn: $to) { statementCount }
      }`,
      { from: column('a', 'k'), to: column('c', 'z'), up: column('a', 'k'), down: column('b', 'y') }
    )
    if (body.errors) t.fail(JSON.stringify(body.errors))
    t.match(body.data, {
      lineagePaths: {
        hops: 2,
        paths: [
          {
            steps: [
              { entity: { urn: column('a', 'k') }, via: { length: 0 } },
              { entity: { urn: column('b', 'y') }, via: [{ urn: jobUrn }] },
              { entity: { urn: column('c', 'z') }, via: [{ urn: jobUrn }] }
            ]
          }
        ]
      },
      lineageEdge: { statements: [{ owner: { urn: jobUrn } }], lastUsed: Date.UTC(2026, 0, 1) },
      none: null
    })
  })

  await t.test('an edge through them is not removed by itself, and the answer says so', async (t) => {
    const { body } = await server.graphql(
      'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }',
      {
        input: {
          edgesToAdd: [],
          edgesToRemove: [{ upstreamUrn: column('a', 'v'), downstreamUrn: column('b', 'y') }]
        }
      }
    )
    t.match(body.errors, [{ extensions: { reason: 'BAD_REQUEST' } }])
  })

  await t.test('the diagram and the export mark their edges', async (t) => {
    const { body } = await server.graphql(
      `query ($input: LineageGraphInput!) { lineageGraph(input: $input) { edges { level upstreamUrn downstreamUrn indirect } } }`,
      { input: { urn: dataset('b'), columns: true } }
    )
    const marked = (edges: { upstreamUrn: string; downstreamUrn: string; indirect: boolean }[]): string[] =>
      edges
        .filter(({ indirect }) => indirect)
        .map(({ upstreamUrn, downstreamUrn }) => `${upstreamUrn} ${downstreamUrn}`)
    const from = await server.graphql(
      `query ($input: LineageGraphInput!) { lineageGraph(input: $input) { edges { upstreamUrn downstreamUrn indirect } } }`,
      { input: { urn: column('a', 'v') } }
    )
    t.strictSame(marked(from.body.data.lineageGraph.edges), [`${column('a', 'v')} ${column('b', 'y')}`])
    t.equal(JSON.stringify(body).includes('[rows]'), false)
    const { text } = await server.rest({
      url: `/lineage/export?urn=${encodeURIComponent(column('a', 'v'))}&direction=DOWNSTREAM&format=ndjson&of=edges`
    })
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    t.strictSame(
      lines.filter(({ indirect }) => indirect).map(({ downstream }) => downstream),
      [column('b', 'y')]
    )
  })
})

t.test('no answer shows the rows', async (t) => {
  const server = await withServer(t)
  await send(server, ran(0, 'r', output('b', ['x', 'y'], ['x from a#v'], ['a#k', 'a#j'])))
  await send(server, eventAt(1, { dataset: output('view', ['x', 'y'], ['x from a#v'], ['a#k']) }))
  const shown = async (
    what: string,
    answer: Promise<{ text?: string; body: unknown; status?: number }>
  ): Promise<string> => {
    const { text, body, status = 200 } = await answer
    t.equal(status, 200, what)
    const printed = text ?? JSON.stringify(body)
    t.notOk(printed.includes('rows]'), what)
    t.notOk(/"errors"/.test(printed), printed.slice(0, 500))
    return printed
  }
  const aspectOf = (type: string, urn: string, name: string) =>
    server.rest({ url: `/openapi/v3/entity/${type}/${encodeURIComponent(urn)}/${name}` })

  for (const [type, urn, name] of [
    ['datajob', jobUrn, 'dataJobInputOutput'],
    ['dataset', dataset('view'), 'upstreamLineage']
  ] as const) {
    const { body } = await aspectOf(type, urn, name)
    await shown(name, aspectOf(type, urn, name))
    const record = body.value.fineGrainedLineages.find(
      ({ downstreamType }: { downstreamType: string }) => downstreamType === 'FIELD_SET'
    )
    const table = type === 'dataset' ? 'view' : 'b'
    t.strictSame(record.downstreams, [column(table, 'x'), column(table, 'y')])
    t.equal(record.transformOperation, 'INDIRECT:FILTER')
    t.equal(body.value.fineGrainedLineages.length, 2)
    const parameters = new URLSearchParams({ urn, aspect: name })
    await shown(
      'as DataHub has it',
      server.rest({ url: `/aspects/${encodeURIComponent(urn)}?${parameters.toString()}` })
    )
  }

  const neighbours = async (urn: string, direction: string, window: JsonObject = {}): Promise<string[]> => {
    const printed = await shown(
      'entity.lineage',
      server.graphql(
        `query ($urn: String!, $input: LineageInput!) {
          entity(urn: $urn) { ... on EntityWithRelationships { lineage(input: $input) { total relationships { createdOn entity { urn } } } } }
        }`,
        { urn, input: { direction, start: 0, count: 100, includeGhostEntities: true, ...window } }
      )
    )
    return JSON.parse(printed)
      .data.entity.lineage.relationships.map(({ entity }: { entity: { urn: string } }) => entity.urn)
      .sort()
  }
  const expected = [column('b', 'x'), column('b', 'y'), column('view', 'x'), column('view', 'y')]
  t.strictSame(await neighbours(column('a', 'k'), 'DOWNSTREAM'), expected)
  const start = Date.UTC(2026, 0, 1)
  const window = { startTimeMillis: start - 1, endTimeMillis: start + 100 }
  t.strictSame(await neighbours(column('a', 'k'), 'DOWNSTREAM', window), expected.slice(0, 2))
  t.strictSame(await neighbours(column('b', 'y'), 'UPSTREAM'), [column('a', 'j'), column('a', 'k')])

  const relationships = JSON.parse(
    await shown(
      'relationships',
      server.rest({ method: 'POST', url: '/openapi/v3/relationship/scroll?count=1000', body: {} })
    )
  )
  t.ok(JSON.stringify(relationships).includes(column('a', 'j')))
  await shown(
    'Marquez',
    server.rest({
      url: `/api/v1/column-lineage?nodeId=${encodeURIComponent('dataset:postgres://db:5432:b')}&withDownstream=true`
    })
  )
  await shown(
    'columns of a diagram',
    server.graphql(
      `query ($input: LineageGraphInput!) { lineageGraph(input: $input) { nodes { columns { urn } columnRows { total rows { path } } } edges { upstreamUrn downstreamUrn } } }`,
      { input: { urn: dataset('b'), columns: true } }
    )
  )
  await shown(
    'export',
    server.rest({
      url: `/lineage/export?urn=${encodeURIComponent(dataset('b'))}&direction=UPSTREAM&columns=true&format=csv`
    })
  )
  await shown('list', server.rest({ url: '/openapi/v3/entity/schemafield?count=100' }))
  await shown(
    'search',
    server.graphql(
      'query { searchAcrossEntities(input: { query: "rows", start: 0, count: 10 }) { searchResults { entity { urn } } } }'
    )
  )
})

t.test('rows follow renames and end with newer runs', async (t) => {
  const server = await withServer(t)
  await send(
    server,
    ran(0, 'r1', output('b', ['x'], [], ['a#old'])),
    eventAt(1, {
      dataset: data('now', {
        lifecycleStateChange: facet({ lifecycleStateChange: 'RENAME', previousIdentifier: data('b') })
      })
    })
  )
  t.strictSame((await reached(server, column('a', 'old'), 'DOWNSTREAM')).columns, [`1 ${column('now', 'x')}`])
  await send(server, ran(5, 'r2', output('now', ['x'], [], ['a#new'])))
  await send(server, ran(6, 'r3', output('b', ['x'], [], ['a#new'])))
  t.strictSame((await reached(server, column('a', 'old'), 'DOWNSTREAM')).columns, [])
  t.strictSame((await reached(server, column('a', 'new'), 'DOWNSTREAM')).columns, [`1 ${column('now', 'x')}`])
})
