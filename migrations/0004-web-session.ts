/**
 * Browser sessions, and the one-time codes that begin a session. Both are stored as hashes, and give the
 * rights of an access token.
 */
export const up = `
create table web_session (
  session_hash bytea not null,
  token_id uuid not null,
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  constraint web_session_pkey primary key (session_hash),
  constraint web_session_token_id_fkey foreign key (token_id) references access_token (id) on delete cascade
);
-- the sessions of a token, the least used ones last: a token has only so many, and signing out everywhere ends all
create index web_session_token_id_used_at_idx on web_session (token_id, used_at);
-- the sessions that nobody has used for so long that they are over
create index web_session_used_at_idx on web_session (used_at);

create table sign_in_code (
  code_hash bytea not null,
  token_id uuid not null,
  expires_at timestamptz not null,
  constraint sign_in_code_pkey primary key (code_hash),
  constraint sign_in_code_token_id_fkey foreign key (token_id) references access_token (id) on delete cascade
);
`
