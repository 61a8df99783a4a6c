/**
 * Reads the edges between columns from the compiled SQL of a project. The SQL of each node is read after that of the
 * nodes it depends on, so that the columns that SQL implies serve for the nodes after it.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { columnUrn } from '../../openlineage/names.ts'
import { findDialect } from '../../sql/dialects.ts'
import type { Problem } from '../../sql/problems.ts'
import type { StatementLineage } from '../../sql/statement-lineage.ts'
import type { SqlTask } from '../../sql/thread.ts'
import type { Urn } from '../../urn/urn.ts'
import { knownColumns } from './columns.ts'
import { packText, unpackText, type PackedText } from './packed-text.ts'
import { columnsFrom, detailsOf, type DbtProject, type KeptNode } from './project.ts'
import type { ProjectAssets } from './project-assets.ts'
import { textOf } from './read-fields.ts'
import { defaultsOf, inOrder, relationPath, relationsOf, type FindRelation } from './relations.ts'
import type { ColumnEdge, StoredColumn } from './stored-project.ts'
import { upstreamsOf } from './upstreams.ts'

/** Reads the statements of a script, wherever that runs. Throws as little as a reader of SQL does. */
export type ReadSql = (task: SqlTask) => Promise<readonly StatementLineage[]>

export type ReadColumns = {
  /** Of the nodes whose SQL was read, also of those without edges; see unpackEdges. */
  edges: ReadonlyMap<string, PackedText>
  /** Of nodes whose SQL was not read, or not all of it: their ids with the line and the reason. */
  problems: ReadonlyMap<string, string>
}

export const nothingRead: ReadColumns = { edges: new Map(), problems: new Map() }

type Sources = {
  project: DbtProject
  assets: ProjectAssets
  storedColumns: ReadonlyMap<Urn, readonly StoredColumn[]>
  readSql: ReadSql
}

/** The columns of a table, as they are spelled; not whole if there may be others. */
type Known = { columns: readonly string[]; isWhole: boolean }

export async function readColumns({
  project,
  assets,
  storedColumns,
  readSql
}: Sources): Promise<ReadColumns> {
  const edges = new Map<string, PackedText>()
  const problems = new Map<string, string>()
  const known = new Map<string, Known>()
  const findRelation = relationsOf(project)
  const dialect = dialectOf(project)
  const giveUpAt = performance.now() + limits.dbtSqlReadMaxMs
  for (const id of inOrder(project.nodes)) {
    const node = project.nodes.get(id)
    if (node?.kind !== 'table') continue
    const urn = assets.urns.get(id)
    const told = toldColumns(project, id, typeof urn === 'string' ? storedColumns.get(urn) : undefined)
    if (told) known.set(id, told)
    if (!node.sql?.text || typeof urn !== 'string') continue
    if (performance.now() > giveUpAt) {
      problems.set(
        id,
        `${id}: all SQL of a load may be read for ${limits.dbtSqlReadMaxMs / 1_000} s, which is over`
      )
      continue
    }
    const read = await readOne(readSql, {
      sql: unpackText(node.sql.text),
      dialect,
      ...defaultsOf(node),
      ...schemasFor(project, id, known)
    })
    if (read.problem !== null) problems.set(id, `${id}${read.problem}`)
    const { query } = read
    if (!query?.result) continue
    const named = namesOf(query.result, told)
    const { stated, refused } = edgesOf({ query, urn, named, known, findRelation, assets })
    edges.set(id, packText(JSON.stringify(stated)))
    if (refused !== null && read.problem === null) problems.set(id, `${id}: ${refused.message}`)
    if (told?.isWhole !== true) known.set(id, impliedColumns(node, query.result, named, told))
  }
  return { edges, problems }
}

/** `problem` follows the name of the node. A failure of the reader itself costs the columns of one node, not the load. */
async function readOne(
  readSql: ReadSql,
  task: SqlTask
): Promise<{ query: StatementLineage | undefined; problem: string | null }> {
  try {
    const statements = await readSql(task)
    const query = statements.findLast(({ result }) => result !== undefined)
    const problem = sentenceOf(statements.flatMap((each) => each.problems))
    return { query, problem: problem ?? (query ? null : ': its SQL has no query') }
  } catch (error) {
    if (error instanceof CatalogError) throw error
    return { query: undefined, problem: `: its SQL could not be read (${String(error).slice(0, 200)})` }
  }
}

/** An adapter without a dialect of its own is read as SQL in general. */
function dialectOf({ metadata }: DbtProject): string {
  const adapter = textOf(metadata.adapter_type) ?? ''
  return findDialect(dialectsOfAdapters.get(adapter) ?? adapter)?.name ?? 'generic'
}

/** Adapters that are not called like their dialect. */
const dialectsOfAdapters: ReadonlyMap<string, string> = new Map([
  ['databend', 'snowflake'],
  ['dremio', 'trino'],
  ['fabricspark', 'spark'],
  ['firebolt', 'postgres'],
  ['glue', 'spark'],
  ['impala', 'hive'],
  ['maxcompute', 'hive'],
  ['risingwave', 'postgres'],
  ['singlestore', 'mysql'],
  ['tidb', 'mysql'],
  ['vertica', 'postgres'],
  ['watsonx_presto', 'trino'],
  ['watsonx_spark', 'spark'],
  ['yellowbrick', 'postgres']
])

/**
 * What the documents say of the columns of a table, and else what the catalog has of it. Somebody who describes columns
 * rarely describes all; those of a catalog, of a contract, and stored ones that the manifest could not have written are whole.
 */
