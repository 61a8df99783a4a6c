/**
 * Reads who asserted edges, and who put assets into their domains: source, actor, time and load, for many at
 * once.
 */
import type { Db } from '../../db/database.ts'
import { limits } from '../../limits.ts'
import type { JsonObject } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { lineageFieldByCode } from '../../model/lineage-fields.ts'
import { findAssociations } from '../../store/domains.ts'
import {
  authorsOfOrders,
  statementsOfEnds,
  type EdgeStatementRow,
  type OrderAuthor
} from '../../store/edge-statements.ts'
import { findEntities, findEntitiesById } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'

/** The source whose statements record when an edge was last used. */
const openLineageSource = 'openlineage'

/**
 * `at` is in epoch milliseconds; `operation` is the name of the call in the audit trail, `load` for a load.
 */
export type Provenance = { actor: string; at: number; operation: string | null; loadId: string | null }

/** `owner` is the entity whose aspect `aspect` contains the edge, in the list `list`. */
export type EdgeStatement = {
  owner: { urn: Urn }
  aspect: string
  list: string
  source: string
  lastUsed: number | null
  provenance: Provenance | null
}

/** The newest statements of an edge, at most edgeStatementsMaxCount, and how many there are. */
export type EdgeProvenance = {
  upstreamUrn: Urn
  downstreamUrn: Urn
  statements: EdgeStatement[]
  statementCount: number
}

/** In the order of the edges; an edge without statements gets an empty entry. */
export async function readStatedEdges(
  db: Db,
  edges: readonly { upstreamUrn: Urn; downstreamUrn: Urn }[]
): Promise<EdgeProvenance[]> {
  const idOf = new Map(
    (
      await findEntities(db, [...new Set(edges.flatMap((edge) => [edge.upstreamUrn, edge.downstreamUrn]))])
    ).map((row) => [row.urn, row.id])
  )
  const edgeKey = (upstreamId: number, downstreamId: number): string => `${upstreamId} ${downstreamId}`
  const wanted = new Map(
    edges.flatMap((edge) => {
      const [upstreamId, downstreamId] = [idOf.get(edge.upstreamUrn), idOf.get(edge.downstreamUrn)]
      return upstreamId === undefined || downstreamId === undefined
        ? []
        : [[edgeKey(upstreamId, downstreamId), { upstreamId, downstreamId }]]
    })
  )
  const rows = await statementsOfEnds(db, [...wanted.values()], limits.edgeStatementsMaxCount)
  const urnOf = new Map(
    (await findEntitiesById(db, [...new Set(rows.map((row) => row.ownerId))])).map((row) => [row.id, row.urn])
  )
  const provenanceOf = await readAuthors(
    db,
    rows.map((row) => row.seq)
  )
  const byEdge = new Map<string, EdgeStatementRow[]>()
  for (const row of rows) {
    const key = edgeKey(row.upstreamId, row.downstreamId)
    const own = byEdge.get(key)
    if (own) own.push(row)
    else byEdge.set(key, [row])
  }
  return edges.map((edge) => {
    const own = byEdge.get(edgeKey(idOf.get(edge.upstreamUrn) ?? 0, idOf.get(edge.downstreamUrn) ?? 0)) ?? []
    const statements = own.flatMap(({ ownerId, field, source, seq, lastUsed }): EdgeStatement[] => {
      const urn = urnOf.get(ownerId)
      const { aspectName, listName } = lineageFieldByCode(field)
      return urn === undefined
        ? []
        : [
            {
              owner: { urn },
              aspect: aspectName,
              list: listName,
              source,
              // Other sources store in this field when they asserted the edge.
              lastUsed: source === openLineageSource ? lastUsed : null,
              provenance: provenanceOf(seq)
            }
          ]
    })
    return {
      upstreamUrn: edge.upstreamUrn,
      downstreamUrn: edge.downstreamUrn,
      statements,
      statementCount: own[0]?.total ?? 0
    }
  })
}

/** Who put each asset into its domain, in the order of the URNs; null for an asset without a domain. */
export async function readAssociationProvenance(
  db: Db,
  urns: readonly Urn[]
): Promise<(Provenance | null)[]> {
  const idOf = new Map((await findEntities(db, urns)).map((row) => [row.urn, row.id]))
  const rows = new Map((await findAssociations(db, [...idOf.values()])).map((row) => [row.entityId, row]))
  const provenanceOf = await readAuthors(
    db,
    [...rows.values()].map((row) => row.seq)
  )
  return urns.map((urn) => {
    const row = rows.get(idOf.get(urn) ?? 0)
    if (!row || row.domainId === null) return null
    return (
      provenanceOf(row.seq) ?? {
        actor: row.actor,
        at: row.createdAt.getTime(),
        operation: null,
        loadId: null
      }
    )
  })
}

/** The attribution in the aspect `domains` of each asset, in the order of the URNs; null if there is none. */
export async function readAttributions(db: Db, urns: readonly Urn[]): Promise<(JsonObject | null)[]> {
  const idOf = new Map((await findEntities(db, urns)).map((row) => [row.urn, row.id]))
  const rows = new Map((await findAssociations(db, [...idOf.values()])).map((row) => [row.entityId, row]))
  return urns.map((urn) => {
    const [association] = listOf(rows.get(idOf.get(urn) ?? 0)?.attributes?.domainAssociations)
    return isObject(association) && isObject(association.attribution) ? association.attribution : null
  })
}

async function readAuthors(db: Db, seqs: readonly number[]): Promise<(seq: number) => Provenance | null> {
  const authors = new Map(
    (await authorsOfOrders(db, [...new Set(seqs)])).map((author) => [author.seq, author])
  )
  const shown = ({ actor, at, operation, loadId }: OrderAuthor): Provenance => ({
    actor,
    at: at.getTime(),
    operation,
    loadId
  })
  return (seq) => {
    const author = authors.get(seq)
    return author ? shown(author) : null
  }
}
