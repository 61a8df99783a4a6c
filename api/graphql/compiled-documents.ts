/**
 * Queries that come often, as code compiled for them. Mercurius runs everything else, and could run these too, but its way to
 * them (a look-up, a hook, an error formatter, each of them awaited) was a seventh of what a small read cost: 160 and 80 us of
 * processor time instead of 186 and 100 for two hops and for a domain.
 */
import { getOperationAST, Kind, OperationTypeNode, visit, BREAK, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import type { Variables } from './coerce-variables.ts'
import type { GraphqlContext } from './context.ts'

/** Compiling costs more than it saves for a document that comes a few times only. */
const compileAfterRuns = 8

/** `variables` must be coerced: the compiler's own check refuses a required field that has a default. */
export type RunCompiled = (context: GraphqlContext, variables: Variables) => Promise<ExecutionResult> | ExecutionResult

export type CompiledDocuments = {
  /** Null where the document has not come often, or is none that may be compiled. */
  of: (document: DocumentNode) => RunCompiled | null
  /** Say this of a document that was valid and has been run, each time for the same of its operations. */
  wasRun: (document: DocumentNode, operationName: string | null) => void
}

/** What is compiled goes with its document: whoever lets go of the document lets go of it. */
export function createCompiledDocuments(schema: GraphQLSchema): CompiledDocuments {
  const compiled = new WeakMap<DocumentNode, RunCompiled>()
  const runs = new WeakMap<DocumentNode, number>()

  return {
    of: (document) => compiled.get(document) ?? null,
    wasRun(document, operationName) {
      const count = (runs.get(document) ?? 0) + 1
      runs.set(document, count)
      if (count !== compileAfterRuns || !runsTheSameCompiled(document, operationName)) return
      const made = compileQuery(schema, document, operationName ?? undefined)
      if (isCompiledQuery(made)) compiled.set(document, (context, variables) => made.query({}, context, variables))
    }
  }
}

/**
 * What graphql-jit 0.8.9 runs otherwise than graphql does stays with Mercurius: mutations (one that fails does not end them, or they never
 * end), a field or fragment that is also skipped elsewhere (it is skipped everywhere), and a variable that may be null or absent (within
 * an input object it is null in place of the field's default). Each was a wrong answer without an error.
 */
function runsTheSameCompiled(document: DocumentNode, operationName: string | null): boolean {
  const operation = getOperationAST(document, operationName)
  if (operation?.operation !== OperationTypeNode.QUERY) return false
  if (operation.variableDefinitions?.some(({ type }) => type.kind !== Kind.NON_NULL_TYPE)) return false
  let hasDirective = false
  visit(document, {
    Directive() {
      hasDirective = true
      return BREAK
    }
  })
  return !hasDirective
}
