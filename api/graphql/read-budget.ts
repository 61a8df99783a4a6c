/** Bounds what one request may make the server read and list: a list in a list in a list is short to write. */
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import type { GraphqlContext } from './context.ts'

const spent = new WeakMap<GraphqlContext, number>()

/** Takes from the budget of the request. Throws QUERY_TOO_COMPLEX (graphqlMaxReads) when it is used up. */
export function spendReads(context: GraphqlContext, count: number): void {
  const maximum = limits.graphqlMaxReads
  const actual = (spent.get(context) ?? 0) + count
  spent.set(context, actual)
  if (actual > maximum) {
    throw new CatalogError('QUERY_TOO_COMPLEX', `the request reads more than ${maximum} fields and entities; ask for fewer results, or for less of each`, { limit: 'graphqlMaxReads', maximum })
  }
}
