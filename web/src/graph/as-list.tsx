/**
 * The graph as a list, for screens that are too narrow for a drawing: nearest first, each with its place and
 * the number of hidden neighbours.
 */
import { Button } from '../parts/fields.tsx'
import { useEffect, useState } from 'preact/hooks'
import { shownPath } from '../api/column-urn.ts'
import { AssetRow } from '../parts/asset-row.tsx'
import { texts } from '../texts.ts'
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

const groups = ['UPSTREAM', 'START', 'DOWNSTREAM', 'ASIDE'] as const

export const AsList = ({ picture, selected, choose, expand }: Props) => (
  <div class="as-list" data-testid="as-list">
    {groups.map((side) => {
      const cards = picture.cards.filter(({ node }) => node.side === side)
      if (cards.length === 0 && (side === 'ASIDE' || side === 'START')) return null
      return (
        <section key={side} aria-label={words.sides[side]}>
          <h2>
            {words.sides[side]} {side !== 'START' && <span class="count">{texts.count(cards.length)}</span>}
          </h2>
          <ul class="list">
            {cards.map((item) => (
              <li key={item.id} data-node={item.id} aria-current={selected === item.id || undefined}>
                <AssetRow card={item.node.card} withAbout={false} />
                {item.rows.length > 0 && (
                  <ul class="as-columns">
                    {item.rows.map((row) => (
                      <li key={row.path}>
                        {shownPath(row.path)} <span class="soft">{row.dataType}</span>
                      </li>
                    ))}
                  </ul>
                )}
                <div class="row">
                  {side !== 'START' && (item.node.degree ?? 0) > 1 && (
                    <span class="soft">{words.place[side](item.node.degree ?? 0)}</span>
                  )}
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
        </section>
      )
    })}
  </div>
)
