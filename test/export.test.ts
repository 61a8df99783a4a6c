/**
 * GET /lineage/export: the same content in every format, complete or visibly cut off, with any names and any
 * behaviour of clients.
 */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { ndjsonOfEdges, ndjsonOfEntities } from '../api/lineage/ndjson.ts'
import { exportPace, paced } from '../api/lineage/stream-export.ts'
import { exportLineage } from '../shared/catalog/lineage/export-lineage.ts'
import type { ExportInput } from '../shared/catalog/lineage/export-question.ts'
import type { Db } from '../shared/db/database.ts'
import { query } from '../shared/db/query.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { CatalogError } from '../shared/errors.ts'
import { limits } from '../shared/limits.ts'
import { placeOfEdge } from '../shared/model/change-facts.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { createLog } from '../shared/platform/log.ts'
import { keepDeadline } from '../shared/store/deadline.ts'
import type { Urn } from '../shared/urn/urn.ts'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import {
  addEdge,
  apply,
  asCall,
  column,
  create,
  createDomain,
  dataset,
  domain,
  record,
  setDomain,
  upsert
} from './support/changes.ts'
import {
  connectionsOf,
  opened,
  openTransactions,
  takesWhole,
  turns,
  until,
  withExports,
  withReaders
} from './support/export-clients.ts'
import {
  csvRecords,
  ndjsonLines,
  parseDot,
  parseMermaid,
  type EdgeLine,
  type ExportLine
} from './support/export-files.ts'
import { doors, edgesOf, urnEdges, urnOfName } from './support/graph.ts'
import { openMemory } from './support/lineage-memory.ts'
import { withServer, type TestServer } from './support/server.ts'
import { skipUnless } from './support/skip.ts'

// twenty thousand rows several times: slow while other tests run
t.setTimeout(300_000)

const exportUrl = (parameters: { [name: string]: string }): string =>
  `/lineage/export?${new URLSearchParams(parameters).toString()}`

/** The text of an export with status 200. */
async function exported(
  server: Pick<TestServer, 'rest'>,
  parameters: { [name: string]: string }
): Promise<string> {
  const answer = await server.rest({ url: exportUrl(parameters) })
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
  return answer.text
}

const engines = [
  { engine: 'sql', memory: false },
  { engine: 'memory', memory: true }
]

