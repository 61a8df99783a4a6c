/** Computes what a change of edges would do to downstream assets, from the present graph. */

export type Edge = { upstreamUrn: string; downstreamUrn: string }

export const keyOfEdge = ({ upstreamUrn, downstreamUrn }: Edge): string => `${upstreamUrn} ${downstreamUrn}`

/** Edges to add and to remove; no edge is in both lists. */
export type Draft = { added: readonly Edge[]; removed: readonly Edge[] }

export const emptyDraft: Draft = { added: [], removed: [] }

const without = (edges: readonly Edge[], edge: Edge): Edge[] =>
  edges.filter((each) => keyOfEdge(each) !== keyOfEdge(edge))

/** Adding an existing edge that was to be removed keeps it. */
export function withAdded(draft: Draft, edge: Edge, doesExist: boolean): Draft {
  return {
    added: doesExist ? without(draft.added, edge) : [...without(draft.added, edge), edge],
    removed: without(draft.removed, edge)
  }
}

/** Removing an edge that was only to be added forgets it. */
export function withRemoved(draft: Draft, edge: Edge, doesExist: boolean): Draft {
  return {
    added: without(draft.added, edge),
    removed: doesExist ? [...without(draft.removed, edge), edge] : without(draft.removed, edge)
  }
}

/** The change that undoes a draft. */
export const inverseOf = ({ added, removed }: Draft): Draft => ({ added: removed, removed: added })

/** Everything downstream of a start, without the start itself unless it is in a cycle. */
export function downstreamOf(start: string, edges: readonly Edge[]): Set<string> {
  const next = new Map<string, string[]>()
  for (const { upstreamUrn, downstreamUrn } of edges) {
    const known = next.get(upstreamUrn)
    if (known) known.push(downstreamUrn)
    else next.set(upstreamUrn, [downstreamUrn])
  }
  const found = new Set<string>()
  const waiting = [start]
  for (let urn = waiting.pop(); urn !== undefined; urn = waiting.pop())
    for (const each of next.get(urn) ?? [])
      if (!found.has(each)) {
        found.add(each)
        waiting.push(each)
      }
  return found
}

/** `of` gains or loses the listed assets. Starts without a difference are left out. */
export type Effect = { of: string; gained: string[]; lost: string[] }

/**
 * The effects on the upstream ends of a draft's edges, in their order. `edges` must have everything
 * downstream of them and of the new downstream ends.
 */
export function effectsOf(edges: readonly Edge[], draft: Draft): Effect[] {
  const gone = new Set(draft.removed.map(keyOfEdge))
  const after = [...edges.filter((edge) => !gone.has(keyOfEdge(edge))), ...draft.added]
  const starts = new Set([...draft.added, ...draft.removed].map(({ upstreamUrn }) => upstreamUrn))
  return [...starts].flatMap((of) => {
    const [was, is] = [downstreamOf(of, edges), downstreamOf(of, after)]
    const gained = [...is].filter((urn) => !was.has(urn))
    const lost = [...was].filter((urn) => !is.has(urn))
    return gained.length + lost.length > 0 ? [{ of, gained, lost }] : []
  })
}
