/** The cursor of relationships: where a page ended, bound to its question. */
import { hash, timingSafeEqual } from 'node:crypto'
import { CatalogError } from '../../errors.ts'
import type { RelationshipKey } from '../../store/relationships.ts'

/** The arm that the last relationship of a page came from, and its key in that arm. */
export type RelationshipPlace = { arm: number; after: RelationshipKey }

/**
 * Not secret: a cursor only says where to continue. Long enough that the cursor of another question is not
 * accepted by accident.
 */
const digestBytes = 12
const numbersBytes = 16

const digestOf = (numbers: Buffer, question: string): Buffer =>
  hash('sha256', `tributary relationships 1 ${numbers.toString('hex')} ${question}`, 'buffer').subarray(
    0,
    digestBytes
  )

/** `question` is any text that identifies the whole question. */
export function printPlace({ arm, after }: RelationshipPlace, question: string): string {
  const numbers = Buffer.alloc(numbersBytes)
  for (const [index, number] of [arm, ...after].entries()) numbers.writeInt32LE(number, index * 4)
  return Buffer.concat([numbers, digestOf(numbers, question)]).toString('base64url')
}

/** Throws BAD_REQUEST for a text that is not a cursor, or the cursor of another question. */
export function parsePlace(text: string, question: string): RelationshipPlace {
  const bytes = Buffer.from(text, 'base64url')
  const numbers = bytes.subarray(0, numbersBytes)
  const isOurs =
    bytes.length === numbersBytes + digestBytes &&
    bytes.toString('base64url') === text &&
    timingSafeEqual(bytes.subarray(numbersBytes), digestOf(numbers, question))
  if (!isOurs)
    throw new CatalogError(
      'BAD_REQUEST',
      'scrollId is not from a page of the same question; begin again without it',
      { field: 'scrollId' }
    )
  return {
    arm: numbers.readInt32LE(0),
    after: [numbers.readInt32LE(4), numbers.readInt32LE(8), numbers.readInt32LE(12)]
  }
}
