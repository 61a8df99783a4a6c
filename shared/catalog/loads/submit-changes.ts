/** Submits the changes of the synchronous mutations as a load, through the same pipeline as an upload. */
import { createHash, randomUUID } from 'node:crypto'
import { CatalogError } from '../../errors.ts'
import type { Db } from '../../db/database.ts'
import { inWriteTurn } from '../../db/write-turns.ts'
import type { Actor, JsonObject, MissingReferences } from '../../model/changes.ts'
import { checkCount } from '../../model/count-checks.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { checkedIdempotencyKey } from './idempotency-key.ts'
import { checkedSource } from './load-source.ts'
import { readLoad, type LoadView } from './read-load.ts'
import { receiveLoad } from './receive-load.ts'

type Edge = { upstreamUrn: string; downstreamUrn: string }

/** A missing list counts as empty. `source` is the source of the edges; `manual` if absent. */
export type SubmittedChanges = {
  createDomains?:
    | readonly {
        id?: string | null
        name: string
        description?: string | null
        parentDomain?: string | null
      }[]
    | null
  edgesToAdd?: readonly Edge[] | null
  edgesToRemove?: readonly Edge[] | null
  setDomains?: readonly { entityUrn: string; domainUrn: string }[] | null
  unsetDomains?: readonly { entityUrn: string }[] | null
  source?: string | null
  idempotencyKey?: string | null
  atomic?: boolean | null
  dryRun?: boolean | null
}

export type SubmitContext = { actor: Actor; requestId: string | null; missingReferences: MissingReferences }

/**
 * Accepts the changes and returns the load. Their order is: domains, edges to add, edges to remove (a removal
 * wins), domains to set, domains to unset. The line numbers of rejects count in that order from 1. Throws
 * BAD_REQUEST if there are no changes, LIMIT_EXCEEDED (edgesPerCallMaxCount, over all lists), and what
 * receiveLoad throws.
 */
export async function submitChanges(
  db: Db,
  queue: ChunkQueue,
  input: SubmittedChanges,
  context: SubmitContext
): Promise<LoadView> {
  const idempotencyKey =
    input.idempotencyKey == null ? null : checkedIdempotencyKey(input.idempotencyKey, 'input.idempotencyKey')
  const records = recordsOf(
    input,
    idempotencyKey === null ? randomUUID : idsOf(`${context.actor.tokenId} ${idempotencyKey}`)
  )
  if (records.length === 0) throw new CatalogError('BAD_REQUEST', 'There are no changes', { field: 'input' })
  checkCount(records.length, 'edgesPerCallMaxCount', {
    field: 'input',
    what: `${records.length} changes in one call`,
    wayOut: 'Send more as a load (POST /loads)'
  })
  const source = checkedSource(input.source ?? 'manual', 'input.source')
  const { id } = await inWriteTurn(db, { actor: context.actor, keys: [] }, () =>
    receiveLoad(
      db,
      queue,
      {
        ...context,
        format: 'ndjson',
        source,
        idempotencyKey,
        isAtomic: input.atomic ?? false,
        isDryRun: input.dryRun ?? false
      },
      asBody(records)
    )
  )
  return readLoad(db, context.actor, id)
}

function recordsOf(input: SubmittedChanges, newId: () => string): JsonObject[] {
  return [
    ...(input.createDomains ?? []).map(({ id, name, description, parentDomain }) => ({
      op: 'createDomain',
      id: id ?? newId(),
      name,
      ...(description == null ? {} : { description }),
      ...(parentDomain == null ? {} : { parentDomain })
    })),
    ...(input.edgesToAdd ?? []).map(({ upstreamUrn, downstreamUrn }) => ({ upstreamUrn, downstreamUrn })),
    ...(input.edgesToRemove ?? []).map(({ upstreamUrn, downstreamUrn }) => ({
      op: 'removeEdge',
      upstreamUrn,
      downstreamUrn
    })),
    ...(input.setDomains ?? []).map(({ entityUrn, domainUrn }) => ({
      op: 'setDomain',
      entityUrn,
      domainUrn
    })),
    ...(input.unsetDomains ?? []).map(({ entityUrn }) => ({ op: 'unsetDomain', entityUrn }))
  ]
}

/**
 * With a key, the same input gets the same ids, so that a repeated request is recognised and creates nothing
 * twice.
 */
function idsOf(seed: string): () => string {
  let count = 0
  return () => {
    count += 1
    const hex = createHash('sha256').update(`${seed} ${count}`).digest('hex')
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `8${hex.slice(13, 16)}`,
      `8${hex.slice(17, 20)}`,
      hex.slice(20, 32)
    ].join('-')
  }
}

async function* asBody(records: readonly JsonObject[]): AsyncGenerator<Buffer> {
  for (const record of records) yield Buffer.from(`${JSON.stringify(record)}\n`)
}
