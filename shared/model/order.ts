/** The order of acceptance: decides which of two changes is newer, whatever order workers apply them in. */

/**
 * `seq` is drawn when a call holds its locks or a load is accepted. `line` is the place within the
 * submission.
 */
export type Order = { seq: number; line: number }

/** A position before all changes, for what no client has stated. */
export const beginning: Order = { seq: 0, line: 0 }

/** Negative if a is older than b, positive if it is newer, 0 if both are the same record. */
export const compareOrder = (a: Order, b: Order): number => a.seq - b.seq || a.line - b.line

/**
 * A stored value with the order in which it was last stated. If a newer change stated the same value again,
 * `changedSeq` is the seq of the change that set it.
 */
export type Changed = { seq: number; changedSeq?: number | null }

/** The seq of the change that set the value; 0 if no change did. */
export const seqOfChange = (row: Changed): number => row.changedSeq ?? row.seq

/**
 * Whether `a` is strictly newer. Within one record the later operation wins, so an equal order is not newer.
 */
export const isNewer = (a: Order | null | undefined, b: Order): boolean => !!a && compareOrder(a, b) > 0
