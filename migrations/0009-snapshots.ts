/**
 * Snapshots: loads that also take away what their source stated before and does not state now.
 *
 * load.sweep says how far that is: `pending` until what the load states has been compared with what its source states,
 * `removing` while the difference is taken away, `done`; or `held`, where a reject may name any edge. What is stated is
 * kept in snapshot_statement, a packed row for each chunk and list, logged: a crash of Postgres must not make a sweep
 * believe that less was stated (8 bytes an edge of most lists). The difference is kept in snapshot_removal, in pieces
 * that are chunks of their own. A failed load that a newer snapshot has passed by (superseded_by) cannot be retried.
 */
export const up = `
alter table load
  add column force boolean not null default false,
  add column sweep text collate "C",
  add column sweep_max_share double precision,
  add column sweep_stated bigint,
  add column sweep_removable bigint,
  add column sweep_removed bigint,
  add column superseded_by uuid,
  add constraint load_sweep_check check (sweep in ('pending', 'removing', 'held', 'done'));

-- owner_ids is null where each owner is the downstream. new_count: rows of the chunk that were not there before.
create table snapshot_statement (
  load_id uuid not null,
  field smallint not null,
  record_key int not null,
  owner_ids int[],
  downstream_ids int[] not null,
  upstream_ids int[] not null,
  new_count int not null,
  constraint snapshot_statement_load_id_fkey foreign key (load_id) references load (id) on delete cascade
);
create index snapshot_statement_load_id_idx on snapshot_statement (load_id);

create table snapshot_removal (
  load_id uuid not null,
  piece int not null,
  downstream_ids int[] not null,
  upstream_ids int[] not null,
  owner_ids int[] not null,
  fields smallint[] not null,
  record_keys int[] not null,
  constraint snapshot_removal_pkey primary key (load_id, piece),
  constraint snapshot_removal_load_id_fkey foreign key (load_id) references load (id) on delete cascade
);
`

export const down = `
drop table snapshot_removal;
drop table snapshot_statement;
alter table load
  drop column force,
  drop column sweep,
  drop column sweep_max_share,
  drop column sweep_stated,
  drop column sweep_removable,
  drop column sweep_removed,
  drop column superseded_by;
`
