/**
 * Whether a token still counts that a user of the identity provider made: not while that user is gone. A user
 * without a role is gone, and so is one who has not signed in for a while.
 */
import type { Tx } from '../../db/database.ts'
import { appendAudit } from '../../store/audit.ts'
import { lockTokensOfMaker, revokeTokenRow, type Holder, type TokenRecord } from '../../store/tokens.ts'
import type { Urn } from '../../urn/urn.ts'

export type MakerRule = {
  /** After how many days without a sign-in a user is gone; 0 lets tokens outlive their makers. */
  absentMaxDays: number
  /** Is told of each token whose maker is gone; `isKept` is true if it counts nevertheless. */
  onMakerGone: (token: TokenRecord, isKept: boolean) => void
}

/** Tokens end with their makers, and nobody is told. */
export const strictMakerRule: MakerRule = { absentMaxDays: 30, onMakerGone: () => {} }

/** Whether the token has ended because its maker is gone. Tells the rule of one whose maker is gone. */
export function isOrphaned(token: TokenRecord, rule: MakerRule): boolean {
  const { makerState } = token
  if (makerState === null) return false
  const isAbsent = rule.absentMaxDays > 0 && makerState.absentDays >= rule.absentMaxDays
  if (makerState.hasRole && !isAbsent) return false
  const isKept = rule.absentMaxDays === 0
  rule.onMakerGone(token, isKept)
  return !isKept
}

/**
 * Revokes all tokens of a user who has lost every role, unless the rule keeps them, and returns them. They do
 * not come back with a later role.
 */
export async function endTokensOfMaker(
  tx: Tx,
  maker: Holder,
  { actorUrn, rule }: { actorUrn: Urn; rule: MakerRule }
): Promise<TokenRecord[]> {
  const tokens = await lockTokensOfMaker(tx, maker)
  if (rule.absentMaxDays === 0) return tokens
  for (const { id, name } of tokens) {
    await revokeTokenRow(tx, id)
    await appendAudit(tx, {
      actor: actorUrn,
      tokenId: null,
      operation: 'revokeAccessToken',
      seq: null,
      loadId: null,
      chunkId: null,
      requestId: null,
      details: { tokenId: id, name, reason: 'its maker has no role any more' }
    })
  }
  return tokens
}

/** What a person who makes a token is told; null for a token that ends with nobody. */
export function lifeOf({ makerState }: TokenRecord, absentMaxDays: number): string | null {
  if (makerState === null || absentMaxDays === 0) return null
  return `This token ends when you have no role in this catalog any more. It also does not count while you have not signed in for ${absentMaxDays} days.`
}
