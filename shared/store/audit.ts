/** The audit trail: who changed what, appended in the transaction of the change and never altered. */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { JsonObject } from '../model/changes.ts'

export type AuditEntry = {
  actor: string
  tokenId: string | null
  operation: string
  seq: number | null
  loadId: string | null
  /** A chunk has one entry: writing it twice fails, so the chunk cannot be applied twice. */
  chunkId: number | null
  requestId: string | null
  details: JsonObject
}

export async function appendAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  await query(
    tx,
    `
    insert into audit (actor, token_id, operation, seq, load_id, chunk_id, request_id, details)
    values (?, ?::uuid, ?, ?::bigint, ?::uuid, ?::bigint, ?, ?::jsonb)`,
    [
      entry.actor,
      entry.tokenId,
      entry.operation,
      entry.seq,
      entry.loadId,
      entry.chunkId,
      entry.requestId,
      JSON.stringify(entry.details)
    ]
  )
}
