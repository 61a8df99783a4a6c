/**
 * What an UPSERT of a lineage aspect replaces is decided when a load is accepted, and is part of the load, so that
 * a worker with another configuration applies it in the same way. A process of the version before replaces the whole aspect.
 */
export const up = `
alter table load add column upsert_replaces text collate "C" not null default 'aspect';
`
