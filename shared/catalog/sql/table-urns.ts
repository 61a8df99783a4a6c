/** Finds the assets that the names of tables in SQL mean, and the columns that the catalog knows of them. */
import type { JsonObject } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import type { DialectName } from '../../sql/dialects.ts'
import type { Schemas } from '../../sql/session.ts'
import { findAspects } from '../../store/aspects.ts'
import { findEntities } from '../../store/entities.ts'
import { datasetUrn } from '../../urn/kinds.ts'
import { isInLowerCase } from '../../urn/platforms.ts'
import type { Urn } from '../../urn/urn.ts'
import { findKnown, type EntitySources } from '../lineage/known-entities.ts'

/** The platform on which SQL of a dialect runs, where the question names none; null for SQL of no product. */
const platforms: Readonly<Record<DialectName, string | null>> = {
  postgres: 'postgres',
  tsql: 'mssql',
  bigquery: 'bigquery',
  snowflake: 'snowflake',
  redshift: 'redshift',
  databricks: 'databricks',
  spark: 'spark',
  hive: 'hive',
  duckdb: 'duckdb',
  trino: 'trino',
  athena: 'athena',
  mysql: 'mysql',
  oracle: 'oracle',
  clickhouse: 'clickhouse',
  sqlite: 'sqlite',
  teradata: 'teradata',
  generic: null
}

export type TablePlace = {
  dialect: DialectName
  platform?: string | null
  platformInstance?: string | null
  env?: string | null
}

export type NamedTable = { name: string; urn: Urn | null; exists: boolean }

/** The spellings under which a connector may have written a name: as it is, and in lower and upper case. */
function urnsOf(name: string, { dialect, platform, platformInstance, env }: TablePlace): Urn[] {
  const on = platform ?? platforms[dialect]
  if (on === null) return []
  const whole = platformInstance ? `${platformInstance}.${name}` : name
  const lower = platformInstance ? `${platformInstance}.${name.toLowerCase()}` : name.toLowerCase()
  const upper = platformInstance ? `${platformInstance}.${name.toUpperCase()}` : name.toUpperCase()
  const spellings = isInLowerCase(on) ? [lower, whole, upper] : [whole, lower, upper]
  return [...new Set(spellings)].map((each) => datasetUrn(on, each, env ?? 'PROD', 'sql'))
}

/** Each name with the URN of the asset that it means: of one that exists, or else the one that it would have. */
export async function findTables(
  sources: EntitySources,
  names: readonly string[],
  place: TablePlace
): Promise<Map<string, NamedTable>> {
  const candidates = new Map(names.map((name) => [name, urnsOf(name, place)]))
  const known = await findKnown(sources, [...candidates.values()].flat())
  return new Map(
    [...candidates].map(([name, urns]) => {
      const found = urns.find((urn) => known.get(urn)?.exists) ?? urns.find((urn) => known.has(urn))
      const urn = found ?? urns[0] ?? null
      return [name, { name, urn, exists: urn !== null && (known.get(urn)?.exists ?? false) }]
    })
  )
}

/** `[version=2.0].[type=struct].[type=long].id` is the column id. */
const columnOf = (fieldPath: string): string =>
  fieldPath.replaceAll(/\[(?:version|type|key)=[^\]]*\]\.?/g, '').replace(/\.$/, '')

function columnsOf(schema: JsonObject): Record<string, string> {
  const columns: Record<string, string> = {}
  for (const field of listOf(schema.fields)) {
    if (!isObject(field) || typeof field.fieldPath !== 'string') continue
    const name = columnOf(field.fieldPath)
    const [parent] = name.split('.')
    // fields of a struct come after the column that contains them
    if (parent !== undefined && parent !== name && Object.hasOwn(columns, parent)) continue
    columns[name] = typeof field.nativeDataType === 'string' ? field.nativeDataType : ''
  }
  return columns
}

/** The columns that the catalog knows of these tables, by their names. */
export async function readSchemas(
  { db }: Pick<EntitySources, 'db'>,
  tables: Iterable<NamedTable>
): Promise<Schemas> {
  const nameOf = new Map<Urn, string>()
  for (const { name, urn, exists } of tables) if (urn !== null && exists) nameOf.set(urn, name)
  const rows = await findEntities(db, [...nameOf.keys()])
  const urnOf = new Map(rows.map(({ id, urn }) => [id, urn]))
  const found = await findAspects(
    db,
    rows.map(({ id }) => ({ entityId: id, aspectName: 'schemaMetadata' }))
  )
  const schemas: Schemas = {}
  for (const { entityId, value } of found) {
    const name = nameOf.get(urnOf.get(entityId) ?? ('' as Urn))
    if (name === undefined || value === null) continue
    const columns = columnsOf(value)
    if (Object.keys(columns).length > 0) schemas[name] = columns
  }
  return schemas
}
