/** Reads the server's answer for a lineage view. */
import { cardOf } from '../api/entity.ts'
import type { RawGraph } from '../api/lineage-queries.ts'
import type { GraphAnswer } from './picture.ts'

export const answerOf = (
  { nodes, edges, totals, complete, timeWindow }: RawGraph,
  { hidesJobs }: { hidesJobs: boolean }
): GraphAnswer => ({
  hidesJobs,
  nodes: nodes.map(({ entity, columnRows, ...node }) => ({
    ...node,
    card: cardOf(entity),
    isRemoved: entity.status?.removed === true,
    columnRows: columnRows ?? null
  })),
  edges: edges.map(({ via, ...edge }) => ({ ...edge, via: via.map(cardOf) })),
  totals,
  isComplete: complete,
  timeRule: timeWindow?.rule ?? null
})
