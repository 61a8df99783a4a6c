/** The memory that is really held on to. What the process has from the system says when garbage was last collected, not what a reader keeps. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

export type LiveMemory = {
  /** Collects garbage and counts what is left. Some milliseconds. */
  look: () => void
  /** The most that was ever left, in bytes beyond what was left at first. */
  peakBytes: () => number
}

export function watchLiveMemory(): LiveMemory {
  const first = liveBytes()
  let most = first
  return {
    look: () => {
      most = Math.max(most, liveBytes())
    },
    peakBytes: () => most - first
  }
}

function liveBytes(): number {
  // Buffers that the first round finds dead are counted until the second.
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
