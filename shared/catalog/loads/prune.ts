/**
 * Deletes data that is kept only for a time: the order of finished changes, the change log, old loads and
 * OpenLineage events, sessions that have ended, dead workers.
 */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { limits } from '../../limits.ts'
import {
  deleteOldLoads,
  orderHorizon,
  pruneGraphChanges,
  pruneOrder,
  trySweeperLock
} from '../../store/housekeeping.ts'
import { deleteOldEvents, deleteOldRunStates } from '../../store/openlineage.ts'
import { deleteOldSessions } from '../../store/web-sessions.ts'
import { deleteOldWorkers } from '../../store/workers.ts'

/** How many rows of each kind were deleted. */
export type Pruned = {
  order: number
  graphChanges: number
  loads: number
  openLineageEvents: number
  openLineageRuns: number
  sessions: number
  workers: number
}

const loadsKeepDays = 30
const eventsKeepDays = 30
const rowsPerTransaction = 5_000
const transactionsPerRun = 20
const loadsPerTransaction = 5

/**
 * Uses small transactions, so that nothing waits long for one. The next run continues. Throws what the
 * database throws.
 */
export async function prune(db: Db, { changeLogKeepSeconds = 3_600 } = {}): Promise<Pruned> {
  const horizon = await orderHorizon(db)
  return {
    order:
      horizon === null
        ? 0
        : await repeat(db, rowsPerTransaction, (tx) => pruneOrder(tx, horizon, rowsPerTransaction)),
    graphChanges: await repeat(db, rowsPerTransaction, (tx) =>
      pruneGraphChanges(tx, changeLogKeepSeconds, rowsPerTransaction)
    ),
    loads: await repeat(db, loadsPerTransaction, (tx) =>
      deleteOldLoads(tx, loadsKeepDays, loadsPerTransaction)
    ),
    openLineageEvents: await repeat(db, rowsPerTransaction, (tx) =>
      deleteOldEvents(tx, eventsKeepDays, rowsPerTransaction)
    ),
    openLineageRuns: await repeat(db, rowsPerTransaction, (tx) =>
      deleteOldRunStates(tx, eventsKeepDays, rowsPerTransaction)
    ),
    sessions: await repeat(db, rowsPerTransaction, (tx) =>
      deleteOldSessions(tx, limits.sessionIdleMaxSeconds, rowsPerTransaction)
    ),
    workers: await repeat(db, rowsPerTransaction, (tx) =>
      deleteOldWorkers(tx, limits.workerKeptSeconds, rowsPerTransaction)
    )
  }
}

/** Runs `work` in one transaction after another, until one deletes fewer than `enough`. */
async function repeat(db: Db, enough: number, work: (tx: Tx) => Promise<number>): Promise<number> {
  let total = 0
  for (let run = 0; run < transactionsPerRun; run += 1) {
    const count = await inTransaction(db, async (tx) => ((await trySweeperLock(tx)) ? work(tx) : 0))
    total += count
    if (count < enough) break
  }
  return total
}
