/** A load as a stream of server-sent events: itself whenever it has changed, and a comment when nothing has for a while. */
import { createHash } from 'node:crypto'
import type { LoadView } from '../../shared/catalog/loads/read-load.ts'

/** A client that lost the connection asks again after this. */
const retryMs = 1_000

/** The same for the same state of a load: who names it in Last-Event-ID has seen it. */
export const eventIdOf = (load: LoadView): string =>
  createHash('sha256').update(JSON.stringify(load)).digest('base64url').slice(0, 16)

export async function* toEvents(states: AsyncIterable<LoadView | null>): AsyncGenerator<string> {
  yield `retry: ${retryMs}\n\n`
  for await (const load of states)
    yield load ? `event: load\nid: ${eventIdOf(load)}\ndata: ${JSON.stringify(load)}\n\n` : ': still here\n\n'
}
