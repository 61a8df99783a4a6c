/**
 * A token may be limited to several domains, and its loads are limited to the same domains. A process of the
 * version before reads domain_id and domain_urn, which contain the first of the domains: it allows less,
 * never more. It writes none of these columns.
 */
export const up = `
alter table access_token
  -- All domains, in the order given; null for a token of the version before, which has domain_id, or none.
  add column domain_ids integer[],
  -- The expires_at that was written with domain_ids.
  add column domain_ids_expire_at timestamptz;

-- All domains of the token; null for a load of the version before, which has domain_urn, or none.
alter table load add column domain_urns text[];
`
