/**
 * Decides what a failure means for a chunk. Only an error that is repeated with the same data counts as an
 * attempt.
 *
 * Temporary problems (locks, an unreachable or full database) are waited out, without a limit. A connection
 * that breaks in the middle counts as a crash, because the chunk may have caused it.
 */
import { CatalogError } from '../../errors.ts'
import { isConnectionLost, sqlErrorKind, sqlState } from '../../db/sql-errors.ts'
import type { ClaimedChunk } from '../../store/chunks.ts'
import type { Compared } from '../../store/sweeps.ts'
import type { ChunkGuards } from './chunk-guards.ts'
import { UnreadableChunk } from '../write/urns-of-ids.ts'
import { SnapshotRefused } from './compare-snapshot.ts'
import { isSweep } from './sweep-passes.ts'
import { WaitForOlderLoad } from '../write/wait-for-older-load.ts'

/** How many attempts a record that is alone in its chunk gets before it is rejected. */
const attemptsAlone = 3
/**
 * How many unknown failures in a row count as one attempt. A needless split does no harm; an endless loop
 * does.
 */
const unknownFaultsPerAttempt = 3

const waitForOlderMs = 1_000
const backoffBaseMs = 100
const backoffCapMs = 30_000
/**
 * The shortest wait after a lost connection, doubled each time, so that a server that is unreachable for some
 * seconds does not make a record look guilty.
 */
const afterLossMs = 1_000

export type Reason = { code: CatalogError['code']; message: string }

/** What to do with the chunk now. `lastError` is for operators. */
export type Remedy =
  | {
      do: 'release'
      delayMs: number
      attempts: number
      faults: number
      crashes?: number
      forgetCrashes?: boolean
      lastError: string
    }
  | { do: 'split' }
  | { do: 'reject'; reason: Reason }
  | { do: 'fail'; message: string; compared?: Compared }

/** `random` returns numbers from 0 to 1. Its jitter keeps workers from retrying at the same time. */
export function remedyFor(
  error: unknown,
  chunk: ClaimedChunk,
  guards: ChunkGuards,
  random: () => number = Math.random
): Remedy {
  const lastError = describe(error)
  if (error instanceof WaitForOlderLoad)
    return { do: 'release', delayMs: waitForOlderMs, attempts: 0, faults: 0, lastError }
  if (error instanceof UnreadableChunk)
    return { do: 'fail', message: `The stored records of chunk ${chunk.id} cannot be read` }

  if (error instanceof SnapshotRefused)
    return { do: 'fail', message: `SNAPSHOT_REMOVES_TOO_MUCH: ${error.message}`, compared: error.compared }
  if (isConnectionLost(error) && guards.isolation)
    return {
      do: 'release',
      delayMs: Math.min(backoffCapMs, afterLossMs * 2 ** Math.min(chunk.crashes, 20)),
      attempts: 0,
      faults: 1,
      crashes: 1,
      lastError
    }
  const kind = kindOf(error)
  const isAttempt =
    kind === 'permanent' || (kind === 'unknown' && (chunk.faults + 1) % unknownFaultsPerAttempt === 0)
  if (!isAttempt || !guards.attempts)
    return {
      do: 'release',
      delayMs: backoff(chunk.faults, random),
      attempts: 0,
      faults: 1,
      forgetCrashes: true,
      lastError
    }
  if (isSweep(chunk.pass) && chunk.attempts + 1 >= attemptsAlone)
    return {
      do: 'fail',
      message: 'Statements that the source no longer makes could not be removed; the log says why'
    }
  if (chunk.recordCount > 1 && !chunk.isWhole) return { do: 'split' }
  if (chunk.attempts + 1 >= attemptsAlone)
    return chunk.isWhole
      ? { do: 'fail', message: publicReason(error, 'load').message }
      : { do: 'reject', reason: publicReason(error, 'record') }
  return { do: 'release', delayMs: backoff(chunk.attempts, random), attempts: 1, faults: 0, lastError }
}

/** Full jitter: from 0 up to 100 ms, doubled with each failure, at most 30 s. */
const backoff = (failures: number, random: () => number): number =>
  Math.round(random() * Math.min(backoffCapMs, backoffBaseMs * 2 ** Math.min(failures, 20)))

/** A programming error is repeated just as bad data is. */
function kindOf(error: unknown): ReturnType<typeof sqlErrorKind> {
  if (error instanceof CatalogError) return error.retryable ? 'transient' : 'permanent'
  if (
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof SyntaxError ||
    error instanceof ReferenceError
  )
    return 'permanent'
  return sqlErrorKind(error)
}

/**
 * The reason that the client is given for a record that could not be applied: never the message of a driver
 * or of the program.
 */
function publicReason(error: unknown, what: 'record' | 'load'): Reason {
  if (error instanceof CatalogError) return { code: error.code, message: error.message }
  const state = sqlState(error)
  if (state?.startsWith('22'))
    return { code: 'BAD_REQUEST', message: `A value of the ${what} cannot be stored` }
  return { code: 'INTERNAL', message: `The ${what} could not be applied; the log says why` }
}

/** The error of a load that killed its worker each time. */
export const deadlyLoad = 'The worker ended each time it applied this load'

/** The reject of a record that killed its worker, or the worker's connection, each time. */
export const deadlyRecord: Reason = {
  code: 'INTERNAL',
  message: 'The worker ended, or lost its database, each time it applied this record'
}

/** The class and code of an error. Its message may contain values of records. */
function describe(error: unknown): string {
  const name = error instanceof Error ? error.name : typeof error
  const state = sqlState(error)
  return state === undefined ? name : `${name} ${state}`
}
