/** Makes the small form of queries, and of the relations they read, from the parser's tree. */
import { expressionText } from './expression-text.ts'
import { impliedName, isPathOfColumn, readsOf } from './form-of-expression.ts'
import type {
  Alias,
  Body,
  Name,
  Path,
  Projection,
  Query,
  Reads,
  Relation,
  Select,
  Statement,
  Transformation
} from './form.ts'
import { allReads, noReads, strongest } from './form.ts'
import { columnsOfFunction, isAggregate } from './functions.ts'
import { withWindows } from './named-windows.ts'
import type { Tree } from './tree.ts'
import { asList, asTree, isTree, nameOf, ofVariant, pathOf, textOf, variantOf } from './tree.ts'

/** Makes a statement of a tree within a query: `WITH … INSERT`, or a CTE with RETURNING. */
export type StatementMaker = (tree: unknown) => Statement

let makeStatement: StatementMaker | undefined

/** Statements contain queries and queries statements: form-of-statement.ts gives its function here once. */
export function setStatementMaker(maker: StatementMaker): void {
  makeStatement = maker
}

export const reads = (tree: unknown): Reads => readsOf(tree, queryOf)

export function aliasOf(tree: unknown): Alias | undefined {
  if (!isTree(tree)) return undefined
  return {
    name: nameOf(tree['name']),
    columns: asList(tree['columns']).map((column) => nameOf(asTree(column)['name'] ?? column))
  }
}

const withAlias = (tree: Tree): { alias?: Alias } => {
  const alias = aliasOf(tree['alias'])
  return alias === undefined ? {} : { alias }
}

const noName = (text: string): Name => ({ text, quoted: false, line: 0, column: 0 })

/** A function in FROM. Its columns are known by the function or by its alias; otherwise any column may be one of it. */
function functionRelation(path: Path, read: Reads, alias: Alias | undefined, named: Name[] = []): Relation {
  const name = path.at(-1)?.text.toLowerCase() ?? ''
  const known = named.length > 0 ? named : (columnsOfFunction[name] ?? []).map(noName)
  return {
    kind: 'function',
    reads: read,
    columns: known,
    isOpen: known.length === 0,
    ...(alias === undefined ? {} : { alias })
  }
}

/** `from t, t.items i` where t is a relation before it reads an array; the resolver knows which. */
function tableFactor(content: Tree): Relation {
  const path = pathOf(content['name'])
  const args = asTree(content['args'])
  const alias = withAlias(content)
  if (content['args'] !== null && content['args'] !== undefined)
    return functionRelation(path, reads(args['args']), alias.alias)
  return { kind: 'table', path, ...alias }
}

/** `UNNEST(…)`, with the columns of its alias; in BigQuery the alias is the column. */
function unnest(content: Tree): Relation {
  const alias = aliasOf(content['alias'])
  const offset =
    content['with_offset'] === true ? [nameOf(content['with_offset_alias'] ?? { value: 'offset' })] : []
  const read = reads(content['array_exprs'])
  if (alias === undefined) return { kind: 'function', reads: read, columns: offset, isOpen: true }
  const columns = alias.columns.length > 0 ? alias.columns : [alias.name, ...offset]
  const arrays = asList(content['array_exprs'])
  return {
    kind: 'function',
    reads: read,
    ...(arrays.length > 1 ? { each: arrays.map(reads) } : {}),
    columns,
    isOpen: alias.columns.length === 0,
    alias: { name: alias.name, columns: [] }
  }
}

const literalName = (tree: unknown): string => {
  const value = asTree(asTree(ofVariant(tree, 'Value'))['value'])
  const [kind, content] = variantOf(value)
  if (kind === 'Number') return textOf(asList(content)[0])
  return typeof content === 'string' ? content : (impliedName(tree)?.text ?? '')
}

