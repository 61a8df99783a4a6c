/** Bounds the bytes of all bodies of events that one process holds, from when they arrive until they are committed. */
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'

/** Gives what `work` gives; what it holds is released when it has ended. `hold` throws UNAVAILABLE where there is no room for so many bytes. */
export type WhileHolding = <T>(work: (hold: (bytes: number) => void) => Promise<T>) => Promise<T>

export function holdBytes(): WhileHolding {
  let heldBytes = 0
  return async (work) => {
    let ownBytes = 0
    try {
      return await work((bytes) => {
        if (heldBytes + bytes > limits.openLineageWaitingMaxBytes)
          throw new CatalogError('UNAVAILABLE', 'No room for more events now; send it again', {
            retryAfterSeconds: 1
          })
        heldBytes += bytes
        ownBytes += bytes
      })
    } finally {
      heldBytes -= ownBytes
    }
  }
}
