/**
 * A token knows who made it, and whether that is a user of the identity provider. A process of the version
 * before writes none of these columns: its tokens have no maker.
 */
export const up = `
alter table access_token
  -- The actor that made the token; null for one that an operator made at a shell, and for a user's own row.
  add column maker text,
  -- The user of the identity provider who made it, also with another token of that user.
  add column maker_issuer text,
  add column maker_subject text,
  -- When the provider last said something about the user whose row this is; noted once a day.
  add column seen_at timestamptz,
  add constraint access_token_maker_check check (num_nonnulls(maker_issuer, maker_subject) in (0, 2));
create index access_token_maker_idx on access_token (maker_issuer, maker_subject) where maker_issuer is not null;
`
