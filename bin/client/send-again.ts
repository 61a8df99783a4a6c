/** Sends a load until there is an answer: an interrupted attempt is repeated with the same key. */
import { Refusal } from '../failure.ts'
import { pause } from './interruption.ts'
import { sendLoad, type SentLoad } from './send-load.ts'
import { isPassing, NotReached, ServerRefused, type Server } from './server.ts'
import type { Upload } from './upload.ts'

export type SendOptions = {
  query: Readonly<Record<string, string>>
  idempotencyKey: string
  /**
   * How long to retry while no server accepts the body, because it is away or asks to try later. 0 tries
   * once.
   */
  retryForMs: number
  /** Whether to wait also for a server that was never reached. Otherwise, it may well not be running at all. */
  waitsForFirst: boolean
  signal: AbortSignal
  /** Called when an attempt has reached the server. */
  onConnect: () => void
  /** Called before each wait. */
  onWait: (reason: string, waitMs: number) => void
}

/** If the connection is cut every time, a twentieth attempt will not succeed either. */
const cutsMaxCount = 20
const firstWaitMs = 500
const longestWaitMs = 15_000
const retryAfterMaxMs = 60_000

/**
 * Creates exactly one load: the server recognizes the key, and frees it if an attempt was cut off.
 *
 * Throws what the last attempt threw, with the number of attempts.
 */
export async function sendUntilAnswered(
  server: Server,
  upload: Upload,
  options: SendOptions
): Promise<SentLoad> {
  const { query, idempotencyKey, retryForMs, waitsForFirst, signal, onConnect } = options
  let cuts = 0
  let quietSince: number | null = null
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      return await sendLoad(server, { query, idempotencyKey, signal, onConnect }, upload.body())
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof Refusal) || !isPassing(error)) throw error
      if (retryForMs === 0 || (error instanceof NotReached && error.isFirst && !waitsForFirst)) throw error
      const problem = upload.problem()
      if (problem !== null)
        throw new Refusal(
          `${error.message} It cannot be sent again: ${upload.name} could not be kept (${problem}).`,
          error.exitCode,
          { cause: error }
        )
      // bytes were received, so the server is alive: the retry time starts again
      const hasFlowed = !(error instanceof ServerRefused) && upload.sent().bytes > flowedFromBytes
      if (hasFlowed) {
        cuts += 1
        quietSince = null
        waitMs = firstWaitMs
      }
      quietSince ??= Date.now()
      const leftMs = retryForMs - (Date.now() - quietSince)
      if (leftMs <= 0 || cuts >= cutsMaxCount)
        throw givenUp(
          error,
          hasFlowed
            ? `The connection was cut ${cuts} times.`
            : `Tried for ${Math.round(retryForMs / 1_000)} s.`
        )
      const asked = error instanceof ServerRefused ? Math.min(error.retryAfterMs ?? 0, retryAfterMaxMs) : 0
      const jittered = waitMs * (0.5 + Math.random() / 2)
      const pauseMs = Math.min(Math.max(asked, jittered), leftMs)
      options.onWait(error.message, pauseMs)
      await pause(pauseMs, signal)
    }
  }
}

/** More than the buffers of a socket can take if the other end does not read. */
const flowedFromBytes = 4 * 1024 * 1024

function givenUp(error: Refusal, tried: string): Refusal {
  return new Refusal(`${error.message} ${tried}`, error.exitCode, { cause: error })
}
