/** A deadline that Postgres enforces too: no query of a long read runs past it. */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { isStatementCancelled } from '../db/sql-errors.ts'
import { CatalogError } from '../errors.ts'

/**
 * Runs one query within the deadline. Throws DEADLINE_EXCEEDED if no time is left, and if Postgres cancels
 * the query.
 */
export type WithinDeadline = (<Result>(run: () => Promise<Result>) => Promise<Result>) & {
  /** Restarts the deadline with its full time. */
  renew: () => void
  /** Settings for the rest of the transaction, in one statement with the timeout: a search has few round trips. */
  set: (settings: Readonly<Record<string, string>>) => Promise<void>
}

/**
 * Enforces a deadline on the queries of a transaction, through its statement_timeout.
 *
 * The timeout is set again only when half of it has passed, so that a walk of many short hops does not pay a
 * second round trip for each. It overruns by at most a half. `what` tells the caller what took too long and
 * what to do.
 */
export function keepDeadline(tx: Tx, deadlineMs: number, what: string): WithinDeadline {
  let endsAt = Date.now() + deadlineMs
  let setMs = Infinity
  const exceeded = (cause?: unknown) =>
    new CatalogError('DEADLINE_EXCEEDED', what, {}, cause ? { cause } : undefined)
  const leftNow = (): number => {
    const leftMs = endsAt - Date.now()
    if (leftMs <= 0) throw exceeded()
    return leftMs
  }
  const send = async (settings: Readonly<Record<string, string>>): Promise<void> => {
    const leftMs = leftNow()
    const all = Object.entries({ ...settings, statement_timeout: String(leftMs) })
    await query(tx, `select ${all.map(() => 'set_config(?, ?, true)').join(', ')}`, all.flat())
    setMs = leftMs
  }
  const within = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    if (leftNow() <= setMs / 2) await send({})
    try {
      return await run()
    } catch (error) {
      if (isStatementCancelled(error)) throw exceeded(error)
      throw error
    }
  }
  const renew = (): void => {
    endsAt = Date.now() + deadlineMs
    // The timeout is not set again while half of the time or more is left.
    if (setMs < deadlineMs / 2) setMs = Infinity
  }
  return Object.assign(within, { renew, set: send })
}
