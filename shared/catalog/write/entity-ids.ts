/**
 * Remembers the id of each URN, and which entities exist, so that a worker looks up each entity once and not
 * once per chunk. An id is never used again. Deleting an entity, or undoing its creation, increments
 * absence_seq.
 */
import { LRUCache } from 'lru-cache'
import type { Tx } from '../../db/database.ts'
import { distinct } from '../../statements/columns.ts'
import { findIds, findUndeleted, readAbsenceCount } from '../../store/entities.ts'
import { isWithoutEpoch, readEpoch } from '../../store/graph-changes.ts'
import type { PackedUrns } from '../../urn/packed-urns.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'

export type EntityIds = {
  /**
   * Returns the id of each URN by its index, 0 for none. `deletedOrAbsent` contains the ids, among these and
   * those in `numbered`, that were ever deleted or, with `mustExist`, are placeholders. Columns count only if
   * they were deleted: a column exists if its asset does. Call it under the lock of writers: the result is
   * valid while that lock is held.
   */
  find(
    tx: Tx,
    urns: PackedUrns,
    numbered: Int32Array,
    mustExist: boolean
  ): Promise<{ ids: Int32Array; deletedOrAbsent: Set<number> }>
}

/**
 * About 90 MB for URNs of 120 characters. Columns are looked up each time: there are many more of them, and
 * most loads name each only a few times.
 */
const defaultMaxCount = 400_000

/** One bit for each id: 64 million ids. Larger ids are looked up each time. */
const bitsMaxBytes = 8 << 20

/**
 * Keeps the most recently used URNs. A restored database may have given its ids to other URNs, and after a
 * crash its sequences may repeat values, so everything that was read in another epoch is forgotten.
 */
export function rememberEntityIds(maxCount = defaultMaxCount): EntityIds {
  const idOf = new LRUCache<Urn, number>({ max: maxCount })
  let [undeleted, present] = [createIdBits(), createIdBits()]
  let validFor = ''

  async function findDeletedOrAbsent(tx: Tx, ids: Int32Array, mustExist: boolean): Promise<Set<number>> {
    const known = mustExist ? present : undeleted
    const asked = distinct(ids.filter((id) => !known.has(id)))
    const excluded = new Set(asked)
    if (asked.length === 0) return excluded
    const found = await findUndeleted(tx, asked)
    for (const id of found.present) {
      present.add(id)
      undeleted.add(id)
      excluded.delete(id)
    }
    for (const id of found.placeholders) {
      undeleted.add(id)
      if (!mustExist) excluded.delete(id)
    }
    return excluded
  }

  return {
    async find(tx, urns, numbered, mustExist) {
      const epoch = await readEpoch(tx)
      const current = `${epoch} ${await readAbsenceCount(tx)}`
      // Without an epoch row, another crash would go unnoticed, and ids from lost commits would still be
      // remembered.
      if (current !== validFor || isWithoutEpoch(epoch)) {
        idOf.clear()
        ;[undeleted, present] = [createIdBits(), createIdBits()]
        validFor = current
      }
      const ids = new Int32Array(urns.length)
      const isColumn = new Uint8Array(urns.length)
      const unknown: { place: number; urn: Urn }[] = []
      for (let place = 0; place < ids.length; place += 1) {
        const urn = urns.at(place)
        isColumn[place] = entityTypeOf(urn) === 'schemaField' ? 1 : 0
        const id = isColumn[place] ? undefined : idOf.get(urn)
        if (id === undefined) unknown.push({ place, urn })
        else ids[place] = id
      }
      const found = await findIds(
        tx,
        unknown.map(({ urn }) => urn)
      )
      for (const [index, { place, urn }] of unknown.entries()) {
        const id = found[index] ?? 0
        ids[place] = id
        if (id !== 0 && !isColumn[place]) idOf.set(urn, id)
      }
      const ofColumns = ids.filter((id, place) => id !== 0 && isColumn[place] === 1)
      const ofAssets = ids.filter((id, place) => id !== 0 && isColumn[place] === 0)
      const all = new Int32Array(ofAssets.length + numbered.length)
      all.set(ofAssets)
      all.set(numbered, ofAssets.length)
      const deletedOrAbsent = await findDeletedOrAbsent(tx, all, mustExist)
      for (const id of await findDeletedOrAbsent(tx, ofColumns, false)) deletedOrAbsent.add(id)
      return { ids, deletedOrAbsent }
    }
  }
}

type IdBits = { has(id: number): boolean; add(id: number): void }

function createIdBits(): IdBits {
  let bits = new Uint8Array(0)
  return {
    has: (id) => ((bits[id >>> 3] ?? 0) & (1 << (id & 7))) !== 0,
    add(id) {
      const at = id >>> 3
      if (at >= bitsMaxBytes) return
      if (at >= bits.length) {
        const larger = new Uint8Array(
          Math.min(bitsMaxBytes, Math.max(1 << 14, 2 ** Math.ceil(Math.log2(at + 1))))
        )
        larger.set(bits)
        bits = larger
      }
      bits[at] = (bits[at] ?? 0) | (1 << (id & 7))
    }
  }
}
