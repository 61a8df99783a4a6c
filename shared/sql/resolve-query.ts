/** Resolves a query: which columns of which tables each of its columns is made from. */
import type { Column, Item, Origin } from './columns.ts'
import { findColumn, mergeOrigins, opensFor, renameColumns } from './columns.ts'
import type { Dialect } from './dialects.ts'
import { expandStar } from './expand-star.ts'
import type { Body, Projection, Query, Select, Statement } from './form.ts'
import { foldColumn, keyOf } from './names.ts'
import type { Around, Resolution } from './resolve-expression.ts'
import { addInfluence, newScope, originsOf } from './resolve-expression.ts'
import { addRelation } from './resolve-relation.ts'
import type { Scope } from './scope.ts'

/** Passes through a recursive CTE until no new origin comes; columns can move by one place each time. */
const recursionMaxPasses = 6

/** The name of a column, as the dialect gives it where the query does not. */
function nameOf(
  { name, isUnnamed, text }: Extract<Projection, { kind: 'expression' }>,
  place: number,
  dialect: Dialect
): string {
  const given =
    isUnnamed !== true || dialect.namesColumnsBy === 'function'
      ? name
      : dialect.namesColumnsBy === 'text' && text !== undefined
        ? { text, quoted: false, line: 0, column: 0 }
        : undefined
  return given === undefined ? `_col_${place}` : foldColumn(given, dialect)
}

/** Columns of a select list. */
export function project(run: Resolution, projections: readonly Projection[], scope: Scope): Item[] {
  const items: Item[] = []
  for (const projection of projections) {
    if (projection.kind === 'star') {
      const replaced = new Map(
        projection.replace.map(({ name, reads }) => [keyOf(name.text), originsOf(run, reads, scope)])
      )
      items.push(...expandStar(scope, projection, replaced))
      continue
    }
    const origins = originsOf(run, projection.reads, scope)
    const name = nameOf(projection, items.length, run.dialect)
    items.push({ kind: 'column', name, origins, listed: 'CERTAIN' })
    if (projection.name !== undefined && !scope.aliases.has(keyOf(name)))
      scope.aliases.set(keyOf(name), origins)
  }
  return items
}

function resolveSelect(run: Resolution, select: Select, around: Around): { items: Item[]; scope: Scope } {
  const scope = newScope(run, around)
  for (const relation of select.from) addRelation(run, relation, scope)
  const items = project(run, select.projections, scope)
  for (const { reads, how } of select.influences) addInfluence(run, reads, how, scope)
  return { items, scope }
}

/** The columns of a set operation: names of the first branch, origins of all by position, or by name where that is asked for. */
function unite(branches: readonly (readonly Item[])[], byName: boolean): Item[] {
  const [first, ...others] = branches
  if (first === undefined) return []
  if (others.length === 0) return [...first]
  const readFrom = (items: readonly Item[], name: string): readonly Origin[] => {
    const column = findColumn(items, name)
    if (column !== undefined) return column.origins
    const opens = opensFor(items, name)
    return opens.length === 1 && opens[0] !== undefined ? opens[0].read(name) : []
  }
  const opens = branches.map((items) => {
    const at = items.findIndex(({ kind }) => kind === 'open')
    return at === -1 ? items.length : at
  })
  const byPosition = byName ? 0 : Math.min(...opens)
  const result = first.map((item, index): Item => {
    if (item.kind === 'open')
      return {
        ...item,
        read: (name) => mergeOrigins([item.read(name), ...others.map((items) => readFrom(items, name))])
      }
    const lists = others.map((items) => {
      const other = items[index]
      return index < byPosition ? (other?.kind === 'column' ? other.origins : []) : readFrom(items, item.name)
    })
    return { ...item, origins: mergeOrigins([item.origins, ...lists]) }
  })
  if (!byName) return result
  const added = others.flatMap((items) =>
    items.filter(
      (item): item is Column => item.kind === 'column' && findColumn(result, item.name) === undefined
    )
  )
  return [...result, ...added]
}

