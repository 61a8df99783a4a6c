/** OpenLineage: the events as they came, and what they say together of each dataset, job and run. */
export const up = `
create table openlineage_event (
  digest bytea primary key,
  event_time timestamptz not null,
  received_at timestamptz not null default now(),
  event json not null
);
-- Serves the deletion of old events.
create index openlineage_event_received_at_idx on openlineage_event (received_at);

create table openlineage_state (
  urn text primary key,
  state jsonb not null,
  -- What the state asserts in the catalog, so that what it no longer asserts can be taken away.
  asserted jsonb not null,
  changed_at timestamptz not null default now()
);
-- Serves the deletion of what is known of old runs.
create index openlineage_state_run_idx on openlineage_state (changed_at) where state ->> 'kind' = 'run';
`

export const down = `
drop table openlineage_state;
drop table openlineage_event;
`
