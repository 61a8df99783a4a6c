/** Heartbeats of worker processes: which workers are alive, since when, and on which version. */
export const up = `
-- A worker renews its row; one that was not renewed for some time is dead.
create table worker (
  id uuid not null,
  name text not null,
  version text collate "C" not null,
  started_at timestamptz not null,
  seen_at timestamptz not null default now(),
  constraint worker_pkey primary key (id)
);
-- Which workers live, and which rows are old.
create index worker_seen_at_idx on worker (seen_at);
`
