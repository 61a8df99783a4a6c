/** What a dataset is called now that an event names. */
import type { Db } from '../../db/database.ts'
import { findCurrentNames } from '../../store/openlineage.ts'
import type { Urn } from '../../urn/urn.ts'

/** The URN itself where it is no alias. */
export const currentName = async (db: Db, urn: Urn): Promise<Urn> =>
  (await findCurrentNames(db, [urn])).get(urn) ?? urn
