/**
 * Finds datasets and jobs by namespace and name: the names that OpenLineage events gave them, otherwise the
 * names in their URNs.
 */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import type { Urn } from '../urn/urn.ts'

export type NamedKind = 'dataset' | 'dataJob'
export type EventName = { urn: Urn; namespace: string; name: string }

/** The names that events gave the datasets and jobs among the URNs. */
export async function findEventNames(db: Db | Tx, urns: readonly Urn[]): Promise<Map<Urn, EventName>> {
  if (urns.length === 0) return new Map()
  const rows = await query<EventName>(
    db,
    `
    select urn, state ->> 'namespace' as namespace, state ->> 'name' as name
    from openlineage_state
    where urn = any(?::text[]) and state ->> 'namespace' is not null`,
    [urns]
  )
  return new Map(rows.map((row) => [row.urn, row]))
}

/**
 * The streaming jobs among the URNs, according to the newest event of each job that says whether it is one.
 */
export async function findStreamingJobs(db: Db | Tx, urns: readonly Urn[]): Promise<Set<Urn>> {
  if (urns.length === 0) return new Set()
  const rows = await query<{ urn: Urn }>(
    db,
    `
    select urn
    from openlineage_state
    where urn = any(?::text[]) and state -> 'facts' -> 'processingType' ->> 'value' = 'STREAMING'`,
    [urns]
  )
  return new Set(rows.map(({ urn }) => urn))
}

/** The existing jobs with this namespace and name. `cluster` and `id` are their form in a URN. */
export async function findJobsNamed(
  db: Db | Tx,
  names: readonly { namespace: string; name: string; cluster: string; id: string }[]
): Promise<EventName[]> {
  if (names.length === 0) return []
  return query<EventName>(
    db,
    `
    with wanted as (
      select * from unnest(?::text[], ?::text[], ?::text[]) as wanted (namespace, name, ending)
    )
    select openlineage_state.urn, wanted.namespace, wanted.name
    from wanted
    join openlineage_state on openlineage_state.state ->> 'kind' = 'job'
      and openlineage_state.state ->> 'namespace' = wanted.namespace
      and openlineage_state.state ->> 'name' = wanted.name
    union
    select entity.urn, wanted.namespace, wanted.name
    from wanted
    join entity on entity.entity_type = 'dataJob' and right(entity.urn, length(wanted.ending)) = wanted.ending and entity.is_present
    order by urn`,
    [
      names.map(({ namespace }) => namespace),
      names.map(({ name }) => name),
      names.map(({ cluster, id }) => `,${cluster}),${id})`)
    ]
  )
}

/**
 * The namespace and name in a URN, in SQL: for a dataset, its platform (and environment) and its name; for a
 * job, the cluster of its flow and its id.
 */
const fromUrn = `
  case when entity.entity_type = 'dataJob'
    then substring(entity.urn from '^urn:li:dataJob:\\(urn:li:dataFlow:\\([^,]+,.+,([^,()]+)\\),')
    else substring(entity.urn from '^urn:li:dataset:\\(urn:li:dataPlatform:([^,]+),')
      || case when right(entity.urn, 6) = ',PROD)' then '' else '@' || substring(entity.urn from ',([^,()]+)\\)$') end
  end`

/** All existing datasets and jobs, with their namespaces. */
const named = (kinds: string): string => `
  select entity.id, entity.urn, entity.entity_type, entity.created_at, coalesce(openlineage_state.state ->> 'namespace', ${fromUrn}) as namespace
  from entity
  left join openlineage_state on openlineage_state.urn = entity.urn
  where entity.entity_type = any(${kinds}) and entity.is_present and not entity.is_removed`

export type NamespaceRow = { name: string; createdAt: Date; updatedAt: Date; total: number }

/**
 * A page of the namespaces of all datasets and jobs, in order of name; only the given one if `namespace` is
 * set.
 */
export async function pageOfNamespaces(
  db: Db | Tx,
  only: string | null,
  offset: number,
  count: number
): Promise<NamespaceRow[]> {
  return query<NamespaceRow>(
    db,
    `
    select namespace as name, min(created_at) as "createdAt", max(created_at) as "updatedAt", (count(*) over ())::int as total
    from (${named('array[?, ?]')}) as named
    where namespace is not null and (?::text is null or namespace = ?::text)
    group by namespace
    order by namespace collate "C"
    offset ?::int limit ?::int`,
    ['dataset', 'dataJob', only, only, offset, count]
  )
}

/**
 * A page of the datasets or jobs of a namespace, in the order of their URNs. `encoded` is the namespace as in
 * a URN. Assets with names from events are found by an index. The URNs of all others are compared one by one,
 * which takes 0.2 s for a million.
 */
