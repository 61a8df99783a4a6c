/** `tributary load --from-marquez URL`: replays the events of another server into this one, and continues where it stopped. */
import { createHash } from 'node:crypto'
import { printExactly } from '../../shared/model/exact-json.ts'
import { readConfig } from '../../shared/platform/config.ts'
import { serverOf } from '../client-options.ts'
import { pause } from '../client/interruption.ts'
import { count } from '../quantity.ts'
import { isObject } from '../client/load-view.ts'
import { PageTooLarge, PageUnreadable, readEventsPage } from '../client/read-marquez.ts'
import { replayStore, type ReplayState } from '../client/replay-state.ts'
import { postJson } from '../client/ask.ts'
import { isPassing, NotReached, ServerRefused, type Server } from '../client/server.ts'
import type { CommandInput } from '../command.ts'
import { exitCodes, Refusal } from '../failure.ts'
import type { Terminal } from '../terminal.ts'

const pageCount = 100
const firstWaitMs = 500
const longestWaitMs = 15_000
const retryForDefaultMs = 180_000
/** Passes over all events, if some moved while they were read. */
const passesMaxCount = 3
const shownEveryMs = 5_000

type Tally = { read: number; refused: number }

/**
 * Returns the exit code: 0 all accepted, 2 some refused, 1 usage or refused, 4 a server does not answer.
 * Throws Refusal.
 */
export async function loadFromMarquez(input: CommandInput, terminal: Terminal): Promise<number> {
  const from = sourceOf(input)
  const to = await serverOf(input, terminal)
  const store = replayStore(
    readConfig(terminal.env).dataDir,
    input.text('state'),
    from.url,
    new URL(to.url).href
  )
  const replay = createReplay(from, to, input, terminal)
  let state = store.read()
  const begun = state.offset
  if (begun > 0 && !input.isSet('quiet'))
    terminal.err(`Continuing behind ${count(begun)} events, by ${store.path}.`)
  try {
    for (let pass = 1; ; pass += 1) {
      const { hasMoved } = await replay.onePass(state, (next) => {
        state = next
        store.write(next)
      })
      if (!hasMoved || pass === passesMaxCount) break
      state = { offset: 0, last: null }
      store.write(state)
      terminal.err('The order of events changed while they were read, so all are read again.')
    }
  } catch (error) {
    if (error instanceof Refusal)
      error.message = `${error.message.replace(/\.$/, '')}. ${count(state.offset)} events were sent. Run the same command to continue after them; the position is kept in ${store.path}.`
    throw error
  }
  const { read, refused } = replay.tally
  if (input.isSet('json'))
    terminal.out(
      JSON.stringify({
        from: from.url,
        read,
        taken: read - refused,
        refused,
        offset: state.offset,
        state: store.path
      })
    )
  else terminal.out(`${count(read)} events read, ${count(read - refused)} taken, ${count(refused)} refused.`)
  return refused > 0 ? exitCodes.rejects : exitCodes.ok
}

function sourceOf(input: CommandInput): Server {
  const url = input.text('from-marquez') ?? ''
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new Refusal(`--from-marquez takes a URL such as http://marquez:5000, not ${url}.`)
  // People often give the whole address of the API.
  return {
    url: new URL(url).href.replace(/\/(?:api\/v1\/?)?$/, '/'),
    token: input.text('marquez-token') ?? '',
    provenBy: null
  }
}

type Pass = { hasMoved: boolean }

