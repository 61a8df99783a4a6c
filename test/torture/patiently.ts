/** Repeats the torture's own queries while Postgres is down: they are not part of what is tested. */
import { setTimeout as sleep } from 'node:timers/promises'

const retryMs = 100
const giveUpAfterMs = 60_000

/**
 * Runs the work until it does not throw, and throws its error after a minute. Repeating `work` must be
 * harmless.
 */
export async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (const giveUpAt = Date.now() + giveUpAfterMs; ;) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > giveUpAt) throw error
      await sleep(retryMs)
    }
  }
}
