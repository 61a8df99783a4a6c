/** Bounds the bytes of all event bodies in one process, from their arrival until they are committed. */
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'

/**
 * Returns what `work` returns, and then releases what it held. `hold` throws UNAVAILABLE if there is no room
 * for that many bytes.
 */
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
