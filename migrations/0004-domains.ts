/**
 * Domains: the tree, and which asset is in which domain.
 *
 * The aspect domainProperties is the truth about a domain; `domain` mirrors its name and parent for the checks of the
 * tree, which are made under one lock. An association is one row per asset, so an asset has one domain at most by
 * construction; a row whose domain_id is null remembers the order of the removal.
 */
export const up = `
create table domain (
  entity_id int not null,
  name text not null,
  parent_id int,
  created_at timestamptz not null default now(),
  constraint domain_pkey primary key (entity_id)
);
-- siblings of one name, children of a domain, list of a level
create index domain_parent_id_name_idx on domain (parent_id, name);

create table domain_association (
  entity_id int not null,
  domain_id int,
  version int not null,
  seq bigint not null,
  line int not null,
  attributes jsonb,
  actor text not null,
  created_at timestamptz not null default now(),
  constraint domain_association_pkey primary key (entity_id)
);
-- the assets of a domain
create index domain_association_domain_id_idx on domain_association (domain_id, entity_id) where domain_id is not null;
`

export const down = `
drop table domain_association;
drop table domain;
`
