/** Refuses a count above a limit. */
import { CatalogError } from '../errors.ts'
import { limits, type LimitName } from '../limits.ts'

/**
 * `field` names the input. The message begins with `what` (`5001 edges in one call`) and ends with `wayOut`.
 * Throws LIMIT_EXCEEDED with the limit's name, its value and the count.
 */
export function checkCount(
  actual: number,
  limit: LimitName,
  { field, what, wayOut: advice }: { field: string; what: string; wayOut?: string }
): void {
  const maximum = limits[limit]
  if (actual <= maximum) return
  throw new CatalogError(
    'LIMIT_EXCEEDED',
    `${what}; at most ${maximum} are allowed${advice === undefined ? '' : `. ${advice}`}`,
    { field, limit, maximum, actual }
  )
}
