/**
 * Measures the memory that is in use. The memory of the process would depend on when garbage was last
 * collected.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

export type LiveMemory = {
  /** Collects garbage and measures. Takes some milliseconds. */
  look: () => void
  /** The largest measurement, in bytes above the first. */
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
  // Dead buffers found in the first round are only released in the second.
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
