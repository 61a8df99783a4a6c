/** The colours of the cards of a view: each domain, type or platform has one of twelve hues. */
import { domainPath } from '../api/entity.ts'
import { platformTitle } from '../parts/platforms.ts'
import { typeName } from '../texts.ts'
import type { Colouring } from './model.ts'
import type { AnswerNode } from './picture.ts'

export const hueCount = 12

/** `sharedWith`: the name of the first value that has the same hue, because the hues were used up. */
export type Colour = { key: string; name: string; hue: number; count: number; sharedWith: string | null }

export type Colours = {
  /** Every value that a card has, the most frequent first. */
  values: readonly Colour[]
  /** The number of cards without a value. */
  otherCount: number
  /** Null if there is nothing to colour by. */
  of: (node: Pick<AnswerNode, 'card'>) => Colour | null
}

function valueOf(
  { card }: Pick<AnswerNode, 'card'>,
  colouring: Colouring
): { key: string; name: string } | null {
  if (colouring === 'domain') return card.domain && { key: card.domain.urn, name: domainPath(card.domain) }
  if (colouring === 'type') return { key: card.type, name: typeName(card.type) }
  return card.platform === null ? null : { key: card.platform, name: platformTitle(card.platform) }
}

/** In the order of the cards, nearest first, so that more cards change no colour. */
export function coloursOf(nodes: readonly Pick<AnswerNode, 'card'>[], colouring: Colouring): Colours {
  const byKey = new Map<string, Colour>()
  const byHue = new Map<number, string>()
  let otherCount = 0
  for (const node of nodes) {
    const value = valueOf(node, colouring)
    const known = value && byKey.get(value.key)
    if (known) known.count += 1
    else if (value) {
      const hue = hueFor(value.key, byHue)
      byKey.set(value.key, { ...value, hue, count: 1, sharedWith: byHue.get(hue) ?? null })
      if (!byHue.has(hue)) byHue.set(hue, value.name)
    } else otherCount += 1
  }
  return {
    values: [...byKey.values()].sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)),
    otherCount,
    of: (node) => byKey.get(valueOf(node, colouring)?.key ?? '') ?? null
  }
}

/** The hue of the name, if neither it nor one beside it is used; otherwise the next free one. */
function hueFor(key: string, used: ReadonlyMap<number, string>): number {
  const own = hueOf(key)
  const order = Array.from({ length: hueCount }, (_, step) => (own + step * 5) % hueCount)
  const isFree = (hue: number): boolean => !used.has((hue + hueCount) % hueCount)
  return (
    order.find((hue) => isFree(hue - 1) && isFree(hue) && isFree((hue + 1) % hueCount)) ??
    order.find(isFree) ??
    own
  )
}

/** FNV-1a: spreads names that differ in one letter. */
export function hueOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return ((hash ^ (hash >>> 15)) >>> 0) % hueCount
}