function pivot(content: Tree): Relation {
  const list = ofVariant(content['value_source'], 'List')
  return {
    kind: 'pivot',
    of: relationOf(content['table']),
    aggregates: asList(content['aggregate_functions']).map((each) => {
      const { expr, alias } = asTree(each)
      return { reads: reads(expr), ...(isTree(alias) ? { name: nameOf(alias) } : {}) }
    }),
    by: asList(content['value_column']).map((each) => {
      const [kind, value] = variantOf(each)
      return kind === 'CompoundIdentifier' ? nameOf(asList(value).at(-1)) : nameOf(value)
    }),
    values: asList(list).map((each) => {
      const { expr, alias } = asTree(each)
      if (isTree(alias)) return { name: nameOf(alias), isText: false }
      const value = asTree(asTree(ofVariant(expr, 'Value'))['value'])
      return {
        name: { ...noName(literalName(expr)), quoted: true },
        isText: 'SingleQuotedString' in value
      }
    }),
    ...withAlias(content)
  }
}

function unpivot(content: Tree): Relation {
  const columns = asList(content['columns']).flatMap((each) => {
    const read = reads(asTree(each)['expr'])
    return read.columns.map(({ path }) => path.at(-1)).filter((name) => name !== undefined)
  })
  const [kind, value] = variantOf(content['value'])
  const names =
    kind === 'Identifier'
      ? [nameOf(value)]
      : asList(kind === 'Tuple' ? value : []).map((each) => nameOf(ofVariant(each, 'Identifier')))
  return {
    kind: 'unpivot',
    of: relationOf(content['table']),
    values: names.map((name, index) => ({
      name,
      reads: allReads(
        asList(content['columns']).map((each) => {
          const expr = asTree(each)['expr']
          const parts = ofVariant(expr, 'Tuple')
          return reads(names.length > 1 && Array.isArray(parts) ? parts[index] : expr)
        })
      )
    })),
    label: nameOf(content['name']),
    columns,
    ...withAlias(content)
  }
}

/** Columns of JSON_TABLE, OPENJSON … WITH, XMLTABLE. */
function columnsOfTable(columns: unknown): Name[] {
  return asList(columns).flatMap((each) => {
    const tree = asTree(each)
    const [, content] = variantOf(each)
    const nested = asTree(content)['columns']
    if (Array.isArray(nested)) return columnsOfTable(nested)
    const name = tree['name'] ?? asTree(content)['name']
    return isTree(name) ? [nameOf(name)] : []
  })
}

function relationOf(tree: unknown): Relation {
  const [kind, value] = variantOf(tree)
  const content = asTree(value)
  const alias = withAlias(content)
  switch (kind) {
    case 'Table':
      return tableFactor(content)
    case 'Derived':
      return { kind: 'query', query: queryOf(content['subquery']), ...alias }
    case 'NestedJoin':
      return { ...joined(content['table_with_joins']), ...alias }
    case 'TableFunction':
      return tableFunction(content['expr'], alias.alias)
    case 'Function':
      return functionRelation(pathOf(content['name']), reads(content['args']), alias.alias)
    case 'UNNEST':
      return unnest(content)
    case 'Pivot':
      return pivot(content)
    case 'Unpivot':
      return unpivot(content)
    case 'MatchRecognize':
      return {
        kind: 'match',
        of: relationOf(content['table']),
        keys: asList(content['partition_by']).map(reads),
        measures: asList(content['measures']).map((each) => ({
          name: nameOf(asTree(each)['alias']),
          reads: reads(asTree(each)['expr'])
        })),
        ...alias
      }
    case 'JsonTable':
    case 'OpenJsonTable':
    case 'XmlTable':
      return functionRelation(
        [noName(kind === 'OpenJsonTable' ? 'openjson' : kind)],
        reads(content['json_expr'] ?? asTree(content['passing'])['arguments'] ?? content['row_expression']),
        alias.alias,
        columnsOfTable(content['columns'])
      )
  }
  return { kind: 'function', reads: reads(value), columns: [], isOpen: true, ...alias }
}

/** `TABLE(f(x))`, or a table named by a text: `TABLE('db.t')`. */
function tableFunction(expr: unknown, alias: Alias | undefined): Relation {
  const call = ofVariant(expr, 'Function')
  if (call === undefined) return functionRelation([], reads(expr), alias)
  return functionRelation(pathOf(asTree(call)['name']), reads(asTree(call)['args']), alias)
}

