/** Runs work in one transaction, and runs it again when Postgres rolls it back because of a conflict. */
import { setTimeout as sleep } from 'node:timers/promises'
import { metrics } from '../platform/metrics.ts'
import type { Db, Tx } from './database.ts'
import { isConflict, sqlState } from './sql-errors.ts'

export type TransactionOptions = {
  readOnly?: boolean
  /** READ COMMITTED by default. */
  isolation?: 'read committed' | 'repeatable read' | 'serializable'
}

/** All attempts, including the first. A conflict that lasts longer is not solved by a short wait. */
export const transactionMaxAttempts = 6
const retryBaseMs = 20
const retryCapMs = 1_000

/**
 * Commits everything that `work` did, or nothing. On 40001 and 40P01 `work` runs again, up to
 * transactionMaxAttempts times, after a random wait (full jitter: up to 20 ms, doubling, at most 1 s). So
 * `work` must have no effect outside the transaction. Work that has itself committed is never run again.
 * Other errors, and the last conflict, are thrown unchanged.
 */
export async function inTransaction<T>(
  db: Db,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {}
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    // Failures of work that had already committed: knex would swallow them.
    const afterCommit: unknown[] = []
    try {
      const result = await db.transaction(
        async (tx) => {
          try {
            return await work(tx)
          } catch (error) {
            if (tx.isCompleted()) afterCommit.push(error)
            throw error
          }
        },
        { isolationLevel: options.isolation ?? 'read committed', readOnly: options.readOnly ?? false }
      )
      if (afterCommit.length > 0) throw afterCommit[0]
      return result
    } catch (error) {
      if (afterCommit.length > 0 || !isConflict(error) || attempt === transactionMaxAttempts) throw error
      metrics.dbRetries.inc({ sqlstate: sqlState(error) ?? 'unknown' })
      await sleep(Math.random() * Math.min(retryCapMs, retryBaseMs * 2 ** (attempt - 1)))
    }
  }
}
