/** Resolves one statement: the tables it reads and writes, and where each written column comes from. */
import type { ColumnLineage } from './answer.ts'
import { answer, resultOf } from './answer.ts'
import type { Certainty, Item, Open, Origin } from './columns.ts'
import { columnsOfTable, listedItems, mergeOrigins, openTable, raise, weaken } from './columns.ts'
import type { Assignment, Influence, Insert, Path, Query, Relation, Statement } from './form.ts'
import { strongest } from './form.ts'
import { foldColumn, keyOf, tableId } from './names.ts'
import { aliased, countOf } from './targets.ts'
import type { Problem } from './problems.ts'
import type { Around, Resolution } from './resolve-expression.ts'
import { addInfluence, newScope, originsOf } from './resolve-expression.ts'
import { resolveQuery, withCtes } from './resolve-query.ts'
import { addRelation } from './resolve-relation.ts'
import type { Scope } from './scope.ts'
import type { Session } from './session.ts'

export interface StatementLineage {
  kind: string
  /** Where the statement is in the text that was sent, from 1. */
  line: number
  inputs: readonly string[]
  outputs: readonly string[]
  columns: readonly ColumnLineage[]
  /** The columns of a bare SELECT, in order, also those that come from no table; not whole where a `*` hides some. */
  result?: { columns: readonly string[]; isWhole: boolean }
  /** Columns that decide which rows there are, or their order. */
  indirect: readonly { table: string; column: string; transformation: Influence }[]
  problems: readonly Problem[]
}

/** The columns of one table as a statement writes them. */
interface Written {
  id: string
  columns: Map<string, { name: string; origins: readonly Origin[] }>
  /** What `*` stands for where nobody has told. */
  opens: Open[]
}

/** Around no query. */
const outside: Around = { ctes: new Map(), parent: undefined }

class Writer {
  readonly run: Resolution
  readonly session: Session
  readonly written = new Map<string, Written>()
  /** The items of a bare SELECT. */
  selected: readonly Item[] | undefined
  constructor(run: Resolution, session: Session) {
    this.run = run
    this.session = session
  }

  target(path: Path): Written {
    const id = tableId(this.run.wholeName(path))
    const before = this.written.get(id)
    if (before !== undefined) return before
    const target: Written = { id, columns: new Map(), opens: [] }
    this.written.set(id, target)
    return target
  }

  put(target: Written, name: string, origins: readonly Origin[]): void {
    const key = keyOf(name)
    const before = target.columns.get(key)
    target.columns.set(key, {
      name: before?.name ?? name,
      origins: mergeOrigins(before === undefined ? [origins] : [before.origins, origins])
    })
  }

  /** Names of the target's columns in order, without those that a PARTITION clause gives. */
  namesOf({ target, columns, partition }: Insert): { names: string[]; certainty: Certainty } | undefined {
    const { dialect } = this.run
    if (columns.length > 0)
      return { names: columns.map((name) => foldColumn(name, dialect)), certainty: 'CERTAIN' }
    const known = this.session.columnsToWrite(this.run.wholeName(target))
    if (known === undefined) return undefined
    const fixed = new Set(partition.filter(({ isFixed }) => isFixed).map(({ name }) => keyOf(name.text)))
    return { names: known.names.filter((name) => !fixed.has(keyOf(name))), certainty: known.listed }
  }

  /**
   * Writes the columns of a query: by position onto the target's columns, or by their own names where those are not
   * known, which is said.
   */
  insert(into: Insert, items: readonly Item[]): void {
    const target = this.target(into.target)
    const known = into.byName ? undefined : this.namesOf(into)
    const open = items.findIndex(({ kind }) => kind === 'open')
    if (known === undefined) {
      if (!into.byName && items.some((item) => item.kind === 'open' || item.origins.length > 0))
        this.run.report(
          'NO_SCHEMA',
          into.target,
          `The columns of ${target.id} are not known: the names of the query are taken`
        )
      for (const item of items) this.putItem(target, item, item.kind === 'column' ? item.name : '')
    } else {
      if (open === -1 && items.length !== known.names.length && known.certainty === 'CERTAIN')
        this.run.report(
          'COLUMN_COUNT',
          into.target,
          `${items.length} values for ${known.names.length} columns of ${target.id}`
        )
      items.slice(0, open === -1 ? items.length : open).forEach((item, index) => {
        const name = known.names[index]
        if (name === undefined || item.kind !== 'column') return
        this.put(target, name, weaken(listedOrigins(item), known.certainty))
      })
    }
    target.opens.push(...items.filter((item): item is Open => item.kind === 'open'))
    this.reportOpen(items, into.target)
  }

