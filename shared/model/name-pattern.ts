/** Patterns of names: `*` stands for any characters, `?` for one, everything else for itself, upper and lower case alike. */

/** Whether the pattern matches the whole text, which must be in lower case. */
export type NamePattern = (lowerCased: string) => boolean

/**
 * Time is at most the product of the lengths: by hand, because a regular expression with many `*` goes back over a
 * long text again and again. What differs in front of the first `*` or `?` is told at a glance.
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
  /** The last `*`, and where the text continues after what it matched; only that one is ever made longer. */
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

/** How many places of a text the character takes that begins there. */
const charactersAt = (text: string, place: number): number =>
  (text.codePointAt(place) ?? 0) > 0xff_ff ? 2 : 1
