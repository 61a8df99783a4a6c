/** Lists the domains of one level: the top level, or directly under a domain. */
import type { Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { findEntities } from '../../store/entities.ts'
import { domainsOfLevel } from '../../store/domain-reads.ts'
import { findText, soughtText } from '../entities/entity-texts.ts'
import { pageCount, pageStart } from '../entities/page-count.ts'
import { readEntity, type EntityReference } from '../lineage/read-entity.ts'
import type { LineageSources } from '../lineage/with-lineage.ts'

/** The input as clients send it. */
export type ListDomainsInput = {
  start?: number | null
  count?: number | null
  query?: string | null
  parentDomain?: string | null
}

export type DomainList = { start: number; count: number; total: number; domains: EntityReference[] }

const listDefaultCount = 20
/** All domains of the level are read, whatever the page. */
const listUnits = 1

/**
 * Newest first; a heavy read. Domains that do not exist (placeholders, deleted and soft-deleted ones) are left out.
 * Throws BAD_REQUEST, LIMIT_EXCEEDED, INVALID_URN, and NOT_FOUND for a parent that does not exist.
 */
export async function listDomains(
  { db, work }: Pick<LineageSources, 'db' | 'work'>,
  input: ListDomainsInput
): Promise<DomainList> {
  const start = pageStart(input.start, 'input.start')
  const count = pageCount(input.count, 'input.count', listDefaultCount, 0)
  const text = soughtText(input.query, 'input.query')
  const read = (): Promise<DomainList> =>
    inTransaction(db, list, { readOnly: true, isolation: 'repeatable read' })
  return work ? work.run(listUnits, read) : read()

  async function list(tx: Tx): Promise<DomainList> {
    const parentUrn = input.parentDomain
      ? (await readEntity({ db: tx, memory: null }, input.parentDomain, 'domain', 'input.parentDomain')).urn
      : null
    const [parent] = parentUrn === null ? [] : await findEntities(tx, [parentUrn])
    const level = (await domainsOfLevel(tx, parent?.id ?? null, text !== null)).filter(
      (row) =>
        text === null ||
        findText(text, row.urn, new Map(row.properties ? [['domainProperties', row.properties]] : []))
          .length > 0
    )
    const domains = level.slice(start, start + count).map((row) => ({ urn: row.urn, exists: true }))
    return { start, count: domains.length, total: level.length, domains }
  }
}
