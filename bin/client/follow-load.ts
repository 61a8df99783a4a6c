/** Follows a load to its end: by its events, or by polling if events are not available. */
import { pause } from './interruption.ts'
import { loadEvents, NoEvents } from './load-events.ts'
import { hasEnded, readLoad, type LoadView } from './load-view.ts'
import { getJson, getText } from './ask.ts'
import { isPassing, type Server } from './server.ts'

export type FollowOptions = {
  /** How long to wait at most, even if the load continues; Infinity waits for its end. */
  waitMs: number
  /** How long to wait for a server that restarts. The load is safe in its database. */
  silenceMaxMs?: number
  signal?: AbortSignal
  /** Called with each state that was read. */
  onState: (load: LoadView) => void
}

const firstPauseMs = 50
const longestPauseMs = 1_000
const silenceDefaultMs = 60_000
/** Most loads are small, and polling sees their end sooner than events, which are sent twice a second. */
const askedFirstCount = 6
/** Twice the longest silence of a live stream; a stream blocked by a proxy stays silent longer. */
const silentStreamMs = 30_000

/**
 * Returns the load at its end, or as it was after `waitMs`. Throws ServerRefused, Refusal if nothing answers,
 * and the signal's reason.
 */
export async function followLoad(
  server: Server,
  started: LoadView,
  options: FollowOptions
): Promise<LoadView> {
  const { waitMs, silenceMaxMs = silenceDefaultMs, signal = new AbortController().signal, onState } = options
  const giveUpAt = Date.now() + waitMs
  const leftMs = (): number => giveUpAt - Date.now()
  let load = started
  let hasEvents = true
  let silentSince: number | null = null

  function hear(next: LoadView): void {
    load = next
    silentSince = null
    onState(load)
  }

  onState(load)
  for (
    let asked = 0, pauseMs = firstPauseMs;
    !hasEnded(load) && leftMs() > 0;
    asked += 1, pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)
  ) {
    await pause(Math.min(pauseMs, leftMs()), signal)
    if (hasEvents && asked >= askedFirstCount) {
      hasEvents = await followByEvents(server, load, { maxMs: leftMs(), signal, hear })
      if (hasEnded(load)) return load
    }
    try {
      hear(readLoad(await getJson(server, `loads/${load.id}`, signal)))
    } catch (error) {
      signal.throwIfAborted()
      silentSince ??= Date.now()
      if (!isPassing(error) || Date.now() - silentSince > silenceMaxMs) throw error
    }
  }
  return load
}

type Hearing = { maxMs: number; signal: AbortSignal; hear: (load: LoadView) => void }

/** Until the load, the time or the stream ends. Returns false if trying again is useless. */
async function followByEvents(
  server: Server,
  { id }: LoadView,
  { maxMs, signal, hear }: Hearing
): Promise<boolean> {
  const quiet = new AbortController()
  const endsAt = Date.now() + maxMs
  const setTimer = (): NodeJS.Timeout =>
    setTimeout(
      () => {
        quiet.abort()
      },
      Math.min(silentStreamMs, Math.max(endsAt - Date.now(), 0))
    )
  let timer = setTimer()
  try {
    for await (const load of loadEvents(server, id, AbortSignal.any([signal, quiet.signal]))) {
      clearTimeout(timer)
      if (load !== null) hear(load)
      if (load !== null && hasEnded(load)) return true
      timer = setTimer()
    }
    return true
  } catch (error) {
    signal.throwIfAborted()
    // interrupted or silent: polling shows whether the server is there
    return !(error instanceof NoEvents || quiet.signal.aborted)
  } finally {
    clearTimeout(timer)
  }
}

export type Reject = { line: number; code: string; message: string }

/** The first rejects of a load, in line order. */
export async function readRejects(
  server: Server,
  load: Pick<LoadView, 'id'>,
  count: number
): Promise<Reject[]> {
  const text = await getText(server, `loads/${load.id}/rejects?limit=${count}`)
  // the shape is not checked here, because the route guarantees it
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Reject)
}
