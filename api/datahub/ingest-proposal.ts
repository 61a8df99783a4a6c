/**
 * POST /aspects?action=: proposals (ingestProposal, ingestProposalBatch) as DataHub's emitters send them, and
 * reads by action.
 *
 * With `async` the proposals are checked, queued as a load and answered; the client follows them by
 * `traceparent`. Without it, a success answer means that they are applied and committed.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  ingestProposal,
  ingestProposalBatch,
  readProposals
} from '../../shared/catalog/write/ingest-proposals.ts'
import { queueProposals, type QueueOptions } from '../../shared/catalog/loads/queue-proposals.ts'
import { countAspect, readEvents } from '../../shared/catalog/entities/read-events.ts'
import { CatalogError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import { isObject } from '../../shared/model/json-values.ts'
import type { ApiContext } from '../context.ts'
import { missingReferencesOf } from './missing-references.ts'
import { addActions } from './restli-actions.ts'
import { optionalFlag, optionalInteger, optionalText, textField, urnField } from './restli-input.ts'

export function ingestProposalRoutes(app: FastifyInstance, { db, queue, config }: ApiContext): void {
  const optionsOf = (request: FastifyRequest): QueueOptions => ({
    actor: request.actor,
    requestId: request.id,
    missingReferences: missingReferencesOf(request, config.missingReferences),
    upsertReplaces: config.upsertReplaces,
    traceId: request.traceId
  })

  addActions(app, '/aspects', {
    ingestProposal: {
      access: 'write',
      run: async (body, request, warn) => {
        if (!isObject(body.proposal))
          throw new CatalogError('BAD_REQUEST', '`proposal` must be an object', { field: 'proposal' })
        const proposal = withPlainUrn(body.proposal)
        if (readAsync(body.async))
          await queueProposals(
            db,
            queue,
            readProposals([proposal], () => 'proposal'),
            optionsOf(request)
          )
        else await ingestProposal(db, proposal, { ...optionsOf(request), warn })
        return 'success'
      }
    },
    ingestProposalBatch: {
      access: 'write',
      run: async (body, request, warn) => {
        if (!Array.isArray(body.proposals))
          throw new CatalogError('BAD_REQUEST', '`proposals` must be a list', { field: 'proposals' })
        if (readAsync(body.async))
          await queueProposals(db, queue, readProposals(body.proposals), optionsOf(request))
        else await ingestProposalBatch(db, body.proposals, { ...optionsOf(request), warn })
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
        const values = events.map(({ value, systemMetadata }) => ({
          aspect: { value: JSON.stringify(value), contentType: 'application/json' },
          ...(systemMetadata ? { systemMetadata } : {})
        }))
        return {
          entityName: optionalText(body, 'entity') ?? urn.split(':')[2],
          aspectName,
          limit: values.length,
          values
        }
      }
    },
    getCount: {
      access: 'read',
      run: async (body) => countAspect(db, textField(body, 'aspect'), optionalText(body, 'urnLike') ?? null)
    }
  })
}

/**
 * Undoes the double escaping of DataHub's emitter: in a single proposal, each non-ASCII character of the URN
 * arrives as the six characters of an escape. The value of an aspect is JSON in a text, so parsing undoes it
 * there.
 */
function withPlainUrn(proposal: JsonObject): JsonObject {
  const { entityUrn } = proposal
  if (typeof entityUrn !== 'string' || !entityUrn.includes('\\u')) return proposal
  const plain = entityUrn.replaceAll(/\\u([\da-f]{4})/g, (escape, code: string) =>
    parseInt(code, 16) > 0x7f ? String.fromCharCode(parseInt(code, 16)) : escape
  )
  return { ...proposal, entityUrn: plain }
}

/** A text on the wire; false if absent. Throws BAD_REQUEST. */
function readAsync(sent: unknown): boolean {
  if (sent === undefined || sent === null || sent === 'false' || sent === false) return false
  if (sent === 'true' || sent === true) return true
  throw new CatalogError('BAD_REQUEST', '`async` must be "true" or "false"', {
    field: 'async',
    allowed: ['true', 'false']
  })
}
