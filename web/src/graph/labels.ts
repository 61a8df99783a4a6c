/** Texts on cards, cut to fit by the measured widths of their letters. */
import { domainPath, wholeName } from '../api/entity.ts'
import { lineageTexts as words } from '../texts/lineage.ts'
import { texts, typeName } from '../texts.ts'
import type { AnswerNode } from './picture.ts'

export type Weight = 400 | 600

type Measure = (letter: string, weight: Weight) => number

/** Without a browser: about the width in a proportional font. */
let measure: Measure = (letter) =>
  /[ijlt.,:;|!'()[\]fr ]/.test(letter) ? 0.4 : letter.charCodeAt(0) > 0x2e80 ? 1.02 : 0.7

/** The widths of letters of one pixel, each measured once. */
let widths = new Map<string, number>()

export function measureWith(own: Measure): void {
  measure = own
  widths = new Map()
}

function widthOf(letter: string, weight: Weight): number {
  const key = `${weight}${letter}`
  const width = widths.get(key) ?? measure(letter, weight)
  widths.set(key, width)
  return width
}

export function textWidth(text: string, fontSize: number, weight: Weight = 400): number {
  let width = 0
  for (const letter of text) width += widthOf(letter, weight)
  return width * fontSize
}

/**
 * The whole text if it fits; otherwise its beginning and end, which tell most names apart, with … between
 * them.
 */
export function fitted(text: string, room: number, fontSize: number, weight: Weight = 400): string {
  if (textWidth(text, fontSize, weight) <= room) return text
  const letters = [...text]
  let [first, last] = [0, letters.length]
  let left = room - widthOf('…', weight) * fontSize
  for (;;) {
    const isFirst = first <= letters.length - last
    const letter = letters[isFirst ? first : last - 1]
    if (letter === undefined || first >= last) break
    left -= widthOf(letter, weight) * fontSize
    if (left < 0) break
    if (isFirst) first += 1
    else last -= 1
  }
  return `${letters.slice(0, first).join('')}…${letters.slice(last).join('')}`
}

/** What a card lacks, in words: nobody has described it, or it was removed. */
const absenceOf = ({ card, isRemoved }: AnswerNode): string | null =>
  isRemoved ? words.removedAsset : card.exists ? null : texts.placeholder

export const isAbsent = (node: AnswerNode): boolean => absenceOf(node) !== null

/** The last line of a card. */
export const factsOf = (node: AnswerNode): string =>
  [
    absenceOf(node),
    typeName(node.card.type),
    // Nearly all are of this environment.
    node.card.environment === 'PROD' ? null : node.card.environment,
    node.card.domain && domainPath(node.card.domain)
  ]
    .filter(Boolean)
    .join(' · ')

/** The text of a card for screen readers. */
export const labelOf = (node: AnswerNode): string =>
  words.card({
    name: wholeName(node.card),
    type: typeName(node.card.type).toLowerCase(),
    facts: [absenceOf(node), node.card.platform, node.card.environment].filter((fact) => fact !== null),
    domain: node.card.domain && domainPath(node.card.domain),
    place: words.place[node.side](node.degree ?? 0),
    up: node.upstreamCount,
    down: node.downstreamCount,
    hidden: node.hiddenUpstream + node.hiddenDownstream
  })
