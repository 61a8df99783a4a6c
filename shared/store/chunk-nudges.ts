/**
 * Which chunks a worker should be told to look at. Each nudge is counted, so that each has its own name in
 * the queue.
 */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'

export type Nudge = { chunkId: number; nudge: number }

const nudged = `
    update chunk
    set nudges = nudges + 1, nudged_at = now()
    from due
    where chunk.id = due.id
    returning chunk.id as "chunkId", chunk.nudges as nudge`

/** The first waiting chunks of the current pass of the load. */
export async function nudgeLoad(db: Db | Tx, loadId: string, limit: number): Promise<Nudge[]> {
  return query<Nudge>(
    db,
    `
    with due as (
      select chunk.id
      from chunk
      join load on load.id = chunk.load_id
      where chunk.load_id = ?::uuid and chunk.state = 'waiting' and chunk.pass = load.current_pass
      order by chunk.id
      limit ?::int
      for update of chunk skip locked
    )
    ${nudged}`,
    [loadId, limit]
  )
}

/**
 * Nudges more chunks, until as many wait in the queue as workers are busy with the load, and at least
 * `least`. So free workers find work, and other loads do not queue behind many chunks. A chunk that was
 * nudged some seconds ago and still waits is not counted, because the queue may have lost it.
 */
export async function nudgeMore(db: Db | Tx, loadId: string, least: number): Promise<Nudge[]> {
  return query<Nudge>(
    db,
    `
    with own as (
      select chunk.id, chunk.state, chunk.nudged_at
      from chunk
      join load on load.id = chunk.load_id
      where chunk.load_id = ?::uuid and chunk.state in ('waiting', 'applying') and chunk.pass = load.current_pass
    ), wanted as (
      select greatest(0, greatest(?::int, count(*) filter (where own.state = 'applying'))
        - count(*) filter (where own.state = 'waiting' and own.nudged_at > now() - interval '5 seconds')) as count
      from own
    ), due as (
      select chunk.id
      from chunk
      join own on own.id = chunk.id
      where own.state = 'waiting' and own.nudged_at is null
      order by chunk.id
      limit (select wanted.count from wanted)
      for update of chunk skip locked
    )
    ${nudged}`,
    [loadId, least]
  )
}

export async function nudgeChunks(db: Db | Tx, ids: readonly number[]): Promise<Nudge[]> {
  return query<Nudge>(
    db,
    `
    with due as (
      select chunk.id
      from chunk
      where chunk.id = any(?::bigint[]) and chunk.state = 'waiting'
      order by chunk.id
      for update skip locked
    )
    ${nudged}`,
    [ids]
  )
}

/**
 * Nudges chunks that a worker could take and that were not nudged recently: chunks whose lease ran out, and
 * due chunks of a current pass. Loads take turns, with at most `perLoad` chunks each, so that a small load
 * does not wait behind a large load. A chunk that was never nudged is left out while another chunk of its
 * load is in the queue.
 */
export async function nudgeDue(
  tx: Tx,
  limit: number,
  quietSeconds: number,
  perLoad: number
): Promise<Nudge[]> {
  return query<Nudge>(
    tx,
    `
    with nudged_load as (
      select distinct chunk.load_id
      from chunk
      where chunk.state = 'waiting' and chunk.nudged_at >= now() - ?::int * interval '1 second'
    ), candidate as (
      select chunk.id, chunk.state, row_number() over (partition by chunk.load_id order by chunk.id) as turn
      from chunk
      join load on load.id = chunk.load_id
      where load.state in ('accepted', 'applying')
        and chunk.pass = load.current_pass
        and (
          (chunk.state = 'waiting' and chunk.next_at <= now())
          or (chunk.state = 'applying' and chunk.lease_until < now())
        )
        and (
          (chunk.nudged_at is null and not exists (select 1 from nudged_load where nudged_load.load_id = chunk.load_id))
          or chunk.nudged_at < greatest(chunk.next_at, now() - ?::int * interval '1 second')
        )
    ), due as (
      select chunk.id
      from chunk
      join candidate on candidate.id = chunk.id
      where candidate.turn <= ?::int
      order by candidate.state, candidate.turn, chunk.id
      limit ?::int
      for update of chunk skip locked
    )
    ${nudged}`,
    [quietSeconds, quietSeconds, perLoad, limit]
  )
}
