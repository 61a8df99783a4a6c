/**
 * Finds whole numbers in JSON text that JavaScript would change: beyond 2^53 it has no number for most of them, and
 * `9007199254740993` would be kept as `…992` silently.
 */

/** `place` is a path such as `proposal.aspect.rowCount`; empty if it could not be told. */
export type InexactNumber = { literal: string; place: string }

/** Fewer digits are always kept as they are. Looks at strings too: most texts have no such run anywhere, and end here. */
const longDigits = /\d{16}/
/** A whole number: what has a fraction or an exponent is an approximation in every language. */
const wholeNumber = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g

const isInexact = (literal: string): boolean => String(Number(literal)) !== literal

/** The first such number of a text that parses as JSON; null if all are kept as sent. */
export function findInexactNumber(text: string): InexactNumber | null {
  if (!longDigits.test(text)) return null
  const literal = outsideStrings(text)
  return literal === null ? null : { literal, place: placeOf(text) }
}

function outsideStrings(text: string): string | null {
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at)
    const end = quote === -1 ? text.length : quote
    if (end - at >= 16) {
      const found = text.slice(at, end).match(wholeNumber)?.find(isInexact)
      if (found !== undefined) return found
    }
    if (quote === -1) return null
    at = endOfString(text, quote + 1)
  }
  return null
}

/** The index after the quote that ends the string: one with an even number of backslashes before it. */
export function endOfString(text: string, begin: number): number {
  for (let quote = text.indexOf('"', begin); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
  }
  return text.length
}

/** What is put in the place of the number, to be found again. */
class Found {}

function placeOf(text: string): string {
  const reviver = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' &&
    context?.source !== undefined &&
    !/[.eE]/.test(context.source) &&
    isInexact(context.source)
      ? new Found()
      : value
  try {
    return pathTo(JSON.parse(text, reviver)) ?? ''
  } catch {
    // Nested so deep that the path cannot be told.
    return ''
  }
}

function pathTo(value: unknown): string | null {
  if (value instanceof Found) return ''
  if (typeof value !== 'object' || value === null) return null
  for (const [name, inner] of Object.entries(value)) {
    const rest = pathTo(inner)
    if (rest === null) continue
    const step = Array.isArray(value) ? `[${name}]` : name
    return rest === '' || rest.startsWith('[') ? step + rest : `${step}.${rest}`
  }
  return null
}
