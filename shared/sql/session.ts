/** What a script knows from one statement to the next: its defaults, its temporary tables, and the columns that its DDL defines. */
import type { Item, Open, Origin } from './columns.ts'
import type { Dialect } from './dialects.ts'
import type { Path, Statement } from './form.ts'
import type { Defaults } from './names.ts'
import type { Piece } from './split-script.ts'
import { foldListed, keyOf, tableId, tableParts } from './names.ts'

/** Columns of tables by their names: `{"db.schema.table": {"column": "type"}}`. */
export type Schemas = Record<string, Record<string, string>>

export interface Temporary {
  items: readonly Item[]
  inputs: ReadonlySet<string>
}

interface Listed {
  names: readonly string[]
  listed: 'CERTAIN' | 'BY_SCHEMA'
  /** Whether the table has no other columns. */
  isWhole: boolean
}

interface Given {
  parts: string[]
  names: string[]
  isWhole: boolean
}

const splitName = (name: string): string[] => keyOf(name).split('.')

export class Session {
  readonly dialect: Dialect
  /** Variables of the routine around, ignoring case. */
  variables: ReadonlySet<string> = new Set()
  /** Rows of the loops around, by their variable. */
  readonly rows = new Map<string, readonly Item[]>()
  row: string | undefined
  #defaults: Defaults
  readonly #given = new Map<string, Given[]>()
  readonly #defined = new Map<string, Listed>()
  readonly #temporary = new Map<string, Temporary>()
  /** Tables that the script removes or renames after it made them: they end with it. */
  readonly #passing: Set<string>
  readonly #hasOneStatement: boolean

  constructor(
    dialect: Dialect,
    defaults: Defaults,
    schemas: Schemas,
    {
      passing = new Set(),
      hasOneStatement = false,
      partlyKnown = []
    }: { passing?: ReadonlySet<string>; hasOneStatement?: boolean; partlyKnown?: readonly string[] } = {}
  ) {
    this.#hasOneStatement = hasOneStatement
    this.dialect = dialect
    this.#defaults = defaults
    this.#passing = new Set(passing)
    const partly = new Set(partlyKnown)
    for (const [table, columns] of Object.entries(schemas)) {
      const parts = splitName(table)
      const last = parts.at(-1) ?? ''
      const names = Object.keys(columns).map((name) => foldListed(name, dialect))
      const given = { parts, names, isWhole: !partly.has(table) }
      this.#given.set(last, [...(this.#given.get(last) ?? []), given])
    }
  }

  /** Begins a statement: what its names may mean besides columns. */
  enter(piece: Piece): void {
    this.variables = piece.variables
    this.row = piece.row
  }

  /** Keeps the columns of the query of a loop, for the statements in it. */
  keepRow(items: readonly Item[]): void {
    if (this.row !== undefined) this.rows.set(this.row, items)
  }