  /** Says which columns a `*` hides, where nobody has told what it stands for. */
  reportOpen(items: readonly Item[], path: Path): void {
    for (const item of items)
      if (item.kind === 'open' && item.table !== undefined)
        this.run.report(
          'NO_SCHEMA',
          item.at === undefined ? path : [{ text: '*', quoted: false, ...item.at }],
          `The columns of ${item.table} are not known`
        )
  }

  putItem(target: Written, item: Item, name: string): void {
    if (item.kind === 'column') this.put(target, name, listedOrigins(item))
  }

  assign(target: Path, updates: readonly Assignment[], scope: Scope): void {
    const written = this.target(target)
    for (const { targets, reads } of updates) {
      const [only] = targets
      const column = only?.at(-1)
      if (targets.length === 1 && column !== undefined) {
        this.put(written, foldColumn(column, this.run.dialect), originsOf(this.run, reads, scope))
        continue
      }
      // (a, b) = (select x, y …)
      const items = reads.queries.flatMap(({ query }) =>
        this.run.query(query, { ctes: scope.ctes, parent: scope })
      )
      const lists =
        items.length > 0
          ? items.map((item) => (item.kind === 'column' ? item.origins : []))
          : reads.columns.map((each) =>
              originsOf(this.run, { columns: [each], queries: [], conditions: [], stars: [] }, scope)
            )
      targets.forEach((path, index) => {
        const name = path.at(-1)
        if (name !== undefined)
          this.put(written, foldColumn(name, this.run.dialect), raise(lists[index] ?? [], 'IDENTITY'))
      })
    }
  }
}

/** The origins of a column. The statement tells them itself, except for a star of several relations. */
const listedOrigins = (item: Extract<Item, { kind: 'column' }>): readonly Origin[] =>
  weaken(item.origins, item.isPlacedBySchema === true ? item.listed : 'CERTAIN')

function scopeOf(run: Resolution, relations: readonly Relation[], around: Around): Scope {
  const scope = newScope(run, around)
  for (const relation of relations) addRelation(run, relation, scope)
  return scope
}

/** T-SQL writes through a CTE, into the table that it reads. */
function throughCte(ctes: Query['ctes'], path: Path): Path {
  const [only] = path
  if (only === undefined || path.length > 1) return path
  const body = ctes.find(({ name }) => keyOf(name.text) === keyOf(only.text))?.query.body
  const from = body?.kind === 'select' ? body.from[0] : undefined
  return from?.kind === 'table' ? throughCte(ctes, from.path) : path
}

function writeInsert(
  writer: Writer,
  statement: Extract<Statement, { kind: 'INSERT' }>,
  around: Around
): void {
  const { run } = writer
  const { into, query, updates } = statement
  const items = query === undefined ? [] : resolveQuery(run, query, around)
  const scope = newScope(run, around)
  scope.sources.push({ alias: undefined, path: [], items })
  for (const each of into) {
    const values = each.reads
    if (values === undefined) writer.insert(each, items)
    else
      writer.insert(
        each,
        values.map((reads, index): Item => ({
          kind: 'column',
          name: each.columns[index]?.text ?? `_col_${index}`,
          origins: originsOf(run, reads, scope),
          listed: 'CERTAIN'
        }))
      )
  }
  const [first] = into
  if (first === undefined || updates.length === 0) return
  // ON CONFLICT DO UPDATE SET a = excluded.a: what would have been inserted, by the target's names
  const target = writer.target(first.target)
  const conflict = newScope(run, around)
  const excluded = [...target.columns.values()].map(({ name, origins }): Item => ({
    kind: 'column',
    name,
    origins,
    listed: 'CERTAIN'
  }))
  for (const alias of ['excluded', 'values', 'new'])
    conflict.sources.push({ alias, path: [], items: excluded })
  const path = run.wholeName(first.target)
  const own = openTable(target.id)
  const read = (name: string): readonly Origin[] => {
    run.inputs.add(target.id)
    return own.read(name)
  }
  const alias = first.alias === undefined ? undefined : foldColumn(first.alias, run.dialect)
  conflict.sources.unshift({ alias, path, items: [{ ...own, read }] })
  writer.assign(first.target, updates, conflict)
}

