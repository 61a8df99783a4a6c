/** What a column affects beyond columns: the domains and owners of their assets, and dashboards, in every answer. */
import t from 'tap'
import type { JsonObject } from '../shared/model/changes.ts'
import { csvRecords } from './support/export-files.ts'
import {
  aspectRecord,
  chart,
  column,
  dashboard,
  dataset,
  domain,
  loadRecords
} from './support/large-catalog.ts'
import { withServer, type TestServer } from './support/server.ts'

const start = dataset('start')
const [amount, id] = [column(start, 'amount'), column(start, 'id')]
const ada = 'urn:li:corpuser:ada'
const bob = 'urn:li:corpuser:bob'
const crew = 'urn:li:corpGroup:crew'
const tables = ['sales', 'stock', 'staff'].map((name) => dataset(name))
const [sales = '', stock = '', staff = ''] = tables
const [shown, plain] = [chart('shown'), chart('plain')]
const [board, outer, direct] = [dashboard('board'), dashboard('outer'), dashboard('direct')]
const job = 'urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,prod),copy)'

const edge = (upstreamUrn: string, downstreamUrn: string) => ({ upstreamUrn, downstreamUrn })
const owned = (type: string, urn: string, owners: readonly string[]) =>
  aspectRecord(type, urn, 'ownership', { owners: owners.map((owner) => ({ owner, type: 'DATAOWNER' })) })

const records = [
  ...['retail', 'people'].map((name) => ({ op: 'createDomain', id: name, name })),
  { op: 'createDomain', id: 'shops', name: 'shops', parentDomain: domain('retail') },
  ...[start, ...tables, shown, plain, board, outer, direct].map((urn) => ({
    op: 'upsertEntity',
    urn,
    name: 'n'
  })),
  { op: 'setDomain', entityUrn: sales, domainUrn: domain('shops') },
  { op: 'setDomain', entityUrn: stock, domainUrn: domain('retail') },
  { op: 'setDomain', entityUrn: staff, domainUrn: domain('people') },
  owned('dataset', sales, [ada, crew]),
  owned('dataset', stock, [bob]),
  owned('dashboard', board, [bob]),
  // amount reaches two tables, a third after them, and a chart; id reaches one table.
  edge(amount, column(sales, 'total')),
  edge(amount, column(stock, 'value')),
  edge(column(stock, 'value'), column(staff, 'bonus')),
  edge(column(sales, 'total'), column(shown, 'total')),
  edge(id, column(staff, 'id')),
  // A dashboard shows the chart, and another shows that dashboard; a third has a column of its own.
  edge(shown, board),
  edge(board, outer),
  edge(plain, outer),
  edge(shown, direct),
  edge(column(shown, 'total'), column(direct, 'total')),
  aspectRecord('dataJob', job, 'dataJobInfo', { name: 'copy', type: 'COMMAND' }),
  aspectRecord('dataJob', job, 'dataJobInputOutput', {
    inputDatasets: [start],
    outputDatasets: [stock],
    fineGrainedLineages: [
      {
        upstreamType: 'FIELD_SET',
        downstreamType: 'FIELD_SET',
        upstreams: [amount],
        downstreams: [column(stock, 'value')]
      }
    ]
  })
]

const question = `query ($counts: LineageCountsInput!, $rows: ScrollAcrossLineageInput!) {
  lineageCounts(input: $counts) { total domains { domain { urn } count } types { type count } }
  scrollAcrossLineage(input: $rows) { total searchResults { degree entity { urn } paths { path { urn } } } }
}`
const asColumns = {
  groupingSpec: { groupingCriteria: [{ baseEntityType: 'SCHEMA_FIELD', groupingEntityType: 'SCHEMA_FIELD' }] }
}

type Asked = { urn?: string; direction?: string; filters?: JsonObject[]; isFolded?: boolean }

async function ask(
  server: TestServer,
  { urn = amount, direction = 'DOWNSTREAM', filters = [], isFolded = false }: Asked
) {
  const orFilters = filters.length > 0 ? [{ and: filters }] : []
  const common = { urn, direction, orFilters }
  const { body } = await server.graphql(question, {
    counts: { ...common, ...(isFolded ? {} : { searchFlags: asColumns }) },
    rows: { ...common, foldColumns: isFolded, count: 100, pathsPerResult: 1 }
  })
  const { lineageCounts, scrollAcrossLineage } = body.data
  const rows = scrollAcrossLineage.searchResults.map(
    ({ degree, entity }: { degree: number; entity: { urn: string } }) => `${degree} ${entity.urn}`
  )
  const answer = await server.rest({
    url: `/lineage/export?${new URLSearchParams({ urn, direction, format: 'csv', filters: JSON.stringify(orFilters) }).toString()}`
  })
  const exported = csvRecords(answer.text)
  return {
    counts: lineageCounts,
    total: scrollAcrossLineage.total,
    results: scrollAcrossLineage.searchResults,
    rows,
    exported
  }
}

