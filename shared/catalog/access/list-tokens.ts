/** Lists tokens for an administrator, without their secrets. */
import type { Db } from '../../db/database.ts'
import { listTokenRows, type TokenRecord } from '../../store/tokens.ts'
import { pageCount, pageStart } from '../entities/page-count.ts'

type Page = {
  start?: number | null
  count?: number | null
  actorUrns?: readonly string[] | null
  ownerUrns?: readonly string[] | null
}

/**
 * A page of tokens, newest first, including revoked and expired ones; only those of the given actors and owners, if any (see listTokenRows).
 * Throws BAD_REQUEST, LIMIT_EXCEEDED.
 */
export async function listTokens(
  db: Db,
  page: Page = {}
): Promise<{ start: number; total: number; tokens: TokenRecord[] }> {
  const start = pageStart(page.start, 'input.start')
  const count = pageCount(page.count, 'input.count')
  return {
    start,
    ...(await listTokenRows(db, {
      start,
      count,
      actorUrns: page.actorUrns ?? null,
      ownerUrns: page.ownerUrns ?? null
    }))
  }
}
