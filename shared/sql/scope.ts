/** The relations that an expression can see, and which of them has a column. */
import type { Certainty, Column, Item, Origin } from './columns.ts'
import { findColumn, mergeOrigins, opensFor, raise, weaken, weaker } from './columns.ts'
import type { Dialect } from './dialects.ts'
import type { Influence, Path } from './form.ts'
import { foldColumn, keyOf } from './names.ts'
import type { ProblemCode } from './problems.ts'
import { problemCodes } from './problems.ts'

/** A relation of FROM. */
export interface Source {
  /** Its alias, or undefined where its own name counts. */
  alias: string | undefined
  /** The parts of its name as written, without defaults, folded. */
  path: readonly string[]
  items: readonly Item[]
}

/** A column that decides about rows. */
export interface Influenced {
  origin: Origin
  how: Influence
}

/** A relation of WITH, and what it takes to make it: a query that does not name it reads none of that. */
export interface Cte {
  items: readonly Item[]
  inputs: ReadonlySet<string>
  influences: ReadonlyMap<string, Influenced>
}

export interface Scope {
  dialect: Dialect
  sources: Source[]
  /** Columns that USING or NATURAL made one of two. */
  merged: Map<string, Column>
  /** Names that the select list gives, for dialects and clauses that may use them. */
  aliases: Map<string, readonly Origin[]>
  parent: Scope | undefined
  /** Relations of WITH that are visible here. */
  ctes: ReadonlyMap<string, Cte>
  /** Variables, and rows of loops, of the routine around. */
  variables: ReadonlySet<string>
  rows: ReadonlyMap<string, readonly Item[]>
  report: (code: ProblemCode, path: Path, message: string) => void
}

/** Whether a qualifier names this relation: its alias, or the last parts of its name. */
function isNamed(source: Source, qualifier: readonly string[]): boolean {
  if (source.alias !== undefined)
    return qualifier.length === 1 && keyOf(source.alias) === keyOf(qualifier[0] ?? '')
  if (source.path.length < qualifier.length) return false
  return qualifier.every(
    (part, index) => keyOf(part) === keyOf(source.path[source.path.length - qualifier.length + index] ?? '')
  )
}

export const findSource = (scope: Scope, qualifier: readonly string[]): Source | undefined =>
  scope.sources.find((source) => isNamed(source, qualifier))

interface Unknown {
  problem: ProblemCode
  message: string
}

type Found = { origins: readonly Origin[]; but?: Unknown } | Unknown

/** `$2`: the second column of a relation, where its columns are known. */
function byPosition(source: Source, name: string): Found | undefined {
  if (!/^\$\d+$/.test(name)) return undefined
  const item = source.items[Number(name.slice(1)) - 1]
  const open = source.items.findIndex(({ kind }) => kind === 'open')
  const isKnown = item?.kind === 'column' && (open === -1 || open >= Number(name.slice(1)))
  return { origins: isKnown ? item.origins : [] }
}

/** A column of one relation. */
function inSource(source: Source, name: string): Found {
  const positional = byPosition(source, name)
  if (positional !== undefined) return positional
  const column = findColumn(source.items, name)
  if (column !== undefined) return { origins: column.origins }
  const opens = opensFor(source.items, name)
  const tables = opens.filter(({ table }) => table !== undefined)
  const [open] = tables.length > 0 ? tables : opens
  if (open !== undefined && tables.length <= 1) return { origins: open.read(name) }
  if (open !== undefined)
    return { problem: 'AMBIGUOUS_COLUMN', message: `${name} may be a column of ${namesOf(tables)}` }
  const [table] = source.path.length > 0 ? [source.path.join('.')] : []
  return {
    problem: 'UNKNOWN_COLUMN',
    message: `${source.alias ?? table ?? 'The relation'} has no column ${name}`
  }
}

const namesOf = (opens: readonly { table: string | undefined }[]): string =>
  opens.map(({ table }) => table ?? 'a function').join(', ')

/** A column by its name alone; undefined where no relation of this scope can have it. */
function unqualified(scope: Scope, name: string): Found | undefined {
  const [only] = scope.sources
  const positional = only === undefined ? undefined : byPosition(only, name)
  if (positional !== undefined) return positional
  const merged = scope.merged.get(keyOf(name))
  if (merged !== undefined) return { origins: merged.origins }
  const known = scope.sources.flatMap((source) => findColumn(source.items, name) ?? [])
  const opens = scope.sources.flatMap((source) => opensFor(source.items, name))
  const tables = opens.filter(({ table }) => table !== undefined)
  const [column] = known
  if (column !== undefined) {
    // a function may name its columns as a table does: the table's counts
    const real = known.filter(({ origins }) => origins.length > 0)
    if (known.length > 1 && real.length > 1 && !sameOrigins(known))
      return { problem: 'AMBIGUOUS_COLUMN', message: `${known.length} relations have a column ${name}` }
    const certainty: Certainty = scope.sources.length === 1 ? 'CERTAIN' : column.listed
    return { origins: weaken((real[0] ?? column).origins, certainty) }
  }
  if (tables.length > 1)
    return { problem: 'AMBIGUOUS_COLUMN', message: `${name} may be a column of ${namesOf(tables)}` }
  const open = tables[0] ?? opens[0]
  if (open === undefined) return undefined
  const others = scope.sources.flatMap(({ items }) => items)
  const certainty = others.reduce<Certainty>(
    (weakest, item) => (item.kind === 'column' ? weaker(weakest, item.listed) : weakest),
    'CERTAIN'
  )
  return { origins: weaken(open.read(name), certainty) }
}

