/**
 * Limits the cost of a GraphQL document before it is executed: tokens, nesting, aliases, repeated fields,
 * mutations.
 *
 * A fragment counts with its content wherever it is spread, and no field is exempt because of its name, such
 * as `__schema`.
 */
import {
  Kind,
  Lexer,
  Source,
  TokenKind,
  visit,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type SelectionSetNode
} from 'graphql'
import { CatalogError } from '../../shared/errors.ts'
import { limits, type LimitName } from '../../shared/limits.ts'
import { checkText } from '../../shared/model/json-checks.ts'

/**
 * Counts tokens without parsing, up to the limit, and bounds nested brackets, because the parser is
 * recursive. Throws QUERY_TOO_COMPLEX, QUERY_TOO_DEEP, and a GraphQLError if there is no token.
 */
export function countTokens(text: string): number {
  const lexer = new Lexer(new Source(text))
  let count = 0
  let open = 0
  for (let { kind } = lexer.advance(); kind !== TokenKind.EOF; { kind } = lexer.advance()) {
    count += 1
    if (count > limits.graphqlMaxTokens)
      throw tooMuch('QUERY_TOO_COMPLEX', 'tokens', 'graphqlMaxTokens', count)
    if (kind === TokenKind.BRACE_L || kind === TokenKind.BRACKET_L || kind === TokenKind.PAREN_L) open += 1
    else if (kind === TokenKind.BRACE_R || kind === TokenKind.BRACKET_R || kind === TokenKind.PAREN_R)
      open -= 1
    if (open > limits.graphqlMaxBrackets)
      throw tooMuch('QUERY_TOO_DEEP', 'brackets open at once', 'graphqlMaxBrackets', open)
  }
  return count
}

/** Throws QUERY_TOO_DEEP, QUERY_TOO_COMPLEX, and INVALID_CHARACTER for a text in the document that cannot be stored. */
export function checkDocument(document: DocumentNode): void {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  checkAliasesAndTexts(document)
  const depthOf = fieldMeter(fragments, Math.max)
  const fieldsOf = fieldMeter(fragments, (one, other) => one + other)
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const depth = depthOf(definition.selectionSet)
    if (depth > limits.graphqlMaxDepth) throw tooMuch('QUERY_TOO_DEEP', 'levels', 'graphqlMaxDepth', depth)
    const expanded = fieldsOf(definition.selectionSet)
    if (expanded > limits.graphqlMaxExpandedFields)
      throw tooMuch(
        'QUERY_TOO_COMPLEX',
        'fields with its fragments written out',
        'graphqlMaxExpandedFields',
        expanded
      )
    const mutations =
      definition.operation === 'mutation' ? countFields(definition.selectionSet, fragments, new Set()) : 0
    if (mutations > limits.graphqlMaxMutations)
      throw tooMuch('QUERY_TOO_COMPLEX', 'mutations', 'graphqlMaxMutations', mutations)
  }
  checkFieldPairs(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? definition.selectionSet : []
    ),
    fragments
  )
}

function checkAliasesAndTexts(document: DocumentNode): void {
  let aliases = 0
  visit(document, {
    Field: (field) => {
      if (field.alias) aliases += 1
    },
    StringValue: (text) => {
      checkText(text.value, 'query')
    }
  })
  if (aliases > limits.graphqlMaxAliases)
    throw tooMuch('QUERY_TOO_COMPLEX', 'aliases', 'graphqlMaxAliases', aliases)
}

/**
 * Measures the fields below a selection: `joined` combines two neighbours, and each field adds one to what is
 * below it. Each fragment is measured once; validation refuses cycles of fragments.
 */
function fieldMeter(
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  joined: (one: number, other: number) => number
): (selectionSet: SelectionSetNode | undefined) => number {
  const known = new Map<string, number>()
  const measure = (selectionSet: SelectionSetNode | undefined): number =>
    (selectionSet?.selections ?? []).reduce((before, selection) => {
      if (selection.kind === Kind.FIELD) return joined(before, 1 + measure(selection.selectionSet))
      if (selection.kind === Kind.INLINE_FRAGMENT) return joined(before, measure(selection.selectionSet))
      return joined(before, measureFragment(selection.name.value))
    }, 0)
  const measureFragment = (name: string): number => {
    const measured = known.get(name)
    if (measured !== undefined) return measured
    known.set(name, 0)
    const found = measure(fragments.get(name)?.selectionSet)
    known.set(name, found)
    return found
  }
  return measure
}

/**
 * Validation compares all pairs of fields with the same name in one place, which takes quadratic time. Throws
 * QUERY_TOO_COMPLEX for too many pairs, without reading more fields than that.
 */
function checkFieldPairs(
  operations: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>
): void {
  let pairs = 0
  let fields = 0
  const places = operations.map((operation) => ({ sets: [operation], level: 1 }))
  for (let place = places.pop(); place; place = places.pop()) {
    const named = new Map<string, FieldNode[]>()
    const spread = new Set<string>()
    const gather = (selectionSet: SelectionSetNode): void => {
      for (const selection of selectionSet.selections) {
        if (selection.kind === Kind.INLINE_FRAGMENT) gather(selection.selectionSet)
        else if (selection.kind === Kind.FIELD) {
          const name = selection.alias?.value ?? selection.name.value
          const same = named.get(name)
          fields += 1
          pairs += same?.length ?? 0
          if (Math.max(pairs, fields) > limits.graphqlMaxFieldPairs)
            throw tooMuch(
              'QUERY_TOO_COMPLEX',
              'pairs of fields of the same name',
              'graphqlMaxFieldPairs',
              Math.max(pairs, fields)
            )
          if (same) same.push(selection)
          else named.set(name, [selection])
        } else if (!spread.has(selection.name.value)) {
          // Validation also compares each pair of fragments in a place.
          pairs += spread.size
          spread.add(selection.name.value)
          const fragment = fragments.get(selection.name.value)
          if (fragment) gather(fragment.selectionSet)
        }
      }
    }
    for (const selectionSet of place.sets) gather(selectionSet)
    // Deeper than a document may be, so this is a cycle of fragments, which validation refuses.
    if (place.level >= limits.graphqlMaxDepth) continue
    for (const same of named.values()) {
      const sets = same.flatMap((field) => field.selectionSet ?? [])
      if (sets.length > 0) places.push({ sets, level: place.level + 1 })
    }
  }
}

function countFields(
  selectionSet: SelectionSetNode | undefined,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  seen: Set<string>
): number {
  let count = 0
  for (const selection of selectionSet?.selections ?? []) {
    if (selection.kind === Kind.FIELD) {
      count += 1
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      count += countFields(selection.selectionSet, fragments, seen)
    } else if (!seen.has(selection.name.value)) {
      // A fragment that is spread twice runs its fields once.
      seen.add(selection.name.value)
      count += countFields(fragments.get(selection.name.value)?.selectionSet, fragments, seen)
    }
  }
  return count
}

function tooMuch(
  code: 'QUERY_TOO_DEEP' | 'QUERY_TOO_COMPLEX',
  what: string,
  limit: LimitName,
  actual: number
): CatalogError {
  const maximum = limits[limit]
  return new CatalogError(code, `The document has more than ${maximum} ${what}`, { limit, maximum, actual })
}
