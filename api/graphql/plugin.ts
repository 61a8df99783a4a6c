/**
 * GraphQL over HTTP: POST only, one request in a body, and HTTP 200 with errors in the body for every
 * well-formed request.
 *
 * A client that accepts application/graphql-response+json gets the status codes of GraphQL over HTTP instead.
 */
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  execute,
  getOperationAST,
  GraphQLError,
  specifiedRules,
  validate,
  type ExecutionResult,
  type GraphQLFormattedError
} from 'graphql'
import { mercurius } from 'mercurius'
import { createReadGate } from '../../shared/catalog/lineage/read-gate.ts'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import { checkCount } from '../../shared/model/count-checks.ts'
import { checkJson } from '../../shared/model/json-checks.ts'
import { isObject } from '../../shared/model/json-values.ts'
import { metrics } from '../../shared/platform/metrics.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import type { ApiContext } from '../context.ts'
import { logError } from '../error-responses.ts'
import { noteOnSpan } from '../trace-requests.ts'
import { countFields } from './answer-budget.ts'
import { createGraphqlContext, type GraphqlContext } from './context.ts'
import { checkEstimate } from './document-estimate.ts'
import { createDocuments, type ParsedDocument } from './documents.ts'
import { catalogErrorOf, formatError } from './error-formatter.ts'
import { mergeResolvers } from './resolver-map.ts'
import { associationResolvers } from './resolvers/associations.ts'
import { containerResolvers } from './resolvers/containers.ts'
import { domainResolvers } from './resolvers/domains.ts'
import { entityResolvers } from './resolvers/entities.ts'
import { lineageResolvers } from './resolvers/lineage.ts'
import { lineageViewResolvers } from './resolvers/lineage-views.ts'
import { sqlResolvers } from './resolvers/sql.ts'
import { provenanceResolvers } from './resolvers/provenance.ts'
import { loadResolvers } from './resolvers/loads.ts'
import { mutationResolvers } from './resolvers/mutations.ts'
import { relationshipResolvers } from './resolvers/relationships.ts'
import { searchResolvers } from './resolvers/search.ts'
import { sessionResolvers } from './resolvers/session.ts'
import { tokenResolvers } from './resolvers/tokens.ts'
import { showListedValues } from './shown-values.ts'
import { writeAnswer } from './write-answer.ts'

const paths = ['/api/graphql', '/api/v2/graphql']
const graphqlResponse = 'application/graphql-response+json'
const shownErrorsMaxCount = 10
/** Large answers resolved at the same time, and those of one token; each needs a hundred megabytes. */
const largeAnswers = { atOnce: 2, perCaller: 1 }

type Variables = { [name: string]: unknown }
type GraphqlRequest = { query: string; variables: Variables; operationName: string | null }

/** Registers both paths. Throws if the SDL and the resolvers do not match. */
export async function graphqlPlugin(app: FastifyInstance, context: ApiContext): Promise<void> {
  const validateOptions = { maxErrors: shownErrorsMaxCount }
  await app.register(mercurius, {
    schema: readFileSync(packagePath('api/graphql/schema.graphql'), 'utf8'),
    resolvers: mergeResolvers(
      entityResolvers,
      associationResolvers,
      containerResolvers,
      sessionResolvers,
      domainResolvers,
      lineageResolvers,
      lineageViewResolvers,
      sqlResolvers,
      provenanceResolvers,
      relationshipResolvers,
      mutationResolvers,
      loadResolvers,
      searchResolvers,
      tokenResolvers
    ),
    routes: false,
    cache: 250,
    graphql: { validateOptions },
    // Keeps errors unchanged; this file formats them later.
    errorFormatter: (execution) => ({ statusCode: 200, response: execution })
  })
  // Passing variables in the call would coerce them twice more, a tenth of the time of a small read.
  app.graphql.addHook('preExecution', async (_schema, _document, { variables }) => ({ variables }))
  const documents = createDocuments()
  const largeGate = createReadGate(largeAnswers)
  showListedValues(app.graphql.schema)
  countFields(app.graphql.schema)

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<string | Readable> {
    const { query, variables, operationName } = readRequest(request.body)
    const resolverContext = createGraphqlContext(context, request, largeGate)
    let result: ExecutionResult
    try {
      checkCount(countValues(variables), 'graphqlVariableValuesMaxCount', {
        field: 'variables',
        what: 'variables'
      })
      for (const [name, value] of Object.entries(variables))
        checkJson(value, name, { maxBytes: limits.graphqlBodyMaxBytes })
      result = await Promise.race([
        run(documents.of(query, operationName), variables, operationName, resolverContext, reply),
        resolverContext.budget.refused
      ])
    } catch (error) {
      result = { errors: requestErrors(error) }
    } finally {
      resolverContext.end()
    }
    return send(result, resolverContext, request, reply)
  }

  async function run(
    { document, isKept }: ParsedDocument,
    variables: Variables,
    operationName: string | null,
    contextValue: GraphqlContext,
    reply: FastifyReply
  ): Promise<ExecutionResult> {
    const operation = getOperationAST(document, operationName)
    if (operation)
      noteOnSpan(reply.request, () => ({
        'graphql.operation.type': operation.operation,
        ...(operation.name ? { 'graphql.operation.name': operation.name.value } : {})
      }))
    const errors = isKept ? [] : validate(app.graphql.schema, document, specifiedRules, validateOptions)
    if (errors.length > 0) return { errors: asCallerErrors(errors) }
    if (operation) checkEstimate(app.graphql.schema, document, operation, variables)
    contextValue.variables = variables
    const result = isKept
      ? await reply.graphql(document, contextValue, undefined, operationName ?? undefined)
      : await execute({
          schema: app.graphql.schema,
          document,
          contextValue: Object.assign(contextValue, { app, reply }),
          variableValues: variables,
          operationName
        })
    // Without data nothing was executed: the variables do not match.
    return result.data === undefined && result.errors
      ? { errors: asCallerErrors(result.errors.slice(0, shownErrorsMaxCount)) }
      : result
  }

  for (const url of paths)
    app.post(url, { bodyLimit: limits.graphqlBodyMaxBytes, config: { access: 'read' } }, answer)
}

