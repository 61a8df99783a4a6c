/**
 * Ends an access token. It is refused everywhere within a second, because authenticate.ts caches results for
 * that long.
 */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { CatalogError } from '../../errors.ts'
import { isUuid } from '../../model/text-checks.ts'
import { appendAudit } from '../../store/audit.ts'
import { revokeTokenRow, type TokenRecord } from '../../store/tokens.ts'
import type { TokenCaller } from './create-token.ts'

/** Revoking twice is not an error. Throws NOT_FOUND. */
export function revokeToken(db: Db, id: string, caller: TokenCaller = null): Promise<TokenRecord> {
  return inTransaction(db, async (tx) => {
    const record = isUuid(id) ? await revokeTokenRow(tx, id) : null
    if (!record) throw new CatalogError('NOT_FOUND', 'No token has this id', { field: 'tokenId' })
    await appendAudit(tx, {
      actor: caller?.actor.urn ?? record.actorUrn,
      tokenId: caller?.actor.tokenId ?? null,
      operation: 'revokeAccessToken',
      seq: null,
      loadId: null,
      chunkId: null,
      requestId: caller?.requestId ?? null,
      details: { tokenId: record.id, name: record.name }
    })
    return record
  })
}
