/**
 * Remembers which id a URN was given and that the entity exists, so that a worker looks each up once and not once a chunk: an id
 * is never given again, and whatever takes existence away counts absence_seq up.
 */
import type { Tx } from '../db/database.ts'
import { readAbsenceCount } from '../store/entities.ts'
import { readEpoch } from '../store/graph-changes.ts'
import { findIds } from '../store/plain-edges.ts'
import type { Urn } from '../urn/urn.ts'

export type EntityIds = {
  /**
   * By place: the id of each URN, 0 where it has none; and the ids of those that do not exist now, or were deleted once.
   * To be asked under the lock of writers: it holds as long as that is held.
   */
  find(tx: Tx, urns: readonly Urn[]): Promise<{ ids: Int32Array, unfit: Set<number> }>
}

/** With texts of 120 characters two generations take about 70 MB. */
const defaultMaxCount = 200_000

/**
 * Two generations, so that what is asked for again and again stays. A database that was restored has given its ids anew, and
 * after a crash its sequences may count anew: what was read in another epoch is forgotten.
 */
export function rememberEntityIds(generationMaxCount = defaultMaxCount): EntityIds {
  let young = new Map<Urn, number>()
  let old = new Map<Urn, number>()
  let validFor = ''

  function remember(urn: Urn, id: number): void {
    if (young.size >= generationMaxCount) {
      old = young
      young = new Map()
    }
    young.set(urn, id)
  }

  function known(urn: Urn): number {
    const id = young.get(urn)
    if (id !== undefined) return id
    const older = old.get(urn)
    if (older === undefined) return 0
    remember(urn, older)
    return older
  }

  return {
    async find(tx, urns) {
      const current = `${await readEpoch(tx)} ${await readAbsenceCount(tx)}`
      if (current !== validFor) {
        young = new Map()
        old = new Map()
        validFor = current
      }
      const ids = Int32Array.from(urns, known)
      const unfit = new Set<number>()
      const places = [...ids.keys()].filter((place) => ids[place] === 0)
      if (places.length === 0) return { ids, unfit }
      const found = await findIds(tx, places.flatMap((place) => urns[place] ?? []))
      places.forEach((place, index) => {
        const [id, urn] = [found.ids[index] ?? 0, urns[place]]
        if (id === 0 || urn === undefined) return
        ids[place] = id
        // A slice of a longer text would keep all of that text in memory.
        if (found.fit[index] === 1) remember(Buffer.from(urn, 'utf8').toString('utf8') as Urn, id)
        else unfit.add(id)
      })
      return { ids, unfit }
    }
  }
}
