/**
 * Ids that a process knows without asking the database, so that a received chunk can store ids instead of
 * URNs.
 */
import type { Tx } from '../../db/database.ts'
import { readEpoch } from '../../store/graph-changes.ts'
import type { Urn } from '../../urn/urn.ts'

/**
 * Only ids of entities whose rows were committed. `epoch` identifies the database that gave them. It is
 * compared when a chunk is stored, because the ids mean nothing in a restored database. After that the chunk
 * stays valid: a database that has the chunk also has the rows of its entities, which are never deleted.
 */
export type KnownIds = {
  epoch: string
  /**
   * Writes into `ids` the id of each ASCII dataset URN of `bytes`, or 0 if it is not known. `begins` and
   * `ends` say where each URN is, for the entries `from` to before `to`. An entry with the same beginning as
   * the one before is the same URN.
   */
  idsOf: (
    bytes: DataView,
    begins: Int32Array,
    ends: Int32Array,
    from: number,
    to: number,
    ids: Int32Array
  ) => void
  /** Throws for an unknown id. */
  urnOf: (id: number) => Urn
}

/** Whether this database gave the ids. */
export const areOfCurrentEpoch = async (tx: Tx, { epoch }: KnownIds): Promise<boolean> =>
  epoch === (await readEpoch(tx))
