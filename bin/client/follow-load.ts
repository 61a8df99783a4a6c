/** Follows a load to its end. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal, exitCodes } from '../failure.ts'
import { hasEnded, readLoad, type LoadView } from './load-view.ts'
import { getJson, getText, ServerRefused, type Server } from './server.ts'

export type FollowOptions = {
  /** When to stop waiting although the load goes on; infinity waits for its end. */
  waitMs: number
  /** Called with each state that was read. */
  onState(load: LoadView): void
}

const firstPauseMs = 50
const longestPauseMs = 1_000
/** A server that restarts is waited for: the load is safe in its database. */
const silenceMaxMs = 60_000

/** The load at its end, or as it was when `waitMs` had passed. Throws ServerRefused, or Refusal where nobody answers. */
export async function followLoad(server: Server, started: LoadView, options: FollowOptions): Promise<LoadView> {
  const giveUpAt = Date.now() + options.waitMs
  let load = started
  let silentSince: number | null = null
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    options.onState(load)
    const leftMs = giveUpAt - Date.now()
    if (hasEnded(load) || leftMs <= 0) return load
    await sleep(Math.min(pauseMs, leftMs))
    try {
      load = readLoad(await getJson(server, `loads/${load.id}`))
      silentSince = null
    } catch (error) {
      silentSince ??= Date.now()
      if (!isPassing(error) || Date.now() - silentSince > silenceMaxMs) throw error
    }
  }
}

export type Reject = { line: number, code: string, message: string }

/** The first rejects of a load, in line order. */
export async function readRejects(server: Server, load: LoadView, count: number): Promise<Reject[]> {
  const text = await getText(server, `loads/${load.id}/rejects?limit=${count}`)
  // a border: the shape is the contract of the route
  return text.split('\n').filter(line => line !== '').map(line => JSON.parse(line) as Reject)
}

function isPassing(error: unknown): boolean {
  if (error instanceof ServerRefused) return error.status === 503 || error.status === 429 || error.exitCode === exitCodes.unreachable
  return error instanceof Refusal && error.exitCode === exitCodes.unreachable
}
