/** The cursor of a scroll: where a page ended, bound to its question. */
import { hash, timingSafeEqual } from 'node:crypto'
import { CatalogError } from '../../errors.ts'

export type ScrollCursor = {
  /** Degree and id of the last result of the page. */
  degree: number
  id: number
  /** Fingerprint of all results when the scroll began: shows whether they have changed since. */
  fingerprint: number
}

/**
 * Not secret: a cursor only says where to continue. Long enough that neither a random text nor the cursor of
 * another question is accepted.
 */
const digestBytes = 12
const numbersBytes = 16

const digestOf = (numbers: Buffer, question: string): Buffer =>
  hash('sha256', `tributary scroll cursor 2 ${numbers.toString('hex')} ${question}`, 'buffer').subarray(
    0,
    digestBytes
  )

/**
 * Makes a cursor that continues only the same question. `question` is any text that identifies the whole
 * question.
 */
export function printCursor({ degree, id, fingerprint }: ScrollCursor, question: string): string {
  const numbers = Buffer.alloc(numbersBytes)
  numbers.writeUInt32LE(1, 0)
  numbers.writeUInt32LE(degree, 4)
  numbers.writeInt32LE(id, 8)
  numbers.writeUInt32LE(fingerprint, 12)
  return Buffer.concat([numbers, digestOf(numbers, question)]).toString('base64url')
}

/** Throws BAD_REQUEST for a text that is not a cursor, or the cursor of another question. */
export function parseCursor(text: string, question: string): ScrollCursor {
  const bytes = Buffer.from(text, 'base64url')
  const numbers = bytes.subarray(0, numbersBytes)
  const isOurs =
    bytes.length === numbersBytes + digestBytes &&
    bytes.toString('base64url') === text &&
    timingSafeEqual(bytes.subarray(numbersBytes), digestOf(numbers, question))
  if (!isOurs) {
    throw new CatalogError(
      'BAD_REQUEST',
      'input.scrollId is not from a page of the same question; begin again without it',
      { field: 'input.scrollId' }
    )
  }
  return {
    degree: numbers.readUInt32LE(4),
    id: numbers.readInt32LE(8),
    fingerprint: numbers.readUInt32LE(12)
  }
}
