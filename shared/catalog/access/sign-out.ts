/**
 * Ends browser sessions: one, or all of a person. When the call returns, they have ended on every process.
 */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { JsonObject } from '../../model/changes.ts'
import { hashSessionText } from '../../model/session-text.ts'
import { appendAudit } from '../../store/audit.ts'
import { deleteSession, deleteSessionsOfHolder } from '../../store/web-sessions.ts'
import type { WebSession } from './open-session.ts'

type Call = { session: WebSession; requestId: string }

/** Ends this session. */
export function signOut(db: Db, call: Call): Promise<void> {
  return inTransaction(db, async (tx) => {
    await deleteSession(tx, hashSessionText(call.session.id))
    await record(tx, 'signOut', call, {})
  })
}

/**
 * Ends every session of the same person, whichever token it was made from (see deleteSessionsOfHolder).
 * Returns how many.
 */
export function signOutEverywhere(db: Db, call: Call): Promise<number> {
  return inTransaction(db, async (tx) => {
    const { tokenId } = call.session.actor
    const count = tokenId === null ? 0 : await deleteSessionsOfHolder(tx, tokenId)
    await record(tx, 'signOutEverywhere', call, { sessions: count })
    return count
  })
}

async function record(
  tx: Tx,
  operation: string,
  { session, requestId }: Call,
  details: JsonObject
): Promise<void> {
  await appendAudit(tx, {
    actor: session.actor.urn,
    tokenId: session.actor.tokenId,
    operation,
    seq: null,
    loadId: null,
    chunkId: null,
    requestId,
    details
  })
}