export async function pageOfNamespace(
  db: Db | Tx,
  kind: NamedKind,
  { namespace, encoded }: { namespace: string; encoded: string },
  offset: number,
  count: number
): Promise<{ urns: Urn[]; total: number }> {
  const rows = await query<{ urn: Urn | null; total: number }>(
    db,
    `
    with found as (
      select entity.urn
      from openlineage_state
      join entity on entity.urn_key = encode(substring(sha256(convert_to(openlineage_state.urn, 'UTF8')) for 16), 'hex')::uuid
      where openlineage_state.state ->> 'kind' in ('dataset', 'job')
        and openlineage_state.state ->> 'namespace' = any(?::text[])
        and entity.entity_type = ? and entity.is_present and not entity.is_removed
      union all
      select entity.urn
      from entity
      where entity.entity_type = ? and entity.is_present and not entity.is_removed
        and strpos(entity.urn, ?) > 0 and (${fromUrn}) = any(?::text[])
        and not exists (
          select from openlineage_state
          where openlineage_state.urn = entity.urn and openlineage_state.state ->> 'namespace' is not null
        )
    )
    select page.urn, (select count(*) from found)::int as total
    from (select 1) as one
    left join (select urn from found order by urn offset ?::int limit ?::int) as page on true`,
    [[namespace, encoded], kind, kind, inUrns(kind, encoded), [namespace, encoded], offset, count]
  )
  return { urns: rows.flatMap(({ urn }) => urn ?? []), total: rows[0]?.total ?? 0 }
}

/** A text that all URNs of a namespace contain, so that most other URNs are ruled out quickly. */
const inUrns = (kind: NamedKind, encoded: string): string =>
  kind === 'dataJob' ? `,${encoded}),` : `urn:li:dataPlatform:${encoded.split('@')[0] ?? ''},`

/** Whether a dataset or a job has the namespace. */
export async function hasNamespace(
  db: Db | Tx,
  names: { namespace: string; encoded: string }
): Promise<boolean> {
  for (const kind of ['dataset', 'dataJob'] as const)
    if ((await pageOfNamespace(db, kind, names, 0, 1)).total > 0) return true
  return false
}

/** When entities were created in the catalog, and when something was last written about them. */
export async function readStamps(
  db: Db | Tx,
  ids: readonly number[]
): Promise<Map<number, { createdAt: Date; updatedAt: Date }>> {
  const rows = await query<{ id: number; createdAt: Date; updatedAt: Date }>(
    db,
    `
    select entity.id, entity.created_at as "createdAt", coalesce(max(aspect.created_at), entity.created_at) as "updatedAt"
    from entity
    left join aspect on aspect.entity_id = entity.id
    where entity.id = any(?::int[])
    group by entity.id`,
    [ids]
  )
  return new Map(rows.map((row) => [row.id, row]))
}

export type EventsQuestion = {
  afterMs: number | null
  beforeMs: number | null
  /** Only events about this run, job or dataset; null for all. */
  subject: Urn | null
  isAscending: boolean
  offset: number
  count: number
  maxBytes: number
}

/**
 * A page of stored events by time, from `afterMs` (included) to `beforeMs` (excluded). It ends before its
 * events would exceed `maxBytes` together, but has at least one event. `total` counts all pages.
 */
export async function pageOfStoredEvents(
  db: Db | Tx,
  { afterMs, beforeMs, subject, isAscending, offset, count, maxBytes }: EventsQuestion
): Promise<{ texts: string[]; isCut: boolean; total: number }> {
  const order = isAscending ? 'event_time, digest' : 'event_time desc, digest desc'
  const within = `(?::bigint is null or event_time >= to_timestamp(?::bigint / 1000.0)) and (?::bigint is null or event_time < to_timestamp(?::bigint / 1000.0))${subject === null ? '' : ' and subjects @> array[?::text]'}`
  const bounds = [afterMs, afterMs, beforeMs, beforeMs, ...(subject === null ? [] : [subject])]
  const rows = await query<{ text: string; fits: boolean }>(
    db,
    `
    select text, fits
    from (
      select event::text as text, place = 1 or sum(octet_length(event::text)) over (order by place) <= ?::bigint as fits, place
      from (
        select event, row_number() over (order by ${order}) as place
        from (select event, event_time, digest from openlineage_event where ${within} order by ${order} offset ?::int limit ?::int) as page
      ) as placed
    ) as measured
    where fits
    order by place`,
    [maxBytes, ...bounds, offset, count]
  )
  const [counted] = await query<{ total: number }>(
    db,
    `select count(*)::int as total from openlineage_event where ${within}`,
    bounds
  )
  const total = counted?.total ?? 0
  return {
    texts: rows.map(({ text }) => text),
    isCut: rows.length < Math.min(count, Math.max(0, total - offset)),
    total
  }
}
