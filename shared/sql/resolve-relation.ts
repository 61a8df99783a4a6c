/** Adds the relations of FROM to a scope: tables, subqueries, joins, functions, PIVOT, UNPIVOT and MATCH_RECOGNIZE. */
import type { Column, Item, Origin } from './columns.ts'
import { findColumn, mergeOrigins, opensFor, raise, renameColumns, weaken, weaker } from './columns.ts'
import type { Alias, Name, Path, Relation } from './form.ts'
import { foldColumn, keyOf, tableId } from './names.ts'
import type { Resolution } from './resolve-expression.ts'
import { addInfluence, influence, itemsOfTable, newScope, originsOf } from './resolve-expression.ts'
import type { Scope, Source } from './scope.ts'
import { lookUp } from './scope.ts'

type Of<K extends Relation['kind']> = Extract<Relation, { kind: K }>

const folded = (run: Resolution, names: readonly Name[]): string[] =>
  names.map((name) => foldColumn(name, run.dialect))

/** A relation with the names of its alias. */
function sourceOf(
  run: Resolution,
  items: readonly Item[],
  alias: Alias | undefined,
  path: readonly string[] = []
): Source {
  return {
    alias: alias === undefined ? undefined : foldColumn(alias.name, run.dialect),
    path,
    items: renameColumns(items, folded(run, alias?.columns ?? []))
  }
}

/** A scope of its own for a part of FROM that sees the relations before it. */
const within = (run: Resolution, scope: Scope): Scope => newScope(run, { ctes: scope.ctes, parent: scope })

const formats = new Set(['parquet', 'json', 'csv', 'orc', 'avro', 'text', 'delta', 'binaryfile', 'iceberg'])

/** A name with a sign in front is a variable or a stage; a text is a file, and so is Spark's format with a path. */
function isNoTable(path: Path, run: Resolution): boolean {
  const { dialect } = run
  const [first, last] = [path[0], path.at(-1)]
  if (first === undefined || last === undefined) return true
  if (run.temporary(tableId(run.wholeName(path))) !== undefined) return false
  if (/^[@$:%?]/.test(first.text) || last.text.startsWith('#')) return true
  const isOfSpark = dialect.name === 'spark' || dialect.name === 'databricks'
  if (isOfSpark && path.length === 2 && last.quoted && !first.quoted && formats.has(keyOf(first.text)))
    return true
  // SAP has tables like "/BIC/AZSALES", in a schema
  const isPath = path.length === 1 ? /[\\/]|\.(?:csv|parquet|json)$/i : /\\|:\/\//
  return last.quoted && (last.text.startsWith("'") || isPath.test(last.text))
}

function addTable(run: Resolution, relation: Of<'table'>, scope: Scope): void {
  const { path, alias } = relation
  const [first] = path
  if (first === undefined) return
  const isOfSource =
    path.length > 1 &&
    scope.sources.some((source) => source.alias !== undefined && keyOf(source.alias) === keyOf(first.text))
  if (isOfSource) {
    // `from t, t.items i`: the elements of an array
    const origins = raise(lookUp(scope, path, false), 'TRANSFORMATION')
    const name = alias?.name ?? path.at(-1) ?? first
    scope.sources.push(functionSource(run, origins, [name], true, { name, columns: alias?.columns ?? [] }))
    return
  }
  if (path.length === 1 && keyOf(first.text) === 'dual') {
    const nothing: Item = { kind: 'open', table: undefined, without: new Set(), read: () => [] }
    scope.sources.push(sourceOf(run, [nothing], alias ?? { name: first, columns: [] }))
    return
  }
  if (isNoTable(path, run)) {
    const open: Item = { kind: 'open', table: undefined, without: new Set(), read: () => [] }
    scope.sources.push(sourceOf(run, [open], alias ?? { name: first, columns: [] }))
    return
  }
  const items = itemsOfTable(run, path, scope.ctes)
  scope.sources.push(sourceOf(run, items, alias, run.wholeName(path)))
}

function functionSource(
  run: Resolution,
  origins: readonly Origin[],
  columns: readonly Name[],
  isOpen: boolean,
  alias: Alias | undefined
): Source {
  const raised = raise(origins, 'TRANSFORMATION')
  const names = folded(run, (alias?.columns.length ?? 0) > 0 ? (alias?.columns ?? []) : columns)
  const items = names.map((name): Item => ({ kind: 'column', name, origins: raised, listed: 'CERTAIN' }))
  if (isOpen) items.push({ kind: 'open', table: undefined, without: new Set(), read: () => raised })
  return { alias: alias === undefined ? undefined : foldColumn(alias.name, run.dialect), path: [], items }
}

