/**
 * Runs the snippets of docs/guides/spark.md with Spark: its job, in local mode with OpenLineage's listener,
 * against a running catalog.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { startCatalog } from '../catalog.ts'
import { runScript, snippetsOf } from '../guide-snippets.ts'
import { hasEdge } from '../has-edge.ts'
import { cacheFolder, openPythonEnvironment } from '../../../dev/python-environment.ts'

type Outcome = { passed: number; failed: number; skipped: number }

const totals = 'urn:li:dataset:(urn:li:dataPlatform:hive,default.totals,PROD)'
const command =
  'urn:li:dataJob:(urn:li:dataFlow:(spark,shop,spark-prod),shop.execute_create_data_source_table_as_select_command.default_totals)'

/** What the page says about its job, which runs in the folder. */
function edgesOf(folder: string): (readonly [upstream: string, downstream: string])[] {
  const orders = `urn:li:dataset:(urn:li:dataPlatform:file,${join(folder, 'orders')},PROD)`
  return [
    [orders, command],
    [command, totals],
    [`urn:li:schemaField:(${orders},amount)`, `urn:li:schemaField:(${totals},total)`]
  ]
}

/** With little memory, and with a cache of the listener's package for later runs. */
const defaults = (): string => `
spark.master local[1]
spark.driver.memory 512m
spark.ui.enabled false
spark.jars.ivy ${join(cacheFolder(), 'ivy')}
`

/** With its own database and folder. Skipped without Java. */
export async function runSparkGuide(serverUrl: string): Promise<Outcome> {
  console.log('# docs/guides/spark.md')
  const outcome: Outcome = { passed: 0, failed: 0, skipped: 0 }
  if (spawnSync('java', ['-version']).status !== 0) {
    console.log('skipped: Spark: java is not installed')
    return { ...outcome, skipped: 1 }
  }
  const bin = await openPythonEnvironment('test/interop/spark/requirements.txt')
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tributary-spark-')))
  const name = `interop_spark_${randomBytes(4).toString('hex')}`
  const catalog = await startCatalog({ serverUrl, redisUrl: null, name, folder })
  const check = (isRight: boolean, what: string): void => {
    outcome[isRight ? 'passed' : 'failed'] += 1
    console.log(`${isRight ? 'ok' : 'not ok'}: ${what}`)
  }
  try {
    const settings = join(folder, 'conf')
    mkdirSync(settings)
    writeFileSync(join(settings, 'spark-defaults.conf'), defaults())
    const [job = ''] = snippetsOf('spark', 'python')
    writeFileSync(join(folder, 'job.py'), job)
    const [submit = ''] = snippetsOf('spark', 'sh')
    const code = await runScript(submit.replace('http://127.0.0.1:8080', catalog.url), folder, {
      PATH: [bin, process.env.PATH ?? ''].join(delimiter),
      HOME: folder,
      SPARK_CONF_DIR: settings,
      SPARK_LOCAL_IP: '127.0.0.1',
      TRIBUTARY_TOKEN: catalog.token
    })
    check(code === 0, 'spark-submit')
    for (const [up, down] of edgesOf(folder))
      check(await hasEdge(catalog, up, down), `Spark: ${up} flows into ${down}`)
  } finally {
    await catalog.stop()
    if (outcome.failed > 0) console.log(`# the logs are kept in ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
  return outcome
}
