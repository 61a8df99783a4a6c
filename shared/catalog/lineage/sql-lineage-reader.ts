/**
 * A lineage reader in SQL: it answers when the graph in memory cannot, and tests compare the graph with it.
 */
import type { Tx } from '../../db/database.ts'
import { limits } from '../../limits.ts'
import type { TimeWindow } from '../../model/walk.ts'
import { domainsInUse } from '../../store/domains-in-use.ts'
import { keepDeadline } from '../../store/deadline.ts'
import { columnsOfAssets, loopsAmong, neighbourIdsOf } from '../../store/lineage-neighbours.ts'
import { domainParents, membersOfDomains } from '../../store/domain-reads.ts'
import { findEntitiesById } from '../../store/entities.ts'
import { readEpoch } from '../../store/graph-changes.ts'
import { everyEntityId, findKnownEntities, parentIdsOf, readEntityFacts } from '../../store/entity-reads.ts'
import { findRows } from '../../store/rows-of-tables.ts'
import { findMostConnected } from '../../store/most-connected.ts'
import { walkLineage } from '../../store/lineage-walk.ts'
import { environmentOf, platformOf } from '../../urn/kinds.ts'
import { domainTreeOf } from './domain-tree.ts'
import { createGroupNumbers } from './class-groups.ts'
import { createClassTable } from './class-table.ts'
import { readFilterDocuments } from './filter-documents.ts'
import type { EntityClass, LineageReader } from './lineage-reader.ts'

const tookTooLong =
  'The lineage walk took longer than allowed; limit the hops (a filter on degree), or start nearer to the assets you are looking for'

/** `tx` must be REPEATABLE READ, so that all answers are of one snapshot. */
export function sqlLineageReader(
  tx: Tx,
  window: TimeWindow | null,
  deadlineMs: number = limits.walkDeadlineMs
): LineageReader {
  const withinDeadline = keepDeadline(tx, deadlineMs, tookTooLong)
  const table = createClassTable()
  const groupNumbers = createGroupNumbers()
  const classesOf = async (
    ids: readonly number[] | Int32Array
  ): Promise<(id: number) => EntityClass | null> => {
    const facts = await withinDeadline(() => readEntityFacts(tx, ids, { urns: true, domains: true }))
    const classes = new Map(
      [...facts].map(([id, { urn, entityType, exists, isRemoved, domainId }]) => [
        id,
        table.classOf({
          entityType,
          platformUrn: platformOf(urn),
          origin: environmentOf(urn),
          exists,
          isRemoved,
          domainId
        })
      ])
    )
    return (id) => classes.get(id) ?? null
  }
  return {
    engine: 'sql',
    version: null,
    epoch: () => withinDeadline(() => readEpoch(tx)),
    find: (urns) => withinDeadline(() => findKnownEntities(tx, urns)),
    walk: (question) => walkLineage(tx, { ...question, window, withinDeadline }),
    async neighbours(ids, direction, level) {
      const found = await withinDeadline(() => neighbourIdsOf(tx, ids, direction, level, window))
      return (id) => found.get(id) ?? []
    },
    loops: (ids, level) => withinDeadline(() => loopsAmong(tx, ids, level, window)),
    classes: classesOf,
    async classGroups(ids) {
      const classOfId = await classesOf(ids)
      return groupNumbers(
        ids.map((id) => (classOfId(id)?.index ?? -1) + 1),
        (number) => (number === 0 ? null : table.at(number - 1))
      )
    },
    async parents(ids) {
      const parents = await withinDeadline(() => parentIdsOf(tx, ids))
      return (id) => parents.get(id) ?? null
    },
    // Both readers return rows as they are stored; throughRows leads through them.
    indirect: async () => () => [],
    rowsAmong: (ids) => withinDeadline(() => findRows(tx, ids)),
    async columns(assetIds) {
      const columns = await withinDeadline(() => columnsOfAssets(tx, assetIds))
      return (id) => columns.get(id) ?? []
    },
    async urns(ids) {
      const rows = await withinDeadline(() => findEntitiesById(tx, [...ids]))
      const urns = new Map(rows.map((row) => [row.id, row.urn]))
      return (id) => urns.get(id) ?? null
    },
    everyone: () => withinDeadline(() => everyEntityId(tx)),
    census: null,
    map: null,
    mostConnected: (count) => withinDeadline(() => findMostConnected(tx, count)),
    domainsInUse: () => withinDeadline(() => domainsInUse(tx)),
    async members(domainIds) {
      const rows = await withinDeadline(() => membersOfDomains(tx, [...domainIds]))
      return Int32Array.from(rows, (row) => row.id)
    },
    async domainTree() {
      return domainTreeOf(await withinDeadline(() => domainParents(tx)))
    },
    documents: (ids, aspectNames) => withinDeadline(() => readFilterDocuments(tx, ids, aspectNames)),
    inSql: (_what, work) => work(tx, withinDeadline),
    renew: withinDeadline.renew,
    pause: () => withinDeadline(async () => {})
  }
}
