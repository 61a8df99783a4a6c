/** Finds cards of the graph by name, URN or column, and moves to them. */
import { useId, useState } from 'preact/hooks'
import { wholeName } from '../api/entity.ts'
import type { Picture } from './picture.ts'
import { lineageTexts as words } from '../texts/lineage.ts'

const matchesMostCount = 30

export function matchesOf({ cards }: Picture, text: string): { id: string; name: string; note: string }[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return []
  const found: { id: string; name: string; note: string; rank: number }[] = []
  for (const item of cards) {
    const { card } = item.node
    const whole = wholeName(card)
    const name = whole.toLowerCase()
    const row = item.rows.find(({ path }) => path.toLowerCase().includes(wanted))
    if (name.includes(wanted))
      found.push({
        id: item.id,
        name: whole,
        note: '',
        rank: card.name.toLowerCase().indexOf(wanted) + 1 || 500
      })
    else if (row) found.push({ id: item.id, name: whole, note: row.path, rank: 1_000 })
    else if (card.urn.toLowerCase().includes(wanted))
      found.push({ id: item.id, name: whole, note: '', rank: 2_000 })
  }
  return found.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1))
}

export function Find({ picture, goTo }: { picture: Picture | null; goTo: (id: string) => void }) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const all = picture ? matchesOf(picture, text) : []
  const shown = all.slice(0, matchesMostCount)
  const pick = (match: { id: string } | undefined): void => {
    if (!match) return
    setText('')
    goTo(match.id)
  }
  return (
    <span class="find">
      <input
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        data-testid="find"
        aria-label={words.find}
        aria-expanded={shown.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={shown.length > 0 ? `${id}-${chosen}` : undefined}
        placeholder={words.find}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
        }}
        onBlur={() => {
          setText('')
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') pick(shown[chosen])
          else if (event.key === 'Escape') setText('')
          else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault()
            const step = event.key === 'ArrowDown' ? 1 : -1
            if (shown.length > 0) setChosen((chosen + step + shown.length) % shown.length)
          }
        }}
      />
      <ul
        id={`${id}-list`}
        role="listbox"
        aria-label={words.find}
        hidden={shown.length === 0}
        // Otherwise a press beside an option, as on the scroll bar, takes the focus and closes the list.
        onMouseDown={(event) => {
          event.preventDefault()
        }}
      >
        {shown.map((match, index) => (
          <li
            key={match.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            title={match.id}
            onMouseDown={() => {
              pick(match)
            }}
          >
            {match.name} {match.note && <span class="soft">{match.note}</span>}
          </li>
        ))}
        {all.length > shown.length && (
          <li role="option" aria-disabled="true" aria-selected={false} class="soft">
            {words.foundMore(all.length - shown.length)}
          </li>
        )}
      </ul>
      <span class="visually-hidden" role="status">
        {text.trim() === '' ? '' : words.found(all.length)}
      </span>
    </span>
  )
}
