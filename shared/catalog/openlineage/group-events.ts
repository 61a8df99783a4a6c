/**
 * Commits the events of concurrent requests together: a transaction for each would reach a few hundred events a second.
 *
 * While a group is being committed the next one gathers; an event is answered when its group has been committed, so whoever sent it reads it.
 * A group that is refused is halved until the event at fault is alone, so that no event fails because of another.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '../../db/database.ts'
import { isStatementCancelled, sqlErrorKind } from '../../db/sql-errors.ts'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Call } from '../write/call.ts'
import { ingestEvents, type ReadEvent } from './ingest-events.ts'

export type EventGroups = {
  /** Throws UNAVAILABLE where events wait too long already. */
  checkRoom: () => void
  /** Resolves when events wait half as long as checkRoom allows: lists, which can wait, leave the other half to single events. */
  room: () => Promise<void>
  /** Resolves when the event has been committed. Throws what ingestEvents throws. Whoever calls it has asked for room. */
  add: (event: ReadEvent, call: Call) => Promise<void>
}

type Waiting = {
  event: ReadEvent
  call: Call
  sinceMs: number
  resolve: () => void
  reject: (error: unknown) => void
}

/** Events of one transaction: known jobs take about 0.7 ms each in groups of 100 and 0.4 ms in groups of 500, on two cores. */
const groupMaxCount = 500
/**
 * How long a group waits for as many events as were under way when the last one was committed. Without the wait the senders fall into two halves that take turns:
 * 8 of them made groups of 4.1 events. With it they made groups of 6.5, each event took 1.6 ms of Postgres' processor instead of 2.5, and 61 a second were
 * taken instead of 35, on two cores that a load of 17 shared.
 *
 * What is left is the cost of the 24 statements of a group, however few events it has. Lost: statements that Postgres keeps prepared (0.93 ms an event instead
 * of 1.6, but a pooler that hands out connections by transaction does not keep them, and one plan then serves one row and 5,000).
 */
const gatherMaxMs = 10
/** Characters of the events of one transaction, where it has more than one: they are one statement, which has to fit into one string. */
const groupMaxChars = 16 * 1024 * 1024

export function groupEvents(db: Db): EventGroups {
  let waiting: Waiting[] = []
  let committing: Promise<void> | null = null
  let onAdded: () => void = () => {}

  /** The first that waits, and others of its token: what events leave does not depend on their order. */
  function takeGroup(): Waiting[] {
    const tokenId = waiting[0]?.call.actor.tokenId
    const group: Waiting[] = []
    let chars = 0
    waiting = waiting.filter((each) => {
      if (each.call.actor.tokenId !== tokenId || group.length === groupMaxCount) return true
      chars += each.event.text.length
      if (chars > groupMaxChars && group.length > 0) return true
      group.push(each)
      return false
    })
    return group
  }

  async function commitAll(): Promise<void> {
    // What is added in this turn is committed together.
    await nextTurn()
    while (waiting.length > 0) {
      committing = commitNext()
      await committing
    }
    committing = null
  }

  async function commitNext(): Promise<void> {
    const group = takeGroup()
    await commitGroup(db, group)
    await gather(waiting.length + group.length)
  }

  /** Waits until `count` events are there, at most gatherMaxMs: a sender that was just answered is about to send its next. */
  function gather(count: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        onAdded = () => {}
        resolve()
      }
      const timer = setTimeout(end, gatherMaxMs)
      onAdded = () => {
        if (waiting.length >= Math.min(count, groupMaxCount)) end()
      }
    })
  }

  const longestWaitMs = (): number => (waiting[0] ? performance.now() - waiting[0].sinceMs : 0)

  return {
    checkRoom() {
      if (longestWaitMs() > limits.openLineageWaitMaxMs)
        throw new CatalogError('UNAVAILABLE', 'Events wait too long to take more; send it again', {
          retryAfterSeconds: 1
        })
    },
    async room() {
      while (committing !== null && longestWaitMs() > limits.openLineageWaitMaxMs / 2) await committing
    },
    add: (event, call) =>
      new Promise((resolve, reject) => {
        waiting.push({ event, call, sinceMs: performance.now(), resolve, reject })
        onAdded()
        committing ??= commitAll()
      })
  }
}

/**
 * So many statements of a group may take longer than is allowed before its events are told so: one event may be to blame, or the database may be slow, and then
 * each half would take as long again.
 */
const cancellationsMaxCount = 4

/** Never throws: each event hears of it. */
async function commitGroup(
  db: Db,
  group: readonly Waiting[],
  cancelled: { count: number } = { count: 0 }
): Promise<void> {
  const [first] = group
  if (!first) return
  try {
    await ingestEvents(
      db,
      group.map(({ event }) => event),
      first.call
    )
    for (const { resolve } of group) resolve()
  } catch (error) {
    if (isStatementCancelled(error)) cancelled.count += 1
    const isSlow = isStatementCancelled(error) && cancelled.count === cancellationsMaxCount
    if (group.length === 1 || isSlow || isTransient(error)) {
      for (const { reject } of group) reject(error)
      return
    }
    const middle = Math.ceil(group.length / 2)
    await commitGroup(db, group.slice(0, middle), cancelled)
    await commitGroup(db, group.slice(middle), cancelled)
  }
}

/** Whether each of them would fail the same way now. */
const isTransient = (error: unknown): boolean =>
  error instanceof CatalogError
    ? error.retryable
    : sqlErrorKind(error) === 'transient' && !isStatementCancelled(error)
