/**
 * Runs the snippets of docs/guides/airflow.md with Airflow: its DAG, with the OpenLineage provider, against a
 * running catalog.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { dropDatabase, runOnServer, urlOfDatabase } from '../../support/database.ts'
import { startCatalog } from '../catalog.ts'
import { runScript, snippetsOf } from '../guide-snippets.ts'
import { hasEdge } from '../has-edge.ts'
import { openPythonEnvironment } from '../../../dev/python-environment.ts'

type Outcome = { passed: number; failed: number; skipped: number }

const tables = `
  create schema shop;
  create table shop.orders (id int, amount numeric);
  create table shop.revenue (total numeric);
  create table shop.report (total numeric);`

/** What the page says about its DAG. */
function edgesOf(database: string): (readonly [upstream: string, downstream: string])[] {
  const table = (name: string): string =>
    `urn:li:dataset:(urn:li:dataPlatform:postgres,${database}.shop.${name},PROD)`
  const job = (name: string): string =>
    `urn:li:dataJob:(urn:li:dataFlow:(airflow,shop,airflow-prod),shop.${name})`
  return [
    [table('orders'), job('revenue')],
    [job('revenue'), table('revenue')],
    [`urn:li:schemaField:(${table('orders')},amount)`, `urn:li:schemaField:(${table('revenue')},total)`],
    [table('revenue'), job('report')],
    [job('report'), table('report')]
  ]
}

/** With its own databases and folder. Airflow keeps its database in that folder, and no scheduler runs. */
export async function runAirflowGuide(serverUrl: string): Promise<Outcome> {
  console.log('# docs/guides/airflow.md')
  const bin = await openPythonEnvironment('test/interop/airflow/requirements.txt')
  const folder = mkdtempSync(join(tmpdir(), 'tributary-airflow-'))
  const name = `interop_airflow_${randomBytes(4).toString('hex')}`
  const database = `${name}_warehouse`
  await runOnServer(serverUrl, `create database ${database} template template0`)
  const outcome: Outcome = { passed: 0, failed: 0, skipped: 0 }
  const check = (isRight: boolean, what: string): void => {
    outcome[isRight ? 'passed' : 'failed'] += 1
    console.log(`${isRight ? 'ok' : 'not ok'}: ${what}`)
  }
  try {
    await runOnServer(urlOfDatabase(serverUrl, database), tables)
    const catalog = await startCatalog({ serverUrl, redisUrl: null, name, folder })
    try {
      const dags = join(folder, 'dags')
      mkdirSync(dags)
      const [dag = ''] = snippetsOf('airflow', 'python')
      writeFileSync(join(dags, 'shop.py'), dag.replaceAll('/warehouse/', `/${database}/`))
      const snippets = snippetsOf('airflow', 'sh')
      const settings = snippets.find((text) => text.includes('pip install')) ?? ''
      const script = settings
        .replace(/^pip .*$/m, 'airflow db migrate')
        .replace('http://127.0.0.1:8080', catalog.url)
        .replace('trib_…', catalog.token)
      const code = await runScript(`${script}\nairflow dags test shop`, folder, {
        PATH: [bin, process.env.PATH ?? ''].join(delimiter),
        HOME: folder,
        AIRFLOW_HOME: folder,
        AIRFLOW__CORE__DAGS_FOLDER: dags,
        AIRFLOW__CORE__LOAD_EXAMPLES: 'false',
        AIRFLOW__USAGE_DATA_COLLECTION__ENABLED: 'false',
        AIRFLOW_CONN_WAREHOUSE: urlOfDatabase(serverUrl, database)
      })
      check(code === 0, 'airflow dags test')
      const newestEvent = snippets.find((text) => text.startsWith('curl')) ?? 'exit 1'
      const asking = `${newestEvent.trim()} | grep -q '"eventType"'`
      check(
        (await runScript(asking, folder, {
          PATH: process.env.PATH,
          TRIBUTARY_URL: catalog.url,
          TRIBUTARY_TOKEN: catalog.token
        })) === 0,
        'the newest event'
      )
      for (const [up, down] of edgesOf(database))
        check(await hasEdge(catalog, up, down), `Airflow: ${up} flows into ${down}`)
    } finally {
      await catalog.stop()
    }
  } finally {
    await dropDatabase(serverUrl, database)
    if (outcome.failed > 0) console.log(`# the logs are kept in ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
  return outcome
}
