/** What an expression reads, from the parser's tree: columns, subqueries, and whether they are copied, transformed or aggregated. */
import type { Name, Path, Query, Reads, Transformation } from './form.ts'
import { noReads, strongest } from './form.ts'
import { isAggregate } from './functions.ts'
import { asList, asTree, isTree, nameOf, ofVariant, pathOf, textOf, variantOf } from './tree.ts'

/** Makes a query of the tree of a subquery; given from outside, because queries contain expressions. */
export type QueryMaker = (tree: unknown) => Query

/** Keys of nodes that contain names which are not columns. */
const notColumns = new Set([
  'name',
  'data_type',
  'data_types',
  'alias',
  'parameters',
  'window_frame',
  'collation',
  'span',
  'field',
  'time_zone_name',
  'quote_style',
  'body_token',
  'lock',
  'charset'
])

/** Identifiers that are values, in every dialect, unless they are quoted. */
const constants = new Set([
  'current_date',
  'current_time',
  'current_timestamp',
  'localtime',
  'localtimestamp',
  'current_user',
  'session_user',
  'user',
  'sysdate',
  'systimestamp',
  'rownum',
  'rowid',
  'level',
  'default',
  'current_role',
  'current_database',
  'current_schema'
])

/** Functions whose first argument is a unit of time, written like a column. */
const withUnits = new Set([
  'dateadd',
  'datediff',
  'datepart',
  'datename',
  'date_trunc',
  'date_diff',
  'date_add',
  'date_sub',
  'timestamp_trunc',
  'timestamp_diff',
  'datetime_trunc',
  'datetime_diff',
  'timestampdiff',
  'timestampadd',
  'last_day',
  'trunc',
  'extract',
  'date_part',
  'time_slice',
  'datetrunc'
])
const units =
  /^(?:year|quarter|month|week|day|hour|minute|second|millisecond|microsecond|nanosecond|yy|yyyy|qq|q|mm|m|dy|y|dd|d|wk|ww|dw|hh|mi|n|ss|s|ms|mcs|ns|isoweek|isoyear|dayofweek|dayofyear|weekday|epoch|date|time|decade|century|years|months|days|hours|minutes|seconds|weeks|quarters|day_hour|iso_week)$/i

/** `WEEK(MONDAY)` is a week that begins then. */
const weekdays = /^(?:mon|tues|wednes|thurs|fri|satur|sun)day$/i
/** Functions that take `x -> …`, which some grammars take for the arrow of JSON. */
const takesLambda = new Set(
  `transform filter reduce aggregate any_match all_match none_match zip_with map_filter transform_keys transform_values
  map_zip_with array_sort exists forall list_transform list_filter list_reduce arraymap arrayfilter`
    .trim()
    .split(/\s+/)
)

interface Walk {
  makeQuery: QueryMaker
  reads: Reads
  /** Parameters of the lambdas around. */
  lambdas: ReadonlySet<string>
}

/** Columns that Athena and Trino make for each file of a table. */
const ofFiles = /^\$(?:path|file_modified_time|file_size|partition|bucket)$/

const isConstant = (name: Name): boolean =>
  name.quoted ? ofFiles.test(name.text) : constants.has(name.text.toLowerCase()) || /^[@:$?]/.test(name.text)

function addColumn(path: Path, how: Transformation, walk: Walk): void {
  const [first] = path
  if (first === undefined || first.text === '' || isConstant(first)) return
  if (walk.lambdas.has(first.text.toLowerCase())) return
  walk.reads.columns.push({ path, how })
}

/** ClickHouse's functions that look a key up in the dictionary or table they name first. */
const readsTable = /^(?:dict(?:get|has|isin)\w*|joinget(?:ornull)?)$/

/** The table that an argument names, as a name or as a text. */
function tableOf(argument: unknown): Path | undefined {
  const expression = asTree(variantOf(asTree(argument)['Unnamed'])[1])
  const [kind, content] = variantOf(expression)
  if (kind === 'Identifier') return [nameOf(content)]
  if (kind === 'CompoundIdentifier') return asList(content).map(nameOf)
  const text = textOf(asTree(asTree(content)['value'])['SingleQuotedString'])
  const names = text.split('.').map((part) => ({ text: part, quoted: false, line: 0, column: 0 }))
  return text === '' ? undefined : names
}

/** A query that reads a table, but no column that is known. */
const rowsOf = (path: Path): Query => ({
  ctes: [],
  isRecursive: false,
  body: { kind: 'select', from: [{ kind: 'table', path }], projections: [], influences: [] },
  order: []
})