const sameOrigins = (columns: readonly Column[]): boolean => {
  const [first, ...rest] = columns.map(({ origins }) => JSON.stringify(origins))
  return rest.every((each) => each === first)
}

const fieldOf = (found: Found | undefined): Found | undefined =>
  found !== undefined && 'origins' in found ? { origins: raise(found.origins, 'TRANSFORMATION') } : found

/** All columns of a relation that is used like a value: `to_json(t)`. */
function wholeRow(scope: Scope, name: string): Found | undefined {
  const source = findSource(scope, [name])
  if (source === undefined) return undefined
  return { origins: mergeOrigins(source.items.map((item) => (item.kind === 'column' ? item.origins : []))) }
}

/** A column that the schema of a table does not have, although the statement says that it is this table's: schemas grow old. */
function beyondSchema(source: Source, column: string): Origin | undefined {
  const table = source.path.join('.')
  const isTable =
    source.items.length > 0 &&
    source.items.every(
      (item) => item.kind === 'column' && item.listed === 'BY_SCHEMA' && item.origins[0]?.table === table
    )
  return isTable ? { table, column, how: 'IDENTITY', certainty: 'CERTAIN' } : undefined
}

/** A column with a qualifier: the longest one that names a relation; what follows the column are fields of it. */
function qualified(scope: Scope, parts: readonly string[]): Found | undefined {
  for (let length = Math.min(parts.length - 1, 4); length >= 1; length--) {
    const source = findSource(scope, parts.slice(0, length))
    const name = parts[length]
    if (source !== undefined && name !== undefined) {
      const column = inSource(source, name)
      const isField = parts.length > length + 1
      const found =
        isField && 'origins' in column ? { origins: raise(column.origins, 'TRANSFORMATION') } : column
      // a struct may have the name of its table: t.t.x
      if ('problem' in found && length > 1) continue
      const origin = 'problem' in found ? beyondSchema(source, name) : undefined
      return 'problem' in found && origin !== undefined ? { origins: [origin], but: found } : found
    }
  }
  return undefined
}

function inScope(scope: Scope, parts: readonly string[], mayUseAliases: boolean): Found | undefined {
  const [first = ''] = parts
  if (parts.length > 1) {
    const found = qualified(scope, parts)
    if (found !== undefined) return found
    if (!scope.dialect.hasStructs) return undefined
    const column = scope.sources.some(({ items }) => findColumn(items, first) !== undefined)
    // where the dialect has structs, an outer relation is the better guess than a column nobody has told
    if (column) return fieldOf(unqualified(scope, first))
    return undefined
  }
  const alias = scope.aliases.get(keyOf(first))
  const isKnown = scope.sources.some(({ items }) => findColumn(items, first) !== undefined)
  if (mayUseAliases && alias !== undefined && !isKnown && !scope.merged.has(keyOf(first)))
    return { origins: alias }
  const found = unqualified(scope, first)
  return found === undefined || 'problem' in found ? (wholeRow(scope, first) ?? found) : found
}

/** `db.t.x` of `db.t as a`: most systems refuse it, and those that read it can mean nothing else. */
function behindAlias(scope: Scope, parts: readonly string[], length: number): readonly Origin[] | undefined {
  const named = scope.sources
    .map((source) => ({ ...source, alias: undefined }))
    .filter(
      (source) => isNamed(source, parts.slice(0, length)) || isNamed(source, parts.slice(0, length + 1))
    )
  const found = qualified({ ...scope, sources: named }, parts)
  return found !== undefined && 'origins' in found ? found.origins : undefined
}

/** Where a column comes from, from the inner scope outwards. Reports what is not known, which has no origin. */
export function lookUp(scope: Scope, path: Path, mayUseAliases: boolean): readonly Origin[] {
  const parts = path.map((name) => foldColumn(name, scope.dialect))
  const first = keyOf(parts[0] ?? '')
  if (parts.length === 1 && scope.variables.has(first)) return []
  const row = parts.length > 1 ? scope.rows.get(first) : undefined
  if (row !== undefined) return findColumn(row, parts[1] ?? '')?.origins ?? []
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    const found = inScope(at, parts, mayUseAliases || at.dialect.hasLateralAliases)
    if (found === undefined) continue
    if ('origins' in found) {
      if (found.but !== undefined) scope.report(found.but.problem, path, found.but.message)
      return found.origins
    }
    scope.report(found.problem, path, found.message)
    return []
  }
  const hidden = parts.length > 2 ? behindAlias(scope, parts, 2) : undefined
  if (hidden !== undefined) return hidden
  if (parts.length > 1 && scope.dialect.hasStructs) {
    // no relation has the qualifier: a struct of the one table whose columns are not known
    for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
      const found = unqualified(at, parts[0] ?? '')
      if (found !== undefined && 'origins' in found) return raise(found.origins, 'TRANSFORMATION')
    }
  }
  const last = parts.length > 1 ? behindAlias(scope, parts, 1) : scope.aliases.get(first)
  if (last !== undefined) return weaken(last, parts.length > 1 ? 'CERTAIN' : 'BY_SCHEMA')
  if (scope.variables.has(first) || (scope.sources.length === 0 && scope.parent === undefined)) return []
  const code = parts.length > 1 ? 'UNKNOWN_RELATION' : 'UNKNOWN_COLUMN'
  const name = path.map(({ text }) => text).join('.')
  scope.report(code, path, `${problemCodes[code]}: ${name}`)
  return []
}
