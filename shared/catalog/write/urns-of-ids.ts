/** The URNs of entities that stored records give by their ids. */
import type { Db, Tx } from '../../db/database.ts'
import { findEntitiesById } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'

/** The stored records cannot be read: nothing that another attempt could change. */
export class UnreadableChunk extends Error {
  constructor(cause: unknown) {
    super('the stored records of a chunk cannot be read', { cause })
    this.name = 'UnreadableChunk'
  }
}

/** The URNs of what a chunk gives by ids. What is given throws UnreadableChunk for an entity without a row, and none ever loses its own. */
export async function urnsOfIds(db: Db | Tx, ids: readonly number[]): Promise<(id: number) => Urn> {
  const urns = new Map((await findEntitiesById(db, ids)).map((row) => [row.id, row.urn]))
  return (id) => {
    const urn = urns.get(id)
    if (urn === undefined)
      throw new UnreadableChunk(new Error(`a chunk names entity ${id}, which there is not`))
    return urn
  }
}
