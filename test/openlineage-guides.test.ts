/** The guides for producers: their examples are accepted, and create the lineage that they describe. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { query } from '../shared/db/query.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { withServer } from './support/server.ts'

const dataset = (platform: string, name: string): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`
const job = (orchestrator: string, flow: string, namespace: string, name: string): string =>
  `urn:li:dataJob:(urn:li:dataFlow:(${orchestrator},${flow},${namespace}),${name})`

const ways: { [guide: string]: readonly (readonly [upstream: string, downstream: string])[] } = {
  python: [
    [dataset('postgres', 'shop.public.orders'), job('unknown', 'shop', 'nightly', 'shop.revenue')],
    [job('unknown', 'shop', 'nightly', 'shop.revenue'), dataset('postgres', 'shop.public.revenue')]
  ],
  airflow: [
    [dataset('gcs', 'shop/orders'), job('airflow', 'shop', 'airflow-prod', 'shop.copy')],
    [job('airflow', 'shop', 'airflow-prod', 'shop.copy'), dataset('bigquery', 'shop.raw.orders')]
  ],
  spark: [
    [
      job(
        'spark',
        'shop',
        'spark-prod',
        'shop.execute_create_data_source_table_as_select_command.shop_totals'
      ),
      dataset('hive', 'shop.totals')
    ],
    [
      `urn:li:schemaField:(${dataset('gcs', 'shop/orders')},amount)`,
      `urn:li:schemaField:(${dataset('hive', 'shop.totals')},total)`
    ]
  ],
  'flink-and-trino': [
    [dataset('kafka', 'clicks'), job('flink', 'clicks', 'flink-prod', 'clicks')],
    [
      dataset('trino', 'lake.shop.orders'),
      job('trino', '20260101_000200_00001_abcde', 'trino://trino:8080', '20260101_000200_00001_abcde')
    ]
  ]
}

t.test('each event of a guide is taken and makes its lineage', async (t) => {
  const server = await withServer(t)
  for (const [guide, edges] of Object.entries(ways)) {
    const text = readFileSync(packagePath(`docs/guides/${guide}.md`), 'utf8')
    const events = [...text.matchAll(/^```json\n(.*?)^```$/gms)].map(([, body = '']): unknown =>
      JSON.parse(body)
    )
    t.ok(events.length > 0, guide)
    for (const body of events)
      t.match(await server.rest({ method: 'POST', url: '/api/v1/lineage', body }), { status: 201 }, guide)
    for (const [upstream, downstream] of edges) {
      const rows = await query(
        server.db,
        `
        select 1 from statement
        join entity as up on up.id = statement.upstream_id
        join entity as down on down.id = statement.downstream_id
        where up.urn = ? and down.urn = ?`,
        [upstream, downstream]
      )
      t.ok(rows.length > 0, `${guide}: ${upstream} -> ${downstream}`)
    }
  }
})
