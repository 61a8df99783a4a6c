/** Follows a load by `GET /loads/{id}/events`, a stream of server-sent events. */
import { readLoad, type LoadView } from './load-view.ts'
import { headersFor, unreachable, urlOn, type Server } from './server.ts'

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
  let response: Response
  try {
    response = await fetch(urlOn(server, `loads/${id}/events`), {
      headers: { ...headersFor(server), accept: 'text/event-stream' },
      signal
    })
  } catch (error) {
    signal.throwIfAborted()
    throw unreachable(server, error)
  }
  const { body } = response
  if (
    !response.ok ||
    body === null ||
    response.headers.get('content-type')?.startsWith('text/event-stream') !== true
  ) {
    await body?.cancel().catch(() => {})
    throw new NoEvents()
  }
  try {
    for await (const data of dataOf(body)) yield data === '' ? null : readLoad(JSON.parse(data))
  } catch (error) {
    signal.throwIfAborted()
    throw unreachable(server, error)
  }
}

/** The data of each complete event; empty for a comment. */
async function* dataOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    const events = (rest + decoder.decode(bytes, { stream: true })).replaceAll('\r\n', '\n').split('\n\n')
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
