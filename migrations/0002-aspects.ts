/**
 * Aspects: JSON documents about entities, the current one and the ones before it.
 *
 * An aspect is the fold of its changes in order (seq, line). The current row is the last change and its result; older
 * ones are in aspect_history, so that a change that comes late is inserted at its place and the newer ones are replayed.
 * `change` is null where the change was the whole value (an UPSERT), else what is replayed (a patch, a merge, several in
 * one record).
 * Aspects that carry lineage keep here what is not an edge; their edges are rows of statement.
 */
export const up = `
create table aspect (
  entity_id int not null,
  aspect_name text collate "C" not null,
  version int not null,
  seq bigint not null,
  line int not null,
  kind text collate "C" not null,
  change jsonb,
  value jsonb,
  system_metadata jsonb,
  actor text not null,
  created_at timestamptz not null default now(),
  constraint aspect_pkey primary key (entity_id, aspect_name),
  constraint aspect_kind_check check (kind in ('put', 'patch', 'merge', 'delete', 'several'))
);

create table aspect_history (
  entity_id int not null,
  aspect_name text collate "C" not null,
  version int not null,
  seq bigint not null,
  line int not null,
  kind text collate "C" not null,
  change jsonb,
  value jsonb,
  system_metadata jsonb,
  actor text not null,
  created_at timestamptz not null default now(),
  constraint aspect_history_pkey primary key (entity_id, aspect_name, seq, line),
  constraint aspect_history_kind_check check (kind in ('put', 'patch', 'merge', 'delete', 'several'))
);

-- Aspects that are events in time (profiles, usage, operations): kept one by one, read back newest first.
create table timeseries_aspect (
  entity_id int not null,
  aspect_name text collate "C" not null,
  timestamp_millis bigint not null,
  event_key uuid not null,
  seq bigint not null,
  line int not null,
  value jsonb not null,
  system_metadata jsonb,
  actor text not null,
  created_at timestamptz not null default now(),
  constraint timeseries_aspect_pkey primary key (entity_id, aspect_name, timestamp_millis, event_key)
);
`

export const down = `
drop table timeseries_aspect;
drop table aspect_history;
drop table aspect;
`
