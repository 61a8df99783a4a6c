/** Recognises a submission whose Idempotency-Key was used before, and finds its load. */
import { CatalogError } from '../../errors.ts'
import type { Db } from '../../db/database.ts'
import { limits } from '../../limits.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { findKeyedLoad, type KeyedLoad } from '../../store/loads.ts'
import { abortUpload, reasonGivenUp } from './abort-upload.ts'
import { acceptReceivedLoad } from './accept-load.ts'
import { digestingBody } from './idempotency-key.ts'
import { submissionOf, type LoadRequest } from './load-request.ts'

/** How long a client must wait before it sends a load again that is still being received. */
const retryAfterSeconds = 5

/**
 * Returns the id of the load that the key belongs to; null if the key is free.
 *
 * Reads the body to its end to compare it, and stores nothing. An upload without a heartbeat for
 * uploadSilentMaxSeconds is aborted here: its process has died, and the client need not wait for a sweeper. So is
 * one that this process has refused. A
 * load whose process died after the end of its body is accepted here.
 *
 * Throws CONFLICT (with a time to wait) while the first submission is still being received,
 * IDEMPOTENCY_MISMATCH for another body or other parameters, and what the body throws.
 */
export async function replayLoad(
  db: Db,
  queue: ChunkQueue,
  { request, key, told: optionText }: { request: LoadRequest; key: string; told: string | null },
  body: AsyncIterable<Buffer>
): Promise<string | null> {
  const known = await findKeyedLoad(
    db,
    { actor: request.actor.urn, tokenId: request.actor.tokenId, idempotencyKey: key },
    limits.uploadSilentMaxSeconds
  )
  if (!known) return null
  if (!known.hasWholeBody) {
    const reason = reasonGivenUp(known.id) ?? (known.isSilent ? 'The upload stopped before its end' : null)
    if (reason !== null && (await abortUpload(db, known.id, reason))) return null
    throw stillReceiving()
  }
  compareParameters(request, known)
  const { body: compared, digest } = digestingBody(body, optionText)
  for await (const part of compared) void part
  if (known.bodyDigest === null || !digest().equals(known.bodyDigest))
    throw new CatalogError(
      'IDEMPOTENCY_MISMATCH',
      optionText === null
        ? 'The Idempotency-Key belongs to a load with another body'
        : 'The Idempotency-Key belongs to a load with another body, or other owners, domains or namespace',
      { field: 'Idempotency-Key' }
    )
  if (known.state === 'receiving') await acceptReceivedLoad(db, queue, known.id)
  return known.id
}

const compared = [
  ['source', 'source'],
  ['mode', 'mode'],
  ['force', 'force'],
  ['isAtomic', 'atomic'],
  ['isDryRun', 'dryRun'],
  ['missingReferences', 'missingReferences']
] as const

function compareParameters(request: LoadRequest, known: KeyedLoad): void {
  // If the body decides the format, equal bodies have the same format.
  if (!new Set<string>([request.format].flat()).has(known.format))
    throw new CatalogError(
      'IDEMPOTENCY_MISMATCH',
      `The Idempotency-Key belongs to a load with format=${known.format}`,
      { field: 'format' }
    )
  const sent = submissionOf(known.id, request, {
    format: known.format,
    ...(known.format === 'dbt' ? { source: known.source } : {})
  })
  for (const [name, field] of compared) {
    if (sent[name] !== known[name])
      throw new CatalogError(
        'IDEMPOTENCY_MISMATCH',
        `The Idempotency-Key belongs to a load with ${field}=${known[name]}`,
        { field }
      )
  }
}

/** Also thrown for the later of two submissions that arrived at once. */
export const stillReceiving = (): CatalogError =>
  new CatalogError(
    'CONFLICT',
    'A load with this Idempotency-Key is still being received; send it again later',
    { field: 'Idempotency-Key', retryAfterSeconds }
  )
