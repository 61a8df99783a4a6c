/**
 * The rules of the chunk protocol, each as a part that a test can leave out to show that it is needed.
 *
 * Production composes all of them; nothing in configuration or on the wire can switch one off.
 */
export type ChunkGuards = {
  /** Only the holder of the newest fence may settle a chunk. */
  fence: boolean
  /** A chunk is held by one worker until its lease runs out. */
  lease: boolean
  /** A pass begins when the one before it is settled. */
  passOrder: boolean
  /** Permanent failures are counted, and lead down to the guilty record. */
  attempts: boolean
  /** Crashes are counted, and lead down to the deadly record. */
  isolation: boolean
  /** The verdicts of a chunk add up to its records, or it is not settled. */
  countCheck: boolean
  /** What no queue job points at is found and asked for again. */
  sweeper: boolean
  /** A load is taken back when all that is older than its undo has been applied. */
  undoWaits: boolean
  /** References inside a load are settled before its second pass. */
  declarations: boolean
  /** A snapshot is compared when every older load of its source is settled. */
  sweepWaits: boolean
  /** A sweep spares what its load states, also what was there already and was not written. */
  sweepSparesStated: boolean
  /** A sweep spares what a rejected record names. */
  sweepSparesRejected: boolean
  /** A sweep spares what something newer has stated since. */
  sweepSparesNewer: boolean
  /** A sweep that would take away more than its share is refused. */
  sweepShare: boolean
}

export const allChunkGuards: ChunkGuards = {
  fence: true,
  lease: true,
  passOrder: true,
  attempts: true,
  isolation: true,
  countCheck: true,
  sweeper: true,
  undoWaits: true,
  declarations: true,
  sweepWaits: true,
  sweepSparesStated: true,
  sweepSparesRejected: true,
  sweepSparesNewer: true,
  sweepShare: true
}
