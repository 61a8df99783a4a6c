/** Reads the members of an object from JSON text as they were written, without parsing their values. */
import { endOfString } from './exact-numbers.ts'

/**
 * The members of the first object in a text that may be cut off. Names are without their quotes, and not
 * unescaped.
 */
export function* membersOfFirst(text: string): Generator<{ name: string; value: string }, void> {
  let depth = 0
  let name: string | null = null
  let begin: number | null = null
  for (let at = text.indexOf('{'); at >= 0 && at < text.length;) {
    const sign = text[at]
    if (sign === '"') {
      const end = endOfString(text, at + 1)
      if (depth === 1 && begin === null) name = text.slice(at + 1, end - 1)
      at = end
      continue
    }
    if (sign === '{' || sign === '[') depth += 1
    else if (sign === '}' || sign === ']') depth -= 1
    else if (sign === ':' && depth === 1) begin = at + 1
    if (depth === 0 || (sign === ',' && depth === 1)) {
      if (name !== null && begin !== null) yield { name, value: text.slice(begin, at) }
      if (depth === 0) return
      name = begin = null
    }
    at += 1
  }
  if (name !== null && begin !== null) yield { name, value: text.slice(begin) }
}