function writeMerge(writer: Writer, statement: Extract<Statement, { kind: 'MERGE' }>, around: Around): void {
  const { run } = writer
  const inner = withCtes(run, statement.ctes, false, around)
  const path = statement.target.kind === 'table' ? statement.target.path : []
  const written = writer.target(path)
  const inputs = new Set(run.inputs)
  const scope = scopeOf(run, [statement.target], inner)
  // the target is read only by what its columns are used for
  const isTargetNew = !inputs.has(written.id)
  if (isTargetNew) run.inputs.delete(written.id)
  addRelation(run, statement.source, scope)
  const source = scope.sources.slice(1).flatMap(({ items }) => items)
  for (const condition of [statement.on, ...statement.conditions]) addInfluence(run, condition, 'JOIN', scope)
  writer.assign(path, statement.updates, scope)
  const sourceScope: Scope = { ...scope, sources: scope.sources.slice(1) }
  for (const { columns, values } of statement.inserts)
    writer.insert(
      { target: path, columns, partition: [], byName: false },
      values.map((reads, index): Item => ({
        kind: 'column',
        name: columns[index]?.text ?? reads.columns[0]?.path.at(-1)?.text ?? `_col_${index}`,
        origins: originsOf(run, reads, sourceScope.sources.length === 0 ? scope : sourceScope),
        listed: 'CERTAIN'
      }))
    )
  if (!statement.takesAll) return
  const known = writer.session.columnsToWrite(run.wholeName(path))
  for (const item of source) {
    if (item.kind === 'column') writer.putItem(written, item, item.name)
    else if (known !== undefined)
      for (const name of known.names)
        if (!item.without.has(keyOf(name))) writer.put(written, name, weaken(item.read(name), known.listed))
  }
  if (known === undefined) writer.reportOpen(source, path)
}

function writeUpdate(
  writer: Writer,
  statement: Extract<Statement, { kind: 'UPDATE' }>,
  around: Around
): void {
  const { run } = writer
  const inner = withCtes(run, statement.ctes, false, around)
  const named = aliased(statement.from, statement.target)
  const path = throughCte(statement.ctes, named)
  const scope = scopeOf(run, statement.from, inner)
  const written = writer.target(path)
  if (path !== named || countOf(statement.from, written.id, run) <= 1) run.inputs.delete(written.id)
  if (statement.where !== undefined) addInfluence(run, statement.where, 'FILTER', scope)
  const byTable = new Map<string, Assignment[]>()
  for (const given of statement.updates) {
    const update = run.dialect.hasStructs ? withoutFields(given, statement) : given
    // MySQL updates several tables of a join: the qualifier says which
    const qualifier = update.targets[0]?.slice(0, -1) ?? []
    const owner = qualifier.length > 0 ? aliased(statement.from, qualifier) : path
    const id = tableId(run.wholeName(owner))
    const key = id === written.id || owner === qualifier ? written.id : id
    byTable.set(key, [...(byTable.get(key) ?? []), update])
    if (key !== written.id) writer.assign(owner, [update], scope)
  }
  writer.assign(path, byTable.get(written.id) ?? [], scope)
}

/** `SET s.f = …` writes column s, where s is not a table of the statement. */
function withoutFields(
  update: Assignment,
  { from, target }: Extract<Statement, { kind: 'UPDATE' }>
): Assignment {
  const path = update.targets[0] ?? []
  const [first] = path
  if (first === undefined || path.length < 2 || update.targets.length > 1) return update
  const isTable = aliased(from, [first]) !== target && aliased(from, [first])[0] !== first
  if (isTable || keyOf(first.text) === keyOf(target.at(-1)?.text ?? '')) return update
  const columns = update.reads.columns.map(({ path, how }) => ({
    path,
    how: strongest(how, 'TRANSFORMATION')
  }))
  return { targets: [[first]], reads: { ...update.reads, columns } }
}

