/** The tables of OpenLineage: events as they were sent, and the states merged from them. */
import type { Db, Tx } from '../db/database.ts'
import { advisoryLocks } from '../db/advisory-locks.ts'
import { query } from '../db/query.ts'
import type { Assertions } from '../openlineage/assertions.ts'
import type { ReportState } from '../openlineage/run-reports.ts'
import type { Alias, State } from '../openlineage/state.ts'
import type { Urn } from '../urn/urn.ts'
import { urnKey } from '../urn/urn-key.ts'

/** `text` is the event as JSON. */
/** `subjects` are the URNs by which the event is found. */
export type EventRow = { digest: Buffer; timeMs: number; text: string; subjects: readonly Urn[] }

/** Stores events, and returns the digests of those that are new. */
export async function insertEvents(tx: Tx, events: readonly EventRow[]): Promise<Buffer[]> {
  if (events.length === 0) return []
  const sorted = [...events].sort((a, b) => Buffer.compare(a.digest, b.digest))
  const rows = await query<{ digest: Buffer }>(
    tx,
    `
    insert into openlineage_event (digest, event_time, event, subjects)
    select sent.digest, to_timestamp(sent.time_ms / 1000.0), sent.event::json, array(select json_array_elements_text(sent.subjects::json))
    from unnest(?::bytea[], ?::bigint[], ?::text[], ?::text[]) as sent (digest, time_ms, event, subjects)
    on conflict (digest) do nothing
    returning digest`,
    [
      sorted.map((row) => row.digest),
      sorted.map((row) => row.timeMs),
      sorted.map((row) => row.text),
      sorted.map((row) => JSON.stringify(row.subjects))
    ]
  )
  return rows.map((row) => row.digest)
}

export type StateRow = { urn: Urn; state: State | null; asserted: Assertions }

/**
 * Locks ingestion until the transaction ends. Other ingestions wait, and so do deletions of entities, so that
 * no state is read while it is being deleted.
 */
export async function lockIngestion(tx: Tx, isOfLoad: boolean): Promise<void> {
  if (isOfLoad)
    await query(tx, 'select pg_advisory_xact_lock(?::int, ?::int)', advisoryLocks.openLineageLoads)
  await query(
    tx,
    'select pg_advisory_xact_lock(?::int, ?::int), pg_advisory_xact_lock_shared(?::int, ?::int)',
    [...advisoryLocks.openLineage, ...advisoryLocks.writers]
  )
}

/** The existing states. */
export async function readStates(tx: Tx, urns: readonly Urn[]): Promise<StateRow[]> {
  if (urns.length === 0) return []
  return query<StateRow>(
    tx,
    'select urn, state, asserted from openlineage_state where urn = any(?::text[])',
    [urns]
  )
}

/** The aliases among the datasets. */
export async function readAliases(
  tx: Tx,
  urns: readonly Urn[]
): Promise<{ urn: Urn; namespace: string; name: string; knownAs: Alias }[]> {
  if (urns.length === 0) return []
  return query(
    tx,
    `
    select urn, state ->> 'namespace' as namespace, state ->> 'name' as name, state -> 'knownAs' as "knownAs"
    from openlineage_state
    where urn = any(?::text[]) and state -> 'knownAs' ->> 'value' is not null`,
    [urns]
  )
}

/** The most characters of states in one statement, unless it has only one state: jsonb allows 256 MB. */
const statesMaxChars = 16 * 1024 * 1024

export async function writeStates(tx: Tx, rows: readonly StateRow[]): Promise<void> {
  let texts: string[] = []
  let chars = 0
  for (const { urn, state, asserted } of rows) {
    const text = JSON.stringify([urn, state, asserted])
    if (texts.length > 0 && chars + text.length > statesMaxChars) {
      await writeStateTexts(tx, texts)
      texts = []
      chars = 0
    }
    texts.push(text)
    chars += text.length
  }
  if (texts.length > 0) await writeStateTexts(tx, texts)
}

async function writeStateTexts(tx: Tx, texts: readonly string[]): Promise<void> {
  await query(
    tx,
    `
    insert into openlineage_state (urn, state, asserted)
    select changed.row ->> 0, changed.row -> 1, changed.row -> 2
    from jsonb_array_elements(?::jsonb) as changed (row)
    on conflict (urn) do update
    set state = excluded.state, asserted = excluded.asserted, changed_at = now()`,
    // Sent as one JSON document, because every quote in an array of texts would be escaped.
    [`[${texts.join(',')}]`]
  )
}

