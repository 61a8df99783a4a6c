/** The work that waits to be applied, for the metrics. */
import type { Db } from '../db/database.ts'
import { query } from '../db/query.ts'

export type Backlog = { waiting: number; applying: number; oldestWaitingSeconds: number }

/**
 * The number of unsettled chunks by state, and for how long the oldest chunk that a worker could take has
 * been due.
 */
export async function readBacklog(db: Db): Promise<Backlog> {
  const [found] = await query<Backlog>(
    db,
    `
    select
      count(*) filter (where c.state = 'waiting') as waiting,
      count(*) filter (where c.state = 'applying') as applying,
      coalesce(extract(epoch from now() - min(c.next_at) filter (
        where c.state = 'waiting' and c.next_at <= now() and c.pass = l.current_pass and l.state in ('accepted', 'applying')
      )), 0)::float8 as "oldestWaitingSeconds"
    from chunk c
    join load l on l.id = c.load_id
    where c.state in ('waiting', 'applying')`
  )
  return found ?? { waiting: 0, applying: 0, oldestWaitingSeconds: 0 }
}