function toldColumns(
  project: DbtProject,
  id: string,
  stored: readonly StoredColumn[] | undefined
): Known | undefined {
  const node = project.nodes.get(id)
  if (!node) return undefined
  const { columns: described, hasContract } = detailsOf(node)
  const ofCatalog = project.catalogColumns.get(id)
  if (ofCatalog !== undefined)
    return { columns: knownColumns(columnsFrom(ofCatalog), described).map(({ name }) => name), isWhole: true }
  const types = new Map(described.map(({ name, type }) => [name.toLowerCase(), type]))
  const isOfOthers = (stored ?? []).some(({ name, hasType }) => {
    const type = types.get(name.toLowerCase())
    return type === undefined || (type === null && hasType)
  })
  if (stored && isOfOthers) return { columns: stored.map(({ name }) => name), isWhole: true }
  if (described.length === 0) return undefined
  return { columns: described.map(({ name }) => name), isWhole: hasContract }
}

/** The columns of what the node is made from, and its own: an incremental model reads what it has. */
function schemasFor(
  { nodes }: DbtProject,
  id: string,
  known: ReadonlyMap<string, Known>
): Pick<SqlTask, 'schemas' | 'partlyKnown'> {
  const schemas = new Map<string, { [column: string]: string }>()
  const partlyKnown: string[] = []
  for (const each of [id, ...upstreamsOf(nodes, id, { wanted: 'table', through: ['through'] })]) {
    const [node, columns] = [nodes.get(each), known.get(each)]
    if (!node || !columns) continue
    const name = relationPath(node).join('.')
    schemas.set(name, Object.fromEntries(columns.columns.map((column) => [column, ''])))
    if (!columns.isWhole) partlyKnown.push(name)
  }
  return { schemas: Object.fromEntries(schemas), partlyKnown }
}

type Result = NonNullable<StatementLineage['result']>

/** What the reader calls an expression without a name. */
const withoutName = /^_col_\d+$/i

/**
 * The columns of the table by those of its query, as they are spelled; a column without a name has the one at its place if
 * all columns are known, and otherwise none.
 */
function namesOf({ columns, isWhole }: Result, told: Known | undefined): ReadonlyMap<string, string> {
  const spelled = spellings(told)
  const isParallel = isWhole && told?.isWhole === true && told.columns.length === columns.length
  return new Map(
    columns.flatMap((column, at) => {
      if (!withoutName.test(column)) return [[column, spelled(column)] as const]
      const name = isParallel ? told.columns[at] : undefined
      return name === undefined ? [] : [[column, name] as const]
    })
  )
}

/** Finds how a column of the table is spelled: names are compared as written and then ignoring case. */
function spellings(known: Known | undefined): (column: string) => string {
  const exact = new Set(known?.columns)
  const folded = new Map(known?.columns.map((column) => [column.toLowerCase(), column]))
  return (column) => (exact.has(column) ? column : (folded.get(column.toLowerCase()) ?? column))
}

type Found = {
  query: StatementLineage
  urn: Urn
  named: ReadonlyMap<string, string>
  known: ReadonlyMap<string, Known>
  findRelation: FindRelation
  assets: ProjectAssets
}

/** Safe: readColumns made this text. */
export const unpackEdges = (packed: PackedText): ColumnEdge[] =>
  JSON.parse(unpackText(packed)) as ColumnEdge[]

/** `refused`: why a column has no edges, if its URN would be too long. */
function edgesOf({ query, urn, named, known, findRelation, assets }: Found): {
  stated: ColumnEdge[]
  refused: CatalogError | null
} {
  const edges = new Map<string, ColumnEdge>()
  const spelled = new Map<string, (column: string) => string>()
  let refused: CatalogError | null = null
  for (const { column, upstreams } of query.columns) {
    const name = named.get(column)
    if (name === undefined) continue
    for (const upstream of upstreams) {
      const id = findRelation(upstream.table)
      const table = id === undefined ? undefined : assets.urns.get(id)
      // An incremental model may read what it has; that is not where it comes from.
      if (id === undefined || typeof table !== 'string' || table === urn) continue
      const spell = spelled.get(id) ?? spellings(known.get(id))
      spelled.set(id, spell)
      try {
        const upstreamUrn = columnUrn(table, spell(upstream.column))
        const downstreamUrn = columnUrn(urn, name)
        edges.set(JSON.stringify([upstreamUrn, downstreamUrn]), { upstreamUrn, downstreamUrn })
      } catch (error) {
        if (!(error instanceof CatalogError)) throw error
        refused ??= error
      }
    }
  }
  return { stated: [...edges.values()], refused }
}

function impliedColumns(
  node: KeptNode,
  result: Result,
  named: ReadonlyMap<string, string>,
  told: Known | undefined
): Known {
  const columns = [
    ...result.columns.flatMap((column) => named.get(column) ?? []),
    ...(node.sql?.addedColumns ?? [])
  ]
  const given = new Set(columns.map((column) => column.toLowerCase()))
  return {
    columns: [...columns, ...(told?.columns ?? []).filter((column) => !given.has(column.toLowerCase()))],
    isWhole: result.isWhole && named.size === new Set(result.columns).size
  }
}

function sentenceOf(problems: readonly Problem[]): string | null {
  const [first, ...others] = problems
  if (!first) return null
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `, line ${first.line}: ${first.message}${more}`
}
