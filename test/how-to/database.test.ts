/** The page about loading a database runs as it stands: DataHub's connector reads a real Postgres into a catalog. */
import { readFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { cacheFolder } from '../../dev/python-environment.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import type { CatalogClient } from '../support/catalog-client.ts'
import { runOnServer } from '../support/database.ts'
import { valueAt } from '../support/json-answer.ts'
import { registryEnv } from '../system/support/registry-env.ts'
import { runPage } from './run-page.ts'
import { withCatalogOn, withPostgres } from './settings.ts'

t.setTimeout(1_800_000)

const file = (name: string): string => packagePath(join('test/how-to/database', name))
const table = (name: string): string =>
  `urn:li:dataset:(urn:li:dataPlatform:postgres,shop.public.${name},PROD)`
const column = (name: string, path: string): string => `urn:li:schemaField:(${table(name)},${path})`
const tables = ['customers', 'orders', 'order_facts', 'revenue']
const upstreamQuery =
  'query ($urn: String!) { dataset(urn: $urn) { fineGrainedLineages { upstreams { urn path } downstreams { urn path } } upstream: lineage(input: { direction: UPSTREAM, count: 100 }) { relationships { entity { urn } } } } }'

/** What the catalog has of the database: columns, edges of views, and the columns that flow into others. */
async function contentOf(client: CatalogClient): Promise<unknown> {
  const content = []
  for (const name of tables) {
    const schema = await client.readAspect(table(name), 'schemaMetadata')
    const { data } = await client.graphql(upstreamQuery, { urn: table(name) })
    content.push({
      name,
      fields: valueAt(Object.values(valueAt(schema.json, 'aspect') ?? {})[0], 'fields'),
      data
    })
  }
  return content
}

type Run = { code: number | null; said: string }

function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Run> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part) => {
      said += String(part)
    })
  return new Promise((resolve, reject) =>
    child.once('error', reject).once('close', (code) => resolve({ code, said }))
  )
}

const postgres = await withPostgres(t)
if (postgres !== null)
  t.test('the tables and views of a database', async (t) => {
    await runOnServer(postgres.cluster.url(), 'create database shop')
    await runOnServer(postgres.cluster.url('shop'), readFileSync(file('shop.sql'), 'utf8'))
    const { env, client } = await withCatalogOn(t, postgres)
    const address = `127.0.0.1:${postgres.env.PGPORT ?? ''}`
    const { folder } = await runPage(t, 'docs/guides/database.md', {
      env: {
        ...env,
        // the versions that were tried, and wheels only
        PIP_CONSTRAINT: file('constraints.txt'),
        PIP_ONLY_BINARY: ':all:',
        PIP_CACHE_DIR: join(cacheFolder(), 'pip')
      },
      blanks: { 'db.example.com:5432': address, 'POSTGRES_PASSWORD=…': 'POSTGRES_PASSWORD=none' },
      maxMs: 600_000
    })

    t.test('brings columns with their types and descriptions', async (t) => {
      const { json } = await client.readAspect(table('customers'), 'schemaMetadata')
      const fields = valueAt(Object.values(valueAt(json, 'aspect') ?? {})[0], 'fields')
      t.match(fields, [
        { fieldPath: 'id', nativeDataType: 'INTEGER', isPartOfKey: true },
        { fieldPath: 'name', nativeDataType: 'TEXT', nullable: false },
        { fieldPath: 'country', nativeDataType: 'TEXT', description: 'Two letters, as in ISO 3166' }
      ])
    })

    t.test('brings the lineage of views, by table and by column', async (t) => {
      t.same(await client.walk(table('customers')), [`1 ${table('order_facts')}`, `2 ${table('revenue')}`])
      t.same(await client.walk(table('revenue'), 'UPSTREAM'), [
        `1 ${table('order_facts')}`,
        `2 ${table('customers')}`,
        `2 ${table('orders')}`
      ])
      t.same(await client.walk(column('orders', 'amount'), 'DOWNSTREAM', { foldColumns: false }), [
        `1 ${column('order_facts', 'amount')}`,
        `2 ${column('revenue', 'total')}`
      ])
    })

    t.test('is found by its names and descriptions', async (t) => {
      const found = async (words: string): Promise<unknown> => {
        const { data } = await client.graphql(
          'query ($input: SearchAcrossEntitiesInput!) { searchAcrossEntities(input: $input) { searchResults { entity { urn } } } }',
          { input: { query: words, types: ['DATASET'], count: 10 } }
        )
        return valueAt(data, 'searchAcrossEntities.searchResults')
      }
      t.same(await found('revenue'), [{ entity: { urn: table('revenue') } }])
      t.same(await found('people who buy'), [{ entity: { urn: table('customers') } }])
    })

    t.test('puts tables into the domain of the recipe', async (t) => {
      for (const name of tables) {
        const { data } = await client.graphql(
          'query ($urn: String!) { dataset(urn: $urn) { domain { domain { properties { name } } } } }',
          { urn: table(name) }
        )
        t.equal(valueAt(data, 'dataset.domain.domain.properties.name'), 'Shop', name)
      }
    })

    const again = {
      ...registryEnv,
      ...env,
      PATH: process.env.PATH,
      HOME: folder,
      DATAHUB_TELEMETRY_ENABLED: 'false',
      POSTGRES_PASSWORD: 'none'
    }
    const datahub = join(folder, 'connectors/bin/datahub')

    t.test('stays as it is in a second run', async (t) => {
      const before = await contentOf(client)
      const { code, said } = await run(datahub, ['ingest', '-c', 'shop.yml'], folder, again)
      t.equal(code, 0, said.slice(-2_000))
      t.same(await contentOf(client), before)
      t.match(JSON.stringify(before), 'revenue')
    })

    t.test('loses a view that is dropped, and gets it back', async (t) => {
      await runOnServer(postgres.cluster.url('shop'), 'drop view revenue')
      const gone = await run(datahub, ['ingest', '-c', 'shop-nightly.yml'], folder, again)
      t.equal(gone.code, 0, gone.said.slice(-2_000))
      t.same(await client.walk(table('customers')), [`1 ${table('order_facts')}`])
      await runOnServer(
        postgres.cluster.url('shop'),
        'create view revenue as select country, sum(amount) as total from order_facts group by country'
      )
      const back = await run(datahub, ['ingest', '-c', 'shop-nightly.yml'], folder, again)
      t.equal(back.code, 0, back.said.slice(-2_000))
      t.same(await client.walk(table('customers')), [`1 ${table('order_facts')}`, `2 ${table('revenue')}`])
    })

    t.test('has recipes for other databases that their connectors accept', async (t) => {
      const { code, said } = await run(
        join(folder, 'connectors/bin/python'),
        [file('check-recipes.py'), 'snowflake.yml', 'bigquery.yml'],
        folder,
        again
      )
      t.equal(code, 0, said)
      t.match(said, /^snowflake\.yml: SnowflakeV2Config, unknown: \[\]$/m)
      t.match(said, /^bigquery\.yml: BigQueryV2Config, unknown: \[\]$/m)
    })
  })