for (const memory of [true, false])
  t.test(`impact of a column, from ${memory ? 'memory' : 'SQL'}`, async (t) => {
    const server = await withServer(t, { withWorker: true, memory })
    await loadRecords(server, records)

    t.test('counts the domains of the assets, and of columns by those of their asset', async (t) => {
      const counted = (list: { domain: { urn: string } | null; count: number }[]) =>
        Object.fromEntries(list.map(({ domain: of, count }) => [of?.urn ?? 'none', count]))
      // Columns: one of each table, the chart's and a dashboard's; assets: the job and two dashboards.
      const columns = await ask(server, {})
      t.strictSame(counted(columns.counts.domains), {
        [domain('shops')]: 1,
        [domain('retail')]: 1,
        [domain('people')]: 1,
        none: 5
      })
      t.equal(columns.counts.total, columns.total)
      t.strictSame(counted((await ask(server, { isFolded: true })).counts.domains), {
        [domain('shops')]: 1,
        [domain('retail')]: 1,
        [domain('people')]: 1,
        none: 5
      })
      t.strictSame(counted((await ask(server, { urn: id })).counts.domains), { [domain('people')]: 1 })
      t.strictSame(
        counted((await ask(server, { urn: column(staff, 'bonus'), direction: 'UPSTREAM' })).counts.domains),
        { [domain('retail')]: 1, none: 2 }
      )
    })

    t.test('filters columns by the domain and by the owner of their asset', async (t) => {
      const kept = async (filter: JsonObject) => (await ask(server, { filters: [filter] })).rows
      t.strictSame(await kept({ field: 'domains', values: [domain('shops')] }), [
        `1 ${column(sales, 'total')}`
      ])
      t.strictSame(
        new Set(await kept({ field: 'domains', values: [domain('retail')], condition: 'DESCENDANTS_INCL' })),
        new Set([`1 ${column(sales, 'total')}`, `1 ${column(stock, 'value')}`])
      )
      t.strictSame(await kept({ field: 'owners', values: [crew] }), [`1 ${column(sales, 'total')}`])
      t.strictSame(await kept({ field: 'owners', values: [bob] }), [
        `1 ${column(stock, 'value')}`,
        `3 ${board}`
      ])
      t.strictSame(await kept({ field: 'owners', values: ['urn:li:corpuser:nobody'] }), [])
    })

    t.test('includes the dashboards of affected charts, and the paths to them', async (t) => {
      const { rows, results } = await ask(server, {})
      t.ok(rows.includes(`3 ${board}`))
      t.ok(rows.includes(`4 ${outer}`), 'and the dashboards that contain them')
      t.ok(rows.includes(`3 ${column(direct, 'total')}`))
      t.notOk(
        rows.some((row: string) => row.endsWith(` ${direct}`)),
        'a dashboard whose column is a row'
      )
      const pathTo = (urn: string) =>
        results
          .find(({ entity }: { entity: { urn: string } }) => entity.urn === urn)
          .paths[0].path.map((step: { urn: string }) => step.urn)
      t.strictSame(pathTo(outer), [amount, column(sales, 'total'), column(shown, 'total'), board, outer])
      const folded = (await ask(server, { isFolded: true })).rows
      for (const row of [`3 ${board}`, `4 ${outer}`, `3 ${direct}`, `2 ${shown}`, `1 ${job}`])
        t.ok(folded.includes(row), row)
      t.strictSame((await ask(server, { urn: id })).rows, [`1 ${column(staff, 'id')}`])
      t.strictSame(
        (await ask(server, { filters: [{ field: 'degree', values: ['1', '2'] }] })).rows.filter(
          (row: string) => row.includes('dashboard')
        ),
        [],
        'no further than the hops that are asked for'
      )
    })

    t.test('exports the same rows, with the owners and the domain of each', async (t) => {
      for (const asked of [{}, { urn: id }, { filters: [{ field: 'owners', values: [bob] }] }]) {
        const { rows, exported } = await ask(server, asked)
        t.strictSame(
          exported.map(({ degree, urn }) => `${degree} ${urn}`),
          rows
        )
      }
      const { exported } = await ask(server, {})
      const rowOf = (urn: string) => exported.find((row) => row.urn === urn)
      t.match(rowOf(column(sales, 'total')), { owners: `${ada} ${crew}`, domain: domain('shops') })
      t.match(rowOf(board), { owners: bob, domain: '' })
      t.match(rowOf(outer), { owners: '' })
      const { text } = await server.rest({
        url: `/lineage/export?${new URLSearchParams({ urn: start, format: 'ndjson' }).toString()}`
      })
      const assets: { urn: string; owners: string[] }[] = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      t.strictSame(assets.find(({ urn }) => urn === stock)?.owners, [bob])
      t.strictSame(assets.find(({ urn }) => urn === job)?.owners, [])
    })
  })