function writeDelete(
  writer: Writer,
  statement: Extract<Statement, { kind: 'DELETE' }>,
  around: Around
): void {
  const { run } = writer
  const inner = withCtes(run, statement.ctes, false, around)
  const scope = scopeOf(run, statement.from, inner)
  for (const target of statement.targets) {
    const named = aliased(statement.from, target)
    const path = throughCte(statement.ctes, named)
    const { id } = writer.target(path)
    if (path !== named || countOf(statement.from, id, run) <= 1) run.inputs.delete(id)
  }
  if (statement.where !== undefined) addInfluence(run, statement.where, 'FILTER', scope)
}

function writeCreate(
  writer: Writer,
  statement: Extract<Statement, { kind: 'CREATE_TABLE' | 'CREATE_VIEW' }>,
  around: Around
): void {
  const { run, session } = writer
  const { columns, query, like, to } = statement
  // the rows of a materialized view with a target are there, not in the view
  const target = to ?? statement.target
  const written = writer.target(target)
  const parts = run.wholeName(target)
  const names = columns.map((name) => foldColumn(name, run.dialect))
  if (query !== undefined) {
    const items = resolveQuery(run, query, around)
    // a table that is made here is new: columns that a schema still lists for its name say nothing
    const into: Insert = { target, columns, partition: [], byName: columns.length === 0 }
    writer.insert(into, items)
    session.define(
      parts,
      names.length > 0 ? names : items.map((item) => (item.kind === 'column' ? item.name : undefined))
    )
    return
  }
  if (like !== undefined) {
    const source = session.columnsToWrite(run.wholeName(like.path))
    if (source !== undefined) session.define(parts, source.names)
    const id = tableId(run.wholeName(like.path))
    run.inputs.add(id)
    if (!like.withRows) return
    if (source === undefined) run.report('NO_SCHEMA', like.path, `The columns of ${id} are not known`)
    else
      for (const item of columnsOfTable(id, source.names, source.listed))
        writer.putItem(written, item, item.name)
    return
  }
  session.define(parts, names)
}

