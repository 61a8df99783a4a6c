/**
 * The change log of the lineage graph: what each writing transaction changed, and what a reader has not seen
 * of it.
 */
import type { Db, Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { packGraphChanges, type GraphDelta, type StatedEdges } from '../statements/graph-delta.ts'

/**
 * Appends the changes of this transaction, and the edges that have more statements than before. Call it last,
 * so that the id of the row is drawn while all locks are held. Rows of two transactions on the same edge are
 * then in commit order.
 */
export async function appendGraphChange(
  tx: Tx,
  deltas: readonly GraphDelta[],
  stated?: StatedEdges
): Promise<void> {
  if (deltas.length > 0 || (stated && stated.downstreamIds.length > 0))
    await query(tx, 'insert into graph_change (delta) values (?::bytea)', [packGraphChanges(deltas, stated)])
}

/** The position of a reader: a snapshot of one run of one server (`epoch`), as Postgres prints it. */
export type GraphPosition = { snapshot: string; epoch: string }

/** `horizon`: the rows of transactions below it have been pruned. `rows` are in log order. */
export type UnseenChanges = {
  position: GraphPosition
  horizonIsPast: boolean
  rows: { id: number; delta: Buffer }[]
}

/** The epoch of a server whose epoch row was lost in a crash. */
const noEpoch = 'none'

/**
 * The row of the epoch is lost in a crash, and the start time changes with every start, even of a copied
 * server. A restored database has the row, but its table has another file number; a cloned database has
 * another database number. VACUUM FULL of the table also begins an epoch, although that is not needed.
 * (Reading both numbers from the catalog of Postgres took 0.58 ms instead of 0.47.)
 */
const epoch = `concat_ws(' ',
  coalesce((select graph_epoch.epoch::text from graph_epoch), '${noEpoch}'),
  extract(epoch from pg_postmaster_start_time())::text,
  pg_relation_filepath('graph_epoch'))`

/**
 * Whether an epoch is that of a server that has had no epoch row since its crash. It stays the same across
 * another crash.
 */
export const isWithoutEpoch = (text: string): boolean => text.startsWith(noEpoch)

/** Identifies the run of a database: ids remembered in one run may be wrong in another. */
export async function readEpoch(tx: Tx): Promise<string> {
  const [row] = await query<{ epoch: string }>(tx, `select ${epoch} as epoch`)
  if (!row) throw new Error('a select of one row gave none')
  return row.epoch
}

/**
 * Everything that was not visible in a snapshot and is visible now: rows of transactions that began after it,
 * and of those that were running then. Selected by transaction id, not by row id, because a lower row id can
 * commit after a higher one.
 *
 * This is one statement, so the rows and the new snapshot match. The statement's own snapshot is used, so it
 * sees everything that was acknowledged before it began.
 */
export async function readUnseenChanges(db: Db, { snapshot }: GraphPosition): Promise<UnseenChanges> {
  const { xmin, xmax, underWay } = partsOfSnapshot(snapshot)
  const [unseen, bindings] = unseenSince(xmax, underWay)
  const rows = await query<{
    snapshot: string
    epoch: string
    horizonIsPast: boolean
    id: number | null
    delta: Buffer | null
  }>(
    db,
    `
    select
      pg_current_snapshot()::text as snapshot,
      ${epoch} as epoch,
      graph_horizon.horizon > ?::xid8 as "horizonIsPast",
      graph_change.id,
      graph_change.delta
    from graph_horizon
    left join graph_change on ${unseen}
    order by graph_change.id`,
    [xmin, ...bindings]
  )
  const [first] = rows
  if (!first) throw new Error('graph_horizon has no row')
  return {
    position: { snapshot: first.snapshot, epoch: first.epoch },
    horizonIsPast: first.horizonIsPast,
    rows: rows.flatMap(({ id, delta }) => (id === null || delta === null ? [] : [{ id, delta }]))
  }
}

type Condition = readonly [sql: string, bindings: readonly string[]]

/**
 * Usually no transaction was running. Without that half of the query, planning takes 0.39 ms in total instead
 * of 0.58.
 */
const unseenSince = (xmax: string, underWay: string): Condition =>
  underWay === ''
    ? ['graph_change.xid >= ?::xid8', [xmax]]
    : ['graph_change.xid >= ?::xid8 or graph_change.xid = any(?::xid8[])', [xmax, `{${underWay}}`]]

/** Postgres prints a snapshot as xmin:xmax:xip,xip… */
function partsOfSnapshot(snapshot: string): { xmin: string; xmax: string; underWay: string } {
  const [xmin = '', xmax = '', underWay = ''] = snapshot.split(':')
  return { xmin, xmax, underWay }
}

/**
 * Gives this run of the server an epoch if it has none. Call it before the transaction that loads a graph. A
 * restored database may have a log from a server with higher transaction ids; those rows are deleted.
 */
export async function ensureEpoch(db: Db): Promise<void> {
  await query(db, 'insert into graph_epoch default values on conflict do nothing')
  await query(
    db,
    'delete from graph_change where graph_change.xid >= pg_snapshot_xmax(pg_current_snapshot())'
  )
  await query(
    db,
    `
    update graph_horizon
    set horizon = pg_snapshot_xmin(pg_current_snapshot())
    where graph_horizon.horizon > pg_snapshot_xmax(pg_current_snapshot())`
  )
}

/** The position of a REPEATABLE READ transaction: the snapshot of all its reads. */
export async function positionOf(tx: Tx): Promise<GraphPosition> {
  const [row] = await query<GraphPosition>(
    tx,
    `
    select
      pg_current_snapshot()::text as snapshot,
      ${epoch} as epoch`
  )
  if (!row) throw new Error('a select of one row gave none')
  if (isWithoutEpoch(row.epoch)) throw new Error('the server has crashed since its epoch was written')
  return row
}
