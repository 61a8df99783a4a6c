/** Which chunks a worker should be told to look at. Each telling is counted, so that each has a name of its own in the queue. */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'

export type Nudge = { chunkId: number, nudge: number }

const nudged = `
    update chunk
    set nudges = nudges + 1, nudged_at = now()
    from due
    where chunk.id = due.id
    returning chunk.id as "chunkId", chunk.nudges as nudge`

/** The first chunks of the load's current pass that wait; `onlyNew`: that nobody was told of yet. */
export async function nudgeLoad(db: Db | Tx, loadId: string, limit: number, onlyNew = false): Promise<Nudge[]> {
  return query<Nudge>(db, `
    with due as (
      select chunk.id
      from chunk
      join load on load.id = chunk.load_id
      where chunk.load_id = ?::uuid and chunk.state = 'waiting' and chunk.pass = load.current_pass and (chunk.nudged_at is null or not ?::boolean)
      order by chunk.id
      limit ?::int
      for update of chunk skip locked
    )
    ${nudged}`, [loadId, onlyNew, limit])
}

export async function nudgeChunks(db: Db | Tx, ids: readonly number[]): Promise<Nudge[]> {
  return query<Nudge>(db, `
    with due as (
      select chunk.id
      from chunk
      where chunk.id = any(?::bigint[]) and chunk.state = 'waiting'
      order by chunk.id
      for update skip locked
    )
    ${nudged}`, [ids])
}

/**
 * What could be worked on and was not asked for lately: leases that ran out, and chunks of a current pass that are due.
 * A chunk from every load in turn, so that a small load does not wait behind a large one.
 */
export async function nudgeDue(tx: Tx, limit: number, quietSeconds: number): Promise<Nudge[]> {
  return query<Nudge>(tx, `
    with candidate as (
      select chunk.id, chunk.state, row_number() over (partition by chunk.load_id order by chunk.id) as turn
      from chunk
      join load on load.id = chunk.load_id
      where load.state in ('accepted', 'applying')
        and chunk.pass = load.current_pass
        and (
          (chunk.state = 'waiting' and chunk.next_at <= now())
          or (chunk.state = 'applying' and chunk.lease_until < now())
        )
        and (chunk.nudged_at is null or chunk.nudged_at < greatest(chunk.next_at, now() - ?::int * interval '1 second'))
    ), due as (
      select chunk.id
      from chunk
      join candidate on candidate.id = chunk.id
      order by candidate.state, candidate.turn, chunk.id
      limit ?::int
      for update of chunk skip locked
    )
    ${nudged}`, [quietSeconds, limit])
}
