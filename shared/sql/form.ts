/**
 * The small form of SQL that lineage needs: relations, projections and what expressions read.
 *
 * Everything below this file is made from it, so that the parser can be replaced: only form-of-*.ts know its trees.
 */

/** A name as written, with its place for messages. */
export interface Name {
  text: string
  quoted: boolean
  line: number
  column: number
}

/** The parts of a name, from the outermost: database, schema, table; or table, column, fields. */
export type Path = readonly Name[]

/** How a value is made of what it reads, in OpenLineage's words; the later one wins. */
export const transformations = ['IDENTITY', 'TRANSFORMATION', 'AGGREGATION'] as const
export type Transformation = (typeof transformations)[number]

/** The ways in which a column decides about rows without giving a value. */
export type Influence = 'FILTER' | 'JOIN' | 'GROUP_BY' | 'SORT'

/** What an expression reads. */
export interface Reads {
  columns: { path: Path; how: Transformation }[]
  /** Subqueries whose columns are values of the expression. */
  queries: { query: Query; how: Transformation }[]
  /** Subqueries that only decide: EXISTS. */
  conditions: Query[]
  /** All columns of one relation, or of all: `to_json(t.*)`. */
  stars: { of?: Path; how: Transformation }[]
  /** Names of the parameters of lambdas around, which are not columns. */
}

export type Projection =
  | {
      kind: 'expression'
      name?: Name
      reads: Reads
      /** An expression without alias, whose name depends on the dialect. */
      isUnnamed?: boolean
      text?: string
    }
  | {
      kind: 'star'
      of?: Path
      /** `t.s.*`: the fields of a struct. */
      except: Name[]
      /** A pattern that selected names match, from `columns('…')` or ILIKE. */
      pattern?: RegExp
      replace: { name: Name; reads: Reads }[]
      rename: { from: Name; to: Name }[]
      /** What `sum(columns(*))` makes of each column. */
      how?: Transformation
      line: number
      column: number
    }

export interface Alias {
  name: Name
  columns: Name[]
}

export type Relation =
  | { kind: 'table'; path: Path; alias?: Alias }
  | { kind: 'query'; query: Query; alias?: Alias }
  | {
      kind: 'join'
      left: Relation
      right: Relation
      on?: Reads
      using: Name[]
      natural: boolean
      /** Which sides a semi or anti join does not give. */
      hides?: 'left' | 'right'
      alias?: Alias
    }
  /** A function, an unnested array, a file: each of its columns comes from what it reads. */
  | {
      kind: 'function'
      reads: Reads
      /** What each of the first columns reads, where that is known: UNNEST of several arrays. */
      each?: Reads[]
      columns: Name[]
      alias?: Alias
      isOpen: boolean
    }
  | {
      kind: 'pivot'
      of: Relation
      aggregates: { name?: Name; reads: Reads }[]
      by: Name[]
      values: {
        name: Name
        /** A text without an alias: Snowflake and Oracle keep its quotes in the column's name. */
        isText: boolean
      }[]
      alias?: Alias
    }
  | {
      kind: 'unpivot'
      of: Relation
      values: { name: Name; reads: Reads }[]
      label: Name
      columns: Name[]
      alias?: Alias
    }
  | { kind: 'match'; of: Relation; keys: Reads[]; measures: { name: Name; reads: Reads }[]; alias?: Alias }

export interface Select {
  kind: 'select'
  from: Relation[]
  projections: Projection[]
  influences: { reads: Reads; how: Influence }[]
  into?: { path: Path; isTemporary: boolean }
}

export type Body =
  | Select
  | { kind: 'set'; operator: 'union' | 'except' | 'intersect'; byName: boolean; branches: Body[] }
  | { kind: 'values'; rows: Reads[][] }
  | { kind: 'query'; query: Query }
  /** A statement with RETURNING, in a CTE. */
  | { kind: 'write'; statement: Statement; returning: Projection[] }

export interface Query {
  ctes: { name: Name; columns: Name[]; query: Query }[]
  isRecursive: boolean
  body: Body
  order: Reads[]
}

export interface Assignment {
  targets: Path[]
  reads: Reads
}

/** One table that a statement writes, and the values of its columns. */
export interface Insert {
  target: Path
  columns: Name[]
  /** Columns of a PARTITION clause, which come after all others. */
  partition: { name: Name; isFixed: boolean }[]
  byName: boolean
  /** What the target is called in ON CONFLICT. */
  alias?: Name
}

export type Statement =
  | { kind: 'SELECT'; query: Query }
  | {
      kind: 'CREATE_TABLE' | 'CREATE_VIEW'
      target: Path
      isTemporary: boolean
      columns: Name[]
      query?: Query
      /** CLONE, LIKE: a table with the same columns, and whether it has the same rows. */
      like?: { path: Path; withRows: boolean }
      /** Where a materialized view writes to. */
      to?: Path
    }
  | {
      kind: 'INSERT'
      ctes: Query['ctes']
      into: (Insert & { reads?: Reads[] })[]
      query?: Query
      updates: Assignment[]
      excluded?: Name
    }
  | {
      kind: 'MERGE'
      target: Relation
      source: Relation
      on: Reads
      updates: Assignment[]
      /** `UPDATE SET *`, `INSERT *`, `INSERT ROW`: by name, all columns of the source. */
      takesAll: boolean
      inserts: { columns: Name[]; values: Reads[] }[]
      conditions: Reads[]
      ctes: Query['ctes']
    }
  | {
      kind: 'UPDATE'
      target: Path
      from: Relation[]
      updates: Assignment[]
      where?: Reads
      ctes: Query['ctes']
    }
  | { kind: 'DELETE'; targets: Path[]; from: Relation[]; where?: Reads; ctes: Query['ctes'] }
  | { kind: 'COPY'; target?: Path; query?: Query; sources: Path[] }
  /** Columns are added, dropped or changed. */
  | { kind: 'ALTER_TABLE'; target: Path }
  | { kind: 'DROP'; tables: Path[] }
  | { kind: 'RENAME'; from: Path; to: Path; isSwap: boolean }
  | { kind: 'USE'; path: Path; what: 'database' | 'schema' | 'either' }
  | { kind: 'OTHER'; name: string }

export const noReads = (): Reads => ({ columns: [], queries: [], conditions: [], stars: [] })

export const strongest = (a: Transformation, b: Transformation): Transformation =>
  transformations.indexOf(a) >= transformations.indexOf(b) ? a : b

/** The same reads, each made at least in this way. */
export function asPart(reads: Reads, how: Transformation): Reads {
  const raise = <T extends { how: Transformation }>(each: T): T => ({
    ...each,
    how: strongest(each.how, how)
  })
  return {
    columns: reads.columns.map(raise),
    queries: reads.queries.map(raise),
    conditions: reads.conditions,
    stars: reads.stars.map(raise)
  }
}

export function allReads(parts: readonly Reads[]): Reads {
  return {
    columns: parts.flatMap(({ columns }) => columns),
    queries: parts.flatMap(({ queries }) => queries),
    conditions: parts.flatMap(({ conditions }) => conditions),
    stars: parts.flatMap(({ stars }) => stars)
  }
}
