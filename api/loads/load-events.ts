/**
 * A load as a stream of server-sent events: the load after every change, and a comment if nothing has changed
 * for a while.
 */
import { createHash } from 'node:crypto'
import type { LoadView } from '../../shared/catalog/loads/read-load.ts'

/** Time after which a client that lost the connection reconnects. */
const retryMs = 1_000

/** Equal for equal states of a load: a client that sends it in Last-Event-ID has seen that state. */
export const eventIdOf = (load: LoadView): string =>
  createHash('sha256').update(JSON.stringify(load)).digest('base64url').slice(0, 16)

export async function* toEvents(states: AsyncIterable<LoadView | null>): AsyncGenerator<string> {
  yield `retry: ${retryMs}\n\n`
  for await (const load of states)
    yield load ? `event: load\nid: ${eventIdOf(load)}\ndata: ${JSON.stringify(load)}\n\n` : ': still here\n\n'
}
