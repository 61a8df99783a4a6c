/** Users of the identity provider: each has a row of access_token for browsers, and one for bearer tokens. */
export const up = `
alter table access_token
  add column issuer text,
  add column subject text,
  add column used_by text,
  add constraint access_token_person_check check (num_nonnulls(issuer, subject, used_by) in (0, 3)),
  add constraint access_token_used_by_check check (used_by in ('browser', 'bearer'));
create unique index access_token_person_key on access_token (issuer, subject, used_by) where issuer is not null;
`
