/** The trace that a load was sent in, so that workers continue it whichever of them takes a chunk, and however late. */
export const up = `
-- The header traceparent of the span that stored the load; null where traces are off. Nullable without a default: no row is rewritten.
alter table load add column traceparent text collate "C";
`
