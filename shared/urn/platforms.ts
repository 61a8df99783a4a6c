/**
 * The platforms on which datasets are: which are known by name, under which other names, and whose names are
 * in lower case.
 *
 * The list is for names that a person writes: a mistyped platform must not become a new one. URNs may have
 * any platform.
 */

/**
 * Sources: the platforms that DataHub installs (bootstrap_mcps/data-platforms.yaml, November 2026) without
 * those that only have jobs, models, features or messages; those that OpenLineage's naming rules
 * (openlineage/names.ts) lead to; and the adapters of dbt.
 */
const datasetPlatforms: ReadonlySet<string> = new Set(
  `
  abs adlsGen1 adlsGen2 ambry athena bigquery cassandra clickhouse cockroachdb cosmosdb couchbase csv dagster
  databend databricks dataplex datahub db2 dbfs dbt delta-lake doris dremio druid duckdb dynamodb elasticsearch
  excel exasol external fabric fabric-onelake file firebolt gcs glue google_sheets grafana greenplum hana hdfs
  hive hudi iceberg impala kafka kusto looker mariadb materialize metabase mode mongodb mssql mysql neo4j netezza
  notion OpenApi oracle pinot postgres powerbi preset presto presto-on-hive pulsar qlik-sense questdb redash
  redshift risingwave s3 sac salesforce sigma singlestore snowflake snowplow spark sqlite starrocks superset
  tableau teradata tidb timescaledb trino vertica voldemort yugabytedb
  `
    .trim()
    .split(/\s+/)
)

/** Schemes and other names of a platform, as OpenLineage and people write them. */
export const platformAliases: ReadonlyMap<string, string> = new Map(
  Object.entries({
    awsathena: 'athena',
    azurekusto: 'kusto',
    'fabric-warehouse': 'fabric',
    postgresql: 'postgres',
    sqlserver: 'mssql',
    unitycatalog: 'databricks'
  })
)

/**
 * File stores by their schemes: a dataset in one is a path, beginning with its bucket, container or
 * repository. In these the authority of an address is not a host: without it, equal paths in two buckets
 * would be one dataset.
 */
export const fileStores: ReadonlyMap<string, string> = new Map(
  Object.entries({
    adl: 'adlsGen1',
    az: 'abs',
    azure: 'abs',
    b2: 'b2',
    bos: 'bos',
    cos: 'cos',
    cosn: 'cosn',
    jfs: 'jfs',
    ks3: 'ks3',
    lakefs: 'lakefs',
    minio: 'minio',
    nos: 'nos',
    o3fs: 'o3fs',
    obs: 'obs',
    oci: 'oci',
    oss: 'oss',
    r2: 'r2',
    swift: 'swift',
    tos: 'tos',
    us3: 'us3',
    s3: 's3',
    s3a: 's3',
    s3n: 's3',
    gs: 'gcs',
    gcs: 'gcs',
    abfs: 'abs',
    abfss: 'abs',
    wasb: 'abs',
    wasbs: 'abs',
    dbfs: 'dbfs',
    file: 'file'
  })
)

/** File systems behind a host, by their schemes: a dataset in one is a path, without the host. */
export const fileSystems: ReadonlySet<string> = new Set([
  'alluxio',
  'ftp',
  'hdfs',
  'maprfs',
  'ofs',
  'sftp',
  'swebhdfs',
  'viewfs',
  'webhdfs'
])

/**
 * Platforms that ignore the case of a name and that DataHub's connectors write in lower case. SQL Server
 * ignores it too, but its connector keeps the case that the database shows.
 */
const lowerCasePlatforms: ReadonlySet<string> = new Set([
  'athena',
  'databricks',
  'oracle',
  'redshift',
  'snowflake'
])

export const isInLowerCase = (platform: string): boolean => lowerCasePlatforms.has(platform)

const platformsOfStores: ReadonlySet<string> = new Set(fileStores.values())

export const isFileStore = (platform: string): boolean => platformsOfStores.has(platform)

/** Whether names are paths, in which a slash at the end means nothing. */
export const hasPaths = (platform: string): boolean => isFileStore(platform) || fileSystems.has(platform)

const byLowerCase = new Map([
  ...[...datasetPlatforms].map((name): [string, string] => [name.toLowerCase(), name]),
  ...platformAliases,
  ...fileStores
])

/** The platform that a text names, in any case and by any of its names; null if it is not in the list. */
export const knownPlatform = (text: string): string | null => byLowerCase.get(text.toLowerCase()) ?? null

const nearMaxCount = 3
const nearMaxEdits = 2

/** Platforms of the list whose names are similar, most similar first. */
export function nearPlatforms(text: string): string[] {
  const sought = text.toLowerCase()
  return [...byLowerCase]
    .flatMap(([name, platform]) => {
      const edits = name.startsWith(sought) && sought.length > 2 ? 1 : editsBetween(sought, name)
      return edits <= Math.min(nearMaxEdits, sought.length - 2, Math.max(name.length - 3, 1))
        ? [{ platform, edits }]
        : []
    })
    .sort((a, b) => a.edits - b.edits || (a.platform < b.platform ? -1 : 1))
    .map(({ platform }) => platform)
    .filter((platform, index, all) => all.indexOf(platform) === index)
    .slice(0, nearMaxCount)
}

/** The characters to insert, delete or replace to turn one text into the other; Infinity if more than two. */
function editsBetween(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > nearMaxEdits) return Infinity
  let before = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const next = [row]
    let least = row
    for (let column = 1; column <= to.length; column += 1) {
      const cost = from.charCodeAt(row - 1) === to.charCodeAt(column - 1) ? 0 : 1
      const edits = Math.min(
        (before[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (before[column - 1] ?? 0) + cost
      )
      next.push(edits)
      least = Math.min(least, edits)
    }
    if (least > nearMaxEdits) return Infinity
    before = next
  }
  return before[to.length] ?? Infinity
}
