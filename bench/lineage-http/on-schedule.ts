/** Calls at fixed times, whether or not earlier ones have been answered: a server that stands still is felt by all who come. */
import { setTimeout as sleep } from 'node:timers/promises'

const callEveryMs = 20

/** Milliseconds from when each call was due to its end. */
export async function callOnSchedule(seconds: number, call: () => Promise<void>): Promise<number[]> {
  const calls: Promise<number>[] = []
  const begun = performance.now()
  for (let due = begun; due < begun + seconds * 1_000; due += callEveryMs) {
    const early = due - performance.now()
    if (early > 0) await sleep(early)
    const sentMs = Math.max(due, begun)
    const answered = call().then(() => performance.now() - sentMs)
    // A failure is told at the end, by all of them together.
    answered.catch(() => {})
    calls.push(answered)
  }
  return Promise.all(calls)
}
