/** The lean ways of applying what makes up most of large loads; what they leave, and everything else, goes the general way (apply-records.ts). */
import { createDocumentApplier, type ApplyDocuments } from './apply-documents.ts'
import { createEdgeApplier, type ApplyEdges } from './apply-edges.ts'
import { rememberEntityIds } from './entity-ids.ts'

export type LeanWays = { edges: ApplyEdges; documents: ApplyDocuments }

/** One for a process: both remember the same ids. */
export function createLeanWays(): LeanWays {
  const ids = rememberEntityIds()
  return { edges: createEdgeApplier(ids), documents: createDocumentApplier(ids) }
}
