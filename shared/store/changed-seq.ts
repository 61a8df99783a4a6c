/**
 * Gives, in SQL, the seq that set a row's content. The order of the row may be newer, if a load found the
 * content unchanged or an undo restored it.
 */

export const changedSeqOf = (table: 'statement' | 'domain_association'): string =>
  `coalesce(${table}.changed_seq, ${table}.seq)`

/**
 * Whether the content of an aspect written as `since` or later differs from the content before. A version
 * that is no longer kept counts as different.
 */
export const isAspectChangedSince = (
  since: string
): string => `(aspect.seq >= ${since} and aspect.value is distinct from (
  select before.value
  from aspect_history as before
  where before.entity_id = aspect.entity_id and before.aspect_name = aspect.aspect_name and before.seq < ${since}
  order by before.seq desc, before.line desc
  limit 1
))`
