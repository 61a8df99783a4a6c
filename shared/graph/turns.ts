/**
 * Shares the event loop between long pieces of work and everybody else: one slice of a few milliseconds in each turn.
 *
 * However many walks run, a turn contains one slice of one of them and the first slices of at most four new ones. So a
 * short request waits for milliseconds, and each of four concurrent walks is four times slower. Threads were not needed: a
 * message to a worker and back costs 34 to 64 us and the walk is as fast on either side.
 */

/** A turn to wait for where the slice is used up, else nothing: continue at once. Rejects with what the work's deadline throws. */
export type Pause = () => Promise<void> | undefined

export type Turns = {
  /** A pause function for one piece of work; `check` is called at each turn and may throw. */
  begin: (check?: () => void) => Pause
}

const sliceDefaultMs = 2
/** First slices that are used up in one turn of the loop before what begins has to wait for a turn of its own. */
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
      // The slice begins with the work, at its first pause: otherwise fifty readers that one barrier releases would have
      // used theirs up while they waited for each other, and each needed a turn of the loop of its own (2.7 times slower).
      let endsAt: number | null = null
      let isFirst = true
      return () => {
        const now = performance.now()
        // Fifty long ones would else hold the loop up for fifty slices. Short ones use none up, and all continue at once.
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
