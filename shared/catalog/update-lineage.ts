/** Adds and removes lineage edges named by their ends, all or none. */
import type { Db } from '../db/database.ts'
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Change } from '../model/changes.ts'
import { toUrn } from '../urn/urn.ts'
import { applyCall } from './apply-call.ts'
import { mutationContext, type Call } from './call.ts'

export type EdgeInput = { upstreamUrn: string, downstreamUrn: string }

/** A missing list is an empty one. */
export type UpdateLineageInput = { edgesToAdd?: readonly (EdgeInput | null)[] | null, edgesToRemove?: readonly (EdgeInput | null)[] | null }

/**
 * An edge in both lists is removed. Answers when the change is committed.
 * Throws MISSING_REFERENCE (an end), BAD_REQUEST (no lineage exists between two such types), INVALID_URN, INVALID_CHARACTER,
 * LIMIT_EXCEEDED (edgesPerCallMaxCount) and FORBIDDEN; `field` says which edge, and nothing is changed.
 */
export async function updateLineage(db: Db, input: UpdateLineageInput, call: Call): Promise<true> {
  const { changes, fields } = edgeChanges(input)
  if (changes.length === 0) return true
  await applyCall(db, [{ line: 0, changes, fields }], mutationContext(call, 'updateLineage'))
  return true
}

/** The changes that an input asks for, and the input each came from. Throws BAD_REQUEST, INVALID_URN, INVALID_CHARACTER, LIMIT_EXCEEDED. */
export function edgeChanges(input: UpdateLineageInput): { changes: Change[], fields: string[] } {
  const toAdd = input.edgesToAdd ?? []
  const toRemove = input.edgesToRemove ?? []
  checkCount(toAdd.length + toRemove.length)
  const removed = toRemove.map((edge, index) => endsOf(edge, `input.edgesToRemove[${index}]`))
  const removedKeys = new Set(removed.map(keyOf))
  // What is removed as well is left out, so that its add is neither made nor refused for its own sake.
  const added = toAdd.map((edge, index) => endsOf(edge, `input.edgesToAdd[${index}]`)).filter((ends) => !removedKeys.has(keyOf(ends)))
  return {
    changes: [
      ...added.map(({ upstreamUrn, downstreamUrn }): Change => ({ kind: 'addEdge', upstreamUrn, downstreamUrn })),
      ...removed.map(({ upstreamUrn, downstreamUrn }): Change => ({ kind: 'removeEdge', upstreamUrn, downstreamUrn }))
    ],
    fields: [...added, ...removed].map((ends) => ends.field)
  }
}

type Ends = ReturnType<typeof endsOf>

function endsOf(edge: EdgeInput | null, field: string) {
  if (edge === null) throw new CatalogError('BAD_REQUEST', `${field} is null; it must be an edge`, { field })
  return { upstreamUrn: toUrn(edge.upstreamUrn, `${field}.upstreamUrn`), downstreamUrn: toUrn(edge.downstreamUrn, `${field}.downstreamUrn`), field }
}

const keyOf = (ends: Ends): string => `${ends.upstreamUrn}\n${ends.downstreamUrn}`

function checkCount(actual: number): void {
  const maximum = limits.edgesPerCallMaxCount
  if (actual <= maximum) return
  throw new CatalogError('LIMIT_EXCEEDED', `${actual} edges in one call; at most ${maximum} are allowed. Send more as a load (POST /loads)`, { field: 'input', limit: 'edgesPerCallMaxCount', maximum, actual })
}
