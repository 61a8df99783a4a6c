/**
 * Lets the chunks of one process run side by side, but an isolated chunk alone: if it kills the process, it
 * is to blame.
 */
export type IsolationGate = {
  /** Runs the work beside other work that is run with `together`. */
  together<T>(work: () => Promise<T>): Promise<T>
  /** Waits until nothing else runs, and lets nothing else begin until the work has ended. */
  alone<T>(work: () => Promise<T>): Promise<T>
}

export function createIsolationGate(): IsolationGate {
  const running = new Set<Promise<unknown>>()
  let closed: Promise<unknown> = Promise.resolve()

  async function track<T>(work: () => Promise<T>): Promise<T> {
    const promise = work()
    const settled = promise.then(
      () => {},
      () => {}
    )
    running.add(settled)
    try {
      return await promise
    } finally {
      running.delete(settled)
    }
  }

  return {
    async together(work) {
      for (let waitedFor: unknown; waitedFor !== closed;) {
        waitedFor = closed
        await closed
      }
      return track(work)
    },
    async alone(work) {
      const before = closed
      let open = (): void => {}
      closed = new Promise<void>((resolve) => {
        open = resolve
      })
      try {
        await before
        await Promise.all(running)
        return await work()
      } finally {
        open()
      }
    }
  }
}
