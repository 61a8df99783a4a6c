/** Loads over GraphQL: submit, follow, retry, cancel. Each resolver calls one function of the catalog. */
import { readReferences } from '../../../shared/catalog/lineage/entity-references.ts'
import { changedAssets } from '../../../shared/catalog/loads/changed-assets.ts'
import { cancelLoad } from '../../../shared/catalog/loads/cancel-load.ts'
import { listLoads, readLoad, type LoadView } from '../../../shared/catalog/loads/read-load.ts'
import { retryLoad } from '../../../shared/catalog/loads/retry-load.ts'
import { undoLoad } from '../../../shared/catalog/loads/undo-load.ts'
import { submitChanges, type SubmittedChanges } from '../../../shared/catalog/loads/submit-changes.ts'
import { CatalogError } from '../../../shared/errors.ts'
import { limits } from '../../../shared/limits.ts'
import type { GraphqlContext } from '../context.ts'

type Retry = {
  id: string
  force?: boolean | null
  missingReferences?: keyof typeof missingReferencesOf | null
}
/** The values of the enum MissingReferences. */
const missingReferencesOf = { REJECT: 'reject', CREATE: 'create' } as const

const changedDefaultCount = 20

type Page = { cursor?: string | null; count?: number | null }

export const loadResolvers = {
  Query: {
    load: (_: unknown, { id }: { id: string }, context: GraphqlContext) =>
      readLoad(context.db, context.actor, id),
    loads: (_: unknown, { cursor, count }: Page, context: GraphqlContext) =>
      listLoads(context.db, context.actor, { limit: countOf(count), cursor: cursor ?? null })
  },
  Load: {
    async changed({ id, dryRun }: LoadView, { count }: Page, context: GraphqlContext) {
      if (dryRun) return null
      const wanted = Math.min(countOf(count ?? changedDefaultCount), limits.pageMaxCount)
      const { ids, isComplete } = await changedAssets(context.db, id, wanted)
      context.budget.spendReads(ids.length)
      const assets = await readReferences(context.db, ids)
      return { assets: assets.filter((asset) => asset !== null), isComplete }
    }
  },
  Mutation: {
    // Never creates placeholders: an absent reference becomes a reject of the load.
    submitChanges: (_: unknown, { input }: { input: SubmittedChanges }, context: GraphqlContext) =>
      submitChanges(context.db, context.queue, input, {
        actor: context.actor,
        requestId: context.requestId,
        missingReferences: 'reject'
      }),
    retryLoad: (_: unknown, { id, force, missingReferences }: Retry, context: GraphqlContext) =>
      retryLoad(context.db, context.queue, context.actor, id, {
        force: force ?? false,
        missingReferences: missingReferences ? missingReferencesOf[missingReferences] : null
      }),
    undoLoad: (
      _: unknown,
      { id, dryRun }: { id: string; dryRun?: boolean | null },
      context: GraphqlContext
    ) =>
      undoLoad(context.db, context.queue, id, {
        actor: context.actor,
        requestId: context.requestId,
        isDryRun: dryRun ?? false
      }),
    cancelLoad: (_: unknown, { id }: { id: string }, context: GraphqlContext) =>
      cancelLoad(context.db, context.actor, id)
  }
}

function countOf(count: number | null | undefined): number {
  const wanted = count ?? limits.pageDefaultCount
  if (wanted < 1) throw new CatalogError('BAD_REQUEST', 'count must be at least 1', { field: 'count' })
  return wanted
}
