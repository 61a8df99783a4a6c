/** Lists the entities of one type. */
import type { Db } from '../../db/database.ts'
import { pageOfType } from '../../store/entity-lists.ts'
import type { Urn } from '../../urn/urn.ts'
import { pageCount, pageStart } from './page-count.ts'

export type UrnList = { entities: Urn[]; start: number; count: number; total: number }

/** Soft-deleted ones among them; `count` is how many are on the page. An unknown type has none. Throws BAD_REQUEST, LIMIT_EXCEEDED. */
export async function listUrns(
  db: Db,
  entityType: string,
  sentStart: number | undefined,
  sentCount: number | undefined
): Promise<UrnList> {
  const [start, count] = [pageStart(sentStart, 'start'), pageCount(sentCount, 'count')]
  const { urns, total } = await pageOfType(db, entityType, start, count)
  return { entities: urns, start, count: urns.length, total }
}