/** The names of USING; the condition of ON. */
function constraintOf(operator: unknown): { on?: Reads; using: Name[]; natural: boolean } {
  const [, content] = variantOf(operator)
  const constraint = isTree(content) && 'constraint' in content ? content['constraint'] : content
  const using = ofVariant(constraint, 'Using')
  if (using !== undefined) {
    return { using: asList(using).map((each) => pathOf(each).at(-1) ?? nameOf(each)), natural: false }
  }
  if (constraint === 'Natural') return { using: [], natural: true }
  const on = ofVariant(constraint, 'On')
  const match = isTree(content) ? content['match_condition'] : undefined
  return on === undefined && match === undefined
    ? { using: [], natural: false }
    : { on: allReads([reads(on), reads(match)]), using: [], natural: false }
}

/** A relation with its joins, from left to right. */
export function joined(tree: unknown): Relation {
  const { relation, joins } = asTree(tree)
  let left = relationOf(relation)
  for (const each of asList(joins)) {
    const join = asTree(each)
    const [operator] = variantOf(join['join_operator'])
    if (/ArrayJoin/.test(operator)) {
      left = { kind: 'join', left, right: arrayJoin(join['relation']), using: [], natural: false }
      continue
    }
    const hides = /^(?:Left)?(?:Semi|Anti)/.test(operator)
      ? ({ hides: 'right' } as const)
      : /^Right(?:Semi|Anti)/.test(operator)
        ? ({ hides: 'left' } as const)
        : {}
    left = {
      kind: 'join',
      left,
      right: relationOf(join['relation']),
      ...constraintOf(join['join_operator']),
      ...hides
    }
  }
  return left
}

/** ClickHouse's ARRAY JOIN names an array like a table. */
function arrayJoin(tree: unknown): Relation {
  const relation = relationOf(tree)
  if (relation.kind === 'function')
    return relation.alias === undefined
      ? relation
      : { ...relation, columns: [relation.alias.name], isOpen: false }
  if (relation.kind !== 'table') return relation
  const name = relation.alias?.name ?? relation.path.at(-1)
  return {
    kind: 'function',
    reads: { ...noReads(), columns: [{ path: relation.path, how: 'TRANSFORMATION' }] },
    columns: name === undefined ? [] : [name],
    isOpen: false
  }
}

/** `LATERAL VIEW explode(x) t AS a, b`. */
function lateralView(tree: unknown): Relation {
  const { lateral_view, lateral_view_name, lateral_col_alias } = asTree(tree)
  const name = pathOf(lateral_view_name).at(-1)
  const columns = asList(lateral_col_alias).map(nameOf)
  return {
    kind: 'function',
    reads: reads(lateral_view),
    columns,
    isOpen: columns.length === 0,
    ...(name === undefined ? {} : { alias: { name, columns: [] } })
  }
}

const patternOf = (like: unknown): RegExp | undefined => {
  const text = textOf(asTree(like)['pattern'])
  if (text === '') return undefined
  const source = text
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/%/g, '.*')
    .replace(/_/g, '.')
  return new RegExp(`^${source}$`, 'i')
}

function starOf(options: Tree, of: Path | undefined, at: unknown): Projection {
  const exclude = options['opt_exclude']
  const [excludeKind, excluded] = variantOf(exclude)
  const except = asTree(options['opt_except'])
  const names = [
    ...(excludeKind === 'Single' ? [excluded] : excludeKind === 'Multiple' ? asList(excluded) : []),
    ...(isTree(except['first_element'])
      ? [except['first_element'], ...asList(except['additional_elements'])]
      : [])
  ].map((each) => (Array.isArray(each) ? (pathOf(each).at(-1) ?? noName('')) : nameOf(each)))
  const [renameKind, renamed] = variantOf(options['opt_rename'])
  const start = nameOf({ span: asTree(asTree(at)['span']) })
  const pattern = patternOf(options['opt_ilike'])
  return {
    kind: 'star',
    ...(of === undefined ? {} : { of }),
    ...(pattern === undefined ? {} : { pattern }),
    except: names,
    replace: asList(asTree(options['opt_replace'])['items']).map((item) => ({
      name: nameOf(asTree(item)['column_name']),
      reads: reads(asTree(item)['expr'])
    })),
    rename: (renameKind === 'Single' ? [renamed] : renameKind === 'Multiple' ? asList(renamed) : []).map(
      (item) => ({ from: nameOf(asTree(item)['ident']), to: nameOf(asTree(item)['alias']) })
    ),
    line: start.line,
    column: start.column
  }
}

