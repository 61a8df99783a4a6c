/** Follows a load by `GET /loads/{id}/events`, a stream of server-sent events. */
import type { IncomingMessage } from 'node:http'
import { exchange } from './connection.ts'
import { readLoad, type LoadView } from './load-view.ts'
import { unreachable, type Server } from './server.ts'

/** The stream is not available: an older server, a proxy that blocks it, or too many listeners. */
export class NoEvents extends Error {}

/**
 * Yields the load at each change, and null for a keep-alive, until the stream ends. Throws NoEvents, Refusal if the
 * stream is interrupted, and the signal's reason.
 */
export async function* loadEvents(
  server: Server,
  id: string,
  signal: AbortSignal
): AsyncGenerator<LoadView | null> {
  const response = await exchange(server, `loads/${id}/events`, {
    method: 'GET',
    headers: { accept: 'text/event-stream' },
    signal
  })
  const { statusCode, headers } = response
  if (statusCode !== 200 || headers['content-type']?.startsWith('text/event-stream') !== true) {
    response.destroy()
    throw new NoEvents()
  }
  try {
    for await (const data of dataOf(response)) yield data === '' ? null : readLoad(JSON.parse(data))
  } catch (error) {
    signal.throwIfAborted()
    throw unreachable(server, error)
  }
}

/** The data of each complete event; empty for a comment. */
async function* dataOf(body: IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  for await (const text of body.setEncoding('utf8')) {
    const events = (rest + String(text)).replaceAll('\r\n', '\n').split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      yield event
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart())
        .join('\n')
    }
  }
}