/** Counts the scalars in a value, at any depth, up to the limit. Not by recursion: lists may be nested too deep for it. */
function countValues(value: unknown): number {
  const left: unknown[] = [value]
  let count = 0
  while (left.length > 0 && count <= limits.graphqlVariableValuesMaxCount) {
    const next = left.pop()
    if (next === null || typeof next !== 'object') count += 1
    else for (const inner of Object.values(next)) left.push(inner)
  }
  return count
}

/** Throws BAD_REQUEST: a malformed request is answered with 400 and no GraphQL body. */
function readRequest(body: unknown): GraphqlRequest {
  if (Array.isArray(body))
    throw new CatalogError('BAD_REQUEST', 'Send one GraphQL request; batches are not supported')
  if (!isObject(body)) throw new CatalogError('BAD_REQUEST', 'The body must be a JSON object with `query`')
  const { query, variables = null, operationName = null } = body
  if (typeof query !== 'string')
    throw new CatalogError('BAD_REQUEST', '`query` must be a string', { field: 'query' })
  if (variables !== null && !isObject(variables))
    throw new CatalogError('BAD_REQUEST', '`variables` must be an object', { field: 'variables' })
  if (operationName !== null && typeof operationName !== 'string')
    throw new CatalogError('BAD_REQUEST', '`operationName` must be a string', { field: 'operationName' })
  return { query, variables: variables ?? {}, operationName: operationName === '' ? null : operationName }
}

/** A document that does not match the schema is the caller's error, whatever validation throws. */
const asCallerErrors = (errors: readonly GraphQLError[]): GraphQLError[] =>
  errors.map(
    (error) =>
      new GraphQLError(error.message, {
        nodes: error.nodes ?? null,
        source: error.source ?? null,
        positions: error.positions ?? null
      })
  )

/** Why nothing was executed: the document does not parse, does not match the schema, or is too expensive. */
function requestErrors(error: unknown): GraphQLError[] {
  if (error instanceof GraphQLError)
    return [
      new GraphQLError(error.message, {
        source: error.source,
        positions: error.positions,
        originalError: new CatalogError('GRAPHQL_PARSE_FAILED', error.message)
      })
    ]
  if (error instanceof Error && 'errors' in error && Array.isArray(error.errors))
    return error.errors.filter((inner) => inner instanceof GraphQLError)
  return [
    new GraphQLError(String(error), {
      originalError: error instanceof Error ? error : new Error(String(error))
    })
  ]
}

function send(
  result: ExecutionResult,
  { extensions, budget }: GraphqlContext,
  request: FastifyRequest,
  reply: FastifyReply
): string | Readable {
  const errors = (result.errors ?? []).map((error): GraphQLFormattedError => {
    const catalogError = catalogErrorOf(error)
    logError(catalogError, request)
    metrics.graphqlErrors.inc({ code: catalogError.code })
    return formatError(catalogError, request.id, error)
  })
  const wantsStatuses = request.headers.accept?.includes(graphqlResponse) ?? false
  reply.code(statusOf(result, errors, wantsStatuses))
  if (reply.statusCode === 503) reply.header('retry-after', '1')
  reply.type(`${wantsStatuses ? graphqlResponse : 'application/json'}; charset=utf-8`)
  return writeAnswer(
    {
      ...(result.data === undefined ? {} : { data: result.data }),
      ...(errors.length > 0 ? { errors } : {}),
      extensions
    },
    budget.byteCount
  )
}

function statusOf(
  { data }: ExecutionResult,
  errors: readonly GraphQLFormattedError[],
  wantsStatuses: boolean
): number {
  const isEmpty = data === undefined || data === null || Object.values(data).every((value) => value === null)
  // Clients and balancers only try again on this status, so it is used if the whole answer is unavailable.
  if (isEmpty && errors.some(({ extensions }) => extensions?.type === 'UNAVAILABLE')) return 503
  return wantsStatuses && data === undefined ? 400 : 200
}
