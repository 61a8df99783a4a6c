/**
 * What a load is told beside its body: a key that makes sending it again safe, and that it is all or nothing, or a rehearsal.
 *
 * A key is taken by one load of a token, until that load is aborted or was cancelled before its body had come to its end:
 * nothing of such a load is known that could be given back. The digest is of the body as it was unpacked.
 */
export const up = `
alter table load
  add column is_atomic boolean not null default false,
  add column is_dry_run boolean not null default false,
  add column idempotency_key text collate "C",
  add column body_digest bytea,
  add column report jsonb;
-- a key is taken once
create unique index load_token_id_idempotency_key_key on load (coalesce(token_id::text, actor), idempotency_key)
where idempotency_key is not null and state <> 'aborted' and (state <> 'cancelled' or body_ended_at is not null);
`

export const down = `
drop index load_token_id_idempotency_key_key;
alter table load
  drop column report,
  drop column body_digest,
  drop column idempotency_key,
  drop column is_dry_run,
  drop column is_atomic;
`
