/**
 * Reads loads and their rejects. A load is visible to the token that submitted it, and to tokens with the
 * scope `admin`; to others it does not exist.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CatalogError } from '../../errors.ts'
import type { Db } from '../../db/database.ts'
import { ignoredColumns, parseCsvHeader } from '../../formats/csv-header.ts'
import { limits } from '../../limits.ts'
import type { Actor, JsonObject, LoadWarnings } from '../../model/changes.ts'
import { terminalStates } from '../../model/load-moves.ts'
import { isUuid } from '../../model/text-checks.ts'
import { listRejects, type Reject } from '../../store/rejects.ts'
import {
  findLoad,
  listLoads as listRows,
  type LoadFilter,
  type LoadRow,
  type LoadState,
  type SweepState
} from '../../store/loads.ts'

/** A load as every API shows it. Times are epoch milliseconds. */
export type LoadView = {
  id: string
  state: LoadState
  format: string
  mode: string
  source: string
  actor: string
  atomic: boolean
  dryRun: boolean
  counts: { received: number; applied: number; unchanged: number; rejected: number }
  /**
   * Only for a snapshot: how many statements its source had that the load did not make, and how many have
   * been removed.
   */
  snapshot?: {
    sweep: SweepState
    stated: number | null
    toRemove: number | null
    kept: number | null
    removed: number
  }
  error: string | null
  createdAt: number
  finishedAt: number | null
  idempotencyKey?: string
  /** What a dry run would change. */
  report?: JsonObject
  /** The load that this one undoes. */
  undoes?: string
  /** The load that undoes this one. */
  undoneBy?: string
  /** The columns of a CSV that the load ignores; absent if there are none. */
  ignoredColumns?: string[]
  /** What the load could not use although nothing was rejected, or wrote where nobody sees it; absent if there is nothing. */
  warnings?: LoadWarnings
}

/** A header that this version does not accept was stored by a newer one. */
function ignoredColumnsOf({ format, header }: LoadRow): Pick<LoadView, 'ignoredColumns'> {
  if (format !== 'csv' || header === null) return {}
  try {
    const ignored = ignoredColumns(parseCsvHeader(header))
    return ignored.length === 0 ? {} : { ignoredColumns: ignored }
  } catch (error) {
    if (error instanceof CatalogError) return {}
    throw error
  }
}

export const toLoadView = (row: LoadRow): LoadView => ({
  id: row.id,
  state: row.state,
  format: row.format,
  mode: row.mode,
  source: row.source,
  actor: row.actor,
  atomic: row.isAtomic,
  dryRun: row.isDryRun,
  counts: { received: row.received, applied: row.applied, unchanged: row.unchanged, rejected: row.rejected },
  ...(row.sweep === null ? {} : { snapshot: toSnapshotView(row, row.sweep) }),
  error: row.error,
  createdAt: row.createdAt.getTime(),
  finishedAt: row.finishedAt?.getTime() ?? null,
  ...(row.idempotencyKey === null ? {} : { idempotencyKey: row.idempotencyKey }),
  ...(row.report === null ? {} : { report: row.report }),
  ...(row.undoes === null ? {} : { undoes: row.undoes }),
  ...(row.undoneBy === null ? {} : { undoneBy: row.undoneBy }),
  ...ignoredColumnsOf(row),
  ...(row.warnings === null ? {} : { warnings: row.warnings })
})

const toSnapshotView = (row: LoadRow, sweep: SweepState): NonNullable<LoadView['snapshot']> => ({
  sweep,
  stated: row.sweepStated,
  toRemove: row.sweepRemovable,
  kept: row.sweepStated === null || row.sweepRemovable === null ? null : row.sweepStated - row.sweepRemovable,
  removed: row.sweepRemoved ?? 0
})

const maySeeAllLoads = (actor: Actor): boolean => actor.scopes.includes('admin') && actor.domainUrns === null

/** Whether the actor may see and control the load. */
export const isVisible = (load: LoadRow, actor: Actor): boolean =>
  maySeeAllLoads(actor) || (load.tokenId !== null && load.tokenId === actor.tokenId)

export const noSuchLoad = (id: string): CatalogError =>
  new CatalogError('NOT_FOUND', `No load with the id ${id}`)

/** Throws NOT_FOUND, also for the load of another token. */
export async function readLoad(db: Db, actor: Actor, id: string): Promise<LoadView> {
  const row = isUuid(id) ? await findLoad(db, id) : null
  if (!row || !isVisible(row, actor)) throw noSuchLoad(id)
  return toLoadView(row)
}

