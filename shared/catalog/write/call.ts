/** What the verbs of one GraphQL mutation or one proposal request have in common. */
import { CatalogError } from '../../errors.ts'
import type { Actor } from '../../model/changes.ts'
import type { ApplyContext } from './apply-records.ts'

/** Who asked, and under which request id. */
export type Call = { actor: Actor; requestId: string | null }

/** The context of a GraphQL mutation: absent references fail, statements are people's own. */
export const mutationContext = (call: Call, operation: string): ApplyContext => ({
  actor: call.actor,
  requestId: call.requestId,
  operation,
  source: 'manual',
  missingReferences: 'reject'
})

/**
 * Runs a mutation and gives an absent reference the words that DataHub's clients know; code and details stay.
 * Throws what `work` throws.
 */
export async function refuseAbsent<T>(
  work: Promise<T>,
  message: (absent: CatalogError) => string
): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof CatalogError) || error.code !== 'MISSING_REFERENCE') throw error
    throw new CatalogError(error.code, message(error), error.details, { cause: error })
  }
}
