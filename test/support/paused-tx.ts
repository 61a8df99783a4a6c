/**
 * A transaction that pauses before a statement until it is released: tests choose interleavings without
 * sleeping.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db, Tx } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'

export type Paused<T> = {
  /** Resolves when the work has paused before the statement, or has ended without reaching it. */
  reached: Promise<void>
  goOn: () => void
  done: Promise<PromiseSettledResult<T>>
}

/** A promise that is resolved by `open`. */
export function latch(): { opened: Promise<void>; open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/**
 * Runs work in a transaction that pauses before the first matching statement; a COPY matches as `copy`,
 * whatever its text.
 */
export function pausedBefore<T>(db: Db, statement: RegExp, work: (tx: Tx) => Promise<T>): Paused<T> {
  const reached = latch()
  const released = latch()
  let isOpen = false
  async function pauseBefore(sql: string): Promise<void> {
    if (isOpen || !statement.test(sql)) return
    reached.open()
    await released.opened
    isOpen = true
  }
  const done = db.transaction(async (tx: Tx) =>
    work(
      new Proxy(tx, {
        get(target, name, receiver) {
          if (name === 'raw') {
            return async (sql: string, bindings: never) => {
              await pauseBefore(sql)
              return target.raw(sql, bindings)
            }
          }
          if (name === 'client') {
            return {
              // Of what pauses, only COPY asks for the connection itself: shared/db/copy-in.ts.
              async acquireConnection() {
                await pauseBefore('copy')
                return target.client.acquireConnection()
              }
            }
          }
          return Reflect.get(target, name, receiver) as unknown
        }
      })
    )
  )
  const settled = Promise.allSettled([done]).then(([result]) => {
    reached.open()
    return result
  })
  return { reached: reached.opened, goOn: released.open, done: settled }
}

/** Resolves when the work has ended, or a session of this database waits for a lock. */
export async function endedOrBlocked(db: Db, work: Promise<unknown>): Promise<void> {
  let hasEnded = false
  void work.then(
    () => {
      hasEnded = true
    },
    () => {
      hasEnded = true
    }
  )
  while (!hasEnded) {
    const waiting = await query(
      db,
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    )
    if (waiting.length > 0) return
    await sleep(5)
  }
}
