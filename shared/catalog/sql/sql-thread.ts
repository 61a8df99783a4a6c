/**
 * Reads SQL outside of the event loop: in one thread, which starts with the first task and ends when it has been idle.
 *
 * A task that takes too long ends with its thread, and the next one gets a new thread. A process that is sent no SQL loads
 * neither the grammar nor the pool.
 */
import { limits } from '../../limits.ts'
import { createTurns } from '../../platform/turns.ts'
import { CatalogError } from '../../errors.ts'
import type { StatementLineage } from '../../sql/statement-lineage.ts'
import type { SqlTask } from '../../sql/thread.ts'

const idleMs = 30_000
/** A statement of a megabyte takes 300 MB as a tree. */
const heapMaxMb = 768
/** Deep nesting recurses in the grammar and in the resolver. */
const stackMb = 48

/** Starting the thread is not reading: a busy machine may take long for it. */
const startMaxMs = 30_000

type Pool = {
  run: (task: SqlTask, options: { signal: AbortSignal }) => Promise<StatementLineage[]>
  readonly threads: readonly unknown[]
}

let opened: Promise<Pool> | undefined

async function openPool(): Promise<Pool> {
  const { Piscina } = await import('piscina')
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new Piscina<SqlTask, StatementLineage[]>({
    filename: new URL(`../../sql/thread.${extension}`, import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: heapMaxMb, stackSizeMb: stackMb }
  })
}

const turns = createTurns({
  atOnce: 1,
  waitingMaxCount: limits.sqlTasksWaitingMaxCount,
  refuse: () =>
    new CatalogError('OVERLOADED', 'Too many requests read SQL at this time; send it again', {
      limit: 'sqlTasksWaitingMaxCount',
      maximum: limits.sqlTasksWaitingMaxCount,
      retryAfterSeconds: 1
    })
})

const unread = (message: string): StatementLineage[] => [
  {
    kind: 'UNKNOWN',
    line: 1,
    inputs: [],
    outputs: [],
    columns: [],
    indirect: [],
    problems: [{ line: 1, column: 1, code: 'TOO_LARGE', message }]
  }
]

async function startThread(pool: Pool): Promise<void> {
  if (pool.threads.length > 0) return
  await pool.run({ sql: '', dialect: 'generic' }, { signal: AbortSignal.timeout(startMaxMs) })
}

/**
 * The lineage of each statement of a script. What cannot be read in sqlReadMaxMs, or with the memory of the thread, is one
 * statement with the problem TOO_LARGE. `caller` shares the thread: callers take turns. Throws LIMIT_EXCEEDED
 * (sqlMaxBytes) and OVERLOADED.
 */
export async function readSql(caller: string, task: SqlTask): Promise<StatementLineage[]> {
  const actual = Buffer.byteLength(task.sql)
  if (actual > limits.sqlMaxBytes)
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `The SQL has ${actual} bytes; at most ${limits.sqlMaxBytes} are read`,
      {
        field: 'sql',
        limit: 'sqlMaxBytes',
        maximum: limits.sqlMaxBytes,
        actual
      }
    )
  const leave = await turns.enter(caller)
  try {
    opened ??= openPool()
    const pool = await opened
    await startThread(pool)
    return await pool.run(task, { signal: AbortSignal.timeout(limits.sqlReadMaxMs) })
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError')
      return unread(`The SQL could not be read in ${limits.sqlReadMaxMs} ms`)
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      return unread('Reading the SQL takes too much memory')
    if (error instanceof Error && /worker exited/i.test(error.message))
      return unread('The SQL is nested too deeply')
    throw error
  } finally {
    leave()
  }
}
