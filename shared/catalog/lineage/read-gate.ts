/** The turns of heavy reads: how many run at once, how many wait, and what a caller is told that gets none. */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { metrics } from '../../platform/metrics.ts'
import { createTurns, type Turns } from '../../platform/turns.ts'

/**
 * `enter` throws RATE_LIMITED if this caller has too many waiting reads, and OVERLOADED if all callers together
 * have too many, or if the read could not begin in time.
 */
export type ReadGate = Pick<Turns, 'enter'>

export type ReadGateBounds = {
  atOnce: number
  perCaller?: number
  waitingMaxCount?: number
  waitingPerCallerMaxCount?: number
  waitMaxMs?: number
}

const retryAfterSeconds = 1

export function createReadGate({
  atOnce,
  perCaller = atOnce,
  waitingMaxCount = limits.heavyReadsWaitingMaxCount,
  waitingPerCallerMaxCount = limits.heavyReadsWaitingPerTokenMaxCount,
  waitMaxMs = limits.heavyReadWaitMaxMs
}: ReadGateBounds): ReadGate {
  return createTurns({
    atOnce,
    perCaller,
    waitingMaxCount,
    waitingPerCallerMaxCount,
    waitMaxMs,
    refuse: (why) =>
      why === 'callerFull'
        ? refused(
            'RATE_LIMITED',
            `${waitingPerCallerMaxCount} heavy reads of this token are waiting already; send fewer at once`,
            'heavyReadsWaitingPerTokenMaxCount',
            waitingPerCallerMaxCount
          )
        : why === 'full'
          ? refused(
              'OVERLOADED',
              `${waitingMaxCount} heavy reads are waiting already; send it again`,
              'heavyReadsWaitingMaxCount',
              waitingMaxCount
            )
          : refused(
              'OVERLOADED',
              `the read waited ${waitMaxMs / 1_000} s for others to end; send it again`,
              'heavyReadWaitMaxMs',
              waitMaxMs
            )
  })
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
