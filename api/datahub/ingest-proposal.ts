/**
 * POST /aspects?action=ingestProposal and ingestProposalBatch, as DataHub's emitters send them.
 *
 * `async` is accepted and makes no difference: what is answered with success has been applied and committed, so a client
 * that would wait for it need not.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ingestProposal, ingestProposalBatch } from '../../shared/catalog/ingest-proposals.ts'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import type { MissingReferences } from '../../shared/model/changes.ts'
import { isObject } from '../../shared/model/json-values.ts'
import type { ApiContext } from '../context.ts'

const actions = ['ingestProposal', 'ingestProposalBatch']

export function ingestProposalRoutes(app: FastifyInstance, { db, config }: ApiContext): void {
  app.post<{ Querystring: { action?: string | string[] } }>('/aspects', { bodyLimit: limits.proposalBodyMaxBytes, config: { access: 'write' } }, async (request) => {
    const { action } = request.query
    if (typeof action !== 'string' || !actions.includes(action)) {
      throw new CatalogError('UNSUPPORTED', `There is no such action on /aspects: ${String(action ?? 'none given')}`, { field: 'action', allowed: actions })
    }
    const { body } = request
    if (!isObject(body)) throw new CatalogError('BAD_REQUEST', 'The body must be a JSON object')
    const options = { actor: request.actor, requestId: request.id, missingReferences: missingReferencesOf(request, config.missingReferences) }
    if (action === 'ingestProposal') {
      if (!isObject(body.proposal)) throw new CatalogError('BAD_REQUEST', '`proposal` must be an object', { field: 'proposal' })
      await ingestProposal(db, body.proposal, options)
    } else {
      if (!Array.isArray(body.proposals)) throw new CatalogError('BAD_REQUEST', '`proposals` must be a list', { field: 'proposals' })
      await ingestProposalBatch(db, body.proposals, options)
    }
    return { value: 'success' }
  })
}

/** What absent references do: the header X-Missing-References says, else the server's setting. Throws BAD_REQUEST. */
function missingReferencesOf(request: FastifyRequest, fallback: MissingReferences): MissingReferences {
  const wanted = request.headers['x-missing-references']
  if (wanted === undefined) return fallback
  if (wanted === 'reject' || wanted === 'create') return wanted
  throw new CatalogError('BAD_REQUEST', 'X-Missing-References must be reject or create', { field: 'X-Missing-References', allowed: ['reject', 'create'] })
}
