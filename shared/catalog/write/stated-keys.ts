/**
 * The keys of the statements that a snapshot load makes, gathered while a chunk is applied and stored in its
 * transaction.
 *
 * A statement that was found unchanged is included, although it is not written again: the order of its row
 * cannot show that the load states it.
 */
import type { StatedKeysRow } from '../../store/snapshot-statements.ts'

/** The key of a statement with the source of the load. */
type StatedKey = {
  downstreamId: number
  upstreamId: number
  ownerId: number
  field: number
  recordKey: number
}

/** The merge adds what the records state. Adding a key twice does no harm. */
export type StatedKeys = {
  /**
   * Adds what a record states, whatever its verdict: applied, unchanged, overtaken, or refused because of a
   * later part.
   */
  add(key: StatedKey): void
  /** How many of the statements were new. */
  countNew(rows: number): void
  /** Forgets everything, before the records are folded again. */
  clear(): void
  rows(): StatedKeysRow[]
}

export function createStatedKeys(): StatedKeys {
  const groups = new Map<string, StatedKeysRow>()
  let newCount = 0
  return {
    add({ downstreamId, upstreamId, ownerId, field, recordKey }) {
      // The owner of most edges is their downstream; it is not stored again.
      const isOwn = ownerId === downstreamId
      const name = `${field} ${recordKey} ${isOwn}`
      const group: StatedKeysRow = groups.get(name) ?? {
        field,
        recordKey,
        ownerIds: isOwn ? null : [],
        downstreamIds: [],
        upstreamIds: [],
        newCount: 0
      }
      groups.set(name, group)
      group.downstreamIds.push(downstreamId)
      group.upstreamIds.push(upstreamId)
      group.ownerIds?.push(ownerId)
    },
    countNew(rows) {
      newCount += rows
    },
    clear() {
      groups.clear()
      newCount = 0
    },
    rows: () =>
      [...groups.values()].map((group, index) => ({ ...group, newCount: index === 0 ? newCount : 0 }))
  }
}
