/** Makes the small form of one statement from the parser's tree: what it writes, and from which query. */
import type { Assignment, Insert, Name, Path, Query, Reads, Relation, Statement } from './form.ts'

import { joined, queryOf, reads, setStatementMaker } from './form-of-query.ts'
import type { Tree } from './tree.ts'
import { asList, asTree, isTree, nameOf, ofVariant, pathOf, textOf, variantOf } from './tree.ts'

/** `SET a = x, (b, c) = (select …)`. */
function assignmentsOf(list: unknown): Assignment[] {
  return asList(list).flatMap((each) => {
    const { target, value } = asTree(each)
    const [kind, content] = variantOf(target)
    if (kind !== 'Tuple') return [{ targets: [pathOf(content)], reads: reads(value) }]
    const targets = asList(content).map(pathOf)
    const values = asList(ofVariant(value, 'Tuple'))
    if (values.length !== targets.length) return [{ targets, reads: reads(value) }]
    return targets.map((path, index) => ({ targets: [path], reads: reads(values[index]) }))
  })
}

const valuesOf = (tree: unknown): Reads[] =>
  asList(tree).map((cell) => {
    const expression = ofVariant(cell, 'Expr') ?? cell
    return reads(expression)
  })

/** Columns of a PARTITION clause; those with a value are fixed. */
function partitionOf(tree: unknown): Insert['partition'] {
  return asList(tree).flatMap((each) => {
    const equal = asTree(ofVariant(each, 'BinaryOp'))
    const ident = ofVariant(equal['left'] ?? each, 'Identifier')
    return ident === undefined ? [] : [{ name: nameOf(ident), isFixed: equal['left'] !== undefined }]
  })
}

/** `INTO t (columns) VALUES (…)` of an INSERT of several tables. */
function intoClauses(tree: unknown): (Insert & { reads?: Reads[] })[] {
  return asList(tree).map((each) => {
    const clause = asTree(each)
    const values = asTree(clause['values'])['values']
    return {
      target: pathOf(clause['table_name']),
      columns: asList(clause['columns']).map((column) => nameOf(column)),
      partition: [],
      byName: false,
      ...(Array.isArray(values) ? { reads: valuesOf(values) } : {})
    }
  })
}

function insertOf(tree: Tree): Statement {
  const several = [
    ...intoClauses(tree['multi_table_into_clauses']),
    ...asList(tree['multi_table_when_clauses']).flatMap((when) => intoClauses(asTree(when)['into_clauses'])),
    ...intoClauses(tree['multi_table_else_clause'])
  ]
  const [kind, table] = variantOf(tree['table'])
  const assignments = assignmentsOf(tree['assignments'])
  const conflict = asTree(ofVariant(tree['on'], 'OnConflict'))
  const duplicate = ofVariant(tree['on'], 'DuplicateKeyUpdate')
  const after = assignmentsOf(duplicate ?? asTree(ofVariant(conflict['action'], 'DoUpdate'))['assignments'])
  const alias = tree['table_alias']
  const one: Insert & { reads?: Reads[] } = {
    target: kind === 'TableName' ? pathOf(table) : [],
    columns: [...asList(tree['columns']), ...asList(tree['after_columns'])].map(
      (column) => pathOf(column).at(-1) ?? nameOf(column)
    ),
    partition: partitionOf(tree['partitioned']),
    byName: false,
    ...(isTree(alias) ? { alias: nameOf(alias['alias'] ?? alias['name'] ?? alias) } : {})
  }
  if (assignments.length > 0) {
    one.columns = assignments.map(({ targets }) => targets[0]?.at(-1)).filter((name) => name !== undefined)
    one.reads = assignments.map((each) => each.reads)
  }
  const source = tree['source']
  return {
    kind: 'INSERT',
    ctes: [],
    into: several.length > 0 ? several : [one],
    updates: after,
    ...(isTree(source) ? { query: queryOf(source) } : {})
  }
}