/** `columns('^a')`, `max(columns(*))`: all columns whose names match, each within the calls around. */
function columnsCall(node: unknown, how: Transformation): Projection | undefined {
  const call = asTree(ofVariant(node, 'Function'))
  const [argument, ...others] = asList(asTree(ofVariant(call['args'], 'List'))['args'])
  if (argument === undefined || others.length > 0) return undefined
  const [form, inner] = variantOf(ofVariant(argument, 'Unnamed'))
  const name = pathOf(call['name']).at(-1)?.text.toLowerCase() ?? ''
  if (name !== 'columns')
    return columnsCall(inner, strongest(how, isAggregate(name) ? 'AGGREGATION' : 'TRANSFORMATION'))
  const text = textOf(asTree(asTree(ofVariant(inner, 'Value'))['value'])['SingleQuotedString'])
  if (form !== 'Wildcard' && text === '') return undefined
  const pattern = text === '' ? undefined : expressionOf(text)
  const { line, column } = pathOf(call['name']).at(-1) ?? noName('')
  return {
    kind: 'star',
    ...(pattern === undefined ? {} : { pattern }),
    except: [],
    replace: [],
    rename: [],
    how,
    line,
    column
  }
}

/** A regular expression of a statement; one that cannot be read matches nothing. */
function expressionOf(text: string): RegExp {
  try {
    return new RegExp(text)
  } catch {
    return /^(?!)/
  }
}

/** One item of a select list; an alias of several columns gives several. */
export function projectionsOf(tree: unknown): Projection[] {
  const [kind, content] = variantOf(tree)
  if (kind === 'Wildcard') return [starOf(asTree(content), undefined, asTree(content)['wildcard_token'])]
  if (kind === 'QualifiedWildcard') {
    const [of, options] = asList(content)
    const [what, name] = variantOf(of)
    const path = what === 'ObjectName' ? pathOf(name) : reads(name).columns[0]?.path
    return [
      starOf(asTree(options), path ?? [], {
        span: { start: { line: path?.[0]?.line ?? 0, column: path?.[0]?.column ?? 0 } }
      })
    ]
  }
  if (kind === 'ExprWithAlias')
    return [
      {
        kind: 'expression',
        name: nameOf(asTree(content)['alias']),
        reads: reads(asTree(content)['expr'])
      }
    ]
  if (kind === 'ExprWithAliases')
    return asList(asTree(content)['aliases']).map((alias) => ({
      kind: 'expression',
      name: nameOf(alias),
      reads: reads(asTree(content)['expr'])
    }))
  const columns = columnsCall(content, 'IDENTITY')
  if (columns !== undefined) return [columns]
  const name = impliedName(content)
  const isColumn = isPathOfColumn(content)
  const text = isColumn ? undefined : expressionText(content)
  return [
    {
      kind: 'expression',
      reads: reads(content),
      ...(name === undefined ? {} : { name }),
      ...(isColumn ? {} : { isUnnamed: true }),
      ...(text === undefined ? {} : { text })
    }
  ]
}

/** What clauses read to choose, group or sort rows. */
function influencesOf(select: Tree): Select['influences'] {
  const [, grouping] = variantOf(select['group_by'])
  const of = (tree: unknown, how: Select['influences'][number]['how']): Select['influences'] =>
    tree === null || tree === undefined ? [] : [{ reads: reads(tree), how }]
  return [
    ...of(select['selection'], 'FILTER'),
    ...of(select['prewhere'], 'FILTER'),
    ...of(select['having'], 'FILTER'),
    ...of(select['qualify'], 'FILTER'),
    ...of(select['connect_by'], 'JOIN'),
    ...of(Array.isArray(grouping) ? grouping[0] : undefined, 'GROUP_BY'),
    ...of(select['distinct'] === 'Distinct' ? undefined : ofVariant(select['distinct'], 'On'), 'GROUP_BY'),
    ...of(select['sort_by'], 'SORT'),
    ...of(select['named_window'], 'SORT')
  ]
}

