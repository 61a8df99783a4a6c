/** Runs work in one transaction, and again when Postgres rolled it back for a conflict. */
import { setTimeout as sleep } from 'node:timers/promises'
import { metrics } from '../platform/metrics.ts'
import type { Db, Tx } from './database.ts'
import { isConflict, sqlState } from './sql-errors.ts'

export type TransactionOptions = {
  readOnly?: boolean
  /** READ COMMITTED unless said otherwise. */
  isolation?: 'read committed' | 'repeatable read' | 'serializable'
}

/** Attempts in all: a conflict that lasts longer is not one that waiting a little solves. */
export const transactionMaxAttempts = 6
const retryBaseMs = 20
const retryCapMs = 1_000

/**
 * Commits what `work` did, or nothing of it. On 40001 and 40P01 it runs again, up to transactionMaxAttempts times, after
 * a random wait (full jitter: up to 20 ms, doubling, at most 1 s): `work` must have no effect outside the transaction.
 * Work that has committed by itself is never run again. Other errors, and the last conflict, are thrown as they come.
 */
export async function inTransaction<T>(
  db: Db,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {}
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    // work that commits by itself and then fails: knex would swallow the failure
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
