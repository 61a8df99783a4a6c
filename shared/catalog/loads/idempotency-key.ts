/** The key under which a client may send a load again: how it is spelled, and how a body is told from another. */
import { createHash, type Hash } from 'node:crypto'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'

/** Visible ASCII. Throws BAD_REQUEST, LIMIT_EXCEEDED (idempotencyKeyMaxChars). */
export function checkedIdempotencyKey(text: string, field: string): string {
  const maximum = limits.idempotencyKeyMaxChars
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new CatalogError('BAD_REQUEST', `${field} must be of visible ASCII characters, and not empty`, {
      field
    })
  if (text.length > maximum)
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `${field} has ${text.length} characters; at most ${maximum} are allowed`,
      { field, limit: 'idempotencyKeyMaxChars', maximum, actual: text.length }
    )
  return text
}

/**
 * Hands the bytes of a body on and digests them, unpacked as they are: how a body was compressed does not matter. `told` is what was said of the body
 * beside it, where there is something: the same bytes mean something else then.
 */
export function digestingBody(
  body: AsyncIterable<Buffer>,
  told: string | null
): {
  body: AsyncIterable<Buffer>
  digest: () => Buffer
} {
  const hash = createHash('sha256')
  if (told !== null) hash.update(told)
  return { body: digested(body, hash), digest: () => hash.digest() }
}

async function* digested(body: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const part of body) {
    hash.update(part)
    yield part
  }
}