function mergeOf(tree: Tree): Statement {
  const updates: Assignment[] = []
  const inserts: { columns: Name[]; values: Reads[] }[] = []
  const conditions: Reads[] = []
  let takesAll = false
  for (const each of asList(tree['clauses'])) {
    const clause = asTree(each)
    if (isTree(clause['predicate'])) conditions.push(reads(clause['predicate']))
    const [kind, content] = variantOf(clause['action'])
    const action = asTree(content)
    if (kind === 'Update') {
      const assignments = assignmentsOf(action['assignments'])
      // what `UPDATE SET *` is rewritten to
      if (assignments[0]?.targets[0]?.at(-1)?.text === '_') takesAll = true
      else updates.push(...assignments)
    }
    if (kind !== 'Insert') continue
    const [what, values] = variantOf(action['kind'])
    if (what === 'Row') takesAll = true
    else {
      const row = asList(asTree(values)['rows'])[0]
      const cells = valuesOf(isTree(row) ? row['content'] : row)
      // what `INSERT *` is rewritten to
      if (cells[0]?.columns[0]?.path[0]?.text === '_') {
        takesAll = true
        continue
      }
      inserts.push({
        columns: asList(action['columns']).map((column) => pathOf(column).at(-1) ?? nameOf(column)),
        values: cells
      })
    }
  }
  return {
    kind: 'MERGE',
    target: joined({ relation: tree['table'], joins: [] }),
    source: joined({ relation: tree['source'], joins: [] }),
    on: reads(tree['on']),
    updates,
    takesAll,
    inserts,
    conditions,
    ctes: []
  }
}

const tablePath = (relation: Relation): Path => (relation.kind === 'table' ? relation.path : [])

function updateOf(tree: Tree): Statement {
  const target = joined({ relation: asTree(tree['table'])['relation'], joins: [] })
  const table = joined(tree['table'])
  const [, from] = variantOf(tree['from'])
  const others = asList(from).map(joined)
  return {
    kind: 'UPDATE',
    target: tablePath(target),
    from:
      isTree(tree['from']) && others.some((each) => names(each, tablePath(target)))
        ? others
        : [table, ...others],
    updates: assignmentsOf(tree['assignments']),
    ...(isTree(tree['selection']) ? { where: reads(tree['selection']) } : {}),
    ctes: []
  }
}

/** Whether a relation is, or contains, the one that a statement names: by alias, or by the same name. */
function names(relation: Relation, path: Path): boolean {
  if (relation.kind === 'join') return names(relation.left, path) || names(relation.right, path)
  const last = path.at(-1)?.text.toLowerCase()
  if (path.length === 1 && relation.alias?.name.text.toLowerCase() === last) return true
  return (
    relation.kind === 'table' &&
    relation.alias === undefined &&
    relation.path.at(-1)?.text.toLowerCase() === last
  )
}

function deleteOf(tree: Tree): Statement {
  const [, from] = variantOf(tree['from'])
  const relations = asList(from).map(joined)
  const named = asList(tree['tables']).map(pathOf)
  const first = relations[0]
  return {
    kind: 'DELETE',
    targets: named.length > 0 ? named : first === undefined ? [] : [tablePath(leftmost(first))],
    from: [...relations, ...asList(tree['using']).map(joined)],
    ...(isTree(tree['selection']) ? { where: reads(tree['selection']) } : {}),
    ctes: []
  }
}

const leftmost = (relation: Relation): Relation =>
  relation.kind === 'join' ? leftmost(relation.left) : relation

const columnNames = (tree: unknown): Name[] => asList(tree).map((each) => nameOf(asTree(each)['name']))

function createTableOf(tree: Tree): Statement {
  const target = pathOf(tree['name'])
  const like = tree['clone'] ?? asTree(variantOf(tree['like'])[1])['name'] ?? tree['partition_of']
  const partitioned = asTree(ofVariant(tree['hive_distribution'], 'PARTITIONED'))['columns']
  return {
    kind: 'CREATE_TABLE',
    target,
    isTemporary:
      tree['temporary'] === true ||
      (target.at(-1)?.text.startsWith('#') ?? false) ||
      tree['volatile'] === true,
    columns: [...columnNames(tree['columns']), ...columnNames(partitioned)],
    ...(isTree(tree['query']) ? { query: queryOf(tree['query']) } : {}),
    ...(Array.isArray(like) ? { like: { path: pathOf(like), withRows: Array.isArray(tree['clone']) } } : {})
  }
}

function createViewOf(tree: Tree): Statement {
  return {
    kind: 'CREATE_VIEW',
    target: pathOf(tree['name']),
    isTemporary: tree['temporary'] === true,
    columns: columnNames(tree['columns']),
    query: queryOf(tree['query']),
    ...(Array.isArray(tree['to']) ? { to: pathOf(tree['to']) } : {})
  }
}

function copyOf(tree: Tree): Statement {
  const [kind, content] = variantOf(tree['source'])
  if (kind === 'Query') return { kind: 'COPY', query: queryOf(content), sources: [] }
  const path = pathOf(asTree(content)['table_name'])
  return tree['to'] === true ? { kind: 'COPY', sources: [path] } : { kind: 'COPY', target: path, sources: [] }
}

