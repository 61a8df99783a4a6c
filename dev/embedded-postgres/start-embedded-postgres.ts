/**
 * Starts a real PostgreSQL from the binaries that npm installed, or shares the one that already serves the directory.
 *
 * For development, tests and trying out: nothing below api, worker or shared may import it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CannotEmbed } from './cannot-embed.ts'
import { ensureCluster } from './cluster.ts'
import { holdLifeLine, type LifeLine } from './life-line.ts'
import { choosePlace, type Place } from './place.ts'
import { runServer, type RunningServer } from './run-server.ts'
import { isAlive, readServerState, removeStaleLocks } from './server-state.ts'
import { openSocketDirectory } from './socket-directory.ts'

export type EmbeddedPostgres = {
  /** The URL of a database of the server (`postgres` when none is named), for pg, knex and BullMQ. */
  url(database?: string): string
  /** Where the data really is; may differ from the directory asked for. */
  dataDir: string
  /** Whether the server was running already. */
  adopted: boolean
  /** Resolves with the exit code once the server has gone, asked or not; null if nobody knows the code. */
  ended: Promise<number | null>
  /**
   * Lets go of the server; it stops, in order, when nobody else holds it, and then this waits for its end. Safe to call
   * twice. A process that ends without calling it lets go too.
   */
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  /** The directory of the cluster itself, made when absent (also what is above it). */
  dataDir: string
  /** Fast and not durable: for data that may be lost. */
  throwaway?: boolean
  /** Gets sentences worth showing to the person who starts. */
  log?: (line: string) => void
}

/** How long another start, or the rest of a killed server, may be in the way. */
const inTheWayMaxMs = 30_000
const lookAgainAfterMs = 50

/** Throws CannotEmbed, with the reason and a remedy, if the machine or the directory does not allow it. */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir, throwaway = false, log = () => {} } = options
  const place = choosePlace(dataDir, log)
  ensureCluster(place, throwaway)
  const socketDir = openSocketDirectory(place)
  const lifeLine = holdLifeLine(socketDir)
  try {
    return await startOrAdopt(place, { socketDir, lifeLine, throwaway, log })
  } catch (error) {
    lifeLine.letGo()
    throw error
  }
}

type Attempt = { socketDir: string; lifeLine: LifeLine; throwaway: boolean; log: (line: string) => void }

async function startOrAdopt(place: Place, attempt: Attempt): Promise<EmbeddedPostgres> {
  const giveUpAt = Date.now() + inTheWayMaxMs
  let lastOutput = ''
  let timesSeenReady = 0
  while (Date.now() < giveUpAt) {
    const state = readServerState(place.dataDir)
    timesSeenReady = state.is === 'ready' && attempt.lifeLine.isWatched() ? timesSeenReady + 1 : 0
    if (state.is === 'absent' || state.is === 'stale') {
      if (state.is === 'stale') removeStaleLocks(place.dataDir, state.socketDir)
      const server = runServer(place, attempt)
      const failure = await server.ready
      if (failure === null) return started(place, attempt, server)
      if (!failure.isInTheWay) throw new CannotEmbed(`PostgreSQL did not start: ${failure.output}`)
      lastOutput = failure.output
    } else if (state.is === 'ready' && timesSeenReady > 1) {
      // seen twice: the first time, its last holder may have let go a moment before we took hold
      return adopted(place, attempt, state.pid)
    } else if (state.is === 'ready' && timesSeenReady === 0) {
      // its watcher was killed, so nobody would ever stop it
      stopOrphan(state.pid)
    }
    await sleep(lookAgainAfterMs)
  }
  throw new CannotEmbed(
    `another PostgreSQL holds ${place.dataDir} and neither answers nor ends. ${lastOutput}`.trim()
  )
}

function started(place: Place, attempt: Attempt, server: RunningServer): EmbeddedPostgres {
  return {
    url: urlFor(attempt.socketDir),
    dataDir: place.dataDir,
    adopted: false,
    ended: server.ended,
    async stop() {
      server.hold()
      attempt.lifeLine.letGo()
      await endedOrShared(place, attempt, server.ended)
      server.release()
    }
  }
}

function adopted(place: Place, attempt: Attempt, pid: number): EmbeddedPostgres {
  const ended = endOf(pid)
  return {
    url: urlFor(attempt.socketDir),
    dataDir: place.dataDir,
    adopted: true,
    ended,
    async stop() {
      attempt.lifeLine.letGo()
      await endedOrShared(place, attempt, ended)
    }
  }
}

/** After letting go: waits for the end of the server, unless it continues because somebody else holds it. */
async function endedOrShared(place: Place, attempt: Attempt, ended: Promise<number | null>): Promise<void> {
  const noticedAfterMs = 500
  for (let waitedMs = 0; waitedMs < noticedAfterMs; waitedMs += lookAgainAfterMs) {
    const over = await Promise.race([ended.then(() => true), sleep(lookAgainAfterMs, false)])
    if (over) return
  }
  if (attempt.lifeLine.isWatched() && readServerState(place.dataDir).is === 'ready') return
  await ended
}

function stopOrphan(pid: number): void {
  try {
    process.kill(pid, 'SIGINT')
  } catch {
    // it has ended meanwhile
  }
}

/** For a server that is not our child: asks once in a while, without keeping the process alive. */
function endOf(pid: number): Promise<null> {
  const everyMs = 250
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (isAlive(pid)) return
      clearInterval(timer)
      resolve(null)
    }, everyMs)
    timer.unref()
  })
}

function urlFor(socketDir: string): (database?: string) => string {
  return (database = 'postgres') =>
    `postgresql://postgres@localhost/${database}?host=${encodeURIComponent(socketDir)}`
}
