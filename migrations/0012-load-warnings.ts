/**
 * What a load could not use, although nothing of it was rejected. A process of the version before writes and
 * reads no warnings.
 */
export const up = `
-- Their count, and the first messages; null without warnings. Nullable without a default: no row is rewritten.
alter table load add column warnings jsonb;
`
