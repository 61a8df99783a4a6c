/**
 * Commits the events of concurrent requests together: with a transaction for each, a few hundred events a
 * second would be the maximum.
 *
 * The next group of each token gathers while one is being committed. An event is answered after its group is committed, so
 * its sender then reads it. A refused group is halved until the bad event is alone, so no event fails because
 * of another.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '../../db/database.ts'
import { isStatementCancelled, sqlErrorKind } from '../../db/sql-errors.ts'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Actor } from '../../model/changes.ts'
import { callerOf, createTurns } from '../../platform/turns.ts'
import type { Call } from '../write/call.ts'
import { ingestEvents, type ReadEvent } from './ingest-events.ts'

export type EventGroups = {
  /** Throws UNAVAILABLE if an event of this token has already waited too long. */
  checkRoom: (actor: Actor) => void
  /**
   * Resolves when no event of this token has waited longer than half the time that checkRoom allows. Lists can
   * wait, so they leave the other half to single events.
   */
  room: (actor: Actor) => Promise<void>
  /**
   * Resolves when the event is committed. Throws what ingestEvents throws. Await `room` or call `checkRoom`
   * first.
   */
  add: (event: ReadEvent, call: Call) => Promise<void>
}

type Waiting = {
  event: ReadEvent
  call: Call
  sinceMs: number
  resolve: () => void
  reject: (error: unknown) => void
}

/**
 * Events of one transaction. Events of known jobs take about 0.7 ms each in groups of 100, and 0.4 ms in
 * groups of 500, on two cores.
 */
const groupMaxCount = 500
/**
 * How long a group waits until it has as many events as the last one. Without the wait, senders split into
 * two halves that take turns: 8 senders made groups of 4.1 events. With it they made groups of 6.5, each
 * event took 1.6 ms of Postgres' processor time instead of 2.5, and 61 a second were accepted instead of 35,
 * on two cores with a load of 17.
 *
 * The rest is the cost of the 24 statements of a group, whatever its size. Prepared statements were tried and
 * dropped: 0.93 ms an event instead of 1.6, but a pooler in transaction mode does not keep them, and one plan
 * would serve one row and 5,000.
 *
 * Sending the eight writes at the end of a group as one statement with eight CTEs was tried too: 11 % less
 * processor time in the API (4.2 instead of 4.7 ms an event, groups of 7, beside other work) and 13 % less in
 * Postgres (2.4 instead of 2.8), which was not worth a second path for writes. The option `pipeline` of pg
 * refuses the COPY streams that loads send over the same pool.
 */
const gatherMaxMs = 10
/**
 * Characters of all events of one transaction, unless it has only one event: they are one statement, which
 * must fit into one string.
 */
const groupMaxChars = 16 * 1024 * 1024

/** The events of one token: those that wait, and the loop that commits them. */
type Sender = { waiting: Waiting[]; committing: Promise<void> | null; onAdded: () => void }

export function groupEvents(db: Db): EventGroups {
  const senders = new Map<string, Sender>()
  // Transactions of events exclude each other anyway. Tokens take turns, however many events each has sent.
  const turns = createTurns({ atOnce: 1 })

  function senderOf(caller: string): Sender {
    const known = senders.get(caller)
    if (known) return known
    const sender: Sender = { waiting: [], committing: null, onAdded: () => {} }
    senders.set(caller, sender)
    return sender
  }

  /** Their order does not matter for the result. */
  function takeGroup(sender: Sender): Waiting[] {
    let chars = 0
    let count = 0
    for (const { event } of sender.waiting) {
      chars += event.text.length
      if (count === groupMaxCount || (chars > groupMaxChars && count > 0)) break
      count += 1
    }
    return sender.waiting.splice(0, count)
  }

  async function commitAll(caller: string, sender: Sender): Promise<void> {
    // Events added in this turn of the event loop are committed together.
    await nextTurn()
    while (sender.waiting.length > 0) {
      sender.committing = commitNext(caller, sender)
      await sender.committing
    }
    senders.delete(caller)
  }

  async function commitNext(caller: string, sender: Sender): Promise<void> {
    const leave = await turns.enter(caller)
    let count = 0
    try {
      const group = takeGroup(sender)
      count = group.length
      await commitGroup(db, group)
    } finally {
      leave()
    }
    await gather(sender, sender.waiting.length + count)
  }

  /**
   * Waits for `count` events, at most gatherMaxMs: a sender that has just been answered is about to send its
   * next event.
   */
  function gather(sender: Sender, count: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        sender.onAdded = () => {}
        resolve()
      }
      const timer = setTimeout(end, gatherMaxMs)
      sender.onAdded = () => {
        if (sender.waiting.length >= Math.min(count, groupMaxCount)) end()
      }
    })
  }

  const longestWaitMs = ([first]: readonly Waiting[] = []): number =>
    first ? performance.now() - first.sinceMs : 0

  return {
    checkRoom(actor) {
      if (longestWaitMs(senders.get(callerOf(actor))?.waiting) > limits.openLineageWaitMaxMs)
        throw new CatalogError('UNAVAILABLE', 'Events wait too long to take more; send it again', {
          retryAfterSeconds: 1
        })
    },
    async room(actor) {
      for (;;) {
        const sender = senders.get(callerOf(actor))
        if (!sender?.committing || longestWaitMs(sender.waiting) <= limits.openLineageWaitMaxMs / 2) return
        await sender.committing
      }
    },
    add: (event, call) =>
      new Promise((resolve, reject) => {
        const caller = callerOf(call.actor)
        const sender = senderOf(caller)
        sender.waiting.push({ event, call, sinceMs: performance.now(), resolve, reject })
        sender.onAdded()
        sender.committing ??= commitAll(caller, sender)
      })
  }
}

/**
 * After this many statements of a group have been cancelled for taking too long, its events are refused.
 * Halving finds a single slow event; but if the database is slow, each half would take as long again.
 */
const cancellationsMaxCount = 4

/** Never throws: it resolves or rejects each event. */
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

/** Whether every event of the group would fail in the same way now. */
const isTransient = (error: unknown): boolean =>
  error instanceof CatalogError
    ? error.retryable
    : sqlErrorKind(error) === 'transient' && !isStatementCancelled(error)
