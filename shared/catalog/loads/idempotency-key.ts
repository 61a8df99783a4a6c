/**
 * The key under which a client may send a load again: its syntax, and the digest by which bodies are
 * compared.
 */
import { createHash, type Hash } from 'node:crypto'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'

/** The key, which must be visible ASCII. Throws BAD_REQUEST, LIMIT_EXCEEDED (idempotencyKeyMaxChars). */
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
 * Passes the bytes of a body on and digests them after decompression, so compression does not matter.
 * `optionText` is digested too, because with other options the same bytes mean something else.
 */
export function digestingBody(
  body: AsyncIterable<Buffer>,
  optionText: string | null
): {
  body: AsyncIterable<Buffer>
  digest: () => Buffer
} {
  const hash = createHash('sha256')
  if (optionText !== null) hash.update(optionText)
  return { body: digested(body, hash), digest: () => hash.digest() }
}

async function* digested(body: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const part of body) {
    hash.update(part)
    yield part
  }
}
