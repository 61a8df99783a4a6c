/** Adds and removes lineage edges given by their ends, all or none. */
import type { Db } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import type { Change } from '../../model/changes.ts'
import { checkCount } from '../../model/count-checks.ts'
import { parseEdge, type ParsedEdge } from '../../model/edges.ts'
import { findEntities } from '../../store/entities.ts'
import { edgesOnlyThroughRows } from '../../store/rows-of-tables.ts'
import { entityTypeOf } from '../../urn/urn.ts'
import { applyCall } from './apply-call.ts'
import { mutationContext, type Call } from './call.ts'

export type EdgeInput = { upstreamUrn: string; downstreamUrn: string }

/** A missing list counts as empty. */
export type UpdateLineageInput = {
  edgesToAdd?: readonly (EdgeInput | null)[] | null
  edgesToRemove?: readonly (EdgeInput | null)[] | null
}

/** An edge, and its place in the input: `input.edgesToAdd[37]`. */
type NamedEdge = ParsedEdge & { field: string }

/**
 * An edge in both lists is removed. Returns when the change is committed. Throws MISSING_REFERENCE (an end),
 * BAD_REQUEST (no lineage exists between two such types; only the rows of a table make the edge), INVALID_URN, INVALID_CHARACTER, LIMIT_EXCEEDED
 * (edgesPerCallMaxCount) and FORBIDDEN; `field` says which edge, and nothing is changed.
 */
export async function updateLineage(db: Db, input: UpdateLineageInput, call: Call): Promise<true> {
  const count = (input.edgesToAdd?.length ?? 0) + (input.edgesToRemove?.length ?? 0)
  checkCount(count, 'edgesPerCallMaxCount', {
    field: 'input',
    what: `${count} edges in one call`,
    wayOut: 'Send more as a load (POST /loads)'
  })
  const removed = namedEdges(input.edgesToRemove, 'input.edgesToRemove')
  const removedKeys = new Set(removed.map(edgeKey))
  // An edge that is also removed is not added first: the removal wins, and does not require that both ends
  // exist.
  const added = namedEdges(input.edgesToAdd, 'input.edgesToAdd').filter(
    (edge) => !removedKeys.has(edgeKey(edge))
  )

  const edges = [
    ...added.map((edge) => ({ kind: 'addEdge' as const, ...edge })),
    ...removed.map((edge) => ({ kind: 'removeEdge' as const, ...edge }))
  ]
  const effective = edges.filter((edge) => !edge.isWithoutEffect)
  await refuseAbsentEnds(
    db,
    edges.filter((edge) => edge.isWithoutEffect)
  )
  await refuseEdgesOfRows(db, removed)
  if (effective.length === 0) return true
  const changes = effective.map(({ kind, upstreamUrn, downstreamUrn }): Change => ({
    kind,
    upstreamUrn,
    downstreamUrn
  }))
  await applyCall(
    db,
    [{ line: 0, changes, fields: effective.map(({ field }) => field) }],
    mutationContext(call, 'updateLineage')
  )
  return true
}

function namedEdges(list: UpdateLineageInput['edgesToAdd'], listField: string): NamedEdge[] {
  return (list ?? []).map((edge, index) => {
    const field = `${listField}[${index}]`
    if (edge === null)
      throw new CatalogError('BAD_REQUEST', `${field} is null; it must be an edge`, { field })
    return { ...parseEdge(edge.upstreamUrn, edge.downstreamUrn, field), field }
  })
}

/** An edge that only the rows of a table make has no statement to remove. Throws BAD_REQUEST. */
async function refuseEdgesOfRows(db: Db, edges: readonly NamedEdge[]): Promise<void> {
  const ofColumns = edges.filter(({ downstreamUrn }) => entityTypeOf(downstreamUrn) === 'schemaField')
  if (ofColumns.length === 0) return
  const urns = ofColumns.flatMap(({ upstreamUrn, downstreamUrn }) => [upstreamUrn, downstreamUrn])
  const idOf = new Map((await findEntities(db, [...new Set(urns)])).map((row) => [row.urn, row.id]))
  for (const { upstreamId, downstreamId } of await edgesOnlyThroughRows(
    db,
    ofColumns.flatMap(({ upstreamUrn, downstreamUrn }) => {
      const [upstreamId, downstreamId] = [idOf.get(upstreamUrn), idOf.get(downstreamUrn)]
      return upstreamId === undefined || downstreamId === undefined ? [] : [{ upstreamId, downstreamId }]
    })
  )) {
    const edge = ofColumns.find(
      ({ upstreamUrn, downstreamUrn }) =>
        idOf.get(upstreamUrn) === upstreamId && idOf.get(downstreamUrn) === downstreamId
    )
    const field = edge?.field ?? 'input.edgesToRemove'
    throw new CatalogError(
      'BAD_REQUEST',
      `${field} cannot be removed: the one column filters or joins the rows of the other's table, and so reaches all of its columns`,
      { field }
    )
  }
}

const edgeKey = ({ upstreamUrn, downstreamUrn }: ParsedEdge): string => `${upstreamUrn}\n${downstreamUrn}`

/**
 * A job and its flow have no edge to write, but both must exist like the ends of any other edge. Throws
 * MISSING_REFERENCE.
 */
async function refuseAbsentEnds(db: Db, edges: readonly NamedEdge[]): Promise<void> {
  if (edges.length === 0) return
  const rows = await findEntities(
    db,
    edges.flatMap(({ upstreamUrn, downstreamUrn }) => [upstreamUrn, downstreamUrn])
  )
  const present = new Set(rows.filter((row) => row.isPresent).map((row) => row.urn))
  for (const { upstreamUrn, downstreamUrn, field } of edges) {
    for (const [urn, end] of [
      [upstreamUrn, 'upstreamUrn'],
      [downstreamUrn, 'downstreamUrn']
    ] as const) {
      if (!present.has(urn))
        throw new CatalogError('MISSING_REFERENCE', `Error: urn does not exist: ${urn}`, {
          field: `${field}.${end}`,
          urn
        })
    }
  }
}
