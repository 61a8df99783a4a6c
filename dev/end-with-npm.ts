/**
 * Ends the process together with its `npm start` or `npx`.
 *
 * npm sends a signal to the shell in between, and a plain shell ends without forwarding it. Without this, a
 * catalog that somebody stopped would continue unseen, and keep its port.
 */

const lookEveryMs = 250

/** The shell's process id. Call it early, while the shell certainly exists. Null without npm. */
export function shellOfNpm(): number | null {
  return process.env.npm_lifecycle_event === undefined ? null : process.ppid
}

/** Stops this process as SIGTERM does once the shell has ended, unless it is stopping already. */
export function endWithNpm(shell: number | null): void {
  if (shell === null) return
  const timer = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, lookEveryMs)
  timer.unref()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      clearInterval(timer)
    })
}
