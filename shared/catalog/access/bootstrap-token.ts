/**
 * Creates the first administrator's token of an empty catalog, exactly once even if several processes start
 * together.
 */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { CatalogError } from '../../errors.ts'
import { isTokenText, newTokenText } from '../../model/token-text.ts'
import { hasNoToken } from '../../store/tokens.ts'
import { writeToken } from './create-token.ts'

/**
 * Creates an administrator's token if the catalog has no token, with the text `wanted` or a new one. If it
 * has one, nothing is written, `created` is false and `token` is `wanted`. Throws BAD_REQUEST if `wanted`
 * cannot be a token.
 */
export async function bootstrapToken(db: Db, wanted?: string): Promise<{ token: string; created: boolean }> {
  if (wanted !== undefined && !isTokenText(wanted)) {
    throw new CatalogError(
      'BAD_REQUEST',
      'The bootstrap token must be a token that tributary made, or 16 to 255 visible ASCII characters that do not begin with trib_',
      { field: 'TRIBUTARY_BOOTSTRAP_TOKEN' }
    )
  }
  return inTransaction(db, async (tx) => {
    if (!(await hasNoToken(tx))) return { token: wanted ?? '', created: false }
    const { token } = await writeToken(
      tx,
      wanted ?? newTokenText(),
      { name: 'bootstrap', scopes: ['admin'], actorUrn: 'urn:li:corpuser:admin', domains: null },
      null
    )
    return { token, created: true }
  })
}