/** Arguments of a call, with subqueries and clauses after them. */
function walkFunction(content: unknown, how: Transformation, walk: Walk): void {
  const call = asTree(content)
  const path = pathOf(call['name'])
  const name = path.at(-1)?.text.toLowerCase() ?? ''
  const inner = strongest(how, isAggregate(name) ? 'AGGREGATION' : 'TRANSFORMATION')
  const list = asTree(ofVariant(call['args'], 'List'))
  // with two arguments, date_add(day, 7) adds to a column
  const isPair = asList(list['args']).length < 3 && /(?:add|sub|diff)$/.test(name)
  // WEEK(MONDAY) is the unit, whatever the first argument is called
  const hasWeek = withUnits.has(name) && isWeek(asList(list['args']).at(-1))
  const mayHaveUnit = withUnits.has(name) && !isPair && !hasWeek
  const dictionary = readsTable.test(name) ? tableOf(asList(list['args'])[0]) : undefined
  if (dictionary !== undefined) walk.reads.conditions.push(rowsOf(dictionary))
  asList(list['args']).forEach((argument, index) => {
    if (index === 0 && dictionary !== undefined) return
    const [kind, value] = variantOf(argument)
    const given = kind === 'Unnamed' ? value : asTree(value)['arg']
    const [form, expression] = variantOf(given)
    if (form === 'Wildcard' || form === 'QualifiedWildcard') {
      if (name === 'count') return
      walk.reads.stars.push({
        how: inner,
        ...(form === 'QualifiedWildcard' ? { of: pathOf(expression) } : {})
      })
      return
    }
    if (form === 'WildcardWithOptions') {
      if (name !== 'count') walk.reads.stars.push({ how: inner })
      return
    }
    const ident = asTree(ofVariant(expression, 'Identifier'))
    if (name === 'week' && weekdays.test(textOf(ident['value']))) return
    if (mayHaveUnit && !ident['quote_style'] && units.test(textOf(ident['value']))) {
      const isUnit = index === 0 || index === asList(list['args']).length - 1
      if (isUnit) return
    }
    if (takesLambda.has(name) && walkArrow(expression, inner, walk)) return
    walkExpression(expression, inner, walk)
  })
  walkParts(list['clauses'], inner, walk)
  const subquery = ofVariant(call['args'], 'Subquery')
  if (subquery !== undefined) walk.reads.queries.push({ query: walk.makeQuery(subquery), how: inner })
  // where a function of a schema is called on a column: t.col.method()
  for (const key of ['filter', 'over', 'within_group']) walkParts(call[key], inner, walk)
}

/** `a:b.c` and `a.b[0]`: the column that contains it. */
function walkAccess(root: unknown, rest: unknown, how: Transformation, walk: Walk): void {
  const inner = strongest(how, 'TRANSFORMATION')
  walkExpression(root, inner, walk)
  for (const step of asList(rest)) {
    const [kind, content] = variantOf(step)
    if (kind === 'Subscript' || kind === 'Bracket') walkParts(content, inner, walk)
  }
}

/** `t.arr[0].x`, `(d).e`, `f(x).y`: names before the first other step belong to the column's path. */
function walkFieldAccess(content: unknown, how: Transformation, walk: Walk): void {
  const access = asTree(content)
  const chain = asList(access['access_chain'])
  const root = ofVariant(access['root'], 'Identifier')
  if (root === undefined) return walkAccess(access['root'], chain, how, walk)
  const path = [nameOf(root)]
  let at = 0
  for (; at < chain.length; at++) {
    const name = ofVariant(ofVariant(chain[at], 'Dot'), 'Identifier')
    if (name === undefined) break
    path.push(nameOf(name))
  }
  addColumn(path, strongest(how, 'TRANSFORMATION'), walk)
  walkAccess(undefined, chain.slice(at), how, walk)
}

/** All expressions in a part of a tree that is not an expression itself. */
function walkParts(part: unknown, how: Transformation, walk: Walk): void {
  if (Array.isArray(part)) for (const each of part) walkParts(each, how, walk)
  else if (isTree(part)) walkExpression(part, how, walk)
}

function walkExpression(node: unknown, how: Transformation, walk: Walk): void {
  if (!isTree(node)) return
  const [kind, content] = variantOf(node)
  switch (kind) {
    case 'Identifier':
      return addColumn([nameOf(content)], how, walk)
    case 'CompoundIdentifier':
      return addColumn(asList(content).map(nameOf), how, walk)
    case 'Nested':
      return walkExpression(content, how, walk)
    case 'Value':
    case 'TypedString':
    case 'IntroducedString':
      return walkPositional(content, how, walk)
    case 'Function':
      return walkFunction(content, how, walk)
    case 'Subquery':
      walk.reads.queries.push({ query: walk.makeQuery(content), how })
      return
    case 'Exists':
      walk.reads.conditions.push(walk.makeQuery(asTree(content)['subquery']))
      return
    case 'InSubquery':
      walkExpression(asTree(content)['expr'], strongest(how, 'TRANSFORMATION'), walk)
      walk.reads.queries.push({
        query: walk.makeQuery(asTree(content)['subquery']),
        how: strongest(how, 'TRANSFORMATION')
      })
      return
    case 'JsonAccess':
      return walkAccess(asTree(content)['value'], asTree(asTree(content)['path'])['path'], how, walk)
    case 'CompoundFieldAccess':
      return walkFieldAccess(content, how, walk)
    case 'Lambda':
      return walkLambda(content, how, walk)
    case 'QualifiedWildcard':
      walk.reads.stars.push({ of: pathOf(asList(content)[0]), how })
      return
    case 'Prior':
    case 'OuterJoin':
      return walkExpression(content, how, walk)
  }
  // variants begin with a capital; otherwise the node is a part of an expression, with fields
  const inner = strongest(how, 'TRANSFORMATION')
  if (/^[A-Z]/.test(kind)) return walkParts(content, inner, walk)
  for (const [key, value] of Object.entries(node)) if (!notColumns.has(key)) walkParts(value, inner, walk)
}

