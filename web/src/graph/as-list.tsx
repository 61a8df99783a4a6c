/**
 * The graph as a list, for screens that are too narrow for a drawing: nearest first, each with its place and
 * the number of hidden neighbours.
 */
import { Button } from '../parts/fields.tsx'
import { useEffect, useState } from 'preact/hooks'
import { CardLink } from '../parts/card-line.tsx'
import { lineageTexts as words } from '../texts/lineage.ts'
import type { Direction } from './model.ts'
import type { Picture } from './picture.ts'

const narrow = '(max-width: 480px)'

export function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(narrow).matches)
  useEffect(() => {
    const query = matchMedia(narrow)
    const look = (): void => {
      setNarrow(query.matches)
    }
    query.addEventListener('change', look)
    return () => {
      query.removeEventListener('change', look)
    }
  }, [])
  return isNarrow
}

type Props = {
  picture: Picture
  selected: string | null
  choose: (urn: string) => void
  expand: (urn: string, direction: Direction) => void
}

export const AsList = ({ picture, selected, choose, expand }: Props) => (
  <ul class="as-list list" aria-label={words.list} data-testid="as-list">
    {picture.cards.map((item) => (
      <li key={item.id} data-node={item.id} aria-current={selected === item.id || undefined}>
        <CardLink card={item.node.card} />
        <div class="soft">{words.place[item.node.side](item.node.degree ?? 0)}</div>
        <div class="row">
          <Button class="plain" run={() => choose(item.id)}>
            {words.drawer.details}
          </Button>
          {(['UPSTREAM', 'DOWNSTREAM'] as const).map((direction) =>
            item.sides[direction].hidden > 0 ? (
              <Button key={direction} class="plain" run={() => expand(item.id, direction)}>
                {words.pill[direction](item.sides[direction].hidden)}
              </Button>
            ) : null
          )}
        </div>
      </li>
    ))}
  </ul>
)
