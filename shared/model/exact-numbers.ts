/**
 * Finds whole numbers in JSON text that JavaScript would change. Beyond 2^53 it cannot represent most of
 * them: `9007199254740993` would silently become `…992`.
 */

/** `place` is a path such as `proposal.aspect.rowCount`; empty if it could not be found. */
export type InexactNumber = { literal: string; place: string }

/**
 * Numbers with fewer digits are always exact. This also matches inside strings, but most texts have no such
 * run of digits and need no further check.
 */
const longDigits = /\d{16}/
/** Only whole numbers: with a fraction or an exponent, a number is an approximation in every language. */
const wholeNumber = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g

const isInexact = (literal: string): boolean => String(Number(literal)) !== literal

/** The first such number in a text that parses as JSON; null if all numbers are kept as sent. */
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

/**
 * The index after the quote that ends the string: the first quote with an even number of backslashes before
 * it.
 */
export function endOfString(text: string, begin: number): number {
  for (let quote = text.indexOf('"', begin); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
  }
  return text.length
}

/** Replaces the number, so that it can be found in the parsed value. */
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
    // The value is nested too deeply to find the path.
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
