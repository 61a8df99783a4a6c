/** The cursor of a scroll: where a page ended, bound to its question. */
import { cursorNumbersBytes, parseBound, printBound } from './bound-cursor.ts'

export type ScrollCursor = {
  /** Degree and id of the last result of the page. */
  degree: number
  id: number
  /** Fingerprint of all results when the scroll began: shows whether they have changed since. */
  fingerprint: number
}

const kind = 'tributary scroll cursor 2'

/**
 * Makes a cursor that continues only the same question. `question` is any text that identifies the whole
 * question.
 */
export function printCursor({ degree, id, fingerprint }: ScrollCursor, question: string): string {
  const numbers = Buffer.alloc(cursorNumbersBytes)
  numbers.writeUInt32LE(1, 0)
  numbers.writeUInt32LE(degree, 4)
  numbers.writeInt32LE(id, 8)
  numbers.writeUInt32LE(fingerprint, 12)
  return printBound(kind, numbers, question)
}

/** Throws BAD_REQUEST for a text that is not a cursor, or the cursor of another question. */
export function parseCursor(text: string, question: string): ScrollCursor {
  const numbers = parseBound(kind, text, question, 'input.scrollId')
  return {
    degree: numbers.readUInt32LE(4),
    id: numbers.readInt32LE(8),
    fingerprint: numbers.readUInt32LE(12)
  }
}
