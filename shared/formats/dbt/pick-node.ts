/** Extracts what a load needs from a node of a manifest. */
import { CatalogError } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { statedSql, type StatedSql } from './compiled-sql.ts'
import { metaProperty, type NodeProperty } from './property-names.ts'
import { objectOf, textOf, textsOf } from './read-fields.ts'

/**
 * - `table`: a model, seed, snapshot or source, which is a dataset
 * - `through`: a node that leaves no table behind, such as an ephemeral model; its downstreams get its
 *   upstreams instead
 */
export type NodeKind = 'table' | 'through' | 'exposure' | 'semanticModel' | 'metric'

export type PickedColumn = {
  name: string
  type: string | null
  description: string | null
  tags?: readonly string[]
}

/** The descriptive fields of a node. */
export type NodeDetails = {
  /** `model`, `seed`, `snapshot`, `source`, `exposure` and so on. */
  resourceType: string
  name: string
  description: string | null
  packageName: string | null
  columns: PickedColumn[]
  tags: string[]
  /** `meta.owner`, and the owner of an exposure. */
  owners: string[]
  group: string | null
  domain: string | null
  url: string | null
  properties: { [name: string]: string }
  /** How many columns have `meta`, which is not kept. */
  columnMetaCount: number
  /** Whether the columns are all that there are: dbt refuses to build a model that breaks its contract. */
  hasContract: boolean
}

export type PickedNode = {
  kind: NodeKind
  /** The database, schema and table of a `table`, without missing ones. */
  path: string[]
  /** The name by which SQL reads a `table`, as dbt wrote it. */
  relationName: string | null
  dependsOn: string[]
  details: NodeDetails
  /** Null for a node that no SQL makes. */
  sql: StatedSql | null
}

const tableTypes = new Set(['model', 'seed', 'snapshot', 'source'])
/** Nodes on which no other node depends. */
const leftOut = new Set(['test', 'unit_test', 'operation', 'sql_operation', 'rpc', 'doc', 'macro'])
const kindsOfTypes: ReadonlyMap<string, NodeKind> = new Map([
  ['exposure', 'exposure'],
  ['semantic_model', 'semanticModel'],
  ['metric', 'metric']
])

/**
 * Returns null for nodes that a load ignores: tests, hooks, disabled nodes. Throws BAD_REQUEST with a field
 * that dbt would not have written in this form.
 */
export function pickNode(id: string, node: JsonValue): PickedNode | null {
  if (!isObject(node)) throw malformed(id, 'must be an object')
  const resourceType = resourceTypeOf(id, node)
  const config = objectOf(node.config)
  if (leftOut.has(resourceType) || config.enabled === false) return null
  if (node.depends_on !== undefined && node.depends_on !== null && !isObject(node.depends_on))
    throw malformed(`${id}.depends_on`, 'must be an object')
  const kind = kindOf(resourceType, config)
  const meta = { ...objectOf(config.meta), ...objectOf(node.meta) }
  const name = textOf(node.alias) ?? textOf(node.identifier) ?? textOf(node.name)
  if (name === null) throw malformed(`${id}.name`, 'is missing')
  return {
    kind,
    path:
      kind === 'table'
        ? [node.database, node.schema, name].flatMap((part) => textOf(part ?? null) ?? [])
        : [],
    relationName: textOf(node.relation_name),
    dependsOn: textsOf(objectOf(node.depends_on).nodes),
    details: {
      resourceType,
      name,
      description: textOf(node.description),
      packageName: textOf(node.package_name),
      columns: pickColumns(node.columns),
      tags: [...new Set([...textsOf(node.tags), ...textsOf(config.tags)])],
      owners: ownersOf(node, meta),
      group: textOf(node.group) ?? textOf(config.group),
      domain: textOf(meta.domain),
      url: textOf(node.url),
      properties: { ...propertiesOf(id, node, config), ...propertiesOfMeta(meta) },
      columnMetaCount: columnsIn(node.columns).filter(hasMeta).length,
      hasContract: objectOf(config.contract).enforced === true
    },
    sql: kind === 'table' ? statedSql(resourceType, node, config) : null
  }
}

export const resourceTypeOf = (id: string, node: JsonObject): string =>
  textOf(node.resource_type) ?? id.slice(0, id.indexOf('.'))

function kindOf(resourceType: string, config: JsonObject): NodeKind {
  if (tableTypes.has(resourceType)) return config.materialized === 'ephemeral' ? 'through' : 'table'
  return kindsOfTypes.get(resourceType) ?? 'through'
}

const columnsIn = (columns: JsonValue | undefined): JsonObject[] =>
  (isObject(columns) ? Object.values(columns) : listOf(columns)).filter(isObject)

const pickColumns = (columns: JsonValue | undefined): PickedColumn[] =>
  columnsIn(columns).flatMap((column) => {
    const name = textOf(column.name)
    if (name === null) return []
    const tags = [...new Set([...textsOf(column.tags), ...textsOf(objectOf(column.config).tags)])]
    return [
      {
        name,
        type: textOf(column.data_type),
        description: textOf(column.description),
        ...(tags.length > 0 ? { tags } : {})
      }
    ]
  })

const hasMeta = (column: JsonObject): boolean =>
  Object.keys({ ...objectOf(objectOf(column.config).meta), ...objectOf(column.meta) }).length > 0

/** Longer values and more keys are cut: they would make the properties of an asset unreadable. */
const metaMaxKeys = 100
const metaMaxChars = 2_000

/** The keys of `meta` as properties, besides the owner and the domain, which have options of their own. */
const propertiesOfMeta = (meta: JsonObject): { [name: string]: string } =>
  Object.fromEntries(
    Object.entries(meta)
      .filter(([key, value]) => key !== 'owner' && key !== 'domain' && value !== null)
      .slice(0, metaMaxKeys)
      .map(([key, value]) => [
        metaProperty(key),
        (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, metaMaxChars).toWellFormed()
      ])
  )

function ownersOf(node: JsonObject, meta: JsonObject): string[] {
  const owner = objectOf(node.owner)
  const ofExposure = [...textsOf(owner.email), ...textsOf(owner.name)].slice(0, 1)
  return [...new Set([...textsOf(meta.owner), ...ofExposure].map((each) => each.trim()))]
}

function propertiesOf(id: string, node: JsonObject, config: JsonObject): { [name: string]: string } {
  const values: { [name in NodeProperty]: JsonValue | undefined } = {
    dbt_unique_id: id,
    dbt_materialized: config.materialized,
    dbt_package: node.package_name,
    dbt_file: node.original_file_path,
    dbt_exposure_type: node.type,
    dbt_maturity: node.maturity,
    dbt_version: node.version,
    dbt_latest_version: node.latest_version
  }
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      // Versions of models may be numbers.
      const text = typeof value === 'number' ? String(value) : textOf(value)
      return text === null ? [] : [[name, text]]
    })
  )
}

const malformed = (field: string, what: string): CatalogError =>
  new CatalogError('BAD_REQUEST', `${field.slice(0, 500)} ${what}`, { field: field.slice(0, 500) })
