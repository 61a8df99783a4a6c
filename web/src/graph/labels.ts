/** Texts on cards, cut to fit without measuring them. */
import { wholeName } from '../api/entity.ts'
import { lineageTexts as words } from '../texts/lineage.ts'
import { typeName } from '../texts.ts'
import type { AnswerNode } from './picture.ts'

/** The width of a letter in a proportional font, as a share of the font size. */
const widthOf = (letter: string): number =>
  /[mwMW@%]/.test(letter)
    ? 0.95
    : /[ijlt.,:;|!'()[\]fr ]/.test(letter)
      ? 0.4
      : /[A-Z_]/.test(letter)
        ? 0.7
        : letter.charCodeAt(0) > 0x2e80
          ? 1.02
          : 0.62

export function textWidth(text: string, fontSize: number): number {
  let width = 0
  for (const letter of text) width += widthOf(letter)
  return width * fontSize
}

/**
 * The whole text if it fits; otherwise its beginning and end, which tell most names apart, with … between
 * them.
 */
export function fitted(text: string, room: number, fontSize: number): string {
  if (textWidth(text, fontSize) <= room) return text
  const letters = [...text]
  let [first, last] = [0, letters.length]
  let left = room - fontSize * 0.9
  for (;;) {
    const isFirst = first <= letters.length - last
    const letter = letters[isFirst ? first : last - 1]
    if (letter === undefined || first >= last) break
    left -= widthOf(letter) * fontSize
    if (left < 0) break
    if (isFirst) first += 1
    else last -= 1
  }
  return `${letters.slice(0, first).join('')}…${letters.slice(last).join('')}`
}

/** The second line of a card. */
export const factsOf = ({ card }: AnswerNode): string =>
  [card.platform ?? typeName(card.type), card.environment, card.domain?.name].filter(Boolean).join(' · ')

/** The text of a card for screen readers. */
export const labelOf = ({ card, side, degree, ...node }: AnswerNode): string =>
  words.card({
    name: wholeName(card),
    type: typeName(card.type).toLowerCase(),
    facts: [card.platform, card.environment].filter((fact) => fact !== null),
    domain: card.domain?.name ?? null,
    place: words.place[side](degree ?? 0),
    up: node.upstreamCount,
    down: node.downstreamCount,
    hidden: node.hiddenUpstream + node.hiddenDownstream
  })
