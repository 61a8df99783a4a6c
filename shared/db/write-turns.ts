/**
 * The turns of writing calls at the connections of a pool. A writer waits here, without a connection, for those
 * that write the same entities, and for its token's share, so readers find connections free.
 */
import { CatalogError } from '../errors.ts'
import { limits, type LimitName } from '../limits.ts'
import { callerOf, createTurns, type Refused, type Turns } from '../platform/turns.ts'
import type { Db } from './database.ts'

export type WriteBounds = { atOnce: number; perCaller: number; waitMaxMs?: number }

/** `keys`: what the call locks, as URNs or other names. */
export type Writer = { actor: { tokenId: string | null; urn: string }; keys: readonly string[] }

const turnsOf = new WeakMap<Db, Turns>()

/** From now on, calls that write through `db` take turns. A process that never calls this, as a worker, has none. */
export function shareWrites(
  db: Db,
  { atOnce, perCaller, waitMaxMs = limits.writeWaitMaxMs }: WriteBounds
): void {
  turnsOf.set(
    db,
    createTurns({
      atOnce,
      perCaller,
      waitingMaxCount: limits.writesWaitingMaxCount,
      waitingPerCallerMaxCount: limits.writesWaitingPerTokenMaxCount,
      waitMaxMs,
      refuse
    })
  )
}

/** Runs `work` in a turn. Throws OVERLOADED, before `work` has begun, and what `work` throws. */
export async function inWriteTurn<Result>(
  db: Db,
  { actor, keys }: Writer,
  work: () => Promise<Result>
): Promise<Result> {
  const leave = await turnsOf.get(db)?.enter(callerOf(actor), keys)
  try {
    return await work()
  } finally {
    leave?.()
  }
}

function refuse(why: Refused, key: string | null): CatalogError {
  const seconds = limits.writeWaitMaxMs / 1_000
  if (why === 'callerFull')
    return overloaded(
      'writesWaitingPerTokenMaxCount',
      `${limits.writesWaitingPerTokenMaxCount} writes of this token are waiting already; send fewer at once`
    )
  if (why === 'full')
    return overloaded(
      'writesWaitingMaxCount',
      `${limits.writesWaitingMaxCount} writes are waiting already; send it again`
    )
  return overloaded(
    'writeWaitMaxMs',
    key === null
      ? `the write waited ${seconds} s for others to end; send it again`
      : `the write waited ${seconds} s for other writes of ${key}; send it again, or send several changes in one request`
  )
}

const overloaded = (
  limit: Extract<LimitName, 'writesWaitingMaxCount' | 'writesWaitingPerTokenMaxCount' | 'writeWaitMaxMs'>,
  message: string
): CatalogError =>
  new CatalogError('OVERLOADED', message, { limit, maximum: limits[limit], retryAfterSeconds: 1 })
