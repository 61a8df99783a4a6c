/**
 * Calls at fixed times, whether or not earlier ones have been answered: while a server stalls, every call
 * that is due counts.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const callEveryMs = 20

/** Milliseconds from the time at which each call was due until its end. */
export async function callOnSchedule(seconds: number, call: () => Promise<void>): Promise<number[]> {
  const calls: Promise<number>[] = []
  const begun = performance.now()
  for (let due = begun; due < begun + seconds * 1_000; due += callEveryMs) {
    const early = due - performance.now()
    if (early > 0) await sleep(early)
    const sentMs = Math.max(due, begun)
    const answered = call().then(() => performance.now() - sentMs)
    // Failures are collected, and reported at the end.
    answered.catch(() => {})
    calls.push(answered)
  }
  return Promise.all(calls)
}
