/** How many columns of a terminal a text takes, and how to make it take fewer. */
import stringWidth from 'string-width'

/** Wide characters (CJK, emoji) take two columns, combining ones none. */
export const widthOf = (text: string): number => stringWidth(text)

export const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)))

export const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - widthOf(text))) + text

const segmenter = new Intl.Segmenter()
const mark = '…'

/** At most `width` columns, with a mark where the middle is left out: both ends of a qualified name tell it from others. */
export function cutMiddle(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  const left = Math.ceil((width - 1) / 2)
  const parts = partsOf(text)
  return width < 1 ? '' : headOf(parts, left) + mark + tailOf(parts, Math.max(0, width - 1 - left))
}

/** At most `width` columns, with a mark if the end is left out. */
export function cutEnd(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  return width < 1 ? '' : headOf(partsOf(text), width - 1) + mark
}

/** What a person takes for one character is never cut. */
const partsOf = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment)

function headOf(parts: readonly string[], width: number): string {
  let taken = ''
  let left = width
  for (const part of parts) {
    left -= widthOf(part)
    if (left < 0) break
    taken += part
  }
  return taken
}

function tailOf(parts: readonly string[], width: number): string {
  let taken = ''
  let left = width
  for (const part of parts.toReversed()) {
    left -= widthOf(part)
    if (left < 0) break
    taken = part + taken
  }
  return taken
}
