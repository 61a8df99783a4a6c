/** The bulk twin of the synchronous mutations: the same changes as a load, through the same pipeline as an upload. */
import { randomUUID } from 'node:crypto'
import { CatalogError } from '../errors.ts'
import type { Db } from '../db/database.ts'
import type { Actor, JsonObject, MissingReferences } from '../model/changes.ts'
import { checkCount } from '../model/count-checks.ts'
import type { ChunkQueue } from '../queue/chunk-queue.ts'
import { checkedSource } from './load-source.ts'
import { readLoad, type LoadView } from './read-load.ts'
import { receiveLoad } from './receive-load.ts'

type Edge = { upstreamUrn: string, downstreamUrn: string }

/** Absent lists are empty ones. `source` names who states the edges; `manual` where absent. */
export type SubmittedChanges = {
  createDomains?: readonly { id?: string | null, name: string, description?: string | null, parentDomain?: string | null }[] | null
  edgesToAdd?: readonly Edge[] | null
  edgesToRemove?: readonly Edge[] | null
  setDomains?: readonly { entityUrn: string, domainUrn: string }[] | null
  unsetDomains?: readonly { entityUrn: string }[] | null
  source?: string | null
}

export type SubmitContext = { actor: Actor, requestId: string | null, missingReferences: MissingReferences }

/**
 * Accepts the changes and answers with the load. Their order is: domains, edges to add, edges to remove (a removal wins),
 * domains to set, domains to unset; line numbers of rejects count in that order from 1.
 *
 * Throws BAD_REQUEST for no changes at all, LIMIT_EXCEEDED (edgesPerCallMaxCount, over all lists), and what receiveLoad throws.
 */
export async function submitChanges(db: Db, queue: ChunkQueue, input: SubmittedChanges, context: SubmitContext): Promise<LoadView> {
  const records = recordsOf(input)
  if (records.length === 0) throw new CatalogError('BAD_REQUEST', 'There are no changes', { field: 'input' })
  checkCount(records.length, 'edgesPerCallMaxCount', { field: 'input', what: `${records.length} changes in one call`, wayOut: 'Send more as a load (POST /loads)' })
  const source = checkedSource(input.source ?? 'manual', 'input.source')
  const id = await receiveLoad(db, queue, { ...context, format: 'ndjson', source }, asBody(records))
  return readLoad(db, context.actor, id)
}

function recordsOf(input: SubmittedChanges): JsonObject[] {
  return [
    ...(input.createDomains ?? []).map(({ id, name, description, parentDomain }) => ({
      op: 'createDomain', id: id ?? randomUUID(), name, ...(description == null ? {} : { description }), ...(parentDomain == null ? {} : { parentDomain })
    })),
    ...(input.edgesToAdd ?? []).map(({ upstreamUrn, downstreamUrn }) => ({ upstreamUrn, downstreamUrn })),
    ...(input.edgesToRemove ?? []).map(({ upstreamUrn, downstreamUrn }) => ({ op: 'removeEdge', upstreamUrn, downstreamUrn })),
    ...(input.setDomains ?? []).map(({ entityUrn, domainUrn }) => ({ op: 'setDomain', entityUrn, domainUrn })),
    ...(input.unsetDomains ?? []).map(({ entityUrn }) => ({ op: 'unsetDomain', entityUrn }))
  ]
}

async function* asBody(records: readonly JsonObject[]): AsyncGenerator<Buffer> {
  for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`)
}