function copyIntoOf(tree: Tree): Statement {
  const into = pathOf(tree['into'])
  if (tree['kind'] === 'Table') return { kind: 'COPY', target: into, sources: [] }
  if (isTree(tree['from_query'])) return { kind: 'COPY', query: queryOf(tree['from_query']), sources: [] }
  return { kind: 'COPY', sources: Array.isArray(tree['from_obj']) ? [pathOf(tree['from_obj'])] : [] }
}

function alterOf(tree: Tree): Statement {
  for (const operation of asList(tree['operations'])) {
    const [kind, content] = variantOf(operation)
    const [, named] = variantOf(asTree(content)['table_name'])
    if (kind === 'RenameTable')
      return { kind: 'RENAME', from: pathOf(tree['name']), to: pathOf(named), isSwap: false }
    if (kind === 'SwapWith')
      return {
        kind: 'RENAME',
        from: pathOf(tree['name']),
        to: pathOf(asTree(content)['table_name']),
        isSwap: true
      }
  }
  const changes = asList(tree['operations']).some((operation) => variantOf(operation)[0].endsWith('Column'))
  return changes ? { kind: 'ALTER_TABLE', target: pathOf(tree['name']) } : { kind: 'OTHER', name: 'ALTER' }
}

function useOf(content: unknown): Statement {
  const [kind, path] = variantOf(content)
  const what =
    kind === 'Database' || kind === 'Catalog' ? 'database' : kind === 'Schema' ? 'schema' : 'either'
  return ['Database', 'Catalog', 'Schema', 'Object'].includes(kind)
    ? { kind: 'USE', path: pathOf(path), what }
    : { kind: 'OTHER', name: 'USE' }
}

/** A query that writes: `SELECT … INTO`, or `WITH … INSERT`. */
function queryStatementOf(tree: unknown): Statement {
  const query = queryOf(tree)
  const { body } = query
  if (body.kind === 'write') return { ...body.statement, ...withCtes(body.statement, query.ctes) }
  return { kind: 'SELECT', query }
}

function withCtes(statement: Statement, ctes: Query['ctes']): { ctes?: Query['ctes'] } {
  return 'ctes' in statement ? { ctes: [...ctes, ...statement.ctes] } : {}
}

/** The form of one statement. */
export function statementOf(tree: unknown): Statement {
  const [kind, content] = variantOf(tree)
  const node = asTree(content)
  switch (kind) {
    case 'Query':
      return queryStatementOf(content)
    case 'Insert':
      return insertOf(node)
    case 'Merge':
      return mergeOf(node)
    case 'Update':
      return updateOf(node)
    case 'Delete':
      return deleteOf(node)
    case 'CreateTable':
      return createTableOf(node)
    case 'CreateView':
      return createViewOf(node)
    case 'AlterView':
      return {
        kind: 'CREATE_VIEW',
        target: pathOf(node['name']),
        isTemporary: false,
        columns: asList(node['columns']).map(nameOf),
        query: queryOf(node['query'])
      }
    case 'Copy':
      return copyOf(node)
    case 'CopyIntoSnowflake':
      return copyIntoOf(node)
    case 'AlterTable':
      return alterOf(node)
    case 'Drop':
      return {
        kind: 'DROP',
        tables: /Table|View/.test(textOf(node['object_type'])) ? asList(node['names']).map(pathOf) : []
      }
    case 'Use':
      return useOf(content)
    case 'Set': {
      const { variable, values } = asTree(ofVariant(content, 'SingleAssignment'))
      const [schema] = asList(values)
      const isPath = pathOf(variable).at(-1)?.text.toLowerCase() === 'search_path'
      const name = nameOf(ofVariant(schema, 'Identifier'))
      return isPath && name.text !== ''
        ? { kind: 'USE', path: [name], what: 'schema' }
        : { kind: 'OTHER', name: 'SET' }
    }
    case 'Explain':
      return { kind: 'OTHER', name: 'EXPLAIN' }
    case 'Directory':
      return { kind: 'COPY', query: queryOf(node['source']), sources: [] }
  }
  return { kind: 'OTHER', name: kind.toUpperCase() }
}

setStatementMaker(statementOf)

/** The query of UNLOAD, which is a text. */
export const unloadedText = (tree: unknown): string | undefined => {
  const unload = asTree(ofVariant(tree, 'Unload'))
  return typeof unload['query_text'] === 'string' ? unload['query_text'] : undefined
}