/** Columns that both sides of a NATURAL join are known to have. */
function commonNames(left: readonly Source[], right: readonly Source[]): string[] {
  const of = (sources: readonly Source[]): Column[] =>
    sources.flatMap(({ items }) => items.filter((item): item is Column => item.kind === 'column'))
  const others = new Set(of(right).map(({ name }) => keyOf(name)))
  return of(left)
    .map(({ name }) => name)
    .filter((name) => others.has(keyOf(name)))
}

/** One column of the sides of USING, from all relations that have it. */
function mergeColumn(scope: Scope, name: string, right: readonly Source[]): Column {
  const before = scope.merged.get(keyOf(name))
  const left = scope.sources.filter((source) => !right.includes(source))
  const columnsOf = (sources: readonly Source[]): Column[] => {
    const known = sources.flatMap(({ items }) => findColumn(items, name) ?? [])
    if (known.length > 0) return known
    return sources
      .flatMap(({ items }) => opensFor(items, name))
      .slice(0, sources.length === 1 ? 1 : undefined)
      .map((open) => ({ kind: 'column', name, origins: open.read(name), listed: 'CERTAIN' }))
  }
  const opens = before === undefined ? columnsOf(left) : [before]
  // several relations whose columns are not known: which of them has it cannot be said
  const sides = [
    ...(opens.length > 1 && opens.every(({ listed }) => listed === 'CERTAIN') && left.length > 1
      ? []
      : opens),
    ...columnsOf(right)
  ]
  return {
    kind: 'column',
    name,
    origins: mergeOrigins(sides.map(({ origins }) => origins)),
    listed: sides.reduce<Column['listed']>((listed, each) => weaker(listed, each.listed), 'CERTAIN')
  }
}

function addJoin(run: Resolution, relation: Of<'join'>, scope: Scope): void {
  const { left, right, on, using, natural, hides, alias } = relation
  const target = alias === undefined ? scope : within(run, scope)
  const start = target.sources.length
  addRelation(run, left, target)
  const middle = target.sources.length
  addRelation(run, right, target)
  const rightSources = target.sources.slice(middle)
  const names = natural ? commonNames(target.sources.slice(start, middle), rightSources) : folded(run, using)
  for (const name of names) {
    const column = mergeColumn(target, name, rightSources)
    // which columns NATURAL means, only the schemas say
    const merged = natural ? { ...column, origins: weaken(column.origins, column.listed) } : column
    for (const origin of merged.origins) influence(run, origin, 'JOIN')
    // a semi join gives the columns of one side only
    if (hides === undefined) target.merged.set(keyOf(name), merged)
  }
  if (on !== undefined) addInfluence(run, on, 'JOIN', target)
  if (hides === 'right') target.sources.length = middle
  if (hides === 'left') target.sources.splice(start, middle - start)
  if (alias !== undefined) {
    const items = target.sources.flatMap((source) => source.items)
    scope.sources.push(sourceOf(run, items, alias))
  }
}

/** The items of one relation by itself, as PIVOT and its like need them. */
function alone(run: Resolution, relation: Relation, scope: Scope): Scope {
  const inner = within(run, scope)
  addRelation(run, relation, inner)
  return inner
}

const without = (items: readonly Item[], names: ReadonlySet<string>): Item[] =>
  items.flatMap((item): Item[] => {
    if (item.kind === 'column') return names.has(keyOf(item.name)) ? [] : [item]
    return [{ ...item, without: new Set([...item.without, ...names]) }]
  })

