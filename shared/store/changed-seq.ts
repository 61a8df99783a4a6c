/** Since when a row says what it says, in SQL: its own order may be newer, where a load found all as it says or an undo restored it. */

export const changedSeqOf = (table: 'statement' | 'domain_association'): string =>
  `coalesce(${table}.changed_seq, ${table}.seq)`

/** Whether an aspect that was written as `since` or later says something else than before. What is no longer kept counts as something else. */
export const isAspectChangedSince = (
  since: string
): string => `(aspect.seq >= ${since} and aspect.value is distinct from (
  select before.value
  from aspect_history as before
  where before.entity_id = aspect.entity_id and before.aspect_name = aspect.aspect_name and before.seq < ${since}
  order by before.seq desc, before.line desc
  limit 1
))`
