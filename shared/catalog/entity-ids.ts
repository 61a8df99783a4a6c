/**
 * Remembers which id a URN was given and that the entity exists, so that a worker looks each up once and not once a chunk: an id
 * is never given again, and whatever takes existence away counts absence_seq up.
 */
import type { Tx } from '../db/database.ts'
import { readAbsenceCount } from '../store/entities.ts'
import { readEpoch } from '../store/graph-changes.ts'
import { findIds } from '../store/plain-edges.ts'
import type { PackedUrns } from '../urn/packed-urns.ts'
import { hashOf, TextTable } from '../urn/text-table.ts'

export type EntityIds = {
  /**
   * By place: the id of each URN, 0 where it has none; and the ids of those that do not exist now, or were deleted once.
   * To be asked under the lock of writers: it holds as long as that is held.
   */
  find(tx: Tx, urns: PackedUrns): Promise<{ ids: Int32Array, unfit: Set<number> }>
}

/** With texts of 120 characters two generations take about 70 MB. */
const defaultMaxCount = 200_000

/** Ids by the place of the URN. */
type Generation = { urns: TextTable, ids: number[] }
const newGeneration = (): Generation => ({ urns: new TextTable(), ids: [] })

/**
 * Two generations, so that what is asked for again and again stays. A database that was restored has given its ids anew, and
 * after a crash its sequences may count anew: what was read in another epoch is forgotten.
 */
export function rememberEntityIds(generationMaxCount = defaultMaxCount): EntityIds {
  let young = newGeneration()
  let old = newGeneration()
  let validFor = ''

  /** What is there already stays: two chunks that are applied side by side may both have asked for it. */
  function remember(bytes: Buffer, begin: number, end: number, hash: number, id: number): void {
    if (young.urns.find(bytes, begin, end, hash) >= 0) return
    if (young.urns.count >= generationMaxCount) {
      old = young
      young = newGeneration()
    }
    young.ids[young.urns.add(bytes, begin, end, hash)] = id
  }

  function known(bytes: Buffer, begin: number, end: number): number {
    const hash = hashOf(bytes, begin, end)
    const place = young.urns.find(bytes, begin, end, hash)
    if (place >= 0) return young.ids[place] ?? 0
    const id = old.ids[old.urns.find(bytes, begin, end, hash)] ?? 0
    if (id !== 0) remember(bytes, begin, end, hash, id)
    return id
  }

  return {
    async find(tx, urns) {
      const current = `${await readEpoch(tx)} ${await readAbsenceCount(tx)}`
      if (current !== validFor) {
        young = newGeneration()
        old = newGeneration()
        validFor = current
      }
      const ids = new Int32Array(urns.length)
      const unknown: number[] = []
      for (let place = 0; place < ids.length; place += 1) {
        ids[place] = known(urns.bytes, urns.beginOf(place), urns.endOf(place))
        if (ids[place] === 0) unknown.push(place)
      }
      const unfit = new Set<number>()
      if (unknown.length === 0) return { ids, unfit }
      const found = await findIds(tx, unknown.map((place) => urns.at(place)))
      unknown.forEach((place, index) => {
        const id = found.ids[index] ?? 0
        if (id === 0) return
        ids[place] = id
        const [begin, end] = [urns.beginOf(place), urns.endOf(place)]
        if (found.fit[index] === 1) remember(urns.bytes, begin, end, hashOf(urns.bytes, begin, end), id)
        else unfit.add(id)
      })
      return { ids, unfit }
    }
  }
}