function addPivot(run: Resolution, relation: Of<'pivot'>, scope: Scope): void {
  const inner = alone(run, relation.of, scope)
  const used = new Set(relation.by.map(({ text }) => keyOf(text)))
  for (const { reads } of relation.aggregates)
    for (const { path } of reads.columns) used.add(keyOf(path.at(-1)?.text ?? ''))
  const made = relation.values.flatMap(({ name: written, isText }) =>
    relation.aggregates.map(({ name, reads }): Item => {
      const keepsQuotes = isText && run.dialect.folding === 'upper'
      const value = keepsQuotes ? `'${written.text}'` : foldColumn(written, run.dialect)
      const aggregate = name?.text
      const several = relation.aggregates.length > 1 || aggregate !== undefined
      const column = !several
        ? value
        : run.dialect.name === 'bigquery'
          ? `${aggregate ?? ''}_${value}`
          : `${value}_${aggregate ?? ''}`
      return {
        kind: 'column',
        name: foldColumn({ text: column, quoted: true, line: 0, column: 0 }, run.dialect),
        origins: originsOf(run, reads, inner),
        listed: 'CERTAIN'
      }
    })
  )
  for (const name of relation.by)
    for (const origin of lookUp(inner, [name], false)) influence(run, origin, 'GROUP_BY')
  const items = without(
    inner.sources.flatMap((source) => source.items),
    used
  )
  if (relation.values.length === 0) {
    // PIVOT … IN (ANY), or of a subquery: names that only the data tells
    const origins = mergeOrigins(relation.aggregates.map(({ reads }) => originsOf(run, reads, inner)))
    items.push({ kind: 'open', table: undefined, without: new Set(), read: () => origins })
  }
  scope.sources.push(sourceOf(run, [...items, ...made], relation.alias, inner.sources[0]?.path))
}

function addUnpivot(run: Resolution, relation: Of<'unpivot'>, scope: Scope): void {
  const inner = alone(run, relation.of, scope)
  const values = relation.values.map(({ name, reads }): Item => ({
    kind: 'column',
    name: foldColumn(name, run.dialect),
    origins: raise(originsOf(run, reads, inner), 'TRANSFORMATION'),
    listed: 'CERTAIN'
  }))
  // its values are names of the columns: they change with them
  const label: Item = {
    kind: 'column',
    name: foldColumn(relation.label, run.dialect),
    origins: mergeOrigins(values.map((item) => (item.kind === 'column' ? item.origins : []))),
    listed: 'CERTAIN'
  }
  const used = new Set(relation.columns.map(({ text }) => keyOf(text)))
  const items = without(
    inner.sources.flatMap((source) => source.items),
    used
  )
  scope.sources.push(sourceOf(run, [...items, label, ...values], relation.alias, inner.sources[0]?.path))
}

/** In MEASURES a name of the pattern is a qualifier like an alias. */
function addMatch(run: Resolution, relation: Of<'match'>, scope: Scope): void {
  const inner = alone(run, relation.of, scope)
  const unqualified = (name: Name): Column['origins'] => lookUp(inner, [name], false)
  const measures = relation.measures.map(({ name, reads }): Item => ({
    kind: 'column',
    name: foldColumn(name, run.dialect),
    origins: mergeOrigins(
      reads.columns.map(({ path, how }) => {
        const last = path.at(-1)
        return last === undefined ? [] : raise(unqualified(last), how)
      })
    ),
    listed: 'CERTAIN'
  }))
  const items = inner.sources.flatMap((source) => source.items)
  scope.sources.push(sourceOf(run, [...items, ...measures], relation.alias, inner.sources[0]?.path))
}

/** Adds a relation, with the joins in it, to those that the expressions of a query can see. */
export function addRelation(run: Resolution, relation: Relation, scope: Scope): void {
  switch (relation.kind) {
    case 'table':
      return addTable(run, relation, scope)
    case 'query': {
      const items = run.query(relation.query, { ctes: scope.ctes, parent: scope })
      scope.sources.push(sourceOf(run, items, relation.alias))
      return
    }
    case 'join':
      return addJoin(run, relation, scope)
    case 'function': {
      const origins = originsOf(run, relation.reads, scope)
      const source = functionSource(run, origins, relation.columns, relation.isOpen, relation.alias)
      const each = (relation.each ?? []).map((reads) => raise(originsOf(run, reads, scope), 'TRANSFORMATION'))
      const items = source.items.map((item, index) => {
        const own = each[index]
        return own === undefined || item.kind === 'open' ? item : { ...item, origins: own }
      })
      scope.sources.push({ ...source, items })
      return
    }
    case 'pivot':
      return addPivot(run, relation, scope)
    case 'unpivot':
      return addUnpivot(run, relation, scope)
    case 'match':
      return addMatch(run, relation, scope)
  }
}
