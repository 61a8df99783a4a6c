/**
 * The trace in which a load was sent, so that any worker that takes a chunk of it continues the trace,
 * however late.
 */
export const up = `
-- The header traceparent of the span that stored the load; null where traces are off. Nullable without a default: no row is rewritten.
alter table load add column traceparent text collate "C";
`
