/**
 * What a snapshot load states: the keys of its statements, gathered while a chunk is applied and kept in its transaction.
 *
 * Also what was found unchanged and not written again is stated: the order of a row cannot tell.
 */
import type { StatedKeysRow } from '../../store/snapshot-statements.ts'

/** The key of a statement of the load's own source. */
export type StatedKey = {
  downstreamId: number
  upstreamId: number
  ownerId: number
  field: number
  recordKey: number
}

/** The merge adds what the records state. Adding a key twice does no harm. */
export type StatedKeys = {
  /** A record states this, whatever becomes of it: applied, unchanged, overtaken, or refused with a later part of its record. */
  add(key: StatedKey): void
  /** So many of the rows were not there before. */
  countNew(rows: number): void
  /** Forgets everything: the records are folded again. */
  clear(): void
  rows(): StatedKeysRow[]
}

export function createStatedKeys(): StatedKeys {
  const groups = new Map<string, StatedKeysRow>()
  let newCount = 0
  return {
    add({ downstreamId, upstreamId, ownerId, field, recordKey }) {
      // Most owners are their edges' downstream, and need not be kept.
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
