/**
 * One question to the database about freshness for all reads of a request: they see one state of the lineage, no older
 * than the request. After a mutation the next read asks again, so that it sees what was written.
 */
import type { LineageOpener, OpenedLineage } from '../../shared/catalog/lineage/lineage-memory.ts'

export type RequestLineage = LineageOpener & {
  /** Lets go of the state that was seen. Call it after each mutation. */
  letGo: () => void
  /** The request is answered. What still asks, a field whose sibling has failed, opens for itself. */
  end: () => void
}

export function openOnce(memory: LineageOpener): RequestLineage {
  let first: Promise<OpenedLineage | null> | null = null
  let hasEnded = false

  function letGo(): void {
    // Where it could not be opened, its readers have been told.
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