for (const { engine, memory } of engines) {
  t.test(`exports answered by ${engine}`, async (t) => {
    const server = await withServer(t, { memory })
    const namespace = 'export'
    const urn = (name: string): Urn => urnOfName(name, namespace)
    await doors[0]?.write(
      server,
      urnEdges(
        edgesOf(
          'a -> b -> c -> d -> e; a -> job:x -> c; b -> chart:y; c -> a; c -> c; a#p -> b#q -> c#r; a#s -> b#q'
        ),
        namespace
      )
    )
    const [top, below] = [domain('export-top'), domain('export-below')]
    await apply(server.db, createDomain(top, 'Export top'))
    await apply(server.db, createDomain(below, 'Export below', top))
    await apply(server.db, setDomain(urn('b'), top))
    await apply(
      server.db,
      setDomain(urn('c'), below),
      upsert(urn('b'), 'datasetProperties', { name: 'Sales', description: 'sums of Orders' }),
      upsert(urn('d'), 'status', { removed: true })
    )
    await applyCall(
      server.db,
      [record(0, addEdge(urn('e'), urn('f')))],
      asCall({ missingReferences: 'create' })
    )

    await t.test('a row of CSV or NDJSON says all of an entity, nearest first', async (t) => {
      const rows = ndjsonLines(await exported(server, { urn: urn('a'), format: 'ndjson' }))
      const hive = 'urn:li:dataPlatform:hive'
      const row = (degree: number, name: string, more: Partial<ExportLine> = {}): ExportLine => ({
        degree,
        urn: urn(name),
        type: 'DATASET',
        name: `export.${name}`,
        platform: hive,
        environment: 'PROD',
        domain: null,
        exists: true,
        owners: [],
        ...more
      })
      t.strictSame(
        rows.slice(0, 5).sort((x, y) => x.degree - y.degree || (x.urn < y.urn ? -1 : 1)),
        [
          row(1, 'job:x', {
            type: 'DATA_JOB',
            name: 'x',
            platform: 'urn:li:dataPlatform:airflow',
            environment: 'PROD'
          }),
          row(1, 'b', { name: 'Sales', domain: top }),
          row(2, 'chart:y', {
            type: 'CHART',
            name: 'export.y',
            platform: 'urn:li:dataPlatform:looker',
            environment: null
          }),
          row(2, 'c', { domain: below }),
          row(4, 'e')
        ].sort((x, y) => x.degree - y.degree || (x.urn < y.urn ? -1 : 1))
      )
      t.match(rows[5], row(5, 'f', { exists: false }), 'a placeholder says that it does not exist')
      t.equal(rows.length, 6, 'neither the start, nor what is soft-deleted')
      const records = csvRecords(await exported(server, { urn: urn('a') }))
      t.strictSame(
        records,
        rows.map((each) =>
          Object.fromEntries(
            Object.entries(each).map(([name, value]) => [name, value === null ? '' : String(value)])
          )
        ),
        'CSV says the same'
      )
      t.strictSame(
        ndjsonLines(await exported(server, { urn: urn('d'), direction: 'UPSTREAM', format: 'ndjson' })).map(
          ({ degree, urn: reached }) => `${degree} ${reached}`
        ),
        ndjsonLines(
          await exported(server, { urn: urn('d'), direction: 'UPSTREAM', format: 'ndjson', hops: '3' })
        ).map(({ degree, urn: reached }) => `${degree} ${reached}`)
      )
    })

    await t.test(
      'the headers say what it is and whether it is complete, and HEAD returns only them',
      async (t) => {
        const answer = await server.rest({ url: exportUrl({ urn: urn('a'), format: 'dot' }) })
        const told = {
          'content-type': 'text/vnd.graphviz; charset=utf-8',
          'content-disposition': 'attachment; filename="lineage-export.a-downstream.dot"',
          'x-lineage-complete': 'true',
          'x-lineage-total': '6',
          'x-lineage-visited': '7',
          'x-lineage-engine': engine
        }
        t.match(answer.headers, told)
        const head = await server.rest({ method: 'HEAD', url: exportUrl({ urn: urn('a'), format: 'dot' }) })
        t.match(
          { status: head.status, text: head.text, headers: head.headers },
          { status: 200, text: '', headers: told }
        )
        t.equal(head.headers['content-length'], undefined)
        const near = await server.rest({ url: exportUrl({ urn: urn('a'), hops: '1' }) })
        t.match(
          near.headers,
          { 'x-lineage-complete': 'true', 'x-lineage-total': '2', 'x-lineage-hops': '1' },
          'hops that nobody asked for are not missing'
        )
      }
    )

    await t.test(
      'the edges are those between the start and the entities that are kept, each once',
      async (t) => {
        const among = (edges: string): string[] =>
          urnEdges(edgesOf(edges), namespace)
            .map(({ upstreamUrn, downstreamUrn }) => `${upstreamUrn} ${downstreamUrn}`)
            .sort()
        const edges = async (parameters: { [name: string]: string }): Promise<string[]> =>
          ndjsonLines<EdgeLine>(await exported(server, { ...parameters, format: 'ndjson', of: 'edges' }))
            .map(({ upstream, downstream }) => `${upstream} ${downstream}`)
            .sort()
        t.strictSame(
          await edges({ urn: urn('a') }),
          among('a -> b & job:x; b -> c & chart:y; job:x -> c; c -> a & c; e -> f'),
          'what is soft-deleted has none'
        )
        t.strictSame(await edges({ urn: urn('a'), types: 'DATASET' }), among('a -> b -> c -> a & c; e -> f'))
        t.strictSame(
          await edges({ urn: urn('c'), direction: 'UPSTREAM' }),
          among('a -> b & job:x; b -> c; job:x -> c; c -> a & c'),
          'an edge leads downstream whichever way was walked'
        )
        const lines = ndjsonLines<EdgeLine>(
          await exported(server, { urn: urn('a'), format: 'ndjson', of: 'edges' })
        )
        t.strictSame(
          lines.filter(({ upstream }) => upstream === urn('c')).map(({ degree }) => degree),
          [3, 3],
          'the degree is the hop that follows the edge'
        )
        t.strictSame(
          csvRecords(await exported(server, { urn: urn('a'), of: 'edges' })),
          lines.map(({ upstream, downstream, degree }) => ({ upstream, downstream, degree: String(degree) }))
        )
      }
    )

    await t.test(
      'a graph has the start with degree 0, then entities, then edges; diagrams have the same nodes and edges',
      async (t) => {
        const whole = await exported(server, { urn: urn('a'), format: 'ndjson', of: 'graph' })
        const [nodes, edges] = [
          await exported(server, { urn: urn('a'), format: 'ndjson' }),
          await exported(server, { urn: urn('a'), format: 'ndjson', of: 'edges' })
        ]
        t.equal(whole.slice(whole.indexOf('\n') + 1), nodes + edges)
        t.match(ndjsonLines(whole)[0], { urn: urn('a'), degree: 0 })
        const dot = parseDot(await exported(server, { urn: urn('a'), format: 'dot' }))
        t.strictSame([...dot.nodes.keys()], [urn('a'), ...ndjsonLines(nodes).map((line) => line.urn)])
        t.strictSame(
          dot.edges,
          ndjsonLines<EdgeLine>(edges).map(({ upstream, downstream }) => [upstream, downstream])
        )
        t.equal(dot.nodes.get(urn('b')), 'Sales\nDATASET hive')
        t.strictSame(dot.comments, [
          '// Downstream lineage, complete: 6 entities',
          '// The end: 7 nodes, 8 edges'
        ])
        const mermaid = parseMermaid(await exported(server, { urn: urn('a'), format: 'mermaid' }))
        t.strictSame([...mermaid.nodes.values()], [...dot.nodes.values()])
        const urnOf = new Map(
          [...mermaid.nodes.keys()].map((id, index) => [id, [...dot.nodes.keys()][index] ?? ''])
        )
        t.strictSame(
          mermaid.edges.map((edge) => edge.map((id) => urnOf.get(id))),
          dot.edges
        )
      }
    )

    await t.test('columns are exported from a column, and from an asset on request', async (t) => {
      const reached = async (parameters: { [name: string]: string }): Promise<string[]> =>
        ndjsonLines(await exported(server, { ...parameters, format: 'ndjson' }))
          .map((line) => `${line.degree} ${line.urn}`)
          .sort()
      t.strictSame(await reached({ urn: urn('a#p') }), [`1 ${urn('b#q')}`, `2 ${urn('c#r')}`])
      t.strictSame(await reached({ urn: urn('a'), columns: 'true' }), [`1 ${urn('b#q')}`, `2 ${urn('c#r')}`])
      t.strictSame(
        await reached({ urn: column(urn('a'), 'nobody') }),
        [],
        'a column that nothing names exists with its asset'
      )
      const graph = parseDot(await exported(server, { urn: urn('a'), columns: 'true', format: 'dot' }))
      t.strictSame(
        [...graph.nodes.keys()].sort(),
        [urn('a#p'), urn('a#s'), urn('b#q'), urn('c#r')].sort(),
        'the columns of the start are nodes'
      )
      t.strictSame(graph.edges.length, 3)
      t.match(parseDot(await exported(server, { urn: column(urn('a'), 'nobody'), format: 'dot' })), {
        edges: { length: 0 },
        nodes: new Map([[column(urn('a'), 'nobody'), 'nobody\nSCHEMA_FIELD hive']])
      })
    })

    await t.test('a filter keeps what the same filter of a search keeps', async (t) => {
      const groups: JsonObject[] = [
        {
          and: [
            { field: 'degree', values: ['1'] },
            { field: '_entityType', values: ['DATASET'] }
          ]
        },
        {
          and: [
            { field: 'domains', condition: 'DESCENDANTS_INCL', values: [top] },
            { field: 'name', condition: 'CONTAIN', values: ['SALES'], negated: true }
          ]
        }
      ]
      const where = (...and: JsonObject[]): JsonObject => ({ orFilters: [{ and }] })
      const pairs: [{ [name: string]: string }, JsonObject][] = [
        [{}, {}],
        [{ degree: '1,3+' }, where({ field: 'degree', values: ['1', '3+'] })],
        [{ degree: '2' }, where({ field: 'degree', values: ['2'] })],
        [{ hops: '2' }, where({ field: 'degree', values: ['1', '2'] })],
        [{ types: 'CHART,DATA_JOB' }, { types: ['CHART', 'DATA_JOB'] }],
        [{ query: 'orders' }, { query: 'orders' }],
        [{ platform: 'looker,airflow' }, where({ field: 'platform', values: ['looker', 'airflow'] })],
        [{ domain: top }, where({ field: 'domains', values: [top] })],
        [{ filters: JSON.stringify(groups) }, { orFilters: groups }],
        [
          { filters: JSON.stringify(groups), platform: 'hive', degree: '2' },
          {
            orFilters: groups.map((group) => ({
              and: [
                ...(group.and as JsonObject[]),
                { field: 'platform', values: ['hive'] },
                { field: 'degree', values: ['2'] }
              ]
            }))
          }
        ],
        [
          { filters: JSON.stringify([{ and: [{ field: 'removed', values: ['true'] }] }]) },
          where({ field: 'removed', values: ['true'] })
        ],
        [
          { urn: urn('f'), direction: 'UPSTREAM', types: 'DATASET' },
          { urn: urn('f'), direction: 'UPSTREAM', types: ['DATASET'] }
        ],
        [{ urn: urn('a#p') }, { urn: urn('a#p'), foldColumns: false }]
      ]
      for (const [parameters, input] of pairs) {
        const { body } = await server.graphql(
          'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { total searchResults { degree entity { urn } } } }',
          { input: { urn: urn('a'), direction: 'DOWNSTREAM', query: '*', count: 1_000, ...input } }
        )
        const page = body.data.scrollAcrossLineage
        const answer = await server.rest({
          url: exportUrl({ urn: urn('a'), format: 'ndjson', ...parameters })
        })
        t.strictSame(
          ndjsonLines(answer.text).map((line) => ({ degree: line.degree, entity: { urn: line.urn } })),
          page.searchResults,
          JSON.stringify(parameters)
        )
        t.equal(answer.headers['x-lineage-total'], String(page.total))
      }
    })
  })
}

