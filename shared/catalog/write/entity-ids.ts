/**
 * Remembers which id a URN was given, and which entities exist, so that a worker looks each up once and not once a chunk: an id
 * is never given again, and whatever deletes an entity or takes its existence away counts absence_seq up.
 */
import { LRUCache } from 'lru-cache'
import type { Tx } from '../../db/database.ts'
import { distinct } from '../../statements/columns.ts'
import { findIds, findUndeleted, readAbsenceCount } from '../../store/entities.ts'
import { isWithoutEpoch, readEpoch } from '../../store/graph-changes.ts'
import type { PackedUrns } from '../../urn/packed-urns.ts'
import type { Urn } from '../../urn/urn.ts'

export type EntityIds = {
  /**
   * The id of each URN by its place, 0 where it has none; and of these ids and of `numbered` those that were deleted once or, where
   * `mustExist`, are placeholders. To be asked under the lock of writers: it holds as long as that is held.
   */
  find(
    tx: Tx,
    urns: PackedUrns,
    numbered: Int32Array,
    mustExist: boolean
  ): Promise<{ ids: Int32Array; excluded: Set<number> }>
}

/** With texts of 120 characters they take about 90 MB. */
const defaultMaxCount = 400_000

/** A bit for each id: 64 million ids. Those beyond are asked for each time. */
const bitsMaxBytes = 8 << 20

/**
 * What was asked for last stays. A database that was restored has given its ids anew, and after a crash its sequences may count
 * anew: what was read in another epoch is forgotten.
 */
export function rememberEntityIds(maxCount = defaultMaxCount): EntityIds {
  const idOf = new LRUCache<Urn, number>({ max: maxCount })
  let [undeleted, present] = [createIdBits(), createIdBits()]
  let validFor = ''

  async function findExcluded(tx: Tx, ids: Int32Array, mustExist: boolean): Promise<Set<number>> {
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
      // Without an epoch a crash would go unnoticed, and with it that what was seen is gone: not all that is committed is on disk.
      if (current !== validFor || isWithoutEpoch(epoch)) {
        idOf.clear()
        ;[undeleted, present] = [createIdBits(), createIdBits()]
        validFor = current
      }
      const ids = new Int32Array(urns.length)
      const unknown: { place: number; urn: Urn }[] = []
      for (let place = 0; place < ids.length; place += 1) {
        const urn = urns.at(place)
        const id = idOf.get(urn)
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
        if (id !== 0) idOf.set(urn, id)
      }
      const all = new Int32Array(ids.length + numbered.length)
      all.set(ids)
      all.set(numbered, ids.length)
      return {
        ids,
        excluded: await findExcluded(
          tx,
          all.filter((id) => id !== 0),
          mustExist
        )
      }
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