/** Deletes the state of a deleted entity. */
export async function deleteState(tx: Tx, urn: Urn): Promise<void> {
  await query(tx, 'delete from openlineage_state where urn = ?', [urn])
}

/** The owners that have a state, and edges that begin or end at one of the datasets or their columns. */
export async function ownersOfEdgesAt(tx: Tx, datasets: readonly Urn[]): Promise<Urn[]> {
  if (datasets.length === 0) return []
  const rows = await query<{ urn: Urn }>(
    tx,
    `
    with named as (
      select entity.id from entity where entity.urn_key = any(?::uuid[])
    ), ends as (
      select id from named
      union all
      select entity.id from entity join named on entity.parent_id = named.id
    )
    select distinct owner.urn
    from (
      select statement.owner_id from statement join ends on statement.upstream_id = ends.id
      union
      select statement.owner_id from statement join ends on statement.downstream_id = ends.id
    ) as found
    join entity as owner on owner.id = found.owner_id
    join openlineage_state on openlineage_state.urn = owner.urn`,
    [datasets.map(urnKey)]
  )
  return rows.map((row) => row.urn)
}

/** What is known of a run and its job. Of a run that ended long ago it is only the URN. */
export type RunRow = {
  urn: Urn
  jobUrn: Urn | null
  startedAt: number | null
  endedAt: number | null
  endedWith: string | null
  parentUrn: Urn | null
  report: ReportState | null
  sql: string | null
  codeUrl: string | null
}

/** The last runs of jobs, and runs, by the URN that was asked. Jobs without a known run and unknown runs are missing. */
export async function findRuns(db: Db, urns: readonly Urn[]): Promise<Map<Urn, RunRow>> {
  const rows = await query<RunRow & { asked: Urn }>(
    db,
    `
    select
      asked.urn as asked,
      asked.run as urn,
      asked.job as "jobUrn",
      (run.state ->> 'startedMs')::float8 as "startedAt",
      (run.state -> 'ended' ->> 'time')::float8 as "endedAt",
      run.state -> 'ended' ->> 'value' as "endedWith",
      run.state -> 'parentUrn' ->> 'value' as "parentUrn",
      run.state -> 'report' as report,
      job.state -> 'facts' -> 'sql' ->> 'value' as sql,
      job.state -> 'facts' -> 'codeUrl' ->> 'value' as "codeUrl"
    from (
      select
        urn,
        case state ->> 'kind' when 'run' then urn else state -> 'lastRun' ->> 'value' end as run,
        case state ->> 'kind' when 'run' then state -> 'jobUrn' ->> 'value' else urn end as job
      from openlineage_state
      where urn = any(?::text[])
    ) as asked
    left join openlineage_state as run on run.urn = asked.run
    left join openlineage_state as job on job.urn = asked.job
    where asked.run is not null`,
    [urns]
  )
  return new Map(rows.map(({ asked, ...run }) => [asked, run]))
}

/** The jobs of one asset that are looked at. */
const jobsMaxCount = 200

/** The jobs that write datasets, and those in flows: pairs of the URN that was asked, and a job. */
export async function findJobsOf(db: Db, urns: readonly Urn[]): Promise<{ asked: Urn; found: Urn }[]> {
  const flows = urns.filter((urn) => urn.startsWith('urn:li:dataFlow:'))
  return query(
    db,
    `
    select asked.urn as asked, found.urn as found
    from entity as asked
    cross join lateral (
      select distinct job.urn
      from statement
      join entity as job on job.id = statement.upstream_id
      where statement.downstream_id = asked.id and job.entity_type = 'dataJob' and job.is_present and not job.is_removed
      limit ?::int
    ) as found
    where asked.urn_key = any(?::uuid[])
    union all
    select flow.urn, found.urn
    from unnest(?::text[]) as flow (urn)
    cross join lateral (
      select job.urn
      from entity as job
      where job.entity_type = 'dataJob' and job.is_present and not job.is_removed
        and job.urn >= 'urn:li:dataJob:(' || flow.urn || ',' and job.urn < 'urn:li:dataJob:(' || flow.urn || '-'
      limit ?::int
    ) as found`,
    [jobsMaxCount, urns.map(urnKey), flows, jobsMaxCount]
  )
}