function writeCopy(writer: Writer, statement: Extract<Statement, { kind: 'COPY' }>, around: Around): void {
  if (statement.query !== undefined) writer.selected = resolveQuery(writer.run, statement.query, around)
  if (statement.target !== undefined) writer.target(statement.target)
  for (const path of statement.sources)
    if (!/^[@']/.test(path[0]?.text ?? '')) writer.run.inputs.add(tableId(writer.run.wholeName(path)))
}

function write(writer: Writer, statement: Statement, around: Around): void {
  switch (statement.kind) {
    case 'SELECT':
      return writeSelect(writer, statement.query, around)
    case 'INSERT':
      return writeInsert(writer, statement, withCtes(writer.run, statement.ctes, true, around))
    case 'MERGE':
      return writeMerge(writer, statement, around)
    case 'UPDATE':
      return writeUpdate(writer, statement, around)
    case 'DELETE':
      return writeDelete(writer, statement, around)
    case 'CREATE_TABLE':
    case 'CREATE_VIEW':
      return writeCreate(writer, statement, around)
    case 'COPY':
      return writeCopy(writer, statement, around)
    case 'RENAME':
      return writeRename(writer, statement)
    case 'ALTER_TABLE':
      writer.target(statement.target)
  }
}

function writeSelect(writer: Writer, query: Query, around: Around): void {
  const items = resolveQuery(writer.run, query, around)
  const into = intoOf(query)
  if (into === undefined) {
    writer.selected = items
    writer.reportOpen(items, [])
    return
  }
  writer.insert({ target: into.path, columns: [], partition: [], byName: true }, items)
  writer.session.define(
    writer.run.wholeName(into.path),
    items.map((item) => (item.kind === 'column' ? item.name : undefined))
  )
}

/** The table of SELECT … INTO, which the first branch of a UNION names. */
export function intoOf({ body }: Query): { path: Path; isTemporary: boolean } | undefined {
  if (body.kind === 'select') return body.into
  const first = body.kind === 'set' ? body.branches[0] : undefined
  return first?.kind === 'select' ? first.into : undefined
}

/** A table that the script made gets its lasting name: what it was made from is the new name's. */
function writeRename(writer: Writer, { from, to, isSwap }: Extract<Statement, { kind: 'RENAME' }>): void {
  const { run, session } = writer
  const source = run.wholeName(from)
  // ALTER TABLE a.b RENAME TO c stays in a
  const target = run.wholeName(to.length === 1 ? [...from.slice(0, -1), ...to] : to)
  // in a swap the table takes the rows of the other, which was filled for that
  const [filled, taker] = isSwap ? [target, source] : [source, target]
  const temporary = session.temporary(tableId(filled))
  if (temporary === undefined && !isSwap) return
  const written: Written = { id: tableId(taker), columns: new Map(), opens: [] }
  writer.written.set(written.id, written)
  if (temporary === undefined) run.inputs.add(tableId(filled))
  for (const input of temporary?.inputs ?? []) run.inputs.add(input)
  for (const item of temporary?.items ?? [])
    if (item.kind === 'column') writer.put(written, item.name, item.origins)
}

/** Resolves a statement of a session, and keeps in the session what later statements need. */
export function lineageOf(
  statement: Statement,
  session: Session,
  line: number,
  report: Resolution['report']
): Omit<StatementLineage, 'problems'> {
  const run: Resolution = {
    dialect: session.dialect,
    wholeName: (path) => session.wholeName(path),
    temporary: (id) => session.temporary(id),
    columnsOf: (parts) => session.columnsOf(parts),
    variables: session.variables,
    rows: session.rows,
    inputs: new Set(),
    influences: new Map(),
    report,
    query: (query, around) => resolveQuery(run, query, around),
    write: (inner, around) => {
      const before = new Set(writer.written.keys())
      write(writer, inner, around)
      const made = [...writer.written.values()].filter(({ id }) => !before.has(id))
      return made.flatMap(({ id, columns }) => {
        const known = session.columnsOf(id.split('.'))
        if (columns.size === 0) return listedItems(id, known)
        const given = [...columns.values()].map(({ name, origins }): Item => ({
          kind: 'column',
          name,
          origins,
          listed: 'CERTAIN'
        }))
        // the table itself makes the others: a key, a default
        const own = openTable(id)
        const read = (name: string): readonly Origin[] => {
          run.inputs.add(id)
          return own.read(name)
        }
        return [...given, { ...own, without: new Set(columns.keys()), read }]
      })
    }
  }
  const writer = new Writer(run, session)
  write(writer, statement, outside)
  if (writer.selected !== undefined) session.keepRow(writer.selected)
  const outputs: string[] = []
  const columns: ColumnLineage[] = []
  for (const { id, columns: written, opens } of writer.written.values()) {
    const isTemporary = session.keepTemporary(id, statement, written, opens, run.inputs)
    if (!isTemporary) outputs.push(id)
    for (const { name, origins } of written.values()) {
      const row = answer(name, origins, isTemporary ? undefined : id)
      if (row !== undefined) columns.push(row)
      for (const { table } of origins) if (table !== id) run.inputs.add(table)
    }
  }
  for (const item of writer.selected ?? []) {
    const row = item.kind === 'column' ? answer(item.name, listedOrigins(item), undefined) : undefined
    if (row !== undefined) columns.push(row)
  }
  const indirect = new Map(
    [...run.influences.values()].map(({ origin: { table, column }, how }) => [
      `${table}\0${column}\0${how}`,
      { table, column, transformation: how }
    ])
  )
  return {
    kind: statement.kind === 'OTHER' ? statement.name : statement.kind,
    line,
    inputs: [...run.inputs],
    outputs,
    columns,
    ...(writer.selected === undefined || outputs.length > 0 ? {} : { result: resultOf(writer.selected) }),
    indirect: [...indirect.values()]
  }
}