  wholeName(path: Path): string[] {
    return tableParts(path, this.dialect, this.#defaults)
  }

  temporary(id: string): Temporary | undefined {
    return this.#temporary.get(keyOf(id))
  }

  use(path: Path, what: 'database' | 'schema' | 'either'): void {
    const names = tableParts(path, this.dialect, {})
    const [first, second] = names
    if (first === undefined) return
    if (second !== undefined) this.#defaults = { database: first, schema: second }
    else if (
      what === 'database' ||
      (what === 'either' && ['tsql', 'snowflake', 'generic'].includes(this.dialect.name))
    )
      this.#defaults =
        this.dialect.name === 'tsql'
          ? { database: first, schema: 'dbo' }
          : { ...this.#defaults, database: first }
    else this.#defaults = { ...this.#defaults, schema: first }
  }

  /** Columns of a table, in order: those that the script defines, or else those of a schema. */
  columnsOf(parts: readonly string[]): Listed | undefined {
    const defined = this.#defined.get(keyOf(tableId(parts)))
    if (defined !== undefined) return defined
    const given = this.#givenFor(parts)
    return given && { names: given.names, listed: 'BY_SCHEMA', isWhole: given.isWhole }
  }

  /** As columnsOf, also for a temporary table; undefined unless all of its columns are known. */
  columnsToWrite(parts: readonly string[]): Listed | undefined {
    const temporary = this.#temporary.get(keyOf(tableId(parts)))
    if (temporary === undefined) {
      const known = this.columnsOf(parts)
      return known?.isWhole === true ? known : undefined
    }
    const names = temporary.items.map((item) => (item.kind === 'column' ? item.name : undefined))
    return names.includes(undefined)
      ? undefined
      : { names: names.filter((name) => name !== undefined), listed: 'CERTAIN', isWhole: true }
  }

  /** The schema that was sent for a table. A name that is less whole than the other must be the only one that fits. */
  #givenFor(parts: readonly string[]): Given | undefined {
    const wanted = parts.map(keyOf)
    const fitting = (this.#given.get(wanted.at(-1) ?? '') ?? []).filter((each) => {
      const length = Math.min(each.parts.length, wanted.length)
      return each.parts.slice(-length).join('.') === wanted.slice(-length).join('.')
    })
    const exact = fitting.find((each) => each.parts.length === wanted.length)
    return exact ?? (fitting.length === 1 ? fitting[0] : undefined)
  }

  /** A table whose columns a statement of the script lists; undefined stands for columns that are not known. */
  define(parts: readonly string[], names: readonly (string | undefined)[]): void {
    const known = names.filter((name) => name !== undefined)
    if (known.length === names.length && known.length > 0)
      this.#defined.set(keyOf(tableId(parts)), { names: known, listed: 'CERTAIN', isWhole: true })
  }

  /**
   * Whether a written table ends with the script: later statements then read through it, to what it was made from.
   * Keeps its columns for them.
   */
  keepTemporary(
    id: string,
    statement: Statement,
    columns: ReadonlyMap<string, { name: string; origins: readonly Origin[] }>,
    opens: readonly Open[],
    inputs: ReadonlySet<string>
  ): boolean {
    // nothing else of the script can read it: it is what was asked about
    if (this.#hasOneStatement) return false
    const key = keyOf(id)
    const before = this.#temporary.get(key)
    const isMade = statement.kind === 'CREATE_TABLE' || statement.kind === 'CREATE_VIEW'
    const last = key.split('.').at(-1) ?? ''
    const isTemporary =
      before !== undefined ||
      this.#passing.has(key) ||
      /^[#@]/.test(last) ||
      (isMade && statement.isTemporary) ||
      (statement.kind === 'SELECT' && isTemporaryInto(statement))
    if (!isTemporary) return false
    const fresh = isMade || before === undefined
    const names = this.#defined.get(key)?.names ?? [...columns.values()].map(({ name }) => name)
    const kept = fresh ? [] : before.items
    const byName = new Map(
      kept.flatMap((item): [string, Item][] => (item.kind === 'column' ? [[keyOf(item.name), item]] : []))
    )
    for (const { name, origins } of columns.values()) {
      const old = byName.get(keyOf(name))
      const earlier = old?.kind === 'column' ? old.origins : []
      byName.set(keyOf(name), { kind: 'column', name, origins: [...earlier, ...origins], listed: 'CERTAIN' })
    }
    if (fresh)
      for (const name of names)
        if (!byName.has(keyOf(name)))
          byName.set(keyOf(name), { kind: 'column', name, origins: [], listed: 'CERTAIN' })
    this.#temporary.set(key, {
      items: [...byName.values(), ...kept.filter(({ kind }) => kind === 'open'), ...opens],
      inputs: new Set([...(fresh ? [] : before.inputs), ...inputs])
    })
    return true
  }
}

function isTemporaryInto({ query }: Extract<Statement, { kind: 'SELECT' }>): boolean {
  return query.body.kind === 'select' && query.body.into?.isTemporary === true
}
