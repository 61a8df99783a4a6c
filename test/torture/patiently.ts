/** Asks Postgres again while a torture has it down: the torture's own questions are no part of what is tested. */
import { setTimeout as sleep } from 'node:timers/promises'

const retryMs = 100
const giveUpAfterMs = 60_000

/** Runs the work until it does not throw. Throws its error where it still does after a minute; `work` must be harmless to repeat. */
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
