/**
 * Limits how many heavy reads run at once. The others wait in a bounded queue that serves callers in turn, so
 * a caller gains nothing by asking more often.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { metrics } from '../../platform/metrics.ts'

export type ReadGate = {
  /**
   * Resolves with a function to call once when the read has ended. Throws RATE_LIMITED if this caller has too
   * many waiting reads, and OVERLOADED if all callers together have too many, or if the read could not begin
   * in time.
   */
  enter: (caller: string) => Promise<() => void>
}

export type ReadGateBounds = {
  atOnce: number
  waitingMaxCount?: number
  waitingPerCallerMaxCount?: number
  waitMaxMs?: number
}

const retryAfterSeconds = 1

export function createReadGate({
  atOnce,
  waitingMaxCount = limits.heavyReadsWaitingMaxCount,
  waitingPerCallerMaxCount = limits.heavyReadsWaitingPerTokenMaxCount,
  waitMaxMs = limits.heavyReadWaitMaxMs
}: ReadGateBounds): ReadGate {
  /** The waiting reads by caller, the next caller first. */
  const waiting = new Map<string, (() => void)[]>()
  let waitingCount = 0
  let runningCount = 0

  function leave(): void {
    runningCount -= 1
    for (const [caller, begins] of waiting) {
      const begin = begins.shift()
      // A caller that has had a turn moves to the end.
      waiting.delete(caller)
      if (begins.length > 0) waiting.set(caller, begins)
      if (begin) return begin()
    }
  }

  function leaveOnce(): () => void {
    runningCount += 1
    let hasLeft = false
    return () => {
      if (!hasLeft) leave()
      hasLeft = true
    }
  }

  function wait(caller: string): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const begins = waiting.get(caller) ?? []
      const begin = (): void => {
        waitingCount -= 1
        clearTimeout(timer)
        resolve(leaveOnce())
      }
      const timer = setTimeout(() => {
        begins.splice(begins.indexOf(begin), 1)
        if (begins.length === 0 && waiting.get(caller) === begins) waiting.delete(caller)
        waitingCount -= 1
        reject(
          refused(
            'OVERLOADED',
            `the read waited ${waitMaxMs / 1_000} s for others to end; send it again`,
            'heavyReadWaitMaxMs',
            waitMaxMs
          )
        )
      }, waitMaxMs)
      begins.push(begin)
      waiting.set(caller, begins)
      waitingCount += 1
    })
  }

  return {
    async enter(caller) {
      if (runningCount < atOnce) return leaveOnce()
      if ((waiting.get(caller)?.length ?? 0) >= waitingPerCallerMaxCount) {
        throw refused(
          'RATE_LIMITED',
          `${waitingPerCallerMaxCount} heavy reads of this token are waiting already; send fewer at once`,
          'heavyReadsWaitingPerTokenMaxCount',
          waitingPerCallerMaxCount
        )
      }
      if (waitingCount >= waitingMaxCount)
        throw refused(
          'OVERLOADED',
          `${waitingMaxCount} heavy reads are waiting already; send it again`,
          'heavyReadsWaitingMaxCount',
          waitingMaxCount
        )
      return wait(caller)
    }
  }
}

function refused(
  code: 'RATE_LIMITED' | 'OVERLOADED',
  message: string,
  limit: 'heavyReadWaitMaxMs' | 'heavyReadsWaitingMaxCount' | 'heavyReadsWaitingPerTokenMaxCount',
  maximum: number
): CatalogError {
  metrics.readsRefused.inc({ code })
  return new CatalogError(code, message, { limit, maximum, retryAfterSeconds })
}