t.test('no character in a name breaks a format', async (t) => {
  const server = await withServer(t)
  const names = [
    'plain',
    'with "quotes"',
    'a,b;c',
    'line\nbreak\r\nand\ttab',
    "=cmd|' /C calc'!A0",
    '+1',
    '-1',
    '@SUM(1)',
    '\uff1dHYPERLINK()',
    'ends with \\',
    '\\N \\" \\l',
    '%%{init: {"theme": "x"}}%%',
    '<b>&amp;</b>',
    '#quot; #35;',
    '`md`',
    '_x_ a_b',
    '1. list',
    '- item',
    'Ünïcode 😀 \u2028',
    '"]; n1 --> n2',
    '/* x */ // y',
    '---',
    'end',
    ' ""'
  ]
  const start = dataset('hostile')
  const urns = names.map((_, index) => dataset(`hostile "${index}", back\\slash & \\`))
  await apply(
    server.db,
    ...create(start, ...urns),
    ...names.map((name, index) => upsert(urns[index] ?? start, 'datasetProperties', { name })),
    ...urns.map((each) => addEdge(start, each))
  )
  const nameOf = new Map<string, string>(urns.map((urn, index) => [urn, names[index] ?? '']))
  const lines = ndjsonLines(await exported(server, { urn: start, format: 'ndjson' }))
  const reached = lines.map(({ urn }) => urn)

  await t.test(
    'NDJSON and CSV give it back, CSV with an apostrophe before what a spreadsheet would execute',
    async (t) => {
      t.strictSame(new Map(lines.map(({ urn, name }) => [urn, name])), nameOf)
      const records = csvRecords(await exported(server, { urn: start }))
      t.strictSame(
        records.map(({ urn }) => urn),
        reached
      )
      t.strictSame(
        records.map(({ name }) => name),
        lines.map(({ name }) => (/^[=+\-@\uff1d]/.test(name) ? `'${name}` : name))
      )
      t.strictSame(
        csvRecords(await exported(server, { urn: start, of: 'edges' })).map(({ downstream }) => downstream),
        reached
      )
    }
  )

  await t.test('diagrams show it on one line, and have as many nodes and edges as the answer', async (t) => {
    const shown = lines.map(({ name }) => `${name.replaceAll(/[\r\n\t\u2028]+/g, ' ')}\nDATASET hive`)
    const dot = parseDot(await exported(server, { urn: start, format: 'dot' }))
    t.strictSame([...dot.nodes.keys()], [start, ...reached])
    t.strictSame([...dot.nodes.values()].slice(1), shown)
    t.strictSame(
      dot.edges,
      reached.map((each) => [start, each])
    )
    const mermaid = parseMermaid(await exported(server, { urn: start, format: 'mermaid' }))
    t.strictSame([...mermaid.nodes.values()].slice(1), shown)
    t.equal(mermaid.edges.length, names.length)
  })

  await t.test('Graphviz reads the diagram as it is meant', async (t) => {
    const text = await exported(server, { urn: start, format: 'dot' })
    if (skipUnless(t, spawnSync('dot', ['-V']).status === 0, 'needs dot of Graphviz')) return
    const { status, stdout, stderr } = spawnSync('dot', ['-Tjson0'], { input: text, encoding: 'utf8' })
    t.match({ status, stderr }, { status: 0, stderr: '' })
    const drawn: { objects: { name: string; label: string }[]; edges: { tail: number; head: number }[] } =
      JSON.parse(stdout)
    t.equal(drawn.objects.length, names.length + 1)
    t.equal(drawn.edges.length, names.length)
    t.equal(drawn.objects.filter(({ name }) => name.startsWith('urn:li:dataset:(')).length, names.length + 1)
  })
})

