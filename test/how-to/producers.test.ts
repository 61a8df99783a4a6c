/** The pages for dbt, Airflow, Spark and Marquez run as they stand, with the tools that they are about, and make the lineage that they promise. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cacheFolder, openPythonEnvironment } from '../../dev/python-environment.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import type { CatalogClient } from '../support/catalog-client.ts'
import { runOnServer } from '../support/database.ts'
import { hasEdge } from '../support/has-edge.ts'
import { valueAt } from '../support/json-answer.ts'
import { marquez } from '../support/marquez.ts'
import { eventAt } from '../support/openlineage.ts'
import { withFolder } from '../support/program.ts'
import { skipUnless } from '../support/skip.ts'
import { withStandIn } from '../support/stand-in-server.ts'
import { runPage } from './run-page.ts'
import { withCatalogOn, withPostgres } from './settings.ts'

t.setTimeout(1_800_000)

const pageMaxMs = 600_000

type Edge = readonly [upstream: string, downstream: string]

async function hasEdges(t: Test, client: CatalogClient, edges: readonly Edge[]): Promise<void> {
  for (const [up, down] of edges) t.ok(await hasEdge(client, up, down), `${up} flows into ${down}`)
}

const postgres = await withPostgres(t)
if (postgres !== null) {
  t.test('dbt', async (t) => {
    const { env, client } = await withCatalogOn(t, postgres)
    const folder = withFolder(t)
    cpSync(packagePath('test/how-to/dbt/project'), folder, { recursive: true })
    await runPage(t, 'docs/guides/dbt.md', {
      folder,
      path: [await openPythonEnvironment('test/how-to/dbt/requirements.txt')],
      env: { ...env, DBT_PROFILES_DIR: folder, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false' },
      // a domain that a model names
      before: 'tributary domain create Sales',
      maxMs: pageMaxMs
    })
    const table = (name: string): string =>
      `urn:li:dataset:(urn:li:dataPlatform:duckdb,shop.main.${name},PROD)`
    const job = (name: string): string =>
      `urn:li:dataJob:(urn:li:dataFlow:(dbt,shop,dbt),shop.main.shop.${name})`
    const listed = async (urn: string, aspect: string, list: string, field: string): Promise<string[]> => {
      const { json } = await client.readAspect(urn, aspect)
      const entries = valueAt(Object.values(valueAt(json, 'aspect') ?? {})[0], list)
      return Array.isArray(entries) ? entries.map((entry) => String(valueAt(entry, field))).sort() : []
    }
    // dbt-ol treats an ephemeral model as a table
    const expected = [
      { name: 'stg_orders', tables: ['raw_orders'], inputs: [] },
      { name: 'orders', tables: ['countries', 'stg_orders'], inputs: ['positive_orders'] },
      { name: 'revenue', tables: ['orders'], inputs: ['orders'] },
      { name: 'orders_history', tables: ['orders'], inputs: null }
    ]
    for (const { name, tables, inputs } of expected) {
      t.same(
        await listed(table(name), 'upstreamLineage', 'upstreams', 'dataset'),
        tables.map(table),
        `the manifest: ${name} is made from ${tables.join(', ')}`
      )
      if (inputs === null) continue
      t.same(
        [
          await listed(job(name), 'dataJobInputOutput', 'inputDatasetEdges', 'destinationUrn'),
          await listed(job(name), 'dataJobInputOutput', 'outputDatasetEdges', 'destinationUrn')
        ],
        [inputs.map(table), [table(name)]],
        `dbt-ol: ${name} is written by a job that reads ${inputs.join(', ') || 'nothing'}`
      )
    }
    const { data } = await client.graphql(
      'query ($urn: String!) { dataset(urn: $urn) { domain { domain { properties { name } } } } }',
      { urn: table('orders') }
    )
    t.equal(valueAt(data, 'dataset.domain.domain.properties.name'), 'Sales')
  })

  t.test('Airflow', async (t) => {
    const { env, client } = await withCatalogOn(t, postgres)
    await runOnServer(postgres.cluster.url(), 'create database warehouse')
    await runOnServer(
      postgres.cluster.url('warehouse'),
      `create schema shop;
      create table shop.orders (id int, amount numeric);
      create table shop.revenue (total numeric);
      create table shop.report (total numeric)`
    )
    const folder = withFolder(t)
    await runPage(t, 'docs/guides/airflow.md', {
      folder,
      path: [await openPythonEnvironment('test/how-to/airflow/requirements.txt')],
      env: {
        ...env,
        AIRFLOW_HOME: folder,
        AIRFLOW__CORE__DAGS_FOLDER: join(folder, 'dags'),
        AIRFLOW__CORE__LOAD_EXAMPLES: 'false',
        AIRFLOW__USAGE_DATA_COLLECTION__ENABLED: 'false',
        AIRFLOW_CONN_WAREHOUSE: postgres.cluster.url('warehouse')
      },
      before: 'airflow db migrate',
      blanks: {
        'http://127.0.0.1:8080': env.TRIBUTARY_URL ?? '',
        'trib_…': env.TRIBUTARY_TOKEN ?? ''
      },
      maxMs: pageMaxMs
    })
    const table = (name: string): string =>
      `urn:li:dataset:(urn:li:dataPlatform:postgres,warehouse.shop.${name},PROD)`
    const job = (name: string): string =>
      `urn:li:dataJob:(urn:li:dataFlow:(airflow,shop,airflow-prod),shop.${name})`
    await hasEdges(t, client, [
      [table('orders'), job('revenue')],
      [job('revenue'), table('revenue')],
      [`urn:li:schemaField:(${table('orders')},amount)`, `urn:li:schemaField:(${table('revenue')},total)`],
      [table('revenue'), job('report')],
      [job('report'), table('report')]
    ])
  })

  t.test('Spark', async (t) => {
    if (skipUnless(t, spawnSync('java', ['-version']).status === 0, 'java is not installed')) return
    const { env, client } = await withCatalogOn(t, postgres)
    const folder = realpathSync(withFolder(t))
    mkdirSync(join(folder, 'conf'))
    // little memory, and a cache of the listener's package for later runs
    writeFileSync(
      join(folder, 'conf/spark-defaults.conf'),
      `spark.master local[1]\nspark.driver.memory 512m\nspark.ui.enabled false\nspark.jars.ivy ${join(cacheFolder(), 'ivy')}\n`
    )
    await runPage(t, 'docs/guides/spark.md', {
      folder,
      path: [await openPythonEnvironment('test/how-to/spark/requirements.txt')],
      env: { ...env, SPARK_CONF_DIR: join(folder, 'conf'), SPARK_LOCAL_IP: '127.0.0.1' },
      maxMs: pageMaxMs
    })
    const orders = `urn:li:dataset:(urn:li:dataPlatform:file,${join(folder, 'orders')},PROD)`
    const totals = 'urn:li:dataset:(urn:li:dataPlatform:hive,default.totals,PROD)'
    const command =
      'urn:li:dataJob:(urn:li:dataFlow:(spark,shop,spark-prod),shop.execute_create_data_source_table_as_select_command.default_totals)'
    await hasEdges(t, client, [
      [orders, command],
      [command, totals],
      [`urn:li:schemaField:(${orders},amount)`, `urn:li:schemaField:(${totals},total)`]
    ])
  })

  t.test('Marquez', async (t) => {
    const { env, client } = await withCatalogOn(t, postgres)
    const event = eventAt(1, {
      eventType: 'COMPLETE',
      job: { namespace: 'nightly', name: 'shop.revenue' },
      inputs: [{ namespace: 'postgres://db:5432', name: 'shop.public.orders' }],
      outputs: [{ namespace: 'postgres://db:5432', name: 'shop.public.revenue' }]
    })
    const url = await withStandIn(t, marquez({ events: [event], asked: [] }))
    await runPage(t, 'docs/guides/from-marquez.md', { env: { ...env, MARQUEZ_URL: url } })
    const table = (name: string): string =>
      `urn:li:dataset:(urn:li:dataPlatform:postgres,shop.public.${name},PROD)`
    t.same(await client.walk(table('orders')), [
      '1 urn:li:dataJob:(urn:li:dataFlow:(spark,shop,nightly),shop.revenue)',
      `2 ${table('revenue')}`
    ])
  })
}
