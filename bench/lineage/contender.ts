/** What all contenders have in common, and the limits under which each of them is run. */
import type { Db, Tx } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { inTransaction } from '../../shared/db/transaction.ts'
import type { Urn } from '../../shared/urn/urn.ts'
import type { Answer } from './answers.ts'

/** Where a walk begins. `depth` is how deep it really goes, for those that must be told. */
export type Start = { id: number; urn: Urn; depth: number }

export type Contender = {
  name: string
  /** Without exact degrees it answers an easier question, and is context only. */
  givesDegrees: boolean
  /** Walks the table of URNs. */
  needsTexts?: boolean
  /** Made once for each database. */
  setup?: string
  /**
   * Walks and counts. All that is done in SQL stays there: no time is spent on sending what was reached, which a real
   * client would have to receive. Gives the answer, or what makes it from what was received.
   */
  walk: (tx: Tx, start: Start) => Promise<Answer | (() => Answer)>
}

/** More than the embedded server's own settings give: sorts and hashes of a million rows stay in memory, and nothing is compiled. */
const sessionSettings = {
  work_mem: '256MB',
  temp_buffers: '256MB',
  jit: 'off',
  enable_parallel_append: 'off'
}

/** Runs the work in a transaction with these settings; a statement that takes longer than `maxMs` fails with 57014. */
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
