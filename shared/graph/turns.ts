/**
 * Shares the event loop between long pieces of work and everything else: one slice of a few milliseconds in
 * each turn.
 *
 * However many walks run, a turn contains one slice of one of them and the first slices of at most four new
 * walks. So a short request waits for milliseconds, and each of four concurrent walks takes four times as
 * long. Threads would not help: a message to a worker and back costs 34 to 64 us, and the walk is as fast in
 * either thread.
 */

/**
 * A promise of the next turn if the slice is used up; otherwise undefined, and the caller continues at once.
 * Rejects with the error that the deadline of the work throws.
 */
export type Pause = () => Promise<void> | undefined

export type Turns = {
  /** A pause function for one piece of work. `check` is called at each turn and may throw. */
  begin: (check?: () => void) => Pause
}

const sliceDefaultMs = 2
/**
 * First slices that may be used up in one turn of the loop. After that, new work waits for a turn of its own.
 */
const firstSlicesPerTurn = 4

export function createTurns({ sliceMs = sliceDefaultMs }: { sliceMs?: number } = {}): Turns {
  const waiting: (() => void)[] = []
  let isScheduled = false
  /** First slices used up since the last turn. */
  let usedUpCount = 0

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      usedUpCount = 0
      waiting.shift()?.()
      if (waiting.length > 0) schedule()
    })
  }

  const nextTurn = (): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve)
      schedule()
    })

  return {
    begin(check = () => {}) {
      // The slice begins at the first pause of the work. If it began earlier, fifty readers that one barrier
      // releases would use up their slices waiting for each other, and each would need a turn of its own (2.7
      // times slower).
      let endsAt: number | null = null
      let isFirst = true
      return () => {
        const now = performance.now()
        // Otherwise fifty long walks would block the loop for fifty slices. Short walks use up no slice, and
        // all continue at once.
        if (usedUpCount < firstSlicesPerTurn) endsAt ??= now + sliceMs
        if (endsAt !== null && now < endsAt) return undefined
        if (isFirst) usedUpCount += 1
        isFirst = false
        return nextTurn().then(() => {
          check()
          endsAt = performance.now() + sliceMs
        })
      }
    }
  }
}
