/**
 * POST /<root>?action=<name>, RestLi's form of a call: the actions of a root, the access each needs, and its
 * answer.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { requireScope } from '../../shared/catalog/access/authenticate.ts'
import { withWarnings } from '../../shared/catalog/write/stays-removed.ts'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import type { JsonObject, LoadWarnings, Scope } from '../../shared/model/changes.ts'
import { isObject } from '../../shared/model/json-values.ts'

/** Puts warnings beside the `value`, where DataHub's clients read nothing. */
type Warn = (warnings: LoadWarnings) => void

type RestliAction = {
  access: Scope
  /** Returns the answer's `value`; undefined for an answer without a body. */
  run: (body: JsonObject, request: FastifyRequest, warn: Warn) => Promise<unknown>
}

export type RestliActions = Readonly<Record<string, RestliAction>>

/**
 * Adds the route of a root. Before the body is read, an unknown action is answered UNSUPPORTED with the known
 * actions, and an action that the token may not call FORBIDDEN. Unknown fields of a body are ignored, as in
 * RestLi.
 */
export function addActions(app: FastifyInstance, root: string, actions: RestliActions): void {
  const findAction = ({ query }: FastifyRequest): RestliAction => {
    const name = isObject(query) ? query.action : undefined
    const found = typeof name === 'string' && Object.hasOwn(actions, name) ? actions[name] : undefined
    if (!found) {
      const shown = typeof name === 'string' ? name.slice(0, 100).toWellFormed() : 'none given'
      throw new CatalogError('UNSUPPORTED', `Unknown action on ${root}: ${shown}`, {
        field: 'action',
        allowed: Object.keys(actions)
      })
    }
    return found
  }
  app.route({
    method: 'POST',
    url: root,
    bodyLimit: limits.proposalBodyMaxBytes,
    config: { access: 'read' },
    onRequest: async (request) => {
      requireScope(request.actor, findAction(request).access)
    },
    handler: async (request, reply) => {
      const action = findAction(request)
      if (!isObject(request.body)) throw new CatalogError('BAD_REQUEST', 'The body must be a JSON object')
      let warnings: LoadWarnings | undefined
      const value = await action.run(request.body, request, (more) => {
        warnings = withWarnings(warnings, more)
      })
      if (value === undefined && !warnings) return reply.code(200).send()
      return { ...(value === undefined ? {} : { value }), ...(warnings ? { warnings } : {}) }
    }
  })
}
