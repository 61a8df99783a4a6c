/** Lists the entities of one type. */
import type { Db } from '../../db/database.ts'
import { pageOfType } from '../../store/entity-lists.ts'
import type { Urn } from '../../urn/urn.ts'
import { pageCount, pageStart } from './page-count.ts'

export type UrnList = { entities: Urn[]; start: number; count: number; total: number }

/**
 * A page of URNs, including soft-deleted entities. `count` is the number of URNs on the page. An unknown type
 * has no entities. Throws BAD_REQUEST, LIMIT_EXCEEDED.
 */
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
