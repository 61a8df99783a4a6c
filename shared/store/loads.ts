/**
 * The load table: one row for each bulk submission, from the first record of its body until its last chunk
 * settles.
 */
import type { Db, Tx } from '../db/database.ts'
import { query, type Binding } from '../db/query.ts'
import { statesBefore, type LoadState } from '../model/load-moves.ts'
import type { JsonObject, LoadWarnings, MissingReferences, Scope, UpsertReplaces } from '../model/changes.ts'
import { activeSpan, activeTraceparent } from '../platform/tracing.ts'
import { firstDomain } from './tokens.ts'

export type { LoadState } from '../model/load-moves.ts'

/**
 * How a load treats existing statements: `snapshot` also removes those that its source stated before and does
 * not state now; `undo` undoes another load.
 */
export type LoadMode = 'merge' | 'snapshot' | 'undo'

/** The progress of a snapshot's sweep; `held`: nothing is removed, because a reject may name any edge. */
export type SweepState = 'pending' | 'removing' | 'held' | 'done'

/** The messages that a load keeps. */
export const warningsKeptMaxCount = 20

/** Times are `Date`; `seq` is null until the load is accepted. */
export type LoadRow = {
  id: string
  state: LoadState
  format: string
  /** The header row of a CSV, with the names of its columns. */
  header: string | null
  mode: LoadMode
  source: string
  missingReferences: MissingReferences
  upsertReplaces: UpsertReplaces
  actor: string
  tokenId: string | null
  scopes: Scope[]
  /** The domains that its token is limited to; null for no limit. */
  domainUrns: readonly string[] | null
  requestId: string | null
  seq: number | null
  currentPass: number
  remaining: number
  declarationsSettled: boolean
  /** Whether the snapshot removes everything it finds, whatever its share. */
  force: boolean
  /** Null for a load that is not a snapshot. */
  sweep: SweepState | null
  /**
   * The share of the source's statements that may be removed without `force`, from 0 to 1; null once it is no
   * longer checked.
   */
  sweepMaxShare: number | null
  /**
   * Numbers of statements: those that the source had before the load, those to be removed, and those already
   * removed.
   */
  sweepStated: number | null
  sweepRemovable: number | null
  sweepRemoved: number | null
  /** The newer snapshot of the same source that replaced this failed load. */
  supersededBy: string | null
  /** The load that this load undoes, and the load that undoes this load. */
  undoes: string | null
  undoneBy: string | null
  received: number
  applied: number
  unchanged: number
  rejected: number
  isAtomic: boolean
  isDryRun: boolean
  idempotencyKey: string | null
  report: JsonObject | null
  warnings: LoadWarnings | null
  error: string | null
  createdAt: Date
  finishedAt: Date | null
}

export type NewLoad = Pick<
  LoadRow,
  | 'id'
  | 'format'
  | 'header'
  | 'mode'
  | 'source'
  | 'missingReferences'
  | 'actor'
  | 'tokenId'
  | 'scopes'
  | 'domainUrns'
  | 'requestId'
  | 'isAtomic'
  | 'isDryRun'
  | 'idempotencyKey'
> &
  Partial<Pick<LoadRow, 'force' | 'sweep' | 'sweepMaxShare' | 'upsertReplaces'>> & {
    /** The trace id by which a client follows its write: 32 hexadecimal digits. */
    traceId?: string
  }

/**
 * Whether a load is unfinished or failed, so that it may still change something. A load whose body has ended counts
 * although it has no seq yet.
 */
export const isUnfinishedLoad = `not load.is_dry_run
        and (
          load.state in ('accepted', 'applying')
          or (load.state = 'failed' and not load.is_atomic)
          or (load.state = 'receiving' and load.body_ended_at is not null)
        )`

/**
 * A cancelled undo has undone only a part, so another undo can undo the rest. A dry run has undone nothing.
 */
const undoOf = `(
    select undo.id
    from load as undo
    where undo.undoes = load.id and undo.state not in ('aborted', 'cancelled') and not undo.is_dry_run
    order by undo.created_at desc
    limit 1
  )`

/**
 * A load of the version before has only domain_urn. Workers of that version read only domain_urn, the first
 * of the domains: records of the other domains then become rejects.
 */
export const domainUrnsOfLoad =
  'coalesce(load.domain_urns, case when load.domain_urn is not null then array[load.domain_urn] end)'

