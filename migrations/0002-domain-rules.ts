/** Domain rules: which domain an asset is put into when it is first seen. */
export const up = `
create table domain_rules (
  only_row boolean primary key default true,
  -- Changes with the rules, so that who keeps them in memory sees that they are others.
  revision uuid not null,
  rules jsonb not null,
  actor text not null,
  changed_at timestamptz not null default now(),
  constraint domain_rules_only_row_check check (only_row)
);
`
