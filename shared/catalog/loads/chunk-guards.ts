/**
 * The rules of the chunk protocol, each as a part that a test can leave out to show that it is needed.
 * Production uses all of them; neither configuration nor a request can switch one off.
 */
export type ChunkGuards = {
  /** Only the holder of the newest fence may settle a chunk. */
  fence: boolean
  /** A chunk is held by one worker until its lease runs out. */
  lease: boolean
  /** A pass begins when the pass before it is settled. */
  passOrder: boolean
  /** Permanent failures are counted, and narrowed down to the record that causes them. */
  attempts: boolean
  /** Crashes are counted, and narrowed down to the record that causes them. */
  isolation: boolean
  /** A chunk is settled only if its verdicts add up to its records. */
  countCheck: boolean
  /** Chunks without a queue job are found and queued again. */
  sweeper: boolean
  /** An undo is applied after everything that is older than it. */
  undoWaits: boolean
  /** References inside a load are settled before its second pass. */
  declarations: boolean
  /** A snapshot is compared when every older load of its source is settled. */
  sweepWaits: boolean
  /** A sweep spares what its load states, also statements that existed before and were not written. */
  sweepSparesStated: boolean
  /** A sweep keeps what a rejected record names. */
  sweepSparesRejected: boolean
  /** A sweep spares what something newer has stated since then. */
  sweepSparesNewer: boolean
  /** A sweep that would remove more than its share is refused. */
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