const columns = `
  load.id,
  load.state,
  load.format,
  load.header,
  load.mode,
  load.source,
  load.missing_references as "missingReferences",
  load.upsert_replaces as "upsertReplaces",
  load.actor,
  load.token_id as "tokenId",
  load.scopes,
  ${domainUrnsOfLoad} as "domainUrns",
  load.request_id as "requestId",
  load.seq,
  load.current_pass as "currentPass",
  load.remaining,
  load.declarations_settled as "declarationsSettled",
  load.force,
  load.sweep,
  load.sweep_max_share as "sweepMaxShare",
  load.sweep_stated as "sweepStated",
  load.sweep_removable as "sweepRemovable",
  load.sweep_removed as "sweepRemoved",
  load.superseded_by as "supersededBy",
  load.undoes,
  ${undoOf} as "undoneBy",
  load.received,
  load.applied,
  load.unchanged,
  load.rejected,
  load.is_atomic as "isAtomic",
  load.is_dry_run as "isDryRun",
  load.idempotency_key as "idempotencyKey",
  load.report,
  load.warnings,
  load.error,
  load.created_at as "createdAt",
  load.finished_at as "finishedAt"`

/**
 * Stores the load with the trace of its request, which workers continue. Returns false if another load of the
 * token has the idempotency key. If two arrive at once, only one gets it.
 */
export async function insertLoad(tx: Tx, load: NewLoad): Promise<boolean> {
  activeSpan()?.setAttribute('tributary.load.id', load.id)
  const rows = await query(
    tx,
    `
    insert into load (id, state, format, header, mode, source, missing_references, actor, token_id, scopes, domain_urn, domain_urns, request_id, is_atomic, is_dry_run, idempotency_key, force, sweep, sweep_max_share, trace_id, traceparent, upsert_replaces)
    values (?::uuid, 'receiving', ?, ?, ?, ?, ?, ?, ?::uuid, ?::text[], ?, ?::text[], ?, ?::boolean, ?::boolean, ?, ?::boolean, ?, ?::double precision, ?::uuid, ?, ?)
    on conflict (coalesce(token_id::text, actor), idempotency_key)
      where idempotency_key is not null and state <> 'aborted' and (state <> 'cancelled' or body_ended_at is not null)
      do nothing
    returning load.id`,
    [
      load.id,
      load.format,
      load.header,
      load.mode,
      load.source,
      load.missingReferences,
      load.actor,
      load.tokenId,
      load.scopes,
      firstDomain(load.domainUrns),
      load.domainUrns,
      load.requestId,
      load.isAtomic,
      load.isDryRun,
      load.idempotencyKey,
      load.force ?? false,
      load.sweep ?? null,
      load.sweepMaxShare ?? null,
      load.traceId ?? null,
      activeTraceparent(),
      load.upsertReplaces ?? 'aspect'
    ]
  )
  return rows.length > 0
}

/**
 * The facts that a submission under a used key is compared with. `isSilent`: the upload has been silent for
 * the given number of seconds.
 */
export type KeyedLoad = LoadRow & { hasWholeBody: boolean; bodyDigest: Buffer | null; isSilent: boolean }

/** The load that has a key of the token. */
export async function findKeyedLoad(
  db: Db,
  key: { actor: string; tokenId: string | null; idempotencyKey: string },
  silentSeconds: number
): Promise<KeyedLoad | null> {
  const [row] = await query<KeyedLoad>(
    db,
    `
    select ${columns},
      load.body_ended_at is not null as "hasWholeBody",
      load.body_digest as "bodyDigest",
      load.touched_at < now() - ?::int * interval '1 second' as "isSilent"
    from load
    where coalesce(load.token_id::text, load.actor) = ?
      and load.idempotency_key = ?
      and load.state <> 'aborted'
      and (load.state <> 'cancelled' or load.body_ended_at is not null)`,
    [silentSeconds, key.tokenId ?? key.actor, key.idempotencyKey]
  )
  return row ?? null
}

export async function findLoad(db: Db | Tx, id: string): Promise<LoadRow | null> {
  const [row] = await query<LoadRow>(db, `select ${columns} from load where load.id = ?::uuid`, [id])
  return row ?? null
}

/** The load that was accepted under a trace id. */
export async function findTracedLoad(db: Db, traceId: string): Promise<LoadRow | null> {
  const [row] = await query<LoadRow>(db, `select ${columns} from load where load.trace_id = ?::uuid`, [
    traceId
  ])
  return row ?? null
}

export async function findLoads(db: Db, ids: readonly string[]): Promise<LoadRow[]> {
  return query<LoadRow>(db, `select ${columns} from load where load.id = any(?::uuid[])`, [ids])
}

/**
 * Locks the row until the transaction ends. Only the transaction that holds the lock decides about the state
 * of the load.
 */
