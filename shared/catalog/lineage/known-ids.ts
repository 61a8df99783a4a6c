/** Ids that a process knows without asking the database, so that what it receives is stored by them. */
import type { Tx } from '../../db/database.ts'
import { readEpoch } from '../../store/graph-changes.ts'
import type { Urn } from '../../urn/urn.ts'

/**
 * All of entities whose rows were committed; `epoch` is that of the database which gave them, and compared as a chunk is stored: what the
 * process knows says nothing of a database that was restored. Once the chunk is stored it is right for good: a database that has the
 * chunk has the rows of its entities, and none is ever deleted.
 */
export type KnownIds = {
  epoch: string
  /**
   * The ids in `ids` of URNs of datasets, 0 of those that are not known: of those that are in ASCII where `begins` and `ends` say, from one
   * entry to before another. One that begins where that of the entry before begins is the same.
   */
  idsOf: (
    bytes: DataView,
    begins: Int32Array,
    ends: Int32Array,
    from: number,
    to: number,
    ids: Int32Array
  ) => void
  /** Throws where the id is not known. */
  urnOf: (id: number) => Urn
}

/** Whether this database gave the ids. */
export const areOfCurrentEpoch = async (tx: Tx, { epoch }: KnownIds): Promise<boolean> =>
  epoch === (await readEpoch(tx))
