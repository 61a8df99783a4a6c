/**
 * The body of an upload, until its token is revoked. An upload may take hours, and a token that leaked must not write
 * for hours after that.
 */
import { CatalogError } from '../../shared/errors.ts'

/** How often the token is checked while bytes arrive. */
const checkEveryMs = 10_000

/**
 * Yields the bytes. `check` throws UNAUTHENTICATED for a revoked token, which aborts the load. It is called
 * every ten seconds; its other errors are then ignored, because the database may be away for a moment. It is
 * called once more at the end, where every error counts.
 */
export async function* whileAllowed(
  body: AsyncIterable<Buffer>,
  check: () => Promise<void>
): AsyncGenerator<Buffer> {
  let checkedAt = performance.now()
  for await (const bytes of body) {
    if (performance.now() - checkedAt > checkEveryMs) {
      await check().catch((error: unknown) => {
        if (error instanceof CatalogError && error.code === 'UNAUTHENTICATED') throw error
      })
      checkedAt = performance.now()
    }
    yield bytes
  }
  await check()
}
