/** The parts that all GraphQL mutations and proposal requests share. */
import { CatalogError } from '../../errors.ts'
import type { ApplyContext } from './apply-records.ts'

/** The caller, the request id, and where warnings go that the answer has room for. */
export type Call = Pick<ApplyContext, 'actor' | 'requestId' | 'warn'>

/** The context of a GraphQL mutation: missing references fail, and edges have the source `manual`. */
export const mutationContext = (call: Call, operation: string): ApplyContext => ({
  actor: call.actor,
  requestId: call.requestId,
  warn: call.warn,
  operation,
  source: 'manual',
  missingReferences: 'reject'
})

/**
 * Runs a mutation, and replaces the message of a missing reference by the one that DataHub's clients know.
 * Code and details do not change. Throws what `work` throws.
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
