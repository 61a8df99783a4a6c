/** Which tokens end with the people who made them, by OIDC_ABSENT_DAYS, and the log's word on those whose maker is gone. */
import type { MakerRule } from '../../shared/catalog/access/token-makers.ts'
import type { Config } from '../../shared/platform/config.ts'
import type { Log } from '../../shared/platform/log.ts'

/** A token is named again after this time: a program that uses one does so all the time. */
const silenceMs = 3_600_000
const namedMaxCount = 1_000

export function openMakerRule(
  { oidcAbsentDays }: Config,
  log: Log,
  nowMs: () => number = Date.now
): MakerRule {
  const namedAt = new Map<string, number>()
  return {
    absentMaxDays: oidcAbsentDays,
    onMakerGone({ id, name, makerUrn }, isKept) {
      const now = nowMs()
      if (now - (namedAt.get(id) ?? -Infinity) < silenceMs) return
      if (namedAt.size >= namedMaxCount) namedAt.clear()
      namedAt.set(id, now)
      log.warn(
        { tokenId: id, token: name, maker: makerUrn },
        isKept
          ? 'the maker of a token is gone, and OIDC_ABSENT_DAYS=0 keeps the token'
          : 'a token has ended, because its maker is gone'
      )
    }
  }
}
