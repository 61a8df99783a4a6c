/**
 * Remembers for good what a revocation of a user of the identity provider refuses, and gives each session an
 * end of its own. A process of the version before writes neither column: it revokes one row only, and its
 * sessions end with the row.
 */
export const up = `
alter table access_token
  -- What the provider issued until then is refused; of all rows of a person, the latest counts. Never lowered.
  add column refused_before timestamptz;
update access_token set refused_before = revoked_at where issuer is not null and revoked_at is not null;

alter table web_session
  -- When the session ends in any case; null for one that ends with its token.
  add column expires_at timestamptz;
update web_session
set expires_at = access_token.expires_at
from access_token
where access_token.id = web_session.token_id and access_token.used_by = 'browser';
`
