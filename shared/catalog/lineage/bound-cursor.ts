/**
 * The form of all cursors: four numbers that say where a page ended, and a digest that binds them to a
 * question.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { CatalogError } from '../../errors.ts'

/**
 * Not secret: a cursor only says where to continue. Long enough that neither a random text nor the cursor of
 * another question is accepted.
 */
const digestBytes = 12
export const cursorNumbersBytes = 16

const digestOf = (kind: string, numbers: Buffer, question: string): Buffer =>
  hash('sha256', `${kind} ${numbers.toString('hex')} ${question}`, 'buffer').subarray(0, digestBytes)

/** `kind` names the cursor and its version; `question` is any text that identifies the whole question. */
export const printBound = (kind: string, numbers: Buffer, question: string): string =>
  Buffer.concat([numbers, digestOf(kind, numbers, question)]).toString('base64url')

/** The numbers. Throws BAD_REQUEST for a text that is not a cursor, or the cursor of another question. */
export function parseBound(kind: string, text: string, question: string, field: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  const numbers = bytes.subarray(0, cursorNumbersBytes)
  const isOurs =
    bytes.length === cursorNumbersBytes + digestBytes &&
    bytes.toString('base64url') === text &&
    timingSafeEqual(bytes.subarray(cursorNumbersBytes), digestOf(kind, numbers, question))
  if (isOurs) return numbers
  throw new CatalogError('BAD_REQUEST', `${field} does not belong to this request; begin again without it`, {
    field
  })
}
