/** The HTTP server of the API: every plugin and route by name. It does not listen; start.ts does. */
import { fastify, LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { createAdmitBearer } from '../shared/catalog/access/admit-bearer.ts'
import { createAuthenticate } from '../shared/catalog/access/authenticate.ts'
import { openSession } from '../shared/catalog/access/open-session.ts'
import { shareWrites } from '../shared/db/write-turns.ts'
import { addAnswerDeadline } from './answer-deadline.ts'
import { addAuthentication } from './auth.ts'
import { addRequestBasics, answerUnreadablePath, plainUrl, requestIdOf } from './connection.ts'
import type { ApiContext, ServerState } from './context.ts'
import { addCors } from './cors.ts'
import { configRoutes } from './datahub/config.ts'
import { entitiesRoutes } from './datahub/entities.ts'
import { entitiesV2Routes } from './datahub/entities-v2.ts'
import { ingestProposalRoutes } from './datahub/ingest-proposal.ts'
import { operationsRoutes } from './datahub/operations.ts'
import { readAspectRoutes } from './datahub/read-aspect.ts'
import { relatedEntitiesRoutes, relationshipsRoutes } from './datahub/relationships.ts'
import { sendRestError } from './datahub/rest-errors.ts'
import { sendProblem } from './error-responses.ts'
import { domainsRoutes } from './domains/routes.ts'
import { domainRulesRoutes } from './domains/rules-routes.ts'
import { graphqlPlugin } from './graphql/plugin.ts'
import { createHttpServer } from './http-server.ts'
import { addJsonBody } from './json-body.ts'
import { lineageRoutes } from './lineage/routes.ts'
import { loadsRoutes } from './loads/routes.ts'
import { refuseOtherMethods } from './methods.ts'
import { entityRoutes } from './openapi/entity-routes.ts'
import { sendOpenApiError } from './openapi/errors.ts'
import { marquezRoutes } from './marquez/routes.ts'
import { openMakerRule } from './oidc/maker-rule.ts'
import { signInRoutes } from './oidc/routes.ts'
import { openLineageRoutes } from './openlineage/routes.ts'
import { scrollRoutes } from './openapi/scroll-routes.ts'
import { relationshipScrollRoutes } from './openapi/relationship-scrolls.ts'
import { specificationRoutes } from './openapi/specification-routes.ts'
import { traceRoutes } from './openapi/trace-routes.ts'
import { healthRoutes } from './operations/health.ts'
import { instanceRoutes } from './operations/instance.ts'
import { limitsRoutes } from './operations/limits.ts'
import { countRequests, metricsRoutes } from './operations/metrics.ts'
import { problemRoutes } from './operations/problems.ts'
import { versionRoutes } from './operations/version.ts'
import { refuseNulInParameters } from './query-parameters.ts'
import { openRateLimits } from './rate-limits.ts'
import { addReadTurns, connectionShares } from './read-turns.ts'
import { addReference, referenceRoutes } from './reference/routes.ts'
import { searchRoutes } from './search/routes.ts'
import { sqlRoutes } from './sql/routes.ts'
import { securityHeaders } from './security-headers.ts'
import { addCookies, addForgeryProtection, sessionRoutes } from './web/session.ts'
import { traceRequests } from './trace-requests.ts'
import { webRoutes } from './web/static.ts'

/** From the head of a request to its answer. Statements of the database are cut off well before. */
const requestMaxMs = 30_000
/** The same for an upload, which may be large and wait for a slow database. */
const uploadMaxMs = 6 * 60 * 60 * 1_000
/** Room for the longest URN, percent-encoded. */
const pathPartMaxChars = 8_192

/** Resolves when all routes are registered; throws if they conflict. */
export async function buildServer(
  context: ApiContext,
  state: ServerState = { isStopping: false }
): Promise<FastifyInstance> {
  const logger: FastifyBaseLogger = context.log
  const headers = await securityHeaders()
  const app: FastifyInstance = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    // Also called for each further address, if the host has several.
    serverFactory: (listener) => createHttpServer(listener, { requestMaxMs: uploadMaxMs }),
    // The server has its own.
    clientErrorHandler: () => {},
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: pathPartMaxChars },
    rewriteUrl: plainUrl,
    // addRequestBasics answers requests during the stop, in our form of errors.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: answerUnreadablePath(headers)
  })
  try {
    await addParts(app, context, state, headers)
    return app
  } catch (error) {
    // Some parts have opened connections, which are closed with the server.
    await app.close().catch(() => {})
    throw error
  }
}

async function addParts(
  app: FastifyInstance,
  context: ApiContext,
  state: ServerState,
  headers: Record<string, string>
): Promise<void> {
  app.setErrorHandler(sendProblem)
  addJsonBody(app)
  traceRequests(app)
  countRequests(app)
  addAnswerDeadline(app, requestMaxMs)
  addRequestBasics(app, state, headers)
  await addCors(app, context.config.corsOrigins)
  await addCookies(app)
  const { db, provider = null } = context
  const makerRule = openMakerRule(context.config, context.log)
  const admitBearer = provider && createAdmitBearer(db, provider.verifyJsonWebToken, provider.roles)
  const rateLimits = await openRateLimits(app, context.config, context.log)
  addAuthentication(
    app,
    createAuthenticate(db, { admitBearer, makerRule }),
    (id) => openSession(db, id, makerRule),
    rateLimits
  )
  addForgeryProtection(app)
  addReadTurns(app, context.config)
  shareWrites(db, connectionShares(context.config))
  const finishRoutes = refuseOtherMethods(app)
  await addReference(app)
  refuseNulInParameters(app)

  healthRoutes(app, context, state)
  versionRoutes(app)
  instanceRoutes(app, context)
  problemRoutes(app)
  sessionRoutes(app, context, makerRule)
  signInRoutes(app, context, provider, makerRule)
  referenceRoutes(app)
  metricsRoutes(app, context)
  limitsRoutes(app)
  lineageRoutes(app, context)
  domainsRoutes(app, context)
  domainRulesRoutes(app, context)
  searchRoutes(app, context)
  sqlRoutes(app, context)
  await app.register(async (scope) => webRoutes(scope, context))
  await app.register(async (scope) => graphqlPlugin(scope, context))
  await app.register(async (scope) => {
    scope.setErrorHandler(sendRestError)
    configRoutes(scope)
    ingestProposalRoutes(scope, context)
    readAspectRoutes(scope, context)
    entitiesRoutes(scope, context)
    entitiesV2Routes(scope, context)
    operationsRoutes(scope)
    relationshipsRoutes(scope, context)
  })
  await app.register(async (scope) => {
    scope.setErrorHandler(sendOpenApiError)
    relatedEntitiesRoutes(scope, context)
    relationshipScrollRoutes(scope, context)
    entityRoutes(scope, context)
    scrollRoutes(scope, context)
    specificationRoutes(scope)
    traceRoutes(scope, context)
  })
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.handlerTimeout ??= uploadMaxMs
    })
    await scope.register(loadsRoutes, { ...context, makerRule })
  })
  await app.register(openLineageRoutes, context)
  marquezRoutes(app, context)
  finishRoutes()
}
