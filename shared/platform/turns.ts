/**
 * Shares what only a few can use at once: no caller takes the last turn from the others, and callers that wait
 * are served in turn, also those that wait for the same key.
 *
 * All keys order those that wait by the same rounds, so no two wait for each other: the first of a caller that
 * waits is in the next round, its second in the one after (start-time fair queueing).
 */
import type { CatalogError } from '../errors.ts'

export type Turns = {
  /**
   * Resolves with a function that gives the turn back; calling it again does nothing. While another with one of
   * the keys has a turn, or waits in an earlier round, no turn is used. Throws the error of the refusal.
   */
  enter: (caller: string, keys?: readonly string[]) => Promise<() => void>
  /** Takes a turn at once, and throws the error of the refusal if none is free. */
  take: (caller: string) => () => void
}

/**
 * Why a turn is refused: all are taken, or all that one caller may have; too many wait, or too many of this
 * caller; or it has waited too long, for a turn, or for others with the same key.
 */
export type Refused = 'busy' | 'callerBusy' | 'full' | 'callerFull' | 'late' | 'lateForKey'

export type TurnRules = {
  atOnce: number
  /** Turns of one caller. With fewer than `atOnce`, one is always left for the others. */
  perCaller?: number
  /** How many may wait, in all and of one caller, and how long; by default without bound. */
  waitingMaxCount?: number
  waitingPerCallerMaxCount?: number
  waitMaxMs?: number
  /** `key` is one that others use, if the refusal is `lateForKey`. */
  refuse?: (why: Refused, key: string | null) => CatalogError
}

/**
 * `round` is 0 for one that has a turn. `behind` counts the keys that others have first, so that whoever ends need
 * not look through the keys of all that wait.
 */
type Entry = { keys: readonly string[]; round: number; behind: number; begin: () => void }

/** Requests of one token are one caller. */
export const callerOf = ({ tokenId, urn }: { tokenId: string | null; urn: string }): string => tokenId ?? urn

export function createTurns({
  atOnce,
  perCaller = atOnce,
  waitingMaxCount = Infinity,
  waitingPerCallerMaxCount = Infinity,
  waitMaxMs = Infinity,
  refuse = (why) => {
    throw new Error(`a turn was refused: ${why}`)
  }
}: TurnRules): Turns {
  const running = new Map<string, number>()
  let runningCount = 0
  /** Those that wait, by caller; the caller whose turn is longest ago first. */
  const waiting = new Map<string, Entry[]>()
  let waitingCount = 0
  /** For each key, who has a turn or waits, in the order of rounds. */
  const ofKey = new Map<string, Entry[]>()
  /** The last round in which a turn began, and the last round of each caller that waits. */
  let round = 0
  const lastRounds = new Map<string, number>()

  const runningOf = (caller: string): number => running.get(caller) ?? 0

  function join(entry: Entry): void {
    for (const key of entry.keys) {
      const entries = ofKey.get(key) ?? []
      const place = entries.findLastIndex((each) => each.round <= entry.round) + 1
      const [first] = entries
      if (place > 0) entry.behind += 1
      else if (first) first.behind += 1
      entries.splice(place, 0, entry)
      ofKey.set(key, entries)
    }
  }

  function giveUpKeys(entry: Entry): void {
    for (const key of entry.keys) {
      const entries = ofKey.get(key) ?? []
      const place = entries.indexOf(entry)
      entries.splice(place, 1)
      const [first] = entries
      if (first === undefined) ofKey.delete(key)
      else if (place === 0) first.behind -= 1
    }
  }

  /** Counts the turn of an entry that has its keys. */
  function begin(caller: string, entry: Entry): () => void {
    round = Math.max(round, entry.round)
    entry.round = 0
    runningCount += 1
    running.set(caller, runningOf(caller) + 1)
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      runningCount -= 1
      if (runningOf(caller) === 1) running.delete(caller)
      else running.set(caller, runningOf(caller) - 1)
      giveUpKeys(entry)
      admit()
    }
  }

  /** Lets in all that can begin now. */
  function admit(): void {
    while (runningCount < atOnce) {
      const next = nextOf()
      if (next === null) return
      removeWaiting(next.caller, next.entry)
      // A caller that has had a turn moves to the end.
      const others = waiting.get(next.caller)
      if (others) {
        waiting.delete(next.caller)
        waiting.set(next.caller, others)
      }
      next.entry.begin()
    }
  }

  function nextOf(): { caller: string; entry: Entry } | null {
    for (const [caller, entries] of waiting) {
      if (runningOf(caller) >= perCaller) continue
      const entry = entries.find(({ behind }) => behind === 0)
      if (entry) return { caller, entry }
    }
    return null
  }

  function removeWaiting(caller: string, entry: Entry): void {
    const entries = waiting.get(caller) ?? []
    entries.splice(entries.indexOf(entry), 1)
    if (entries.length === 0) {
      waiting.delete(caller)
      lastRounds.delete(caller)
    }
    waitingCount -= 1
  }

  function wait(caller: string, keys: readonly string[]): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const own = Math.max(round, lastRounds.get(caller) ?? 0) + 1
      lastRounds.set(caller, own)
      const entry: Entry = {
        keys,
        round: own,
        behind: 0,
        begin() {
          clearTimeout(timer)
          resolve(begin(caller, entry))
        }
      }
      join(entry)
      const entries = waiting.get(caller)
      if (entries) entries.push(entry)
      else waiting.set(caller, [entry])
      waitingCount += 1
      const giveUp = (): void => {
        const taken = keys.find((key) => ofKey.get(key)?.[0] !== entry) ?? null
        removeWaiting(caller, entry)
        giveUpKeys(entry)
        reject(refuse(taken === null ? 'late' : 'lateForKey', taken))
        // Others may have waited only behind this one.
        admit()
      }
      const timer = waitMaxMs === Infinity ? undefined : setTimeout(giveUp, waitMaxMs)
    })
  }

  const take = (caller: string): (() => void) => {
    if (runningCount >= atOnce) throw refuse('busy', null)
    if (runningOf(caller) >= perCaller) throw refuse('callerBusy', null)
    return begin(caller, turnNow([]))
  }

  return {
    take,
    async enter(caller, named = []) {
      const keys = [...new Set(named)]
      if (
        runningCount < atOnce &&
        runningOf(caller) < perCaller &&
        keys.every((key) => ofKey.get(key) === undefined)
      ) {
        const entry = turnNow(keys)
        join(entry)
        return begin(caller, entry)
      }
      if ((waiting.get(caller)?.length ?? 0) >= waitingPerCallerMaxCount) throw refuse('callerFull', null)
      if (waitingCount >= waitingMaxCount) throw refuse('full', null)
      return wait(caller, keys)
    }
  }
}

/** One that need not wait. */
const turnNow = (keys: readonly string[]): Entry => ({ keys, round: 0, behind: 0, begin: () => {} })
