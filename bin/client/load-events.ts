/** Hears how far a load is as the server tells it: `GET /loads/{id}/events`, a stream of server-sent events. */
import { readLoad, type LoadView } from './load-view.ts'
import { headersFor, ServerRefused, unreachable, urlOn, type Server } from './server.ts'

/** This server, or a proxy in front of it, has no such stream: ask instead. */
export class NoEvents extends Error {}

/**
 * The load at each change, until the stream ends. Throws NoEvents, ServerRefused, Refusal where the stream is cut off, and
 * the signal's reason.
 */
export async function* loadEvents(server: Server, id: string, signal: AbortSignal): AsyncGenerator<LoadView> {
  let response: Response
  try {
    response = await fetch(urlOn(server, `loads/${id}/events`), { headers: { ...headersFor(server), accept: 'text/event-stream' }, signal })
  } catch (error) {
    signal.throwIfAborted()
    throw unreachable(server, error)
  }
  const { body } = response
  if ([404, 405, 406, 501].includes(response.status)) throw new NoEvents()
  if (!response.ok) throw new ServerRefused(response.status, await response.text().catch(() => ''), response.headers.get('retry-after'))
  if (body === null || response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    await body?.cancel().catch(() => {})
    throw new NoEvents()
  }
  try {
    for await (const data of dataOf(body)) yield readLoad(JSON.parse(data))
  } catch (error) {
    signal.throwIfAborted()
    throw unreachable(server, error)
  }
}

/** The data of each event that is whole; comments and other fields are passed over. */
async function* dataOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    const events = (rest + decoder.decode(bytes, { stream: true })).replaceAll('\r\n', '\n').split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const data = event.split('\n').filter(line => line.startsWith('data:')).map(line => line.slice(5).trimStart()).join('\n')
      if (data !== '') yield data
    }
  }
}
