/** Remembers which id a URN was given, so that a worker looks each up once and not once a chunk: an id is never given again. */
import type { Tx } from '../db/database.ts'
import { findEntities } from '../store/entities.ts'
import { readEpoch } from '../store/graph-changes.ts'
import type { Urn } from '../urn/urn.ts'

export type EntityIds = {
  /** The id of each URN, 0 where it has none. Whether the entity exists is another question, to be asked of the database. */
  find(tx: Tx, urns: readonly Urn[]): Promise<Int32Array>
}

/** With texts of 120 characters two generations take about 70 MB. */
const generationDefaultCount = 200_000

/**
 * Two generations, so that what is asked for again and again stays. A database that was restored has given its ids
 * anew: what was read in another epoch is forgotten.
 */
export function rememberEntityIds(generationMaxCount = generationDefaultCount): EntityIds {
  let young = new Map<Urn, number>()
  let old = new Map<Urn, number>()
  let epoch = ''

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
      const current = await readEpoch(tx)
      if (current !== epoch) {
        young = new Map()
        old = new Map()
        epoch = current
      }
      const ids = Int32Array.from(urns, known)
      const unknown = urns.filter((_, index) => ids[index] === 0)
      if (unknown.length === 0) return ids
      const found = new Map((await findEntities(tx, unknown)).map((row) => [row.urn, row.id]))
      for (const [urn, id] of found) remember(urn, id)
      return ids.map((id, index) => id || (found.get(urns[index] ?? unknownUrn) ?? 0))
    }
  }
}

const unknownUrn = '' as Urn
