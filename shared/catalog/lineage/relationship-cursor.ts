/** Where a page of relationships ended, bound to the question it was asked for. */
import { hash, timingSafeEqual } from 'node:crypto'
import { CatalogError } from '../../errors.ts'
import type { RelationshipKey } from '../../store/relationships.ts'

/** The arm that the last relationship of a page came from, and its key there. */
export type RelationshipPlace = { arm: number; after: RelationshipKey }

/** Nothing is secret here: a cursor only says where to continue, and no other question's passes by accident. */
const digestBytes = 12
const numbersBytes = 16

const digestOf = (numbers: Buffer, question: string): Buffer =>
  hash('sha256', `tributary relationships 1 ${numbers.toString('hex')} ${question}`, 'buffer').subarray(
    0,
    digestBytes
  )

/** `question` is any text that stands for the whole question. */
export function printPlace({ arm, after }: RelationshipPlace, question: string): string {
  const numbers = Buffer.alloc(numbersBytes)
  for (const [index, number] of [arm, ...after].entries()) numbers.writeInt32LE(number, index * 4)
  return Buffer.concat([numbers, digestOf(numbers, question)]).toString('base64url')
}

/** Throws BAD_REQUEST for a text that is not a cursor, or of another question. */
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
      'scrollId is not what a page of this very question gave; begin again without it',
      { field: 'scrollId' }
    )
  return {
    arm: numbers.readInt32LE(0),
    after: [numbers.readInt32LE(4), numbers.readInt32LE(8), numbers.readInt32LE(12)]
  }
}
