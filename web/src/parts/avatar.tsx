/** A person or group as initials in a circle whose colour is always the same for the same URN. */
import { assetAddress } from '../address.ts'
import type { Card } from '../api/entity.ts'

/** Dark enough for white letters. */
const hues = ['#0b5d8a', '#7a3e9d', '#a2395b', '#8a4b08', '#3d6b1f', '#106b5c', '#4a4fb3', '#6b5345']

const hashOf = (text: string): number =>
  [...text].reduce((hash, letter) => (hash * 31 + (letter.codePointAt(0) ?? 0)) % 65_521, 7)

/** `AL` of Ada Lovelace, `G` of grace. */
export const initialsOf = (name: string): string => {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean)
  const letters = words.length > 1 ? [words[0], words.at(-1)] : [words[0]]
  return letters.map((word) => [...(word ?? '?')][0]?.toUpperCase()).join('')
}

export const Avatar = ({ card, size = 22 }: { card: Pick<Card, 'urn' | 'name'>; size?: number }) => (
  <span
    class="avatar"
    aria-hidden="true"
    style={{
      background: hues[hashOf(card.urn) % hues.length],
      fontSize: `${size * 0.42}px`,
      height: `${size}px`,
      width: `${size}px`
    }}
  >
    {initialsOf(card.name)}
  </span>
)

export const PersonLink = ({ card }: { card: Pick<Card, 'urn' | 'name'> }) => (
  <a class="person" href={assetAddress(card.urn)} title={card.urn}>
    <Avatar card={card} /> {card.name}
  </a>
)