function resolveBody(run: Resolution, body: Body, around: Around): { items: Item[]; scope?: Scope } {
  switch (body.kind) {
    case 'select':
      return resolveSelect(run, body, around)
    case 'query':
      return { items: resolveQuery(run, body.query, around) }
    case 'values': {
      const scope = newScope(run, around)
      const rows = body.rows.map((row) =>
        row.map((reads, index): Item => ({
          kind: 'column',
          name: `column${index + 1}`,
          origins: originsOf(run, reads, scope),
          listed: 'CERTAIN'
        }))
      )
      return { items: unite(rows, false) }
    }
    case 'set': {
      const branches = body.branches.map((branch) => resolveBody(run, branch, around).items)
      // the right side of EXCEPT and INTERSECT only decides which rows stay
      return { items: body.operator === 'union' ? unite(branches, body.byName) : (branches[0] ?? []) }
    }
    case 'write': {
      const items = run.write(body.statement, around)
      const scope = newScope(run, around)
      scope.sources.push({ alias: undefined, path: targetNames(body.statement), items })
      return { items: project(run, body.returning, scope) }
    }
  }
}

const targetNames = (statement: Statement): string[] => {
  const path =
    statement.kind === 'INSERT'
      ? statement.into[0]?.target
      : statement.kind === 'UPDATE'
        ? statement.target
        : statement.kind === 'DELETE'
          ? statement.targets[0]
          : undefined
  return (path ?? []).map(({ text }) => text)
}

/** A CTE that may read itself: its own name means what the passes before have found. */
function resolveRecursive(
  run: Resolution,
  query: Query,
  name: string,
  columns: string[],
  around: Around
): Item[] {
  let before: Item[] = []
  for (let pass = 0; pass < recursionMaxPasses; pass++) {
    const ctes = new Map(around.ctes)
    ctes.set(name, { items: before, inputs: new Set(), influences: new Map() })
    const quiet = pass === 0 ? { ...run, report: () => undefined } : run
    const items = renameColumns(resolveQuery(quiet, query, { ...around, ctes }), columns)
    if (pass > 0 && JSON.stringify(items) === JSON.stringify(before)) return items
    before = items
  }
  return before
}

export function readsItself(query: Query | Body, name: string): boolean {
  return JSON.stringify(query, (key, value: unknown) =>
    key === 'line' || key === 'column' ? undefined : value
  )
    .toLowerCase()
    .includes(`"path":[{"text":${JSON.stringify(name)},`)
}

/** Whether a first branch begins what the others repeat. Without one, a CTE that reads its own name reads a table. */
function hasAnchor(body: Body, name: string): boolean {
  if (body.kind === 'query') return hasAnchor(body.query.body, name)
  const first = body.kind === 'set' && body.operator === 'union' ? body.branches[0] : undefined
  return first !== undefined && !readsItself(first, name)
}

/** Adds the CTEs of a WITH to those that are visible. */
export function withCtes(run: Resolution, ctes: Query['ctes'], isRecursive: boolean, around: Around): Around {
  if (ctes.length === 0) return around
  const visible = new Map(around.ctes)
  for (const { name, columns, query } of ctes) {
    const key = keyOf(name.text)
    const names = columns.map((column) => foldColumn(column, run.dialect))
    const inner = { ...around, ctes: visible }
    const mayRecurse =
      (isRecursive || (run.dialect.isRecursiveByDefault && hasAnchor(query.body, key))) &&
      readsItself(query, key)
    const outside = { inputs: run.inputs, influences: run.influences }
    run.inputs = new Set()
    run.influences = new Map()
    const items = mayRecurse
      ? resolveRecursive(run, query, key, names, inner)
      : renameColumns(resolveQuery(run, query, inner), names)
    visible.set(key, { items, inputs: run.inputs, influences: run.influences })
    // what writes is run in any case, other queries where they are named
    if (query.body.kind === 'write') for (const input of run.inputs) outside.inputs.add(input)
    run.inputs = outside.inputs
    run.influences = outside.influences
  }
  return { ...around, ctes: visible }
}

export function resolveQuery(run: Resolution, query: Query, around: Around): Item[] {
  const inner = withCtes(run, query.ctes, query.isRecursive, around)
  const { items, scope } = resolveBody(run, query.body, inner)
  const ordering = scope ?? { ...newScope(run, inner), sources: [{ alias: undefined, path: [], items }] }
  for (const reads of query.order) addInfluence(run, reads, 'SORT', ordering)
  return items
}
