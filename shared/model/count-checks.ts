/** Refuses more of something than a limit allows. */
import { CatalogError } from '../errors.ts'
import { limits, type LimitName } from '../limits.ts'

/**
 * `field` names the input; `what` begins the message (`5001 edges in one call`), `wayOut` ends it.
 * Throws LIMIT_EXCEEDED with the name of the limit, its value and what was sent.
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
