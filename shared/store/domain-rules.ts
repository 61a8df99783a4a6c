/** The table of domain rules. It has one row, or none if rules were never set. */
import type { Db, Tx } from '../db/database.ts'
import { advisoryLocks } from '../db/advisory-locks.ts'
import { query } from '../db/query.ts'
import type { DomainRule } from '../model/domain-rules.ts'
import type { Urn } from '../urn/urn.ts'

export type DomainRulesRow = { revision: string; rules: DomainRule[]; actor: string; changedAt: Date }

/** The revision, which changes with each version of the rules; null if there are none. */
export async function readRulesRevision(tx: Tx): Promise<string | null> {
  const [row] = await query<{ revision: string }>(
    tx,
    'select revision from domain_rules where jsonb_array_length(rules) > 0'
  )
  return row?.revision ?? null
}

/** Locks the rules until the transaction ends. */
export async function lockRules(tx: Tx): Promise<void> {
  await query(tx, 'select pg_advisory_xact_lock(?::int, ?::int)', advisoryLocks.domainRules)
}

export async function readRulesRow(db: Db | Tx): Promise<DomainRulesRow | null> {
  const [row] = await query<DomainRulesRow>(
    db,
    'select revision, rules, actor, changed_at as "changedAt" from domain_rules'
  )
  return row ?? null
}

export async function writeRules(
  tx: Tx,
  { revision, rules, actor }: Pick<DomainRulesRow, 'revision' | 'rules' | 'actor'>
): Promise<void> {
  await query(
    tx,
    `
    insert into domain_rules (revision, rules, actor)
    values (?::uuid, ?::jsonb, ?)
    on conflict (only_row) do update
    set revision = excluded.revision, rules = excluded.rules, actor = excluded.actor, changed_at = now()`,
    [revision, JSON.stringify(rules), actor]
  )
}

/** The namespaces that OpenLineage events gave to the datasets and jobs among the URNs. */
export async function findEventNamespaces(db: Db | Tx, urns: readonly Urn[]): Promise<Map<Urn, string>> {
  if (urns.length === 0) return new Map()
  const rows = await query<{ urn: Urn; namespace: string }>(
    db,
    `
    select urn, state ->> 'namespace' as namespace
    from openlineage_state
    where urn = any(?::text[]) and state ->> 'namespace' is not null`,
    [urns]
  )
  return new Map(rows.map((row) => [row.urn, row.namespace]))
}

export type UnassignedAsset = { id: number; urn: Urn }

/**
 * Existing assets of the given types whose domain was never set or removed, in the order of their ids and
 * above `after`.
 */
export async function pageOfUnassigned(
  db: Db | Tx,
  entityTypes: readonly string[],
  after: number,
  count: number
): Promise<UnassignedAsset[]> {
  return query<UnassignedAsset>(
    db,
    `
    select entity.id, entity.urn
    from entity
    left join domain_association on domain_association.entity_id = entity.id
    where entity.id > ?::int
      and entity.entity_type = any(?::text[])
      and entity.is_present
      and not entity.is_removed
      and (domain_association.entity_id is null
        or (domain_association.domain_id is null and domain_association.version > 0 and domain_association.changed_seq = 0))
    order by entity.id
    limit ?::int`,
    [after, entityTypes, count]
  )
}
