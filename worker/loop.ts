/** A timer around a function of the catalog, and nothing more: runs it again and again, one run at a time. */
import { isTableMissing } from '../shared/db/sql-errors.ts'
import type { Log } from '../shared/platform/log.ts'

export type Loop = { stop(): Promise<void> }

/** The pause is counted from the end of a run, and varies by a quarter so that processes do not run in step. A run that fails is logged and followed by the next. */
export function startLoop(name: string, everyMs: number, log: Log, run: () => Promise<void>): Loop {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  async function runOnce(): Promise<void> {
    try {
      await run()
    } catch (err) {
      // Said once at the start, in words; a stack for each table would bury it.
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
