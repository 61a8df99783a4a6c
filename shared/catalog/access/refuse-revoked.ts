/** Checks in the middle of a long request that its token was not revoked since the request began. */
import type { Db } from '../../db/database.ts'
import type { Actor } from '../../model/changes.ts'
import { isRevoked } from '../../store/tokens.ts'
import { unauthenticated } from './unauthenticated.ts'

/**
 * Throws UNAUTHENTICATED for a revoked token. An expired token passes: a request that began in time may end,
 * and JSON Web Tokens often last only a few minutes.
 */
export async function refuseRevoked(db: Db, { tokenId }: Actor): Promise<void> {
  if (tokenId !== null && (await isRevoked(db, tokenId))) throw unauthenticated()
}
