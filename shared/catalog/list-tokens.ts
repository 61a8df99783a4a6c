/** Tokens as an administrator sees them: everything but their texts. */
import type { Db } from '../db/database.ts'
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import { listTokenRows, type TokenRecord } from '../store/tokens.ts'

/** A page of tokens, newest first, the revoked and the expired among them. Throws BAD_REQUEST, LIMIT_EXCEEDED. */
export async function listTokens(db: Db, page: { start?: number | null, count?: number | null } = {}): Promise<{ start: number, total: number, tokens: TokenRecord[] }> {
  const start = page.start ?? 0
  const count = page.count ?? limits.pageDefaultCount
  if (start < 0 || count < 0) throw new CatalogError('BAD_REQUEST', 'start and count must not be negative', { field: start < 0 ? 'input.start' : 'input.count' })
  if (count > limits.pageMaxCount) {
    throw new CatalogError('LIMIT_EXCEEDED', `At most ${limits.pageMaxCount} tokens fit a page`, { field: 'input.count', limit: 'pageMaxCount', maximum: limits.pageMaxCount, actual: count })
  }
  return { start, ...await listTokenRows(db, { start, count }) }
}
