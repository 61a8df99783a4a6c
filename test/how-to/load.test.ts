/** The pages about loading run as they stand. */
import t from 'tap'
import { openPythonEnvironment } from '../../dev/python-environment.ts'
import { catalog, manifest, node, runResults } from '../support/dbt-projects.ts'
import { runPage } from './run-page.ts'
import {
  events,
  newestLoad,
  shopRecords,
  withCatalogOn,
  withPostgres,
  withSample,
  withShop
} from './settings.ts'

t.setTimeout(1_800_000)

const postgres = await withPostgres(t)
if (postgres !== null) {
  t.test('load CSV', async (t) => {
    const { env } = await withCatalogOn(t, postgres)
    await runPage(t, 'docs/how-to/load-csv.md', { env, blanks: { 'ID=…': `ID=${newestLoad}` } })
  })

  t.test('load from an ETL job', async (t) => {
    const { env } = await withCatalogOn(t, postgres)
    await runPage(t, 'docs/how-to/load-from-an-etl-job.md', { env })
  })

  t.test('snapshots', async (t) => {
    const { env } = await withCatalogOn(t, postgres)
    await runPage(t, 'docs/how-to/snapshots.md', {
      env,
      files: { 'lineage.ndjson': shopRecords, 'tables/shop.ndjson': shopRecords }
    })
  })

  t.test('undo a load', async (t) => {
    const { env } = await withShop(t, postgres)
    await runPage(t, 'docs/how-to/undo-a-load.md', {
      env,
      before: `WRONG=${newestLoad}`,
      blanks: { '0b8f': '"$WRONG"' }
    })
  })

  t.test('find out why a load is slow', async (t) => {
    const { env } = await withShop(t, postgres)
    await runPage(t, 'docs/how-to/find-out-why-a-load-is-slow.md', { env, blanks: { ID: newestLoad } })
  })

  t.test('move from DataHub', async (t) => {
    const { env } = await withShop(t, postgres)
    const exported = JSON.stringify([
      {
        entityType: 'dataset',
        entityUrn: 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.exported,PROD)',
        changeType: 'UPSERT',
        aspectName: 'datasetProperties',
        aspect: { json: { name: 'exported', customProperties: {}, tags: [] } }
      }
    ])
    await runPage(t, 'docs/how-to/move-from-datahub.md', {
      env,
      path: [await openPythonEnvironment()],
      files: {
        'datahub-export.json': exported,
        'recipe.yml': 'source: { type: file, config: { path: datahub-export.json } }\n'
      }
    })
  })

  t.test('the reference of loading', async (t) => {
    const { env } = await withCatalogOn(t, postgres)
    const project = manifest([
      node('source.shop.raw.orders'),
      node('model.shop.orders', ['source.shop.raw.orders'])
    ])
    await runPage(t, 'docs/loading.md', {
      env,
      files: {
        'events.ndjson': events,
        'target/manifest.json': JSON.stringify(project),
        'target/catalog.json': JSON.stringify(catalog({ 'model.shop.orders': [['id', 'integer']] })),
        'target/run_results.json': JSON.stringify(runResults({ 'model.shop.orders': 'success' }))
      }
    })
  })

  t.test('domain rules', async (t) => {
    const { env } = await withShop(t, postgres)
    await runPage(t, 'docs/domain-rules.md', { env })
  })

  t.test('the command line', async (t) => {
    const { env } = await withShop(t, postgres)
    await runPage(t, 'docs/command-line.md', {
      env,
      before: 'generate() { cat exports/shop.ndjson; }',
      files: {
        'lineage.ndjson': shopRecords,
        'exports/shop.ndjson': shopRecords,
        'more/2026-05.csv': 'upstream,downstream\nhive:shop.orders,hive:shop.revenue\n',
        'tables/orders.ndjson': shopRecords,
        'rules.json': '[{ "platform": "snowflake", "domain": "Sales" }]\n'
      }
    })
  })

  t.test('a token limited to a domain', async (t) => {
    const { env } = await withSample(t, postgres)
    await runPage(t, 'docs/how-to/limit-a-token-to-a-domain.md', {
      env,
      files: { 'shop.ndjson': shopRecords },
      before: 'tributary load shop.ndjson --quiet',
      blanks: { 'trib_…': '"$(printed trib_)"' }
    })
  })
}