t.test('one client may export one file after the other, as fast as it can', async (t) => {
  const server = await withServer(t, { memory: false })
  const start = dataset('refused')
  await apply(server.db, ...create(start))
  const urls = [exportUrl({ urn: start }), '/domains/export']
  for (const url of urls)
    for (let sent = 0; sent < 40; sent += 1) {
      const { status } = await server.rest({ url })
      if (status !== 200) return void t.fail(`${url} was answered ${status} after ${sent} others`)
    }
  t.pass('all were answered')
})

t.test('a request that cannot be answered is refused before the first row', async (t) => {
  const server = await withServer(t)
  const start = dataset('refused')
  await apply(server.db, ...create(start))
  const refused: [{ [name: string]: string }, number, JsonObject][] = [
    [{}, 400, { code: 'BAD_REQUEST', field: 'urn' }],
    [{ urn: 'orders' }, 400, { code: 'INVALID_URN', field: 'urn' }],
    [{ urn: dataset('absent') }, 404, { code: 'NOT_FOUND', field: 'urn', urn: dataset('absent') }],
    [
      { urn: start, direction: 'SIDEWAYS' },
      400,
      { code: 'BAD_REQUEST', field: 'direction', allowed: ['UPSTREAM', 'DOWNSTREAM'] }
    ],
    [
      { urn: start, format: 'xlsx' },
      400,
      { code: 'BAD_REQUEST', field: 'format', allowed: ['csv', 'ndjson', 'dot', 'mermaid'] }
    ],
    [
      { urn: start, format: 'csv', of: 'graph' },
      400,
      { code: 'BAD_REQUEST', field: 'of', allowed: ['entities', 'edges'] }
    ],
    [
      { urn: start, format: 'dot', of: 'edges' },
      400,
      { code: 'BAD_REQUEST', field: 'of', allowed: ['graph'] }
    ],
    [{ urn: start, hops: '0' }, 400, { code: 'BAD_REQUEST', field: 'hops' }],
    [{ urn: start, hops: 'many' }, 400, { code: 'BAD_REQUEST', field: 'hops' }],
    [
      { urn: start, hops: '1001' },
      400,
      { code: 'LIMIT_EXCEEDED', field: 'hops', limit: 'walkMaxHops', maximum: 1_000, actual: 1_001 }
    ],
    [{ urn: start, degree: '1,4' }, 400, { code: 'BAD_REQUEST', field: 'degree', allowed: ['1', '2', '3+'] }],
    [{ urn: start, types: 'TABLE' }, 400, { code: 'BAD_REQUEST', field: 'types' }],
    [{ urn: start, domain: 'finance' }, 400, { code: 'INVALID_URN', field: 'domain' }],
    [
      { urn: start, columns: 'yes' },
      400,
      { code: 'BAD_REQUEST', field: 'columns', allowed: ['true', 'false'] }
    ],
    [{ urn: column(start, 'x'), columns: 'false' }, 400, { code: 'BAD_REQUEST', field: 'columns' }],
    [
      { urn: start, query: 'x'.repeat(limits.queryTextMaxChars + 1) },
      400,
      { code: 'LIMIT_EXCEEDED', field: 'query' }
    ],
    [
      {
        urn: start,
        platform: Array.from({ length: limits.filterValuesMaxCount + 1 }, (_, index) => `p${index}`).join(',')
      },
      400,
      { code: 'LIMIT_EXCEEDED', field: 'platform', limit: 'filterValuesMaxCount' }
    ],
    [{ urn: start, filters: '{' }, 400, { code: 'BAD_REQUEST', field: 'filters' }],
    [
      { urn: start, filters: '[{"or": []}]' },
      400,
      { code: 'BAD_REQUEST', field: 'filters[0]', allowed: ['and'] }
    ],
    [
      { urn: start, filters: '[{"and": [{"field": 1}]}]' },
      400,
      { code: 'BAD_REQUEST', field: 'filters[0].and[0].field' }
    ],
    [
      { urn: start, filters: '[{"and": [{"field": "name", "values": "x"}]}]' },
      400,
      { code: 'BAD_REQUEST', field: 'filters[0].and[0].values' }
    ],
    [
      { urn: start, filters: '[{"and": [{"field": "colour", "values": ["x"]}]}]' },
      400,
      { code: 'BAD_REQUEST', field: 'filters[0].and[0].field' }
    ],
    [{ urn: start, startTimeMillis: 'yesterday' }, 400, { code: 'BAD_REQUEST', field: 'startTimeMillis' }],
    [
      { urn: start, startTimeMillis: '2000', endTimeMillis: '1000' },
      400,
      { code: 'BAD_REQUEST', field: 'endTimeMillis' }
    ],
    [{ urn: start, count: '10' }, 400, { code: 'BAD_REQUEST', field: 'count' }]
  ]
  for (const [parameters, status, expected] of refused) {
    const answer = await server.rest({ url: exportUrl(parameters) })
    t.match(
      { status: answer.status, body: answer.body, type: answer.headers['content-type'] },
      { status, body: expected, type: 'application/problem+json; charset=utf-8' },
      JSON.stringify(parameters).slice(0, 100)
    )
    t.equal(answer.headers['x-lineage-total'], undefined)
  }
  t.equal(
    (await server.rest({ url: `${exportUrl({ urn: start })}&urn=x` })).status,
    400,
    'a parameter given twice'
  )
  t.match(await server.rest({ url: exportUrl({ urn: start }), token: null }), { status: 401 })
  t.match(await server.rest({ url: exportUrl({ urn: start }), token: await server.tokenWith(['read']) }), {
    status: 200
  })
  t.match(await server.rest({ method: 'POST', url: exportUrl({ urn: start }) }), {
    status: 405,
    headers: { allow: 'GET, HEAD, OPTIONS' }
  })
})

