/**
 * Estimates the fields of an answer if every list is full, so that an impossible answer is refused before it
 * begins.
 */
import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  typeFromAST,
  valueFromASTUntyped,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode
} from 'graphql'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import { isObject } from '../../shared/model/json-values.ts'

type Variables = { [name: string]: unknown }

/** For a page without a given count. */
const pageCount = 10
/** For a list without a count, such as the domains above a domain. */
const listCount = 5
const countNames = ['count', 'limit']

/**
 * Throws QUERY_TOO_COMPLEX (graphqlMaxEstimatedFields). The document must be valid and within
 * graphqlMaxExpandedFields.
 */
export function checkEstimate(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables
): void {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  const maximum = limits.graphqlMaxEstimatedFields
  let sum = 0

  /**
   * `times`: how often the selection is resolved. `listed`: the count of the nearest enclosing field that has
   * one.
   */
  function add(
    selectionSet: SelectionSetNode,
    type: GraphQLNamedType | undefined,
    times: number,
    listed: number | null,
    spread: Set<string>
  ): void {
    for (const selection of selectionSet.selections) {
      if (selection.kind === Kind.FIELD) {
        sum += times
        addBelow(selection, type, times, listed)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        add(
          selection.selectionSet,
          selection.typeCondition ? typeFromAST(schema, selection.typeCondition) : type,
          times,
          listed,
          spread
        )
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value)
        const fragment = fragments.get(selection.name.value)
        if (fragment)
          add(fragment.selectionSet, typeFromAST(schema, fragment.typeCondition), times, listed, spread)
      }
    }
  }

  function addBelow(
    node: FieldNode,
    type: GraphQLNamedType | undefined,
    times: number,
    listed: number | null
  ): void {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined
    // Introspection fields have no definition here; they are counted while they are resolved.
    if (!node.selectionSet || !field) return
    const named = getNamedType(field.type)
    if (!isCompositeType(named)) return
    if (isListType(getNullableType(field.type)))
      add(node.selectionSet, named, times * (listed ?? listCount), null, new Set())
    else
      add(
        node.selectionSet,
        named,
        times,
        countOf(node, variables) ?? (hasCount(field.args) ? pageCount : listed),
        new Set()
      )
  }

  const root = schema.getRootType(operation.operation)
  if (root) add(operation.selectionSet, root, 1, null, new Set())
  if (sum <= maximum) return
  // Counts multiply at each level.
  const actual = Math.min(sum, Number.MAX_SAFE_INTEGER)
  throw new CatalogError(
    'QUERY_TOO_COMPLEX',
    `The document asks for ${actual} fields if all its lists are full; at most ${maximum} are allowed. Ask for fewer results, or for fewer fields of each`,
    { limit: 'graphqlMaxEstimatedFields', maximum, actual }
  )
}

const hasCount = (args: readonly { name: string }[]): boolean =>
  args.some(({ name }) => name === 'input' || countNames.includes(name))

/** The field itself refuses any other count, with a message. */
const isPageCount = (count: unknown): count is number =>
  typeof count === 'number' && count >= 0 && count <= limits.pageMaxCount

/** The count in the arguments of a field, or in its input. */
function countOf(node: FieldNode, variables: Variables): number | null {
  for (const { name, value } of node.arguments ?? []) {
    const given = valueFromASTUntyped(value, variables)
    if (countNames.includes(name.value) && isPageCount(given)) return given
    if (!isObject(given)) continue
    for (const each of countNames) {
      const own = given[each]
      if (isPageCount(own)) return own
    }
  }
  return null
}
