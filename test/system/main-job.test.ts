/**
 * The main job on real input: `npm start`, then files of DataHub's connectors, OpenLineage events of Spark
 * and manifests of dbt are loaded, walked and searched, and no digit is lost. CI runs it on the least and on
 * the newest version of Node.js.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { JsonValue } from '../../shared/model/changes.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { catalogClient, type CatalogClient } from '../support/catalog-client.ts'
import { freePort } from '../support/free-port.ts'
import { valueAt } from '../support/json-answer.ts'
import { runProgram, withFolder } from '../support/program.ts'
import { sendRaw } from '../support/raw-request.ts'
import { skipUnless } from '../support/skip.ts'

t.setTimeout(900_000)

const data = process.env.TRIBUTARY_TEST_DATA ?? packagePath('../shared/data')
const folders = ['mcp', 'openlineage', 'dbt']

const dataset = (platform: string, name: string): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`
const spark = (flow: string, namespace: string, job: string): string =>
  `urn:li:dataJob:(urn:li:dataFlow:(spark,${flow},${namespace}),${job})`
const column = (urn: string, name: string): string => `urn:li:schemaField:(${urn},${name})`

type Place = { client: CatalogClient; run: (...args: string[]) => Promise<RunResult> }
type RunResult = { code: unknown; said: string }

const jsonLines = (said: string): JsonValue[] =>
  said
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): JsonValue => JSON.parse(line))

/** What `npm start` runs, in an empty folder, and the command line beside it. */
async function start(t: Test): Promise<Place & { stop: () => Promise<unknown> }> {
  const cwd = withFolder(t)
  const env = { PORT: String(await freePort()) }
  const program = runProgram(t, 'dev/start.js', [], { cwd, env })
  const url = await program.says(/is ready at (\S+)/)
  await program.says(/Ctrl-C/)
  return {
    client: catalogClient(url, readFileSync(join(cwd, '.data', 'token'), 'utf8').trim()),
    async run(...args) {
      const command = runProgram(t, 'bin/tributary.js', args, { cwd, env })
      return { code: await command.ended, said: command.said() }
    },
    stop() {
      program.kill('SIGINT')
      return program.ended
    }
  }
}

/** Urns by their distance. */
async function walk({ run }: Place, urn: string, direction: 'upstream' | 'downstream'): Promise<unknown> {
  const { code, said } = await run('lineage', urn, '--json', '--direction', direction)
  if (code !== 0) return said
  const answer: JsonValue = JSON.parse(said)
  const nodes = valueAt(answer, 'lineage.0.nodes')
  return Object.fromEntries(
    (Array.isArray(nodes) ? nodes : [])
      .map((node) => [String(valueAt(node, 'urn')), valueAt(node, 'degree')] as const)
      .filter(([each]) => each !== urn)
  )
}