export async function lockLoad(tx: Tx, id: string): Promise<LoadRow | null> {
  const [row] = await query<LoadRow>(tx, `select ${columns} from load where load.id = ?::uuid for update`, [
    id
  ])
  return row ?? null
}

/** Which loads to list; all given conditions must be met. */
export type LoadFilter = {
  states?: readonly LoadState[]
  source?: string
  mode?: LoadMode
  /** Submitted at this time or later. */
  since?: Date
  /** The first and the last id of a range. */
  ids?: { first: string; last: string }
}

/** The condition, if its value is given. */
const when = (
  condition: string,
  ...values: readonly (Binding | null | undefined)[]
): [string, Binding[]][] => {
  const given = values.filter((value) => value !== null && value !== undefined)
  return given.length < values.length ? [] : [[condition, given]]
}

/**
 * Loads, newest first, after the given position. `tokenId` limits the list to loads of that token; null lists
 * all.
 */
export async function listLoads(
  db: Db,
  page: {
    limit: number
    tokenId: string | null
    after: { createdAt: string; id: string } | null
    filter?: LoadFilter
  }
): Promise<(LoadRow & { createdAtText: string })[]> {
  const { filter = {}, after } = page
  const conditions: readonly [condition: string, values: Binding[]][] = [
    ...when('load.token_id = ?::uuid', page.tokenId),
    ...when('(load.created_at, load.id) < (?::timestamptz, ?::uuid)', after?.createdAt, after?.id),
    ...when('load.state = any(?::text[])', filter.states),
    ...when('load.source = ?::text', filter.source),
    ...when('load.mode = ?::text', filter.mode),
    ...when('load.created_at >= ?::timestamptz', filter.since),
    ...when('load.id between ?::uuid and ?::uuid', filter.ids?.first, filter.ids?.last)
  ]
  return query(
    db,
    `
    select ${columns}, load.created_at::text as "createdAtText"
    from load
    ${conditions.map(([condition], index) => `${index === 0 ? 'where' : '  and'} ${condition}`).join('\n    ')}
    order by load.created_at desc, load.id desc
    limit ?::int`,
    [...conditions.flatMap(([, values]) => values), page.limit]
  )
}

/**
 * Renews the heartbeat of the upload, and counts the received bytes and records. Returns false if the load is
 * no longer receiving.
 */
export async function touchLoad(
  tx: Db | Tx,
  id: string,
  received: { records: number; rejects: number; isDestructive: boolean }
): Promise<boolean> {
  const rows = await query(
    tx,
    `
    update load
    set touched_at = now(),
      received = received + ?::bigint,
      rejected = rejected + ?::bigint,
      is_destructive = is_destructive or ?::boolean
    where load.id = ?::uuid and load.state = 'receiving'
    returning load.id`,
    [received.records, received.rejects, received.isDestructive, id]
  )
  return rows.length > 0
}

/**
 * Notes that the body has ended cleanly. Commit this before the load draws its seq. Returns false if the load
 * is no longer receiving.
 */
export async function endBody(tx: Db | Tx, id: string, digest: Buffer | null): Promise<boolean> {
  const rows = await query(
    tx,
    `
    update load
    set body_ended_at = now(), touched_at = now(), body_digest = ?::bytea
    where load.id = ?::uuid and load.state = 'receiving'
    returning load.id`,
    [digest, id]
  )
  return rows.length > 0
}

/** `chunks` is the number of waiting chunks. An atomic load and a dry run have one. */
export type AcceptedLoad = { state: LoadState; currentPass: number; source: string; chunks: number }

/**
 * Draws the seq and starts the load, or ends it if it has no chunk. Null if it was already accepted, or has
 * ended for another reason.
 */
export async function acceptLoad(tx: Tx, id: string): Promise<AcceptedLoad | null> {
  const [row] = await query<AcceptedLoad>(
    tx,
    `
    with waiting as (
      select count(*)::int as chunks, min(chunk.pass) as first_pass
      from chunk
      where chunk.load_id = ?::uuid and chunk.state = 'waiting'
    )
    update load
    set state = case when waiting.chunks = 0 then 'done' else 'accepted' end,
      finished_at = case when waiting.chunks = 0 then now() end,
      seq = nextval('change_seq'),
      remaining = waiting.chunks,
      current_pass = coalesce(waiting.first_pass, 3)
    from waiting
    where load.id = ?::uuid and load.state = 'receiving' and load.body_ended_at is not null
    returning load.state, load.current_pass as "currentPass", load.source, waiting.chunks`,
    [id, id]
  )
  return row ?? null
}

