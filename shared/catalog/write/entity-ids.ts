/**
 * Remembers which id a URN was given and that the entity exists, so that a worker looks each up once and not once a chunk: an id
 * is never given again, and whatever takes existence away counts absence_seq up.
 */
import { LRUCache } from 'lru-cache'
import type { Tx } from '../../db/database.ts'
import { readAbsenceCount } from '../../store/entities.ts'
import { isWithoutEpoch, readEpoch } from '../../store/graph-changes.ts'
import { findFit, findIds } from '../../store/plain-edges.ts'
import type { PackedUrns } from '../../urn/packed-urns.ts'
import type { Urn } from '../../urn/urn.ts'
import { distinct } from './edge-columns.ts'

export type EntityIds = {
  /**
   * By place: the id of each URN, 0 where it has none; and the ids of those that do not exist now, or were deleted once.
   * To be asked under the lock of writers: it holds as long as that is held. `numbered` are ids of entities, in no order, which are judged likewise.
   */
  find(tx: Tx, urns: PackedUrns, numbered?: Int32Array): Promise<{ ids: Int32Array; unfit: Set<number> }>
}

/** With texts of 120 characters they take about 90 MB. */
const defaultMaxCount = 400_000

/** A bit for each id that is known to exist: 64 million ids. Those beyond are asked for each time. */
const fitMaxBytes = 8 << 20

const none = new Int32Array(0)

/**
 * What was asked for last stays. A database that was restored has given its ids anew, and after a crash its sequences may count
 * anew: what was read in another epoch is forgotten.
 */
export function rememberEntityIds(maxCount = defaultMaxCount): EntityIds {
  const idOf = new LRUCache<Urn, number>({ max: maxCount })
  let fit = new Uint8Array(0)
  let validFor = ''

  const isFit = (id: number): boolean => ((fit[id >>> 3] ?? 0) & (1 << (id & 7))) !== 0

  function rememberFit(id: number): void {
    const at = id >>> 3
    if (at >= fitMaxBytes) return
    if (at >= fit.length) {
      const larger = new Uint8Array(
        Math.min(fitMaxBytes, Math.max(1 << 14, 2 ** Math.ceil(Math.log2(at + 1))))
      )
      larger.set(fit)
      fit = larger
    }
    fit[at] = (fit[at] ?? 0) | (1 << (id & 7))
  }

  /** Those of the ids that are not of entities which exist and were never deleted. */
  async function findUnfit(tx: Tx, numbered: Int32Array): Promise<Set<number>> {
    const unknown = new Int32Array(numbered.length)
    let count = 0
    for (let at = 0; at < numbered.length; at += 1)
      if (!isFit(numbered[at] ?? 0)) unknown[count++] = numbered[at] ?? 0
    if (count === 0) return new Set()
    const asked = distinct(unknown.subarray(0, count))
    const unfit = new Set(asked)
    for (const id of await findFit(tx, asked)) {
      rememberFit(id)
      unfit.delete(id)
    }
    return unfit
  }

  return {
    async find(tx, urns, numbered = none) {
      const epoch = await readEpoch(tx)
      const current = `${epoch} ${await readAbsenceCount(tx)}`
      // Without an epoch a crash would go unnoticed, and with it that what was seen is gone: not all that is committed is on disk.
      if (current !== validFor || isWithoutEpoch(epoch)) {
        idOf.clear()
        fit = new Uint8Array(0)
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
      const unfit = await findUnfit(tx, numbered)
      if (unknown.length === 0) return { ids, unfit }
      const found = await findIds(
        tx,
        unknown.map(({ urn }) => urn)
      )
      for (const [index, { place, urn }] of unknown.entries()) {
        const id = found.ids[index] ?? 0
        if (id === 0) continue
        ids[place] = id
        if (found.fit[index] === 1) idOf.set(urn, id)
        else unfit.add(id)
      }
      return { ids, unfit }
    }
  }
}
