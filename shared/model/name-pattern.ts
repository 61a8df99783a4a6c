/**
 * Patterns of names: `*` matches any characters, `?` one character, and any other character itself, ignoring
 * case.
 */

/** Whether the pattern matches the whole text, which must be in lower case. */
export type NamePattern = (lowerCased: string) => boolean

/**
 * Takes time proportional to at most the product of the two lengths. A regular expression with many `*` would
 * backtrack over a long text again and again. A text that differs before the first `*` or `?` is rejected at
 * once.
 */
export function namePattern(pattern: string): NamePattern {
  const wanted = pattern.toLowerCase()
  const plain = wanted.search(/[*?]/)
  if (plain < 0) return (text) => text === wanted
  const begin = wanted.slice(0, plain)
  const rest = wanted.slice(plain)
  return (text) => text.startsWith(begin) && fits(rest, text.slice(plain))
}

function fits(wanted: string, found: string): boolean {
  let [at, place] = [0, 0]
  /** The last `*`, and where in the text its match ends. Only the match of the last `*` is ever extended. */
  let star: { at: number; place: number } | null = null
  while (place < found.length) {
    if (wanted[at] === '*') {
      star = { at, place }
      at += 1
    } else if (wanted[at] === '?') {
      at += 1
      place += charactersAt(found, place)
    } else if (wanted[at] === found[place]) {
      at += 1
      place += 1
    } else if (star) {
      star.place += charactersAt(found, star.place)
      at = star.at + 1
      place = star.place
    } else return false
  }
  while (wanted[at] === '*') at += 1
  return at === wanted.length
}

/** The length in UTF-16 units of the character that begins at this place. */
const charactersAt = (text: string, place: number): number =>
  (text.codePointAt(place) ?? 0) > 0xff_ff ? 2 : 1
