/** Checks in the middle of a long request that its token has not been ended since the request began. */
import type { Db } from '../../db/database.ts'
import type { Actor } from '../../model/changes.ts'
import { findToken } from '../../store/tokens.ts'
import { isOrphaned, type MakerRule } from './token-makers.ts'
import { unauthenticated } from './unauthenticated.ts'

/**
 * Throws UNAUTHENTICATED for a revoked token, or one whose maker is gone. An expired token passes: a request that began in time may end,
 * and JSON Web Tokens often last only a few minutes.
 */
export async function refuseRevoked(db: Db, { tokenId }: Actor, makerRule: MakerRule): Promise<void> {
  const token = tokenId === null ? null : await findToken(db, tokenId)
  if (token && (token.revokedAt !== null || isOrphaned(token, makerRule))) throw unauthenticated()
}
