/** Calls a function of the catalog again and again, one run at a time. */
import { isTableMissing } from '../shared/db/sql-errors.ts'
import type { Log } from '../shared/platform/log.ts'

export type Loop = { stop(): Promise<void> }

/**
 * The pause begins at the end of a run, and varies by a quarter so that processes do not run in step. After a
 * failed run, the failure is logged and the next run follows.
 */
export function startLoop(name: string, everyMs: number, log: Log, run: () => Promise<void>): Loop {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  async function runOnce(): Promise<void> {
    try {
      await run()
    } catch (err) {
      // The start reports a missing schema in one sentence; a stack trace from every loop would bury it.
      if (isTableMissing(err)) log.debug({ err, loop: name }, 'a loop of the worker waits for the schema')
      else if (!isStopped) log.warn({ err, loop: name }, 'a loop of the worker failed and will run again')
    }
    schedule()
  }

  function schedule(): void {
    if (isStopped) return
    timer = setTimeout(
      () => {
        running = runOnce()
      },
      everyMs * (0.75 + Math.random() / 2)
    )
  }

  schedule()
  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    }
  }
}
