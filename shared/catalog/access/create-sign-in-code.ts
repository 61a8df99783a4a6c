/** Creates the one-time code of a sign-in link. Only for an operator with access to the database. */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { hashSessionText, newSignInCode } from '../../model/session-text.ts'
import { isUuid } from '../../model/text-checks.ts'
import { hashToken, isTokenText } from '../../model/token-text.ts'
import { appendAudit } from '../../store/audit.ts'
import { insertSignInCode } from '../../store/sign-in-codes.ts'
import { findValidToken, findValidTokenById, type TokenRecord } from '../../store/tokens.ts'

/** The token to sign in with, by its text or its id. */
export type TokenReference = { token: string } | { tokenId: string }

/**
 * The code signs in one browser with the rights of the token, once, within signInCodeMaxSeconds. Only its
 * hash is stored. Throws NOT_FOUND if the token is unknown, expired or revoked.
 */
export function createSignInCode(
  db: Db,
  reference: TokenReference
): Promise<{ code: string; token: TokenRecord }> {
  const code = newSignInCode()
  return inTransaction(db, async (tx) => {
    const token = await findToken(tx, reference)
    if (!token) throw new CatalogError('NOT_FOUND', 'The token is unknown, expired or revoked')
    await insertSignInCode(tx, {
      codeHash: hashSessionText(code),
      tokenId: token.id,
      seconds: limits.signInCodeMaxSeconds
    })
    await appendAudit(tx, {
      actor: token.actorUrn,
      tokenId: token.id,
      operation: 'createSignInCode',
      seq: null,
      loadId: null,
      chunkId: null,
      requestId: null,
      details: {}
    })
    return { code, token }
  })
}

async function findToken(tx: Tx, reference: TokenReference): Promise<TokenRecord | null> {
  if ('token' in reference)
    return isTokenText(reference.token) ? findValidToken(tx, hashToken(reference.token)) : null
  return isUuid(reference.tokenId) ? findValidTokenById(tx, reference.tokenId) : null
}
