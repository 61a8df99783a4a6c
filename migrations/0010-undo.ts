/**
 * What loads have changed, so that a load can be taken back; and who stated an edge, by the order it was stated in.
 *
 * A journal row is written in the transaction of its chunk: what was changed, and where nothing else keeps it, what was
 * there before. It goes with the row of its load. Measured with 100,000 edges stated by their ends, 5,000 a chunk, between
 * 20,000 assets in no order: 3.3 bytes an edge of payload, and nothing else that grows with the edges.
 */
export const up = `
-- id: the order in which the chunks of a load were applied. seq: what the changes were made as. kinds: which of them there are.
create table load_journal (
  load_id uuid not null,
  id bigint generated always as identity,
  seq bigint not null,
  kinds smallint not null,
  counts int[] not null,
  payload bytea not null,
  constraint load_journal_pkey primary key (load_id, id),
  -- checked at the end: a chunk must not hold the row of its load before it settles, or a cancel would wait for it
  constraint load_journal_load_id_fkey foreign key (load_id) references load (id) on delete cascade deferrable initially deferred
);
alter table load_journal alter column payload set storage external;

-- undoes: the load that this one takes back. is_journaled: false for loads from before there was a journal.
alter table load add column undoes uuid;
alter table load add column is_journaled boolean not null default false;
alter table load alter column is_journaled set default true;
-- who has undone a load
create index load_undoes_idx on load (undoes) where undoes is not null;

-- who stated an edge, when, and by which load: the first audit row of an order
create index audit_seq_id_idx on audit (seq, id) where seq is not null;
`

export const down = `
drop index audit_seq_id_idx;
drop index load_undoes_idx;
alter table load drop column is_journaled;
alter table load drop column undoes;
drop table load_journal;
`
