/** The cursor of relationships: where a page ended, bound to its question. */
import type { RelationshipKey } from '../../store/relationships.ts'
import { cursorNumbersBytes, parseBound, printBound } from './bound-cursor.ts'

/** The arm that the last relationship of a page came from, and its key in that arm. */
type RelationshipPlace = { arm: number; after: RelationshipKey }

const kind = 'tributary relationships 1'

/** `question` is any text that identifies the whole question. */
export function printPlace({ arm, after }: RelationshipPlace, question: string): string {
  const numbers = Buffer.alloc(cursorNumbersBytes)
  for (const [index, number] of [arm, ...after].entries()) numbers.writeInt32LE(number, index * 4)
  return printBound(kind, numbers, question)
}

/** Throws BAD_REQUEST for a text that is not a cursor, or the cursor of another question. */
export function parsePlace(text: string, question: string): RelationshipPlace {
  const numbers = parseBound(kind, text, question, 'scrollId')
  return {
    arm: numbers.readInt32LE(0),
    after: [numbers.readInt32LE(4), numbers.readInt32LE(8), numbers.readInt32LE(12)]
  }
}