/** The relations of FROM. What follows an ARRAY JOIN after a comma is one of its arrays, not a table. */
function fromOf(list: readonly unknown[]): Relation[] {
  let isArray = false
  return list.map((each) => {
    const tree = asTree(each)
    const relation =
      isArray && asList(tree['joins']).length === 0 ? arrayJoin(tree['relation']) : joined(each)
    isArray ||= asList(tree['joins']).some((join) =>
      /ArrayJoin/.test(variantOf(asTree(join)['join_operator'])[0])
    )
    return relation
  })
}

function selectOf(tree: unknown): Select {
  const select = withWindows(asTree(tree))
  const from = fromOf(asList(select['from']))
  const into = asTree(select['into'])
  const path = pathOf(into['name'])
  return {
    kind: 'select',
    from: [...from, ...asList(select['lateral_views']).map(lateralView)],
    projections:
      select['flavor'] === 'FromFirstNoSelect'
        ? [{ kind: 'star', except: [], replace: [], rename: [], line: 0, column: 0 }]
        : asList(select['projection']).flatMap(projectionsOf),
    influences: influencesOf(select),
    ...(path.length === 0
      ? {}
      : {
          into: {
            path,
            isTemporary: into['temporary'] === true || (path.at(-1)?.text.startsWith('#') ?? false)
          }
        })
  }
}

/** The branches of one operator, from left to right. Chains of thousands are written in generated SQL, so this is a loop. */
function setOf(tree: Tree): Body {
  const operator = textOf(tree['op'])
  const byName = /ByName/.test(textOf(tree['set_quantifier']))
  const right: Body[] = []
  let left: unknown = { SetOperation: tree }
  for (;;) {
    const operation = asTree(ofVariant(left, 'SetOperation'))
    if (operation['op'] !== operator) break
    right.push(bodyOf(operation['right']))
    left = operation['left']
    if (operator !== 'Union') break
  }
  return {
    kind: 'set',
    operator: operator === 'Union' ? 'union' : operator === 'Intersect' ? 'intersect' : 'except',
    byName,
    branches: [bodyOf(left), ...right.reverse()]
  }
}

function bodyOf(tree: unknown): Body {
  const [kind, content] = variantOf(tree)
  switch (kind) {
    case 'Select':
      return selectOf(content)
    case 'Query':
      return { kind: 'query', query: queryOf(content) }
    case 'SetOperation':
      return setOf(asTree(content))
    case 'Values':
      return {
        kind: 'values',
        rows: asList(asTree(content)['rows']).map((row) =>
          asList(isTree(row) ? row['content'] : row).map((cell) => reads(cell))
        )
      }
    case 'Table':
      return {
        kind: 'select',
        from: [{ kind: 'table', path: [noName(textOf(asTree(content)['table_name']))] }],
        projections: [{ kind: 'star', except: [], replace: [], rename: [], line: 0, column: 0 }],
        influences: []
      }
    case 'Insert':
    case 'Update':
    case 'Delete':
    case 'Merge': {
      if (makeStatement === undefined) break
      const [, inner] = variantOf(content)
      return {
        kind: 'write',
        statement: makeStatement(content),
        returning: asList(asTree(inner)['returning']).flatMap(projectionsOf)
      }
    }
  }
  return { kind: 'values', rows: [] }
}

export function ctesOf(tree: unknown): Query['ctes'] {
  return asList(asTree(tree)['cte_tables']).map((cte) => {
    const alias = aliasOf(asTree(cte)['alias'])
    return {
      name: alias?.name ?? noName(''),
      columns: alias?.columns ?? [],
      query: queryOf(asTree(cte)['query'])
    }
  })
}

export function queryOf(tree: unknown): Query {
  const query = asTree(tree)
  const [, order] = variantOf(asTree(query['order_by'])['kind'])
  return {
    ctes: ctesOf(query['with']),
    isRecursive: asTree(query['with'])['recursive'] === true,
    body: bodyOf(query['body']),
    order: asList(order).map(reads)
  }
}
