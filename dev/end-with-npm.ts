/**
 * Ends the process together with the `npm start` that it belongs to.
 *
 * npm hands a signal to the shell between the two, and a plain shell ends without handing it on: what somebody meant to
 * stop would continue unseen, and hold its port.
 */

const lookEveryMs = 250

/** The shell's process id; to be asked for early, while the shell is sure to be there. Null if npm is not in play. */
export function shellOfNpm(): number | null {
  return process.env.npm_lifecycle_event === undefined ? null : process.ppid
}

/** Asks this process to stop, as SIGTERM does, once the shell has gone. Whoever is stopping already is left alone. */
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
