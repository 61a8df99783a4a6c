/**
 * Runs one freshness barrier for all reads of a request: they see one state of the lineage, no older than the
 * request. After a mutation the next read runs another, so that it sees the write.
 */
import type { LineageOpener, OpenedLineage } from '../../shared/catalog/lineage/lineage-memory.ts'

export type RequestLineage = LineageOpener & {
  /** Drops the state. Call it after each mutation. */
  letGo: () => void
  /**
   * Call it when the request is answered. A read that comes later, because a sibling field has failed, opens
   * a state of its own.
   */
  end: () => void
}

export function openOnce(memory: LineageOpener): RequestLineage {
  let first: Promise<OpenedLineage | null> | null = null
  let hasEnded = false

  function letGo(): void {
    // If it could not be opened, its readers have got the error.
    first?.then(
      (opened) => opened?.release(),
      () => {}
    )
    first = null
  }

  return {
    async open() {
      if (hasEnded) return memory.open()
      first ??= memory.open()
      return (await first)?.again() ?? null
    },
    letGo,
    end() {
      hasEnded = true
      letGo()
    }
  }
}