/** `$1` reads a column by its place; other values read nothing. */
function walkPositional(content: unknown, how: Transformation, walk: Walk): void {
  const text = textOf(asTree(asTree(content)['value'])['Placeholder'])
  if (!/^\$\d+$/.test(text)) return
  const start = asTree(asTree(asTree(content)['span'])['start'])
  const name = { text, quoted: true, line: Number(start['line'] ?? 0), column: Number(start['column'] ?? 0) }
  walk.reads.columns.push({ path: [name], how })
}

/** Whether an argument is `WEEK(…)`. */
const isWeek = (argument: unknown): boolean => {
  const call = asTree(ofVariant(ofVariant(ofVariant(argument, 'Unnamed'), 'Expr'), 'Function'))
  return pathOf(call['name']).at(-1)?.text.toLowerCase() === 'week'
}

/** `x -> …` and `(x, y) -> …` that the grammar reads as an operator. */
function walkArrow(node: unknown, how: Transformation, walk: Walk): boolean {
  const operation = asTree(ofVariant(node, 'BinaryOp'))
  if (operation['op'] !== 'Arrow') return false
  const [kind, left] = variantOf(operation['left'])
  const params = kind === 'Tuple' ? asList(left) : [kind === 'Nested' ? left : operation['left']]
  const names = params.map((each) => nameOf(ofVariant(each, 'Identifier')).text.toLowerCase())
  walkExpression(operation['right'], strongest(how, 'TRANSFORMATION'), {
    ...walk,
    lambdas: new Set([...walk.lambdas, ...names])
  })
  return true
}

function walkLambda(content: unknown, how: Transformation, walk: Walk): void {
  const lambda = asTree(content)
  const [kind, params] = variantOf(lambda['params'])
  const names = (kind === 'One' ? [params] : asList(params)).map((each) =>
    nameOf(isTree(each) && isTree(each['name']) ? each['name'] : each).text.toLowerCase()
  )
  walkExpression(lambda['body'], strongest(how, 'TRANSFORMATION'), {
    ...walk,
    lambdas: new Set([...walk.lambdas, ...names])
  })
}

/** What an expression reads. A column alone is copied; anything around it transforms, an aggregate function aggregates. */
export function readsOf(node: unknown, makeQuery: QueryMaker): Reads {
  const walk: Walk = { makeQuery, reads: noReads(), lambdas: new Set() }
  walkParts(node, 'IDENTITY', walk)
  return walk.reads
}

/** The name that a projection without alias gives its column; undefined where dialects differ. */
export function impliedName(node: unknown): Name | undefined {
  const [kind, content] = variantOf(node)
  switch (kind) {
    case 'Identifier':
      return nameOf(content)
    case 'CompoundIdentifier':
      return nameOf(asList(content).at(-1))
    case 'Nested':
    case 'Cast':
      return impliedName(kind === 'Cast' ? asTree(content)['expr'] : content)
    case 'Function':
      return pathOf(asTree(content)['name']).at(-1)
    case 'JsonAccess': {
      const last = asList(asTree(asTree(content)['path'])['path']).at(-1)
      const key = ofVariant(last, 'Dot')
      const text = textOf(asTree(key)['key'])
      return text === '' ? impliedName(asTree(content)['value']) : { text, quoted: false, line: 0, column: 0 }
    }
    case 'CompoundFieldAccess': {
      const fields = asList(asTree(content)['access_chain']).flatMap((step) => {
        const name = ofVariant(ofVariant(step, 'Dot'), 'Identifier')
        return name === undefined ? [] : [nameOf(name)]
      })
      return fields.at(-1) ?? impliedName(asTree(content)['root'])
    }
  }
  return undefined
}

/** Whether an expression is a column, or a field of one, and no more. */
export const isPathOfColumn = (tree: unknown): boolean => {
  const [kind, content] = variantOf(tree)
  if (kind === 'Nested') return isPathOfColumn(content)
  // x::date keeps its name, CAST(x AS date) does not everywhere
  if (kind === 'Cast' && asTree(content)['kind'] === 'DoubleColon')
    return isPathOfColumn(asTree(content)['expr'])
  return /^(?:Identifier|CompoundIdentifier|CompoundFieldAccess|JsonAccess)$/.test(kind)
}
