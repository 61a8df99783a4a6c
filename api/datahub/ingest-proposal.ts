/**
 * POST /aspects?action=: proposals (ingestProposal, ingestProposalBatch) as DataHub's emitters send them, and what is read by action.
 *
 * `async` is accepted and makes no difference: what is answered with success has been applied and committed, so a client
 * that would wait for it need not.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ingestProposal, ingestProposalBatch, type IngestOptions } from '../../shared/catalog/ingest-proposals.ts'
import { countAspect, readEvents } from '../../shared/catalog/read-events.ts'
import { CatalogError } from '../../shared/errors.ts'
import { isObject } from '../../shared/model/json-values.ts'
import type { ApiContext } from '../context.ts'
import { missingReferencesOf } from './missing-references.ts'
import { addActions } from './restli-actions.ts'
import { optionalFlag, optionalInteger, optionalText, textField, urnField } from './restli-input.ts'

export function ingestProposalRoutes(app: FastifyInstance, { db, config }: ApiContext): void {
  const optionsOf = (request: FastifyRequest): IngestOptions =>
    ({ actor: request.actor, requestId: request.id, missingReferences: missingReferencesOf(request, config.missingReferences) })

  addActions(app, '/aspects', {
    ingestProposal: {
      access: 'write',
      run: async (body, request) => {
        if (!isObject(body.proposal)) throw new CatalogError('BAD_REQUEST', '`proposal` must be an object', { field: 'proposal' })
        await ingestProposal(db, body.proposal, optionsOf(request))
        return 'success'
      }
    },
    ingestProposalBatch: {
      access: 'write',
      run: async (body, request) => {
        if (!Array.isArray(body.proposals)) throw new CatalogError('BAD_REQUEST', '`proposals` must be a list', { field: 'proposals' })
        await ingestProposalBatch(db, body.proposals, optionsOf(request))
        return 'success'
      }
    },
    getTimeseriesAspectValues: {
      access: 'read',
      run: async (body) => {
        const [urn, aspectName] = [urnField(body), textField(body, 'aspect')]
        const events = await readEvents(db, urn, aspectName, {
          count: optionalFlag(body, 'latestValue') ? 1 : optionalInteger(body, 'limit'),
          startTimeMillis: optionalInteger(body, 'startTimeMillis'),
          endTimeMillis: optionalInteger(body, 'endTimeMillis'),
          filter: body.filter
        })
        const values = events.map(({ value, systemMetadata }) => ({ aspect: { value: JSON.stringify(value), contentType: 'application/json' }, ...systemMetadata ? { systemMetadata } : {} }))
        return { entityName: optionalText(body, 'entity') ?? urn.split(':')[2], aspectName, limit: values.length, values }
      }
    },
    getCount: {
      access: 'read',
      run: async (body) => countAspect(db, textField(body, 'aspect'), optionalText(body, 'urnLike') ?? null)
    }
  })
}
