/**
 * Keeps results that clients page through in the memory of the process that found them, so that all pages of
 * a scroll are of one snapshot. Bounded in ids and in age; a page whose result was dropped walks again.
 */
import { limits } from '../../limits.ts'

export type HeldResults<Result> = {
  /** The result that a scroll began with. */
  ofScroll: (identity: string, fingerprint: number) => Result | null
  /** The last result of a question. The caller must check that the graph still has the same version. */
  ofQuestion: (identity: string) => Result | null
  /** `size` is the number of ids in the result. A result larger than the whole cache is not kept. */
  hold: (identity: string, fingerprint: number, result: Result, size: number) => void
}

type Held<Result> = { identity: string; result: Result; size: number; endsAt: number }

/**
 * The least recently used results are dropped first; each is kept for `maxAgeMs` after its last use. `now` is
 * in milliseconds.
 */
export function holdResults<Result>({
  maxIds,
  maxAgeMs,
  now = Date.now
}: {
  maxIds: number
  maxAgeMs: number
  now?: () => number
}): HeldResults<Result> {
  // A Map keeps the order of insertion, so the first entry is the least recently used.
  const held = new Map<string, Held<Result>>()
  const latest = new Map<string, string>()
  let size = 0

  const drop = (key: string): void => {
    const found = held.get(key)
    if (!found) return
    held.delete(key)
    size -= found.size
    if (latest.get(found.identity) === key) latest.delete(found.identity)
  }
  const use = (key: string): Result | null => {
    const found = held.get(key)
    if (!found) return null
    if (found.endsAt <= now()) {
      drop(key)
      return null
    }
    held.delete(key)
    held.set(key, { ...found, endsAt: now() + maxAgeMs })
    return found.result
  }
  const resultKey = (identity: string, fingerprint: number): string => `${identity} ${fingerprint}`

  return {
    ofScroll: (identity, fingerprint) => use(resultKey(identity, fingerprint)),
    ofQuestion: (identity) => {
      const key = latest.get(identity)
      return key === undefined ? null : use(key)
    },
    hold: (identity, fingerprint, result, own) => {
      const key = resultKey(identity, fingerprint)
      drop(key)
      if (own > maxIds) return
      held.set(key, { identity, result, size: own, endsAt: now() + maxAgeMs })
      latest.set(identity, key)
      size += own
      for (const [oldest, { endsAt }] of held) {
        if (size <= maxIds && endsAt > now()) break
        drop(oldest)
      }
    }
  }
}

/** The bounds of one API process. */
export const heldResultsBounds = {
  maxIds: limits.heldResultsMaxIds,
  maxAgeMs: limits.heldResultMaxSeconds * 1_000
}
