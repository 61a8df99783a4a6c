/** The type of all contenders, and the limits under which each is run. */
import type { Db, Tx } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { inTransaction } from '../../shared/db/transaction.ts'
import type { Urn } from '../../shared/urn/urn.ts'
import type { Answer } from './answers.ts'

/** The start of a walk. `depth` is its real depth, for contenders that need it. */
export type Start = { id: number; urn: Urn; depth: number }

export type Contender = {
  name: string
  /** Without exact degrees it answers an easier question, and is only context. */
  givesDegrees: boolean
  /** Whether it walks the table of URNs. */
  needsTexts?: boolean
  /** Called once for each database. */
  setup?: string
  /**
   * Walks and counts. What is done in SQL stays there: sending the reached nodes, which a real client would
   * have to receive, takes no time here. Returns the answer, or a function that makes it from what was
   * received.
   */
  walk: (tx: Tx, start: Start) => Promise<Answer | (() => Answer)>
}

/**
 * More generous than the embedded server's settings: sorts and hashes of a million rows stay in memory, and
 * JIT compilation is off.
 */
const sessionSettings = {
  work_mem: '256MB',
  temp_buffers: '256MB',
  jit: 'off',
  enable_parallel_append: 'off'
}

/**
 * Runs the work in a transaction with these settings. A statement that takes longer than `maxMs` fails with
 * 57014.
 */
export const withSettings = <T>(db: Db, maxMs: number, work: (tx: Tx) => Promise<T>): Promise<T> =>
  inTransaction(
    db,
    async (tx) => {
      for (const [name, value] of Object.entries({ ...sessionSettings, statement_timeout: String(maxMs) })) {
        await query(tx, 'select set_config(?, ?, true)', [name, value])
      }
      return work(tx)
    },
    { isolation: 'repeatable read' }
  )

/** The row `count, checksum` of a statement. */
export async function countedIn(
  tx: Tx,
  sql: string,
  bindings: readonly (string | number)[]
): Promise<Answer> {
  const [answer] = await query<Answer>(tx, sql, bindings)
  if (!answer) throw new Error('a contender gave no row')
  return answer
}
