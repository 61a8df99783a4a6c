/** Limits how many long requests run at once, in this process and for one token. Nobody waits for a place. */
import { CatalogError } from '../shared/errors.ts'
import { limits, type LimitName } from '../shared/limits.ts'
import type { Actor } from '../shared/model/changes.ts'
import { callerOf, createTurns } from '../shared/platform/turns.ts'

export type Places = {
  /** Takes a place. The returned function gives it back; calling it again does nothing. Throws the error of the refusal. */
  take(actor: Actor): () => void
}

/**
 * `says` gets the exceeded limit, and returns the rest of a sentence that begins with "This process" or "For
 * one token, this process".
 */
type Refusal = {
  code: 'RATE_LIMITED' | 'OVERLOADED'
  says: (maximum: number) => string
  retryAfterSeconds: number
}

/** `ofAll` limits the process and `ofToken` each token. */
export function createPlaces(
  ofAll: LimitName,
  ofToken: LimitName,
  { code, says, retryAfterSeconds }: Refusal
): Places {
  const turns = createTurns({
    atOnce: limits[ofAll],
    perCaller: limits[ofToken],
    refuse(why) {
      const [limit, whose] =
        why === 'callerBusy' ? [ofToken, 'For one token, this process'] : [ofAll, 'This process']
      const maximum = limits[limit]
      return new CatalogError(code, `${whose} ${says(maximum)}`, { limit, maximum, retryAfterSeconds })
    }
  })
  return { take: (actor) => turns.take(callerOf(actor)) }
}