const isEnded = (state: LoadState): boolean => terminalStates.includes(state)

const pollFirstMs = 10
const pollMaxMs = 200

/**
 * Returns the load when it has ended, or in its current state after `seconds`. Polls its row, less often each
 * time. Throws as readLoad does.
 */
export async function waitForLoad(
  db: Db,
  actor: Actor,
  id: string,
  seconds: number,
  signal?: AbortSignal
): Promise<LoadView> {
  const deadline = Date.now() + seconds * 1_000
  for (let pause = pollFirstMs; ; pause = Math.min(pause * 1.5, pollMaxMs)) {
    const load = await readLoad(db, actor, id)
    const remainingMs = deadline - Date.now()
    if (isEnded(load.state) || remainingMs <= 0 || signal?.aborted) return load
    await sleep(Math.min(pause, remainingMs))
  }
}

/** True if the load no longer changes by itself. */
export const hasEnded = (load: LoadView): boolean => isEnded(load.state)

export type { LoadFilter } from '../../store/loads.ts'

export type LoadsPage = { loads: LoadView[]; nextCursor: string | null }

/**
 * Loads, newest first, filtered. `cursor` comes from the previous page. Throws BAD_REQUEST for an invalid
 * cursor, LIMIT_EXCEEDED (pageMaxCount).
 */
export async function listLoads(
  db: Db,
  actor: Actor,
  page: { limit: number; cursor: string | null; filter?: LoadFilter }
): Promise<LoadsPage> {
  const { limit, filter = {} } = page
  const maximum = limits.pageMaxCount
  if (limit > maximum)
    throw new CatalogError('LIMIT_EXCEEDED', `${limit} loads in one page; at most ${maximum} are allowed`, {
      limit: 'pageMaxCount',
      maximum,
      actual: limit
    })
  const rows = await listRows(db, {
    limit: limit + 1,
    tokenId: tokenFilter(actor),
    after: page.cursor === null ? null : readCursor(page.cursor),
    filter
  })
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return {
    loads: rows.slice(0, limit).map(toLoadView),
    nextCursor: last ? Buffer.from(JSON.stringify([last.createdAtText, last.id])).toString('base64url') : null
  }
}

/** A token without an id owns no loads, and a load without a token has no owner. */
const tokenFilter = (actor: Actor): string | null =>
  maySeeAllLoads(actor) ? null : (actor.tokenId ?? '00000000-0000-0000-0000-000000000000')

/** Whether the text is a timestamp as Postgres writes it, and a real date. */
function isTimestamp(text: string): boolean {
  const [, day = '', time = ''] =
    /^((?!0000)\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d{1,6})?[+-](?:0\d|1[0-4])(?::[0-5]\d){0,2}$/.exec(
      text
    ) ?? []
  const parsed = new Date(`${day}T${time}Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(`${day}T${time}`)
}

function readCursor(cursor: string): { createdAt: string; id: string } {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (Array.isArray(parsed) && parsed.length === 2) {
      const [createdAt, id]: unknown[] = parsed
      if (typeof createdAt === 'string' && isTimestamp(createdAt) && typeof id === 'string' && isUuid(id))
        return { createdAt, id }
    }
  } catch {
    // If it is not JSON, the error below says so.
  }
  throw new CatalogError('BAD_REQUEST', 'Not a valid cursor', { field: 'cursor' })
}

/** A reject as every API shows it. */
export type RejectView = Omit<Reject, 'isWhole'>

const rejectsPerRead = 200

/**
 * Rejects by line, after a given line, at most `limit`. Reads a few at a time from the database. Throws
 * NOT_FOUND as readLoad does, before the first one.
 */
export async function readRejects(
  db: Db,
  actor: Actor,
  id: string,
  page: { after: number; limit: number }
): Promise<AsyncIterable<RejectView>> {
  await readLoad(db, actor, id)
  return rejectsOf(db, id, page)
}

async function* rejectsOf(
  db: Db,
  id: string,
  { after, limit }: { after: number; limit: number }
): AsyncGenerator<RejectView> {
  let last = after
  for (let left = limit; left > 0;) {
    const wanted = Math.min(left, rejectsPerRead)
    const rejects = await listRejects(db, id, { after: last, limit: wanted })
    for (const { line, code, message, field, record } of rejects) {
      yield { line, code, message, field, record }
      last = line
    }
    if (rejects.length < wanted) return
    left -= wanted
  }
}
