/** The seq of the change that made a row say what it says, in SQL: a row's own order may be newer, where that found all as it says or an undo restored it. */

export const changedSeqOf = (table: 'statement' | 'domain_association'): string => `coalesce(${table}.changed_seq, ${table}.seq)`

export const aspectChangedSeq = "coalesce(case when aspect.kind in ('put', 'delete') then (aspect.change->>'restores')::bigint end, aspect.seq)"
