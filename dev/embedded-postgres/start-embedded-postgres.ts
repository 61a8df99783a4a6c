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
  /** Where the data is; may differ from the requested directory. */
  dataDir: string
  /** Whether the server was running already. */
  adopted: boolean
  /**
   * Resolves with the exit code once the server has ended, for whatever reason; null if the code is unknown.
   */
  ended: Promise<number | null>
  /**
   * Releases the server and waits for its end, if no other process uses it: it then shuts down. Safe to call
   * twice. A process that ends without calling it also releases the server.
   */
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  /** The directory of the cluster, created (with its parents) if it is missing. */
  dataDir: string
  /** Fast and not durable: for data that may be lost. */
  throwaway?: boolean
  /** Called with messages for the person who starts it. */
  log?: (line: string) => void
  /** How long a shutdown may take until the server is ended at once. */
  stopMaxMs?: number
}

/** How long to wait for another start, or for the remains of a killed server. */
const inTheWayMaxMs = 30_000
const lookAgainAfterMs = 50
const shutdownMaxMs = 30_000

/** Throws CannotEmbed, with the reason and a remedy, if the machine or the directory does not allow it. */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir, throwaway = false, log = () => {}, stopMaxMs = shutdownMaxMs } = options
  const place = choosePlace(dataDir, log)
  ensureCluster(place, throwaway)
  const socketDir = openSocketDirectory(place)
  const lifeLine = holdLifeLine(socketDir)
  try {
    return await startOrAdopt(place, { socketDir, lifeLine, throwaway, log, stopMaxMs })
  } catch (error) {
    lifeLine.letGo()
    throw error
  }
}

type Attempt = {
  socketDir: string
  lifeLine: LifeLine
  throwaway: boolean
  log: (line: string) => void
  stopMaxMs: number
}

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
      // seen twice: the first time, its last user may have released it just before we took hold
      return adopted(place, attempt, state.pid)
    } else if (state.is === 'ready' && timesSeenReady === 0) {
      // its watcher was killed, so nothing would ever stop it
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

/** After releasing: waits for the end of the server, unless another process keeps it running. */
async function endedOrShared(place: Place, attempt: Attempt, ended: Promise<number | null>): Promise<void> {
  const noticedAfterMs = 500
  for (let waitedMs = 0; waitedMs < noticedAfterMs; waitedMs += lookAgainAfterMs) {
    const over = await Promise.race([ended.then(() => true), sleep(lookAgainAfterMs, false)])
    if (over) return
  }
  if (attempt.lifeLine.isWatched() && readServerState(place.dataDir).is === 'ready') return
  const isOver = new AbortController()
  void ended.then(() => {
    isOver.abort()
  })
  await sleep(attempt.stopMaxMs, undefined, { signal: isOver.signal }).then(
    () => {
      endAtOnce(place)
    },
    () => {}
  )
  await ended
}

/**
 * PostgreSQL 18 never finishes a shutdown that is asked for within about 50 ms of a crash of one of its backends: its
 * checkpointer is not told. An immediate shutdown ends it, and the next start recovers, so that no row is lost.
 */
function endAtOnce({ dataDir }: Place): void {
  const state = readServerState(dataDir)
  if (!('pid' in state)) return
  try {
    process.kill(state.pid, 'SIGQUIT')
  } catch {
    // it has ended in the meantime
  }
}

function stopOrphan(pid: number): void {
  try {
    process.kill(pid, 'SIGINT')
  } catch {
    // it has ended in the meantime
  }
}

/** For a server that is not our child: checks from time to time, without keeping the process alive. */
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
