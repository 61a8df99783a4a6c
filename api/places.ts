/** Limits how many long requests run at once, in this process and for one token, so that no token can take every place. */
import { CatalogError } from '../shared/errors.ts'
import { limits, type LimitName } from '../shared/limits.ts'
import type { Actor } from '../shared/model/changes.ts'

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
export function createPlaces(ofAll: LimitName, ofToken: LimitName, refusal: Refusal): Places {
  const taken = new Map<string, number>()
  let all = 0
  const refuse = (limit: LimitName, whose: string): CatalogError => {
    const maximum = limits[limit]
    const { code, says, retryAfterSeconds } = refusal
    return new CatalogError(code, `${whose} ${says(maximum)}`, { limit, maximum, retryAfterSeconds })
  }
  return {
    take({ tokenId, urn }) {
      const key = tokenId ?? urn
      const own = taken.get(key) ?? 0
      if (all >= limits[ofAll]) throw refuse(ofAll, 'This process')
      if (own >= limits[ofToken]) throw refuse(ofToken, 'For one token, this process')
      all += 1
      taken.set(key, own + 1)
      let isFree = false
      return () => {
        if (isFree) return
        isFree = true
        all -= 1
        const left = (taken.get(key) ?? 1) - 1
        if (left === 0) taken.delete(key)
        else taken.set(key, left)
      }
    }
  }
}
