/**
 * What entities are found by: one document for each, kept by the transactions that write the entity.
 *
 * `words` holds the words of names, URN, columns, custom properties and description with their places, and beside them
 * keys that begin with what no word has: `=name` for whole names, `:field:value` for what filters ask. pg_trgm is for names
 * that are nearly right: where the server lacks it or the role may not create it, everything else works and nothing near is
 * suggested.
 * Documents of entities that were there before this migration are made by the worker: search_backlog says how far it is.
 */
export const up = `
create table search_document (
  entity_id int not null,
  name text collate "C" not null,
  words tsvector not null,
  constraint search_document_pkey primary key (entity_id)
);

-- Every search. A long pending list would be read by each.
create index search_document_words_idx on search_document using gin (words) with (gin_pending_list_limit = 256);
-- One of sixty-four, to tell how much matches before all of it is looked at.
create index search_document_words_sample_idx on search_document using gin (words) with (gin_pending_list_limit = 256)
  where hashint4(entity_id) & 63 = 0;
-- Names that begin with what was typed. In the collation "C" an index serves LIKE.
create index search_document_name_idx on search_document (left(name, 200));

do $$
begin
  create extension if not exists pg_trgm;
  create index search_document_name_trgm_idx on search_document using gin (name gin_trgm_ops) with (gin_pending_list_limit = 256);
exception when others then
  raise notice 'pg_trgm cannot be had: nothing near is suggested';
end
$$;

-- No row: nothing is left to do.
create table search_backlog (
  only_row boolean not null default true,
  next_id int not null,
  last_id int not null,
  constraint search_backlog_pkey primary key (only_row),
  constraint search_backlog_only_row_check check (only_row)
);
insert into search_backlog (next_id, last_id) select 1, max(id) from entity having max(id) is not null;
`

export const down = `
drop table search_backlog;
drop table search_document;
`
