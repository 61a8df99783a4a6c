/**
 * Follows loads as they change. One query every half second serves all followers of a process. Without
 * followers there are no queries.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../db/database.ts'
import { outsideSpans } from '../../platform/tracing.ts'
import { findLoads } from '../../store/loads.ts'
import { hasEnded, toLoadView, type LoadView } from './read-load.ts'

export type LoadWatch = {
  /**
   * Yields the load now and whenever it has changed. Yields null if nothing has changed for a while, as a
   * heartbeat for the connection. Ends when the load has ended or is deleted, on the signal, when the watch
   * is closed, and after ten minutes. The client may then ask again.
   */
  follow(load: LoadView, signal: AbortSignal): AsyncGenerator<LoadView | null>
  /** Ends all followers. */
  close(): void
}

export type WatchPace = { pollMs: number; heartbeatMs: number; longestMs: number }

const watchPace: WatchPace = { pollMs: 500, heartbeatMs: 15_000, longestMs: 600_000 }

/** `wake` ends the current wait for a change. */
type Follower = { readonly id: string; latest: LoadView | null; wake: () => void }

export function createLoadWatch(db: Db, pace: WatchPace = watchPace): LoadWatch {
  const followers = new Set<Follower>()
  let isPolling = false
  let isClosed = false

  async function poll(): Promise<void> {
    isPolling = true
    while (followers.size > 0) {
      await sleep(pace.pollMs, undefined, { ref: false })
      try {
        await look()
      } catch {
        // If the database is unreachable, followers get heartbeats, and the changes when it is back.
      }
    }
    isPolling = false
  }

  async function look(): Promise<void> {
    const asked = [...followers]
    if (asked.length === 0) return
    const found = new Map(
      (await findLoads(db, [...new Set(asked.map(({ id }) => id))])).map((row) => [row.id, toLoadView(row)])
    )
    for (const follower of asked) {
      follower.latest = found.get(follower.id) ?? null
      follower.wake()
    }
  }

  async function* follow(load: LoadView, signal: AbortSignal): AsyncGenerator<LoadView | null> {
    const follower: Follower = { id: load.id, latest: load, wake: () => {} }
    const endsAt = Date.now() + pace.longestMs
    const stop = (): void => follower.wake()
    followers.add(follower)
    signal.addEventListener('abort', stop)
    if (!isPolling) void outsideSpans(poll)
    try {
      let shown = ''
      let shownAt = Date.now()
      while (!signal.aborted && !isClosed && Date.now() < endsAt && follower.latest) {
        const text = JSON.stringify(follower.latest)
        if (text !== shown || Date.now() - shownAt >= pace.heartbeatMs) {
          const isNew = text !== shown
          shown = text
          shownAt = Date.now()
          yield isNew ? follower.latest : null
          if (hasEnded(follower.latest)) return
        } else {
          await waitForNewer(follower, Math.max(1, shownAt + pace.heartbeatMs - Date.now()))
        }
      }
    } finally {
      signal.removeEventListener('abort', stop)
      followers.delete(follower)
    }
  }

  return {
    follow,
    close() {
      isClosed = true
      for (const follower of followers) follower.wake()
    }
  }
}

/** Waits until there is a newer result, or for `ms` milliseconds. */
function waitForNewer(follower: Follower, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    timer.unref()
    follower.wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}
