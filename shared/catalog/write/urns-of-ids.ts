/** The URNs of entities that stored records name by id. */
import type { Db, Tx } from '../../db/database.ts'
import { findEntitiesById } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'

/** The stored records cannot be read. Another attempt would fail in the same way. */
export class UnreadableChunk extends Error {
  constructor(cause: unknown) {
    super('the stored records of a chunk cannot be read', { cause })
    this.name = 'UnreadableChunk'
  }
}

/**
 * The URNs of the ids in a chunk. Throws UnreadableChunk for an id without a row: rows of entities are never
 * deleted.
 */
export async function urnsOfIds(db: Db | Tx, ids: readonly number[]): Promise<(id: number) => Urn> {
  const urns = new Map((await findEntitiesById(db, ids)).map((row) => [row.id, row.urn]))
  return (id) => {
    const urn = urns.get(id)
    if (urn === undefined)
      throw new UnreadableChunk(new Error(`a chunk names entity ${id}, which does not exist`))
    return urn
  }
}
