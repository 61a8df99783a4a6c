/**
 * Runs the snippets of docs/guides/dbt.md unchanged on a small project: dbt with DuckDB, and `dbt-ol`,
 * against a running catalog.
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { packagePath } from '../../../shared/platform/paths.ts'
import { startCatalog, type Catalog } from '../catalog.ts'
import { runScript, snippetsOf } from '../guide-snippets.ts'
import { openPythonEnvironment } from '../../../dev/python-environment.ts'

type Outcome = { passed: number; failed: number; skipped: number }

const table = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:duckdb,shop.main.${name},PROD)`
const job = (name: string): string => `urn:li:dataJob:(urn:li:dataFlow:(dbt,shop,dbt),shop.main.shop.${name})`

/**
 * By downstream: the upstream tables according to the manifest, and those that the job of the events reads.
 * `dbt-ol` treats an ephemeral model as a table.
 */
const expected: readonly { name: string; tables: string[]; inputs: string[] | null }[] = [
  { name: 'stg_orders', tables: ['raw_orders'], inputs: [] },
  { name: 'orders', tables: ['countries', 'stg_orders'], inputs: ['positive_orders'] },
  { name: 'revenue', tables: ['orders'], inputs: ['orders'] },
  { name: 'orders_history', tables: ['orders'], inputs: null }
]

/** With its own database and folder. */
export async function runDbtGuide(serverUrl: string): Promise<Outcome> {
  console.log('# docs/guides/dbt.md')
  const bin = await openPythonEnvironment('test/interop/dbt/requirements.txt')
  const folder = mkdtempSync(join(tmpdir(), 'tributary-dbt-'))
  const name = `interop_dbt_${randomBytes(4).toString('hex')}`
  const catalog = await startCatalog({ serverUrl, redisUrl: null, name, folder })
  const outcome: Outcome = { passed: 0, failed: 0, skipped: 0 }
  const check = (isRight: boolean, what: string): void => {
    outcome[isRight ? 'passed' : 'failed'] += 1
    console.log(`${isRight ? 'ok' : 'not ok'}: ${what}`)
  }
  try {
    const project = join(folder, 'project')
    cpSync(packagePath('test/interop/dbt/project'), project, { recursive: true })
    const env = environment(catalog, folder, bin)
    check(
      (await runScript('tributary domain create Sales', project, env)) === 0,
      'the domain that a model names'
    )
    for (const snippet of snippetsOf('dbt', 'sh'))
      check((await runScript(snippet, project, env)) === 0, snippet.trim())
    for (const { name, tables, inputs } of expected) {
      const { upstreams } = await aspect(catalog, table(name), 'upstreamLineage')
      check(sameUrns(upstreams, 'dataset', tables), `the manifest: ${name} is made from ${tables.join(', ')}`)
      if (inputs === null) continue
      const { inputDatasetEdges, outputDatasetEdges } = await aspect(catalog, job(name), 'dataJobInputOutput')
      check(
        sameUrns(inputDatasetEdges, 'destinationUrn', inputs) &&
          sameUrns(outputDatasetEdges, 'destinationUrn', [name]),
        `dbt-ol: ${name} is written by a job that reads ${inputs.join(', ') || 'nothing'}`
      )
    }
    const { domains } = await aspect(catalog, table('orders'), 'domains')
    check(Array.isArray(domains) && domains.length === 1, 'orders is in the domain of its meta')
  } finally {
    await catalog.stop()
    if (outcome.failed > 0) console.log(`# the logs are kept in ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
  return outcome
}

/** `tributary` is the built one. dbt finds its profile in the project, and makes no network requests. */
function environment({ url, token }: Catalog, folder: string, bin: string): NodeJS.ProcessEnv {
  const tributary = join(folder, 'tributary')
  writeFileSync(
    tributary,
    `#!/bin/sh\nexec '${process.execPath}' '${packagePath('dist/bin/tributary.js')}' "$@"\n`
  )
  chmodSync(tributary, 0o755)
  return {
    PATH: [bin, folder, process.env.PATH ?? ''].join(delimiter),
    HOME: folder,
    TRIBUTARY_URL: url,
    TRIBUTARY_TOKEN: token,
    DBT_PROFILES_DIR: join(folder, 'project'),
    DBT_SEND_ANONYMOUS_USAGE_STATS: 'false'
  }
}

type Aspect = { [field: string]: unknown }

/** An empty list if there is none. */
async function aspect({ url, token }: Catalog, urn: string, name: string): Promise<Aspect> {
  const answer = await fetch(`${url}/aspects/${encodeURIComponent(urn)}?aspect=${name}`, {
    headers: { authorization: `Bearer ${token}` }
  })
  const body = (await answer.json()) as { aspect?: { [className: string]: Aspect } }
  return Object.values(body.aspect ?? {})[0] ?? {}
}

/** Whether the entries of a list name these tables, in any order. */
const sameUrns = (list: unknown, field: string, names: readonly string[]): boolean =>
  isDeepStrictEqual(
    (Array.isArray(list) ? (list as Aspect[]) : []).map((entry) => String(entry[field])).sort(),
    names.map(table).sort()
  )