/** The newest runs that are looked at for those that failed. */
const runsLookedAtCount = 1_000

/** Up to `count` runs that failed or were stopped, and that their jobs have not repeated since, the newest first. */
export async function findFailedRuns(db: Db, count: number): Promise<Urn[]> {
  const rows = await query<{ urn: Urn }>(
    db,
    `
    select run.urn
    from (
      select urn, state, changed_at
      from openlineage_state
      where state ->> 'kind' = 'run'
      order by changed_at desc
      limit ?::int
    ) as run
    join openlineage_state as job on job.urn = run.state -> 'jobUrn' ->> 'value'
    where run.state -> 'ended' ->> 'value' in ('FAIL', 'ABORT')
      and job.state -> 'lastRun' ->> 'value' = run.urn
    order by run.changed_at desc, run.urn
    limit ?::int`,
    [runsLookedAtCount, count]
  )
  return rows.map(({ urn }) => urn)
}

/** The `count` newest runs of each job, as pairs. */
export async function findRunsOf(
  db: Db,
  jobs: readonly Urn[],
  count: number
): Promise<{ asked: Urn; found: Urn }[]> {
  return query(
    db,
    `
    select job.urn as asked, found.urn as found
    from unnest(?::text[]) as job (urn)
    cross join lateral (
      select run.urn
      from aspect
      join entity as run on run.id = aspect.entity_id
      where aspect.aspect_name = 'dataProcessInstanceRelationships'
        and aspect.value @> jsonb_build_object('parentTemplate', job.urn)
      order by aspect.entity_id desc
      limit ?::int
    ) as found`,
    [jobs, count]
  )
}

/**
 * The current names of the datasets that are aliases: the table of a path, or the new name after a rename.
 */
export async function findCurrentNames(db: Db | Tx, urns: readonly Urn[]): Promise<Map<Urn, Urn>> {
  if (urns.length === 0) return new Map()
  const rows = await query<{ asked: Urn; name: Urn }>(
    db,
    `
    with recursive named as (
      select wanted.urn as asked, wanted.urn as name, 0 as steps
      from unnest(?::text[]) as wanted (urn)
      union all
      select named.asked, openlineage_state.state -> 'knownAs' ->> 'value', named.steps + 1
      from named
      join openlineage_state on openlineage_state.urn = named.name
      where openlineage_state.state -> 'knownAs' ->> 'value' not in (named.asked, named.name)
        and named.steps < ?::int
    )
    select distinct on (named.asked) named.asked, named.name
    from named
    where named.steps > 0
    order by named.asked, named.steps desc`,
    [urns, namesMaxCount]
  )
  return new Map(rows.map(({ asked, name }) => [asked, name]))
}

/** The longest chain of aliases that is followed. */
export const namesMaxCount = 10

/** Deletes up to `limit` events received more than `keepDays` days ago, and returns their number. */
export async function deleteOldEvents(tx: Tx, keepDays: number, limit: number): Promise<number> {
  const rows = await query(
    tx,
    `
    with old as (
      select digest
      from openlineage_event
      where received_at < now() - ?::int * interval '1 day'
      order by received_at
      limit ?::int
      for update skip locked
    )
    delete from openlineage_event
    using old
    where openlineage_event.digest = old.digest
    returning openlineage_event.digest`,
    [keepDays, limit]
  )
  return rows.length
}

/**
 * Deletes the states of up to `limit` runs without an event for `keepDays` days, and returns their number.
 * The runs stay in the catalog.
 */
export async function deleteOldRunStates(tx: Tx, keepDays: number, limit: number): Promise<number> {
  const rows = await query(
    tx,
    `
    with old as (
      select urn
      from openlineage_state
      where state ->> 'kind' = 'run' and changed_at < now() - ?::int * interval '1 day'
      order by changed_at
      limit ?::int
      for update skip locked
    )
    delete from openlineage_state
    using old
    where openlineage_state.urn = old.urn
    returning openlineage_state.urn`,
    [keepDays, limit]
  )
  return rows.length
}