t.test('the main job on real input', async (t) => {
  if (
    skipUnless(
      t,
      folders.every((name) => existsSync(join(data, name))),
      'the test data is neither in $TRIBUTARY_TEST_DATA nor in ../shared/data'
    )
  )
    return
  const place = await start(t)
  const { client, run } = place

  await t.test('files of connectors are loaded, every proposal of them', async (t) => {
    const { code, said } = await run('load', join(data, 'mcp'), '--missing-references', 'create', '--json')
    t.equal(code, 0, said)
    t.strictSame(
      jsonLines(said).map((line) => valueAt(line, 'counts')),
      [122, 219, 544].map((count) => ({ received: count, applied: count, unchanged: 0, rejected: 0 }))
    )
  })

  await t.test('events are taken, as their clients send them', async (t) => {
    const names = readdirSync(join(data, 'openlineage'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .sort()
    t.equal(names.length, 22)
    for (const name of names) {
      const event: JsonValue = JSON.parse(readFileSync(join(data, 'openlineage', name), 'utf8'))
      t.equal((await client.send('POST', '/api/v1/lineage', event)).status, 201, name)
    }
  })

  await t.test('manifests of dbt are loaded, every node of them', async (t) => {
    for (const [name, count] of [
      ['small', 2],
      ['postgres', 8]
    ] as const) {
      const { code, said } = await run('load', join(data, 'dbt', name, 'manifest.json'), '--json')
      t.equal(code, 0, said)
      t.match(jsonLines(said), [{ format: 'dbt', counts: { received: count, applied: count, rejected: 0 } }])
    }
  })

  await t.test('walks find what the files say, at every distance', async (t) => {
    const snowflake = (name: string): string => dataset('snowflake', `test_db.test_schema.${name}`)
    t.strictSame(await walk(place, snowflake('stream_1'), 'upstream'), {
      [snowflake('table_1')]: 1,
      [snowflake('table_2')]: 2,
      [snowflake('view_1')]: 2,
      [dataset('snowflake', 'other_db.other_schema.table_1')]: 2
    })
    const jaffle = (name: string): string => dataset('postgres', `postgres.public.${name}`)
    t.strictSame(await walk(place, jaffle('raw_payments'), 'downstream'), {
      [jaffle('stg_payments')]: 1,
      [jaffle('customers')]: 2,
      [jaffle('orders')]: 2
    })
    const shakespeare = dataset('bigquery', 'bigquery-public-data.samples.shakespeare')
    const job = (name: string): string =>
      spark('shakespeare_on_spark', 'default', `shakespeare_on_spark.adaptive_spark_plan${name}`)
    t.strictSame(await walk(place, shakespeare, 'downstream'), {
      [job('')]: 1,
      [job('.outputs_1729097570970')]: 1,
      [dataset('file', '/tmp/outputs/1729097570970')]: 2
    })
    const [source, table] = [dataset('hive', 'default.cll_source1'), dataset('hive', 'default.tbl1')]
    t.strictSame(await walk(place, column(source, 'a'), 'downstream'), {
      [column(table, 'ident')]: 1,
      [column(table, 'trans')]: 1,
      [column(table, 'agg')]: 1
    })
  })

  await t.test('a search finds them by their names', async (t) => {
    for (const [words, urn] of [
      ['raw_payments', dataset('postgres', 'postgres.public.raw_payments')],
      ['shakespeare', dataset('bigquery', 'bigquery-public-data.samples.shakespeare')],
      ['tbl1', dataset('hive', 'default.tbl1')],
      ['stream_1', dataset('snowflake', 'test_db.test_schema.stream_1')]
    ] as const) {
      const { code, said } = await run('search', words, '--json')
      t.equal(code, 0)
      t.equal(valueAt(jsonLines(said)[0], 'urn'), urn, words)
    }
  })

  await t.test('large whole numbers keep their digits, or are refused by their place', async (t) => {
    const literals = '[3821550127947089009,-9223372036854775808,123456789012345678901234567890]'
    const path = join(data, 'openlineage', 'CLL', '8.json')
    const event = JSON.stringify(JSON.parse(readFileSync(path, 'utf8'))).replace(
      '"eventTime":',
      `"snapshots":${literals},"eventTime":`
    )
    t.ok(event.includes(literals))
    const file = join(withFolder(t), 'events.ndjson')
    writeFileSync(file, `${event}\n`)
    const loaded = await run('load', file, '--format', 'openlineage', '--json')
    t.match(jsonLines(loaded.said), [{ counts: { received: 1, applied: 1 } }], loaded.said)
    const { text } = await sendRaw(client.url, {
      method: 'GET',
      path: '/api/v1/events/lineage?limit=100',
      headers: { authorization: `Bearer ${client.token}` }
    })
    t.ok(text.replaceAll(' ', '').includes(`"snapshots":${literals}`), text.slice(0, 300))

    const aspect = `{"rows":9007199254740993}`
    writeFileSync(
      file,
      `{"entityUrn":"${dataset('hive', 'default.tbl1')}","aspectName":"moonPhase","changeType":"UPSERT","aspect":{"json":${aspect}}}\n`
    )
    const refused = await run('load', file)
    t.equal(refused.code, 2)
    t.match(refused.said, 'aspect.json.rows is 9007199254740993: a whole number beyond 2^53')
  })

  await t.test('Ctrl-C ends it', async (t) => {
    t.match(await place.stop(), /^(0|130)$/)
  })
})
