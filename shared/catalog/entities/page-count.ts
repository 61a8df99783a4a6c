/** Checks how many results a caller wants on a page, and how many to skip. */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { checkCount } from '../../model/count-checks.ts'

/**
 * If `leastCount` is 0, a caller may request no results: DataHub's clients do so to get only the total.
 * Throws BAD_REQUEST below `leastCount` and LIMIT_EXCEEDED above pageMaxCount.
 */
export function pageCount(
  count: number | null | undefined,
  field: string,
  defaultCount: number = limits.pageDefaultCount,
  leastCount: 0 | 1 = 1
): number {
  const wanted = count ?? defaultCount
  if (wanted < leastCount)
    throw new CatalogError('BAD_REQUEST', `${field} must be at least ${leastCount}`, {
      field,
      actual: wanted
    })
  checkCount(wanted, 'pageMaxCount', { field, what: `${field} is ${wanted}` })
  return wanted
}

/** Throws BAD_REQUEST below 0. */
export function pageStart(start: number | null | undefined, field: string): number {
  if ((start ?? 0) < 0)
    throw new CatalogError('BAD_REQUEST', `${field} must not be negative`, { field, actual: start ?? 0 })
  return start ?? 0
}
