/** Finds the present name of a dataset that an event names. */
import type { Db } from '../../db/database.ts'
import { findCurrentNames } from '../../store/openlineage.ts'
import type { Urn } from '../../urn/urn.ts'

/** The URN itself if it is not an alias. */
export const currentName = async (db: Db, urn: Urn): Promise<Urn> =>
  (await findCurrentNames(db, [urn])).get(urn) ?? urn
