/** Resolves what an expression is made from, and names the state that all of the resolver shares. */
import type { Column, Item, Origin } from './columns.ts'
import { listedItems, mergeOrigins, raise } from './columns.ts'
import type { Dialect } from './dialects.ts'
import { expandStar } from './expand-star.ts'
import type { Influence, Path, Query, Reads, Statement } from './form.ts'
import { keyOf, tableId } from './names.ts'
import type { ProblemCode } from './problems.ts'
import type { Cte, Influenced, Scope } from './scope.ts'
import { lookUp } from './scope.ts'

/** What a script knows while one of its statements is resolved, and what is found. */
export interface Resolution {
  dialect: Dialect
  /** The whole name of a table, with the defaults of the session. */
  wholeName: (path: Path) => string[]
  /** A temporary table of the script: its columns, and the tables it was made from. */
  temporary: (id: string) => { items: readonly Item[]; inputs: ReadonlySet<string> } | undefined
  /** Columns of a table by a schema, in order; undefined where nobody has told. */
  columnsOf: (
    parts: readonly string[]
  ) => { names: readonly string[]; listed: Column['listed']; isWhole: boolean } | undefined
  /** Variables, and rows of loops, of the routine around. */
  variables: ReadonlySet<string>
  rows: ReadonlyMap<string, readonly Item[]>
  /** Tables that are read, by their ids. */
  inputs: Set<string>
  influences: Map<string, Influenced>
  report: (code: ProblemCode, path: Path, message: string) => void
  /** Resolves a query: the columns it gives. */
  query: (query: Query, around: Around) => readonly Item[]
  /** Resolves a statement within a query (`WITH x AS (DELETE … RETURNING …)`): the relation it returns from. */
  write: (statement: Statement, around: Around) => readonly Item[]
}

/** What surrounds a query. */
export interface Around {
  ctes: ReadonlyMap<string, Cte>
  parent: Scope | undefined
}

export const newScope = (run: Resolution, { ctes, parent }: Around): Scope => ({
  dialect: run.dialect,
  sources: [],
  merged: new Map(),
  aliases: new Map(),
  parent,
  ctes,
  variables: run.variables,
  rows: run.rows,
  report: run.report
})

/** The items of a table, a temporary table or a CTE that a name means. */
export function itemsOfTable(run: Resolution, path: Path, ctes: Around['ctes']): readonly Item[] {
  const [first] = path
  if (path.length === 1 && first !== undefined) {
    const cte = ctes.get(keyOf(first.text))
    if (cte !== undefined) {
      for (const input of cte.inputs) run.inputs.add(input)
      for (const [key, influence] of cte.influences) run.influences.set(key, influence)
      return cte.items
    }
  }
  const parts = run.wholeName(path)
  const id = tableId(parts)
  const temporary = run.temporary(id)
  if (temporary !== undefined) {
    for (const input of temporary.inputs) run.inputs.add(input)
    return temporary.items
  }
  run.inputs.add(id)
  return listedItems(id, run.columnsOf(parts))
}

/** Everything that an expression is made from. */
export function originsOf(
  run: Resolution,
  reads: Reads,
  scope: Scope,
  mayUseAliases = false
): readonly Origin[] {
  const { columns, queries, conditions, stars } = reads
  const [only] = columns
  if (only !== undefined && columns.length === 1 && queries.length + conditions.length + stars.length === 0)
    return raise(lookUp(scope, only.path, mayUseAliases), only.how)
  const lists = columns.map(({ path, how }) => raise(lookUp(scope, path, mayUseAliases), how))
  const around = { ctes: scope.ctes, parent: scope }
  for (const { query, how } of queries)
    for (const item of run.query(query, around))
      if (item.kind === 'column') lists.push(raise(item.origins, how))
  for (const query of conditions) run.query(query, around)
  for (const { of, how } of stars) {
    const items = expandStar(scope, {
      kind: 'star',
      ...(of === undefined ? {} : { of }),
      except: [],
      replace: [],
      rename: [],
      line: of?.[0]?.line ?? 0,
      column: of?.[0]?.column ?? 0
    })
    for (const item of items) if (item.kind === 'column') lists.push(raise(item.origins, how))
  }
  return mergeOrigins(lists)
}

export function influence(run: Resolution, origin: Origin, how: Influence): void {
  run.influences.set(`${origin.table}\0${origin.column}\0${how}`, { origin, how })
}

export function addInfluence(run: Resolution, reads: Reads, how: Influence, scope: Scope): void {
  for (const origin of originsOf(run, reads, scope, true)) influence(run, origin, how)
}
