/** The dialects of SQL that can be read: which grammar reads each, how it folds names, and what it allows. */

/** What happens to the case of a name that is not quoted. `none`: names are compared without case, and written in lower case. */
type Folding = 'lower' | 'upper' | 'none'

export interface Dialect {
  name: DialectName
  /** The parser's name of the grammar. */
  grammar: string
  folding: Folding
  /** Most levels of a table's name: 2 is schema.table, 3 is database.schema.table. */
  levels: 2 | 3
  /** `a.b` may be field b of column a. */
  hasStructs: boolean
  /** An expression may use the alias of one before it. */
  hasLateralAliases: boolean
  /** A CTE may read itself without the word RECURSIVE. */
  isRecursiveByDefault: boolean
  /** Table names keep their case, also without quotes. */
  keepsTableCase?: boolean
  /** What names a column of an expression without alias: the expression's text, the function that it calls, or its place. */
  namesColumnsBy: 'text' | 'function' | 'place'
  /** Each statement need not end with a semicolon. */
  endsByKeyword?: boolean
}

export const dialectNames = [
  'postgres',
  'tsql',
  'bigquery',
  'snowflake',
  'redshift',
  'databricks',
  'spark',
  'hive',
  'duckdb',
  'trino',
  'athena',
  'mysql',
  'oracle',
  'clickhouse',
  'sqlite',
  'teradata',
  'generic'
] as const

export type DialectName = (typeof dialectNames)[number]

/** Other names of the same dialects, as connectors, dbt adapters and OpenLineage write them. */
const aliases: Record<string, DialectName> = {
  postgresql: 'postgres',
  greenplum: 'postgres',
  cockroachdb: 'postgres',
  materialize: 'postgres',
  risingwave: 'postgres',
  vertica: 'postgres',
  netezza: 'postgres',
  timescaledb: 'postgres',
  yugabytedb: 'postgres',
  mssql: 'tsql',
  sqlserver: 'tsql',
  synapse: 'tsql',
  fabric: 'tsql',
  presto: 'trino',
  prestodb: 'trino',
  starburst: 'trino',
  mariadb: 'mysql',
  starrocks: 'mysql',
  doris: 'mysql',
  singlestore: 'mysql',
  tidb: 'mysql',
  impala: 'hive',
  motherduck: 'duckdb',
  dremio: 'generic',
  exasol: 'generic',
  db2: 'generic',
  sparksql: 'spark',
  ansi: 'generic',
  '': 'generic'
}

const defaults = {
  folding: 'none',
  levels: 3,
  hasStructs: true,
  hasLateralAliases: false,
  isRecursiveByDefault: false,
  namesColumnsBy: 'text'
} as const

const dialects: Record<DialectName, Dialect> = {
  postgres: {
    ...defaults,
    namesColumnsBy: 'function',
    name: 'postgres',
    grammar: 'postgresql',
    folding: 'lower',
    hasStructs: false
  },
  tsql: {
    ...defaults,
    namesColumnsBy: 'place',
    name: 'tsql',
    grammar: 'mssql',
    hasStructs: false,
    isRecursiveByDefault: true,
    endsByKeyword: true
  },
  bigquery: {
    ...defaults,
    namesColumnsBy: 'place',
    name: 'bigquery',
    grammar: 'bigquery',
    keepsTableCase: true
  },
  snowflake: {
    ...defaults,
    name: 'snowflake',
    grammar: 'snowflake',
    folding: 'upper',
    hasLateralAliases: true,
    isRecursiveByDefault: true
  },
  redshift: {
    ...defaults,
    namesColumnsBy: 'function',
    name: 'redshift',
    grammar: 'redshift',
    folding: 'lower',
    hasLateralAliases: true
  },
  databricks: { ...defaults, name: 'databricks', grammar: 'databricks', hasLateralAliases: true },
  spark: { ...defaults, name: 'spark', grammar: 'spark', hasLateralAliases: true },
  hive: { ...defaults, namesColumnsBy: 'place', name: 'hive', grammar: 'hive', levels: 2 },
  duckdb: { ...defaults, name: 'duckdb', grammar: 'duckdb', hasLateralAliases: true },
  trino: { ...defaults, namesColumnsBy: 'place', name: 'trino', grammar: 'generic' },
  athena: { ...defaults, namesColumnsBy: 'place', name: 'athena', grammar: 'generic' },
  mysql: { ...defaults, name: 'mysql', grammar: 'mysql', levels: 2, hasStructs: false },
  oracle: {
    ...defaults,
    name: 'oracle',
    grammar: 'oracle',
    folding: 'upper',
    hasStructs: false,
    isRecursiveByDefault: true
  },
  clickhouse: { ...defaults, name: 'clickhouse', grammar: 'clickhouse', levels: 2, hasLateralAliases: true },
  sqlite: { ...defaults, name: 'sqlite', grammar: 'sqlite', levels: 2, hasStructs: false },
  teradata: {
    ...defaults,
    name: 'teradata',
    grammar: 'teradata',
    levels: 2,
    hasStructs: false,
    hasLateralAliases: true
  },
  generic: { ...defaults, name: 'generic', grammar: 'generic', folding: 'lower', isRecursiveByDefault: true }
}

/** The dialect of a name or of one of its other names, ignoring case; undefined where there is none. */
export function findDialect(name: string): Dialect | undefined {
  const key = name.toLowerCase().replace(/[\s_-]/g, '')
  const known = Object.hasOwn(aliases, key) ? aliases[key] : key
  return dialectNames.find((each) => each === known) && dialects[known as DialectName]
}
