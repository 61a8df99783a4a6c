/**
 * The keys of the statements that a snapshot load makes, gathered while a chunk is applied and stored in its
 * transaction.
 *
 * Includes statements that already existed unchanged and are not written again: the order of their row does
 * not show that the load states them.
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

/** The keys of a chunk. The merge adds those of the records; a key may be added twice. */
export type StatedKeys = {
  /**
   * Adds a statement of a record, whatever the record's verdict: applied, unchanged, overtaken, or refused
   * because of a later part.
   */
  add(key: StatedKey): void
  /** Notes how many of the statements were new. */
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
      // The owner of most edges is their downstream, and is then not stored again.
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
