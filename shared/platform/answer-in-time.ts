/** For checks that must answer soon, whatever they check. */
import { setTimeout as sleep } from 'node:timers/promises'

/** The answer, or `late` if it takes longer than `ms`. Rejects as the answer does. */
export async function answerInTime<T>(ms: number, answer: Promise<T>, late: T): Promise<T> {
  const abort = new AbortController()
  // The answer may fail after its time, when nobody waits for it.
  answer.catch(() => {})
  try {
    return await Promise.race([
      answer,
      sleep(ms, late, { signal: abort.signal, ref: false }).catch(() => late)
    ])
  } finally {
    abort.abort()
  }
}
