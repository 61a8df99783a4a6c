/**
 * Tells which URNs are known, and which domains assets are in: from the graph in memory if it is loaded,
 * otherwise in SQL.
 */
import type { Db, Tx } from '../../db/database.ts'
import { domainIn, isDeletedIn, isPresentIn } from '../../graph/nodes.ts'
import type { JsonObject } from '../../model/changes.ts'
import { findDomainsOf } from '../../store/domain-reads.ts'
import { findEntities } from '../../store/entities.ts'
import { findKnownEntities, type KnownEntity } from '../../store/entity-reads.ts'
import type { Urn } from '../../urn/urn.ts'
import type { LineageOpener, OpenedLineage } from './lineage-memory.ts'
import { findInView } from './memory-lineage-reader.ts'

/** `memory` is null within a transaction, and in processes that keep no graph. */
export type EntitySources = { db: Db | Tx; memory: LineageOpener | null }

/** The known entities among the URNs; the answer is that of findKnownEntities. */
export function findKnown(
  { db, memory }: EntitySources,
  urns: readonly Urn[]
): Promise<Map<Urn, KnownEntity>> {
  return fromMemoryOrSql(
    memory,
    ({ graph, view }) =>
      new Map(
        urns.flatMap((urn) => {
          const known = findInView(graph, view, urn)
          return known ? [[urn, known]] : []
        })
      ),
    () => findKnownEntities(db, urns)
  )
}

export type DomainOfAsset = { urn: Urn; exists: boolean }

/**
 * The domain of each asset that is in one, by the asset's URN. Deleted domains do not count, even if an asset
 * still names them.
 */
export function findDomains(
  { db, memory }: EntitySources,
  assetUrns: readonly Urn[]
): Promise<Map<Urn, DomainOfAsset>> {
  return fromMemoryOrSql(
    memory,
    (opened) =>
      new Map(
        assetUrns.flatMap((urn) => {
          const domain = domainInMemory(opened, urn)
          return domain ? [[urn, domain]] : []
        })
      ),
    async () => {
      const urnOf = new Map((await findEntities(db, assetUrns)).map((row) => [row.id, row.urn]))
      const rows = await findDomainsOf(db, [...urnOf.keys()])
      return new Map(
        rows.flatMap(({ entityId, domainUrn, domainExists }) => {
          const urn = urnOf.get(entityId)
          return urn ? [[urn, { urn: domainUrn, exists: domainExists }]] : []
        })
      )
    }
  )
}

function domainInMemory({ graph: { urns }, view: { nodes } }: OpenedLineage, urn: Urn): DomainOfAsset | null {
  const domainId = domainIn(nodes, urns.idOf(urn))
  const domainUrn = domainId === 0 ? null : urns.urnOf(domainId)
  if (domainUrn === null) return null
  const exists = isPresentIn(nodes, domainId)
  return exists || !isDeletedIn(nodes, domainId) ? { urn: domainUrn, exists } : null
}

/** The domainProperties of those domains that have some; null if memory does not have all of them. */
export function findDomainDocuments(
  { memory }: EntitySources,
  domainUrns: readonly Urn[]
): Promise<Map<Urn, JsonObject> | null> {
  return fromMemoryOrSql<Map<Urn, JsonObject> | null>(
    memory,
    ({ graph }) => {
      const documents = new Map<Urn, JsonObject>()
      for (const urn of domainUrns) {
        const document = graph.domainDocuments.get(graph.urns.idOf(urn))
        if (document?.value === null) return null
        if (document) documents.set(urn, document.value)
      }
      return documents
    },
    async () => null
  )
}

async function fromMemoryOrSql<Result>(
  memory: LineageOpener | null,
  fromMemory: (opened: OpenedLineage) => Result,
  inSql: () => Promise<Result>
): Promise<Result> {
  const opened = await memory?.open()
  if (!opened) return inSql()
  try {
    return fromMemory(opened)
  } finally {
    opened.release()
  }
}