function createReplay(
  from: Server,
  to: Server,
  input: CommandInput,
  terminal: Terminal
): { tally: Tally; onePass: (begin: ReplayState, keep: (state: ReplayState) => void) => Promise<Pass> } {
  const signal = terminal.interruption()
  const tally: Tally = { read: 0, refused: 0 }
  const retryForMs = retryForOf(input)
  const waitsForFirst = input.text('retry-for') !== undefined
  const show = createShow(input, terminal)

  async function onePass(begin: ReplayState, keep: (state: ReplayState) => void): Promise<Pass> {
    let state = begin
    let limit = pageCount
    let hasMoved = false
    for (;;) {
      // The previous event is read again: if it has changed, events have been added or removed before it.
      const overlap = state.last === null ? 0 : 1
      const page = await patiently(() =>
        readEventsPage(from, { offset: state.offset - overlap, limit: limit + overlap, signal })
      ).catch((error: unknown) => {
        const isOfOne = limit === 1
        if ((error instanceof PageTooLarge || error instanceof PageUnreadable) && !isOfOne) return null
        if (error instanceof PageUnreadable) return error
        throw error
      })
      if (page === null) {
        limit = Math.ceil(limit / 4)
        continue
      }
      if (page instanceof PageUnreadable) {
        refuse(state.offset, page.message)
        tally.read += 1
        // The next page begins after this event, so it cannot tell whether events have moved.
        state = { offset: state.offset + 1, last: null }
        keep(state)
        limit = pageCount
        continue
      }
      if (overlap === 1 && digestOf(page.events[0]) !== state.last) hasMoved = true
      const events = page.events.slice(overlap)
      if (events.length === 0) return { hasMoved }
      await send(events, state.offset)
      tally.read += events.length
      state = { offset: state.offset + events.length, last: digestOf(events.at(-1)) }
      keep(state)
      show(state.offset, page.totalCount)
      limit = pageCount
    }
  }

  /** Sends the events; in two halves if they are too large together. */
  async function send(events: readonly unknown[], offset: number): Promise<void> {
    try {
      const answer = await patiently(() => postJson(to, 'api/v1/lineage/batch', signal, [...events]))
      const failed = isObject(answer) && Array.isArray(answer.failed_events) ? answer.failed_events : null
      if (failed === null)
        throw new Refusal('Unexpected answer. Is this a Tributary server?', exitCodes.unreachable)
      for (const each of failed.filter(isObject)) {
        if (each.retriable === true) await sendOne(events[Number(each.index)], offset + Number(each.index))
        else refuse(offset + Number(each.index), String(each.reason))
      }
    } catch (error) {
      if (!(error instanceof ServerRefused) || error.status !== 413) throw error
      if (events.length === 1) {
        refuse(offset, error.message)
        return
      }
      const half = Math.ceil(events.length / 2)
      await send(events.slice(0, half), offset)
      await send(events.slice(half), offset + half)
    }
  }

  async function sendOne(event: unknown, offset: number): Promise<void> {
    const sentAt = Date.now()
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      await pause(waitMs, signal)
      const answer = await patiently(() => postJson(to, 'api/v1/lineage/batch', signal, [event]))
      const [failed]: unknown[] =
        isObject(answer) && Array.isArray(answer.failed_events) ? answer.failed_events : []
      if (!isObject(failed)) return
      if (failed.retriable !== true) {
        refuse(offset, String(failed.reason))
        return
      }
      if (Date.now() - sentAt > retryForMs) throw new Refusal(String(failed.reason), exitCodes.unreachable)
    }
  }

  function refuse(offset: number, reason: string): void {
    tally.refused += 1
    // The server counts from the beginning of the list, and this command from the first event of all.
    terminal.err(`Event ${offset + 1}: ${reason.replace(/^events\[\d+\]\./, '')}`)
  }

  /** Repeats work that may succeed a moment later. */
  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    let since: number | null = null
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      try {
        return await work()
      } catch (error) {
        signal.throwIfAborted()
        since ??= Date.now()
        const isGone = error instanceof NotReached && error.isFirst && !waitsForFirst
        if (!isPassing(error) || isGone || Date.now() - since >= retryForMs) throw error
        const askedMs = error instanceof ServerRefused ? (error.retryAfterMs ?? 0) : 0
        const ms = Math.max(waitMs, Math.min(askedMs, longestWaitMs))
        if (error instanceof Error)
          terminal.err(`${error.message.replace(/\.$/, '')}. Trying again in ${Math.ceil(ms / 1_000)} s.`)
        await pause(ms, signal)
      }
    }
  }

  return { tally, onePass }
}

function createShow(input: CommandInput, terminal: Terminal): (done: number, total: number | null) => void {
  const { redraw } = terminal
  let shownAt = Date.now()
  return (done, total) => {
    const isDue = redraw !== null || Date.now() - shownAt >= shownEveryMs
    if (input.isSet('quiet') || !isDue) return
    shownAt = Date.now()
    const line = `${count(done)}${total === null ? '' : ` of ${count(total)}`} events`
    if (redraw) redraw(() => line)
    else terminal.err(line)
    if (redraw && total !== null && done >= total) redraw(() => '')
  }
}

function retryForOf(input: CommandInput): number {
  const text = input.text('retry-for')
  if (text === undefined) return retryForDefaultMs
  if (!/^\d{1,7}$/.test(text)) throw new Refusal(`--retry-for takes seconds, not ${text}.`)
  return Number(text) * 1_000
}

const digestOf = (event: unknown): string =>
  createHash('sha256')
    .update(event === undefined ? '' : printExactly(event))
    .digest('hex')
