/**
 * The body of an upload, for as long as its token is valid. An upload may take hours, and a token that leaked must not
 * write for hours after it was revoked.
 */
import type { FastifyRequest } from 'fastify'

/** How often the token is checked while bytes arrive; also at the end of the body. */
const checkEveryMs = 10_000

/** Yields the bytes. Throws UNAUTHENTICATED or FORBIDDEN when the token is no longer valid, so the load is aborted. */
export async function* whileAllowed(
  body: AsyncIterable<Buffer>,
  { checkCaller }: Pick<FastifyRequest, 'checkCaller'>
): AsyncGenerator<Buffer> {
  let checkedAt = performance.now()
  for await (const bytes of body) {
    if (performance.now() - checkedAt > checkEveryMs) {
      await checkCaller()
      checkedAt = performance.now()
    }
    yield bytes
  }
  await checkCaller()
}
