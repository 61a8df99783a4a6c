/**
 * Finds whole numbers in JSON text that JavaScript would change. Beyond 2^53 it cannot represent most of
 * them: `9007199254740993` would silently become `…992`.
 */

/** `place` is a path such as `proposal.aspect.rowCount`; empty if the number is the whole text. */
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
  for (const { literal, begin } of inexactNumbers(text)) return { literal, place: placeOf(text, begin) }
  return null
}

/** All such numbers in a text that parses as JSON, in its order; `begin` is the index of the first character. */
export function* inexactNumbers(text: string): Generator<{ literal: string; begin: number }, void> {
  if (!longDigits.test(text)) return
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at)
    const end = quote === -1 ? text.length : quote
    if (end - at >= 16)
      for (const { 0: literal, index } of text.slice(at, end).matchAll(wholeNumber))
        if (isInexact(literal)) yield { literal, begin: at + index }
    if (quote === -1) return
    at = endOfString(text, quote + 1)
  }
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

/**
 * The path to the value that begins at an index. Read from the text, because not every version of Node.js
 * that we support tells a reviver of JSON.parse which literal it revives.
 */
function placeOf(text: string, begin: number): string {
  /** The lists and objects that are open: the index of an element, or the quoted name of a member. */
  const steps: (number | string)[] = []
  let isName = false
  for (let at = 0; at < begin;) {
    const sign = text[at]
    if (sign === '"') {
      const end = endOfString(text, at + 1)
      if (isName) steps[steps.length - 1] = text.slice(at, end)
      isName = false
      at = end
      continue
    }
    at += 1
    if (sign === '{') steps.push('')
    else if (sign === '[') steps.push(0)
    else if (sign === '}' || sign === ']') steps.pop()
    if (sign !== '{' && sign !== ',') continue
    const last = steps.at(-1)
    if (typeof last === 'number') steps[steps.length - 1] = last + 1
    isName = typeof last === 'string'
  }
  return steps
    .map((step, depth) =>
      typeof step === 'number' ? `[${step}]` : `${depth === 0 ? '' : '.'}${String(JSON.parse(step))}`
    )
    .join('')
}
