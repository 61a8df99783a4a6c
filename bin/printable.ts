/** Replaces control characters by spaces, so that names in a catalog cannot steer the terminal. */

const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

const escape = '\u001B'
const kept = new RegExp(`(${escape}\\[\\d{1,2}m|[\\t\\n])`)

/** For a text that is part of a line. */
export const printable = (text: string): string =>
  // half a character would be written as another one, of another width
  text.toWellFormed().replaceAll(controls, ' ')

/** For whole lines, which may contain tabs, line breaks and colours. Every line that a terminal shows passes through here. */
export const harmless = (text: string): string =>
  text
    .split(kept)
    .map((part, at) => (at % 2 === 1 ? part : printable(part)))
    .join('')
