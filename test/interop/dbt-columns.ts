/**
 * Compares the edges between columns that a load of a dbt project states with what sqlglot finds in the same SQL with
 * the same columns of tables. dbt builds the project first.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, createReadStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPythonEnvironment } from '../../dev/python-environment.ts'
import { readSql } from '../../shared/catalog/sql/sql-thread.ts'
import { defaultDbtOptions } from '../../shared/formats/dbt/options.ts'
import { openProject } from '../../shared/formats/dbt/read-project.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import { askSqlglot, type Question } from './sql-opinion.ts'

type Outcome = { passed: number; failed: number; skipped: number }

/** Of the columns that sqlglot finds without being wrong, the share that a load finds, too. */
const floor = 0.98

/** The columns where sqlglot is wrong, with the reason; docs/guides/dbt.md has them. */
const reasons: { readonly [column: string]: string } = {
  'store.main.last_orders.order_id': 'sqlglot takes the column that LATERAL is joined by',
  'store.main.last_orders.total': 'sqlglot takes the column that LATERAL is joined by',
  'store.main.active_customers.customer_id': 'the right side of INTERSECT only removes rows'
}

type Node = {
  resource_type: string
  config: { materialized?: string }
  compiled_code?: string
  compiled_sql?: string
  database: string | null
  schema: string
  alias?: string
  identifier?: string
  name: string
}

type Columns = { [name: string]: { name: string; type: string } }

/**
 * `bin` is that of a Python environment with sqlglot. The project in `dbt-project` is always compared; projects in
 * `dbt-compiled` of the folder of real data, if there are any.
 */
export async function compareProjects(bin: string): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-dbt-'))
  try {
    await build(folder)
    const real = join(process.env.TRIBUTARY_TEST_DATA ?? '', 'dbt-compiled')
    const others = existsSync(real) ? readdirSync(real).map((name) => join(real, name)) : []
    const outcome: Outcome = { passed: 0, failed: 0, skipped: 0 }
    for (const project of [join(folder, 'target'), ...others])
      if (await compareProject(bin, project)) outcome.passed += 1
      else outcome.failed += 1
    return outcome
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs twice, because the SQL of an incremental model differs from the second time on. */
async function build(folder: string): Promise<void> {
  const bin = await openPythonEnvironment('test/how-to/dbt/requirements.txt')
  cpSync(packagePath('test/interop/dbt-project'), folder, { recursive: true })
  for (const command of [['seed'], ['build'], ['build'], ['docs', 'generate']]) {
    const { status, stdout, stderr } = spawnSync(join(bin, 'dbt'), [...command, '--profiles-dir', '.'], {
      cwd: folder,
      encoding: 'utf8'
    })
    if (status !== 0) throw new Error(`dbt ${command.join(' ')} ended with ${status}: ${stdout}${stderr}`)
  }
}

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

async function compareProject(bin: string, folder: string): Promise<boolean> {
  // Safe: dbt wrote these documents.
  const { nodes, sources, metadata } = read(join(folder, 'manifest.json')) as {
    nodes: { [id: string]: Node }
    sources: { [id: string]: Node }
    metadata: { adapter_type: string }
  }
  const pathOf = ({ database, schema, alias, identifier, name }: Node): string =>
    [database, schema, alias ?? identifier ?? name].filter((part) => part).join('.')
  const schemas = schemasIn(folder, { ...nodes, ...sources }, pathOf)
  const models = Object.values(nodes).flatMap((node) => {
    const sql = node.compiled_code ?? node.compiled_sql
    const isTable =
      ['model', 'snapshot'].includes(node.resource_type) && node.config.materialized !== 'ephemeral'
    return isTable && sql !== undefined ? [{ node, sql }] : []
  })
  const questions = models.map(({ node, sql }): Question => ({
    sql,
    dialect: metadata.adapter_type,
    schemas,
    ...(node.database === null ? {} : { database: node.database }),
    schema: node.schema
  }))
  const loaded = await edgesOfLoad(folder)
  let found = 0
  let alike = 0
  const met: string[] = []
  for (const [index, [opinion]] of askSqlglot(bin, questions).entries()) {
    const model = models[index]
    if (!model || !opinion) continue
    const path = pathOf(model.node).toLowerCase()
    if ('error' in opinion) {
      console.log(`${path}: sqlglot says ${opinion.error}`)
      continue
    }
    for (const [name, upstreams] of Object.entries(opinion.columns)) {
      // A star that sqlglot has not resolved is nothing that it has found, and a table is not made from itself.
      const theirs = upstreams
        .map((each) => each.join('.').toLowerCase())
        .filter((each) => !each.endsWith('.*') && !each.startsWith(`${path}.`))
      if (theirs.length === 0) continue
      const column = `${path}.${name.toLowerCase()}`
      const ours = [...(loaded.get(column) ?? [])].sort().join(', ')
      const expected = [...new Set(theirs)].sort().join(', ')
      if (ours === expected) alike += 1
      else if (reasons[column] !== undefined) {
        met.push(column)
        continue
      } else console.log(`differs: ${column}\n  sqlglot: ${expected}\n  load:    ${ours}`)
      found += 1
    }
  }
  for (const column of met) console.log(`# ${column}: ${reasons[column]}`)
  console.log(`# ${folder}: ${alike} of ${found} columns alike`)
  return alike >= found * floor
}

function schemasIn(
  folder: string,
  nodes: { [id: string]: Node },
  pathOf: (node: Node) => string
): Question['schemas'] {
  const path = join(folder, 'catalog.json')
  if (!existsSync(path)) return {}
  // Safe: dbt wrote this document.
  const catalog = read(path) as {
    nodes: { [id: string]: { columns: Columns } }
    sources: { [id: string]: { columns: Columns } }
  }
  return Object.fromEntries(
    Object.entries({ ...catalog.sources, ...catalog.nodes }).flatMap(([id, { columns }]) => {
      const node = nodes[id]
      if (!node) return []
      return [
        [pathOf(node), Object.fromEntries(Object.values(columns).map(({ name, type }) => [name, type]))]
      ]
    })
  )
}

const columnEdge = /^urn:li:schemaField:\(urn:li:dataset:\([^,]*,(.*),PROD\),(.*)\)$/

/** The upstream columns of each column, as a load of the project states them. */
async function edgesOfLoad(folder: string): Promise<Map<string, Set<string>>> {
  async function* body(): AsyncGenerator<Buffer> {
    for (const name of ['manifest.json', 'catalog.json'])
      if (existsSync(join(folder, name))) yield* createReadStream(join(folder, name))
  }
  const { records, warnings } = await openProject(body(), {
    ...defaultDbtOptions,
    readSql: (task) => readSql('interop', task)
  })
  for (const warning of warnings) console.log(`# ${warning}`)
  const edges = new Map<string, Set<string>>()
  for await (const piece of records)
    for (const record of piece) {
      // Safe: the load made this record.
      const { records: made = [] } = JSON.parse('text' in record ? record.text : '{}') as {
        records?: { upstreamUrn?: string; downstreamUrn?: string }[]
      }
      for (const { upstreamUrn = '', downstreamUrn = '' } of made) {
        const [up, down] = [columnEdge.exec(upstreamUrn), columnEdge.exec(downstreamUrn)]
        if (!up || !down) continue
        const key = `${down[1]}.${down[2]}`.toLowerCase()
        edges.set(key, (edges.get(key) ?? new Set()).add(`${up[1]}.${up[2]}`.toLowerCase()))
      }
    }
  return edges
}
