/** The card that each arrow key moves to. */
import type { Scene } from './scene.ts'

export type Arrow = 'left' | 'right' | 'up' | 'down'

/**
 * Left and Right follow edges to the neighbour that is nearest in height; Up and Down stay in the layer. Null
 * at the edge of the picture.
 */
export function nextItem({ items, byId, edges }: Scene, id: string, arrow: Arrow): string | null {
  const here = byId.get(id)
  if (!here) return items[0]?.item.id ?? null
  const middle = here.box.y + here.box.height / 2
  const isAcross = arrow === 'left' || arrow === 'right'
  const candidates = isAcross
    ? edges.flatMap(({ edge, isLoop }) => {
        const far =
          arrow === 'right' ? (edge.from === id ? edge.to : null) : edge.to === id ? edge.from : null
        return far === null || far === id || isLoop ? [] : [byId.get(far)]
      })
    : items.filter(({ layer, item, box }) => {
        const isBeyond = arrow === 'down' ? box.y > here.box.y : box.y < here.box.y
        return layer === here.layer && item.id !== id && isBeyond
      })
  let best: string | null = null
  let bestDistance = Infinity
  for (const candidate of candidates) {
    if (!candidate) continue
    const distance = Math.abs(candidate.box.y + candidate.box.height / 2 - middle)
    if (distance >= bestDistance) continue
    bestDistance = distance
    best = candidate.item.id
  }
  return best
}

const arrows: { readonly [key: string]: Arrow } = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down'
}

export type KeyCommand =
  | { kind: 'move'; arrow: Arrow }
  | { kind: 'expand' | 'collapse'; direction: 'UPSTREAM' | 'DOWNSTREAM' }
  | { kind: 'choose' | 'edges' | 'columns' | 'fit' | 'table' | 'keys' | 'clear' }
  | { kind: 'zoomIn' | 'zoomOut' | 'zoomReset' }

const commands: { readonly [key: string]: KeyCommand } = {
  Enter: { kind: 'choose' },
  ' ': { kind: 'choose' },
  '[': { kind: 'expand', direction: 'UPSTREAM' },
  ']': { kind: 'expand', direction: 'DOWNSTREAM' },
  '{': { kind: 'collapse', direction: 'UPSTREAM' },
  '}': { kind: 'collapse', direction: 'DOWNSTREAM' },
  c: { kind: 'columns' },
  e: { kind: 'edges' },
  f: { kind: 'fit' },
  t: { kind: 'table' },
  '?': { kind: 'keys' },
  Escape: { kind: 'clear' },
  '+': { kind: 'zoomIn' },
  '=': { kind: 'zoomIn' },
  '-': { kind: 'zoomOut' },
  '0': { kind: 'zoomReset' }
}

/** The fields of a keyboard event that are read. */
export type KeyPress = { key: string; ctrlKey: boolean; altKey: boolean; metaKey: boolean }

/** Null for keys that the graph does not use, and for keys pressed together with Ctrl, Alt or Meta. */
export function commandOf({ key, ctrlKey, altKey, metaKey }: KeyPress): KeyCommand | null {
  if (ctrlKey || altKey || metaKey) return null
  const arrow = arrows[key]
  return arrow ? { kind: 'move', arrow } : (commands[key.length === 1 ? key.toLowerCase() : key] ?? null)
}