const anyExport: ExportInput = {
  urn: null,
  direction: 'DOWNSTREAM',
  hops: null,
  types: [],
  query: null,
  degrees: [],
  platforms: [],
  domain: null,
  columns: null,
  withAssets: false,
  startTimeMillis: null,
  endTimeMillis: null,
  filters: []
}
const manyCount = 20_000

/** Written directly into the tables, because writing is not tested here. */
async function writeStar(db: Db, center: Urn, leaves: readonly Urn[]): Promise<void> {
  await apply(db, ...create(center))
  await query(
    db,
    `
    insert into entity (urn, urn_key, entity_type, is_present)
    select leaf.urn, encode(substr(sha256(convert_to(leaf.urn, 'UTF8')), 1, 16), 'hex')::uuid, 'dataset', true
    from unnest(?::text[]) as leaf (urn)`,
    [leaves]
  )
  await query(
    db,
    `
    insert into statement (downstream_id, upstream_id, owner_id, field, source_id, record_key, position, seq, line)
    select leaf.id, center.id, leaf.id, ?, 1, 0, 0, 1, 0
    from entity center, entity leaf
    where center.urn = ? and leaf.urn <> center.urn`,
    [placeOfEdge(center, leaves[0] ?? center)?.fieldCode ?? 0, center]
  )
  await query(db, 'analyze entity, statement')
}

