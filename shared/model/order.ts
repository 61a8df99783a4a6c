/** The order of acceptance: which of two changes came last, whatever order workers apply them in. */

/** `seq` is drawn when a call holds its locks or a load is accepted; `line` is the place within the submission. */
export type Order = { seq: number; line: number }

/** Before everything: the order of what no client has stated. */
export const beginning: Order = { seq: 0, line: 0 }

/** Negative when a came before b, positive when after, 0 when they are one record. */
export const compareOrder = (a: Order, b: Order): number => a.seq - b.seq || a.line - b.line

/** What is stored with the order it was last said in, which may be newer than the change that made it so: then `changedSeq` is the seq of that change. */
export type Changed = { seq: number; changedSeq?: number | null }

/** The seq of the change that made it what it is. 0 for what no change has altered. */
export const seqOfChange = (row: Changed): number => row.changedSeq ?? row.seq

/** Strictly newer. Within one record later operations win, so a tie is not newer. */
export const isNewer = (a: Order | null | undefined, b: Order): boolean => !!a && compareOrder(a, b) > 0
