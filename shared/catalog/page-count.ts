/** Checks how many results a caller wants on a page, and how many to pass over. */
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import { checkCount } from '../model/count-checks.ts'

/** Throws BAD_REQUEST below 1 and LIMIT_EXCEEDED above pageMaxCount. */
export function pageCount(count: number | null | undefined, field: string, defaultCount: number = limits.pageDefaultCount): number {
  const wanted = count ?? defaultCount
  if (wanted < 1) throw new CatalogError('BAD_REQUEST', `${field} must be at least 1`, { field, actual: wanted })
  checkCount(wanted, 'pageMaxCount', { field, what: `${field} is ${wanted}` })
  return wanted
}

/** Throws BAD_REQUEST below 0. */
export function pageStart(start: number | null | undefined, field: string): number {
  if ((start ?? 0) < 0) throw new CatalogError('BAD_REQUEST', `${field} must not be negative`, { field, actual: start ?? 0 })
  return start ?? 0
}
