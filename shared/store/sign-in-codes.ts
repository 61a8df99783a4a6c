/**
 * The table sign_in_code: one-time codes of sign-in links, by their hash, with the token that each signs in.
 */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'

/** Writes a code that expires after `seconds`, and deletes all codes that have expired. */
export async function insertSignInCode(
  tx: Tx,
  { codeHash, tokenId, seconds }: { codeHash: Buffer; tokenId: string; seconds: number }
): Promise<void> {
  await query(tx, 'delete from sign_in_code where expires_at < now()')
  await query(
    tx,
    `
    insert into sign_in_code (code_hash, token_id, expires_at)
    values (?::bytea, ?::uuid, now() + ?::int * interval '1 second')`,
    [codeHash, tokenId, seconds]
  )
}

/**
 * Uses a code. Returns the id of its token, or null if the code does not exist or has expired. If two
 * requests use it at once, only one gets the token.
 */
export async function takeSignInCode(tx: Tx, codeHash: Buffer): Promise<string | null> {
  const [row] = await query<{ tokenId: string }>(
    tx,
    'delete from sign_in_code where code_hash = ? and expires_at > now() returning token_id as "tokenId"',
    [codeHash]
  )
  return row?.tokenId ?? null
}