/** Marks the load as being applied, at the first claim of a chunk. */
export async function startLoad(tx: Tx, id: string): Promise<void> {
  await query(tx, "update load set state = 'applying' where load.id = ?::uuid and load.state = 'accepted'", [
    id
  ])
}

/**
 * Ends an upload whose body has not ended. `error` is shown to the client. Returns false if the load is not
 * such an upload.
 */
export async function abortLoad(tx: Tx, id: string, error: string): Promise<boolean> {
  const rows = await query(
    tx,
    `
    update load
    set state = 'aborted', error = ?, finished_at = now(), rejected = 0
    where load.id = ?::uuid and load.state = 'receiving' and load.body_ended_at is null
    returning load.id`,
    [error, id]
  )
  return rows.length > 0
}

/** Ends a load as cancelled or failed, if it has not ended. `error` is shown to the client. */
export async function stopLoad(
  tx: Tx,
  id: string,
  state: 'failed' | 'cancelled',
  error: string | null
): Promise<boolean> {
  const rows = await query(
    tx,
    `
    update load
    set state = ?, error = ?, finished_at = now(), touched_at = now()
    where load.id = ?::uuid
      and load.state = any(?::text[])
      and not (load.state = 'failed' and (load.is_atomic or load.is_dry_run))
    returning load.id`,
    [state, error, id, statesBefore(state)]
  )
  return rows.length > 0
}

/** Continues a failed load where it stopped, with the same seq. Its chunks continue the trace of this request. */
export async function resumeLoad(tx: Tx, id: string): Promise<void> {
  await query(
    tx,
    "update load set state = 'applying', error = null, finished_at = null, traceparent = ? where load.id = ?::uuid and load.state = 'failed'",
    [activeTraceparent(), id]
  )
}

/** Sets what the load does from now on about references that are missing. */
export async function setMissingReferences(
  tx: Tx,
  id: string,
  missingReferences: MissingReferences
): Promise<void> {
  await query(tx, 'update load set missing_references = ? where load.id = ?::uuid', [missingReferences, id])
}

/**
 * Makes an ended load receive its own rejects again. It has no seq until it is accepted again. Its chunks
 * continue the trace of this request.
 */
export async function reopenLoad(tx: Tx, id: string): Promise<void> {
  await query(
    tx,
    `
    update load
    set state = 'receiving', seq = null, body_ended_at = now(), touched_at = now(), finished_at = null, error = null, declarations_settled = false, traceparent = ?
    where load.id = ?::uuid and load.state = 'done'`,
    [activeTraceparent(), id]
  )
}

/** Stores what a dry run would change. */
export async function setReport(tx: Tx, id: string, report: object): Promise<void> {
  await query(tx, 'update load set report = ?::jsonb where load.id = ?::uuid', [JSON.stringify(report), id])
}

/** Adds warnings to those of the load; the same message is kept once. The row stays locked until the commit. */
export async function addWarnings(tx: Tx, id: string, { count, messages }: LoadWarnings): Promise<void> {
  await query(
    tx,
    `
    update load
    set warnings = jsonb_build_object(
      'count', coalesce((load.warnings ->> 'count')::bigint, 0) + ?::bigint,
      'messages', (
        select coalesce(jsonb_agg(kept.message order by kept.place), '[]')
        from (
          select each.message, min(each.place) as place
          from jsonb_array_elements(coalesce(load.warnings -> 'messages', '[]') || ?::jsonb) with ordinality as each (message, place)
          group by each.message
          order by min(each.place)
          limit ?::int
        ) as kept
      )
    )
    where load.id = ?::uuid`,
    [count, JSON.stringify(messages.slice(0, warningsKeptMaxCount)), warningsKeptMaxCount, id]
  )
}

/** Records of a retry no longer count as rejected; they will be counted again. */
export async function uncountRejects(tx: Tx, id: string, records: number): Promise<void> {
  await query(tx, 'update load set rejected = rejected - ?::bigint where load.id = ?::uuid', [records, id])
}

/** The records of a retry that was cancelled before they were tried count as rejected again. */
export async function recountRejects(tx: Tx, id: string, records: number): Promise<void> {
  await query(tx, 'update load set rejected = rejected + ?::bigint where load.id = ?::uuid', [records, id])
}

/** Notes which load the new one undoes. */
export async function markUndo(tx: Tx, id: string, undoes: string): Promise<void> {
  await query(tx, 'update load set undoes = ?::uuid where load.id = ?::uuid', [undoes, id])
}

/** Notes that some records of the load are removals or replace values. */
export async function markDestructive(tx: Tx, id: string): Promise<void> {
  await query(tx, 'update load set is_destructive = true where load.id = ?::uuid', [id])
}
