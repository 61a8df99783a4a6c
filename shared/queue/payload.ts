/** The content of a job: "look at chunk N". It is only a hint; the chunk's row says what is to be done. */

/** A chunk and the number of times that it was enqueued, which together name one job. */
export type ChunkNudge = { chunkId: number; nudge: number }

export type ChunkPayload = { version: 1; chunkId: number }

export const toPayload = (nudge: ChunkNudge): ChunkPayload => ({ version: 1, chunkId: nudge.chunkId })

/**
 * The name of a job, different each time a chunk is enqueued, because BullMQ silently ignores an id that a
 * finished job still has.
 */
export const toJobId = (nudge: ChunkNudge): string => `c${nudge.chunkId}-${nudge.nudge}`

/** The chunk that a job names; null for a payload that this program did not write. */
export function readPayload(data: unknown): number | null {
  if (typeof data !== 'object' || data === null || !('version' in data) || !('chunkId' in data)) return null
  const { version, chunkId } = data
  return version === 1 && typeof chunkId === 'number' && Number.isSafeInteger(chunkId) && chunkId > 0
    ? chunkId
    : null
}