t.test(`an export of ${manyCount} rows`, async (t) => {
  const server = await withServer(t, { memory: false })
  const { db } = server
  const start = dataset('large')
  // Long names, so that buffers between server and client cannot hold them all.
  const leaves = Array.from({ length: manyCount }, (_, index) => dataset(`${index} ${'x'.repeat(400)}`))
  await writeStar(db, start, leaves)
  const path = exportUrl({ urn: start, format: 'ndjson' })
  const urlOf = (app: FastifyInstance): string => app.listeningOrigin + path
  const memory = await openMemory(t, db, server.databaseUrl, createLog({ logLevel: 'silent' }))

  await t.test('is complete', async (t) => {
    const lines = ndjsonLines(await exported(server, { urn: start, format: 'ndjson' }))
    t.ok(
      lines
        .map(({ urn }) => urn)
        .sort()
        .join() === leaves.toSorted().join()
    )
    t.equal(
      ndjsonLines(await exported(server, { urn: start, format: 'ndjson', of: 'edges' })).length,
      manyCount,
      'a fan-out of one entity too'
    )
  })

  await t.test(
    'is read from the database a slice at a time, and only as fast as the client reads',
    async (t) => {
      let [read, mostAtOnce] = [0, 0]
      const watching = withReaders(memory, (reader) => ({
        ...reader,
        urns: (ids) => {
          read += ids.length
          mostAtOnce = Math.max(mostAtOnce, ids.length)
          return reader.urns(ids)
        }
      }))
      for (const of of ['entities', 'edges'] as const) {
        read = 0
        await exportLineage({ db, memory: watching }, { ...anyExport, urn: start }, async (found) => {
          const body = paced(of === 'entities' ? ndjsonOfEntities(found) : ndjsonOfEdges(found), exportPace)
          await once(body, 'readable')
          await turns(100)
          t.ok(read < manyCount / 4, `${read} ${of} were read though nobody took one`)
          for await (const part of body) void part
        })
        t.ok(read >= manyCount)
      }
      t.ok(mostAtOnce <= 5_000, `${mostAtOnce} at once`)
    }
  )

  await t.test(
    'is cut off, and its transaction ends, if the client reads nothing for too long or takes too long in all',
    async (t) => {
      for (const pace of [{ stallMaxMs: 100 }, { maxMs: 300 }]) {
        const app = await withExports(t, { db, memory: null }, pace)
        const answer = await opened(urlOf(app))
        t.equal(answer.headers['x-lineage-total'], String(manyCount))
        await until(async () => (await openTransactions(db)).length === 0)
        t.equal(await takesWhole(answer), false, 'and the client sees that it is not whole')
      }
      t.equal(
        await takesWhole(await opened(urlOf(await withExports(t, { db, memory })))),
        true,
        'a client that takes it in time gets it whole'
      )
      const app = await withExports(t, { db, memory }, { stallMaxMs: 100 })
      const slow = await opened(urlOf(app))
      await until(async () => (await connectionsOf(app)) === 0)
      t.equal(await takesWhole(slow), false, 'from memory too')
    }
  )

  await t.test('ends its transaction when the client goes away', async (t) => {
    const app = await withExports(t, { db, memory: null })
    for (let count = 0; count <= limits.exportsAtOnceMaxCount; count += 1) {
      const answer = await opened(urlOf(app))
      t.equal(answer.statusCode, 200, `export ${count + 1}`)
      await once(answer, 'readable')
      t.equal((await openTransactions(db)).length, 1)
      answer.destroy()
      await until(async () => (await openTransactions(db)).length === 0)
    }
  })

  await t.test('ends early if the database ends', async (t) => {
    const app = await withExports(t, { db, memory: null })
    const answer = await opened(urlOf(app))
    await once(answer, 'readable')
    for (const pid of await openTransactions(db))
      await query(db, 'select pg_terminate_backend(?::int)', [pid])
    t.equal(await takesWhole(answer), false)
    t.equal(await takesWhole(await opened(urlOf(app))), true, 'and the next comes whole')
  })

  await t.test(`is refused while ${limits.exportsAtOnceMaxCount} others are under way`, async (t) => {
    const app = await withExports(t, { db, memory })
    const own = limits.exportsPerTokenMaxCount
    const others = await Promise.all(
      Array.from({ length: limits.exportsAtOnceMaxCount }, (_, index) =>
        opened(urlOf(app), { 'x-token': index < own ? 'greedy' : 'other' })
      )
    )
    t.strictSame(
      others.map((answer) => answer.statusCode),
      others.map(() => 200)
    )
    const refused = await app.inject(path)
    t.match(
      { status: refused.statusCode, body: refused.json(), again: refused.headers['retry-after'] },
      { status: 429, body: { code: 'RATE_LIMITED', limit: 'exportsAtOnceMaxCount' }, again: '1' }
    )
    for (const answer of others) answer.destroy()
    await until(async () => (await app.inject({ method: 'HEAD', url: path })).statusCode === 200)
  })

  await t.test(
    'is refused while its token has as many as one may, and another token has a place',
    async (t) => {
      const app = await withExports(t, { db, memory })
      const greedy = { 'x-token': 'greedy' }
      const maximum = limits.exportsPerTokenMaxCount
      const open = await Promise.all(Array.from({ length: maximum }, () => opened(urlOf(app), greedy)))
      const refused = await app.inject({ url: path, headers: greedy })
      t.match(
        { status: refused.statusCode, body: refused.json() },
        { status: 429, body: { code: 'RATE_LIMITED', limit: 'exportsPerTokenMaxCount', maximum } }
      )
      t.equal((await app.inject({ method: 'HEAD', url: path })).statusCode, 200)
      for (const answer of open) answer.destroy()
    }
  )

  await t.test('has a time limit for each slice, not for all of them together', async (t) => {
    await inTransaction(db, async (tx) => {
      const within = keepDeadline(tx, 4_000, 'too long')
      const leftMs = async (): Promise<number> => {
        const [row] = await within(() =>
          query<{ ms: number }>(
            tx,
            "select setting::int as ms from pg_settings where name = 'statement_timeout'"
          )
        )
        return row?.ms ?? 0
      }
      await sleep(2_050)
      t.ok((await leftMs()) < 2_000, 'a statement has what is left')
      within.renew()
      t.ok((await leftMs()) > 2_000, 'and all of it again')
    })
    const times: string[] = []
    const watching = withReaders(memory, (reader) => ({
      ...reader,
      renew: () => {
        times.push('renew')
        reader.renew()
      },
      urns: (ids) => {
        times.push('read')
        return reader.urns(ids)
      }
    }))
    await exportLineage({ db, memory: watching }, { ...anyExport, urn: start }, async (found) => {
      for await (const rows of found.entities()) void rows
      for await (const rows of found.edges()) void rows
    })
    t.notMatch(times.join(' '), 'read read', 'no slice begins with what an earlier one has left')
  })

  await t.test('fails before its first row if the walk takes too long', async (t) => {
    const late = withReaders(memory, (reader) => ({
      ...reader,
      walk: () => Promise.reject(new CatalogError('DEADLINE_EXCEEDED', 'too long'))
    }))
    const answer = await (await withExports(t, { db, memory: late })).inject(path)
    t.match(
      { status: answer.statusCode, body: answer.json(), total: answer.headers['x-lineage-total'] },
      { status: 504, body: { code: 'DEADLINE_EXCEEDED' }, total: undefined }
    )
  })
})
