/** The colour of a card: one of twelve hues, always the same for the same domain, type or platform. */
import type { Colouring } from './model.ts'
import type { AnswerNode } from './picture.ts'

export const hueCount = 12

export type Colour = { key: string; name: string; hue: number }

/** A domain has the hue of its top-level domain. Null if there is nothing to colour by. */
export function colourOf({ card, domainsAbove }: AnswerNode, colouring: Colouring): Colour | null {
  if (colouring === 'domain')
    return (
      card.domain && {
        key: card.domain.urn,
        name: card.domain.name,
        hue: hueOf(domainsAbove.at(-1) ?? card.domain.urn)
      }
    )
  if (colouring === 'platform')
    return card.platform === null
      ? null
      : { key: card.platform, name: card.platform, hue: hueOf(card.platform) }
  return { key: card.type, name: card.type, hue: typeHues.get(card.type) ?? hueOf(card.type) }
}

/** There are few types, so each has its own colour. */
const typeHues: ReadonlyMap<string, number> = new Map(
  [
    'DATASET',
    'DATA_JOB',
    'DASHBOARD',
    'CHART',
    'DATA_FLOW',
    'CONTAINER',
    'MLMODEL',
    'MLFEATURE',
    'MLFEATURE_TABLE',
    'MLPRIMARY_KEY',
    'MLMODEL_GROUP',
    'DATA_PROCESS_INSTANCE'
  ].map((type, hue): [string, number] => [type, (hue * 5) % hueCount])
)

/** FNV-1a: spreads names that differ in one letter. */
export function hueOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return ((hash ^ (hash >>> 15)) >>> 0) % hueCount
}
