/** The text of an expression from the parser's tree: the name that most systems give a column without an alias. */
import { asList, asTree, isTree, nameOf, ofVariant, pathOf, textOf, variantOf } from './tree.ts'

const operators: Record<string, string> = {
  Plus: '+', Minus: '-', Multiply: '*', Divide: '/', Modulo: '%', StringConcat: '||', Eq: '=', NotEq: '<>', Lt: '<', LtEq: '<=', Gt: '>',
  GtEq: '>=', And: 'and', Or: 'or', Xor: 'xor', BitwiseAnd: '&', BitwiseOr: '|', BitwiseXor: '^', Not: 'not '
} // prettier-ignore

const predicates: Record<string, string> = {
  IsNull: 'is null',
  IsNotNull: 'is not null',
  IsTrue: 'is true',
  IsNotTrue: 'is not true',
  IsFalse: 'is false',
  IsNotFalse: 'is not false'
}

/** A part whose text is not made gives none for the whole. */
class NoText extends Error {}

const listed = (list: unknown): string => asList(list).map(text).join(', ')

function valueText(content: unknown): string {
  const value = asTree(content)['value']
  if (typeof value === 'string') return value.toLowerCase()
  const [kind, inner] = variantOf(value)
  if (kind === 'Number') return textOf(asList(inner)[0])
  if (kind === 'SingleQuotedString' || kind === 'DoubleQuotedString') return `'${textOf(inner)}'`
  if (kind === 'Boolean') return String(inner)
  if (kind === 'Placeholder') return textOf(inner)
  throw new NoText()
}

/** `INT`, `Decimal(10, 2)`. */
function typeText(type: unknown): string {
  const [kind, content] = variantOf(type)
  if (kind === 'Custom')
    return pathOf(asList(content)[0])
      .map(({ text: part }) => part)
      .join('.')
  const sizes: string[] = []
  const collect = (part: unknown): void => {
    if (typeof part === 'number') sizes.push(String(part))
    else if (Array.isArray(part)) part.forEach(collect)
    else if (isTree(part)) Object.values(part).forEach(collect)
  }
  collect(content)
  return kind.toLowerCase() + (sizes.length === 0 ? '' : `(${sizes.join(', ')})`)
}

function functionText(content: unknown): string {
  const call = asTree(content)
  const name = pathOf(call['name'])
    .map(({ text: part }) => part)
    .join('.')
  const list = asTree(ofVariant(call['args'], 'List'))
  const args = asList(list['args']).map((argument) => {
    const given = asTree(argument)['Unnamed']
    const [kind, expression] = variantOf(given)
    if (kind === 'Wildcard') return '*'
    if (kind !== 'Expr') throw new NoText()
    return text(expression)
  })
  if (
    asList(list['clauses']).length > 0 ||
    isTree(call['filter']) ||
    isTree(ofVariant(call['args'], 'Subquery'))
  )
    throw new NoText()
  const distinct = list['duplicate_treatment'] === 'Distinct' ? 'distinct ' : ''
  return `${name}(${distinct}${args.join(', ')})${isTree(call['over']) ? windowText(call['over']) : ''}`
}

function windowText(over: unknown): string {
  const spec = asTree(ofVariant(over, 'WindowSpec'))
  if (isTree(spec['window_frame']) || typeof spec['window_name'] === 'string') throw new NoText()
  const partition = asList(spec['partition_by'])
  const order = asList(spec['order_by']).map((each) => {
    const { expr, options } = asTree(each)
    const ascending = asTree(options)['asc']
    return text(expr) + (ascending === true ? ' asc' : ascending === false ? ' desc' : '')
  })
  const parts = [
    ...(partition.length === 0 ? [] : [`partition by ${listed(partition)}`]),
    ...(order.length === 0 ? [] : [`order by ${order.join(', ')}`])
  ]
  return ` over (${parts.join(' ')})`
}

function caseText(content: unknown): string {
  const { operand, conditions, else_result: otherwise } = asTree(content)
  const branches = asList(conditions).map((each) => {
    const { condition, result } = asTree(each)
    return `when ${text(condition)} then ${text(result)}`
  })
  const parts = [
    'case',
    ...(isTree(operand) ? [text(operand)] : []),
    ...branches,
    ...(isTree(otherwise) ? [`else ${text(otherwise)}`] : []),
    'end'
  ]
  return parts.join(' ')
}

function text(node: unknown): string {
  const [kind, content] = variantOf(node)
  const inner = asTree(content)
  switch (kind) {
    case 'Identifier':
      return nameOf(content).text
    case 'CompoundIdentifier':
      return asList(content)
        .map((part) => nameOf(part).text)
        .join('.')
    case 'Nested':
      return `(${text(content)})`
    case 'Value':
      return valueText(content)
    case 'Function':
      return functionText(content)
    case 'Case':
      return caseText(content)
    case 'Cast': {
      const [value, type] = [text(inner['expr']), typeText(inner['data_type'])]
      return inner['kind'] === 'DoubleColon'
        ? `${value}::${type}`
        : `${inner['kind'] === 'TryCast' ? 'try_cast' : 'cast'}(${value} as ${type})`
    }
    case 'UnaryOp':
    case 'BinaryOp': {
      const operator = operators[textOf(inner['op'])]
      if (operator === undefined) break
      return kind === 'UnaryOp'
        ? `${operator}${text(inner['expr'])}`
        : `${text(inner['left'])} ${operator} ${text(inner['right'])}`
    }
  }
  const predicate = predicates[kind]
  if (predicate !== undefined) return `${text(content)} ${predicate}`
  throw new NoText()
}

/** The text of an expression in one line, with keywords in lower case; undefined where a part of it is not simple. */
export function expressionText(node: unknown): string | undefined {
  try {
    return text(node)
  } catch (error) {
    if (error instanceof NoText) return undefined
    throw error
  }
}
