/**
 * A field that finds entities of some types by name and returns the picked one: a domain for an asset, an end
 * for an edge.
 */
import { useEffect, useId, useState } from 'preact/hooks'
import { cardOf, type Card } from '../api/entity.ts'
import { pickEntities } from '../api/queries.ts'
import { graphql } from '../api/request.ts'
import { texts } from '../texts.ts'
import { CardLine } from './card-line.tsx'

const debounceMs = 120
const optionsMaxCount = 20

export function EntityPicker({
  label,
  types,
  pick,
  initial = '',
  isFirst = false
}: {
  label: string
  /** EntityTypes of the schema. */
  types: readonly string[]
  pick: (card: Card) => void
  initial?: string
  /** Whether the field has the focus from the start. */
  isFirst?: boolean
}) {
  const [text, setText] = useState(initial)
  const [found, setFound] = useState<{ text: string; options: readonly Card[] }>({ text: '', options: [] })
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const { options } = found
  useEffect(() => {
    const ending = new AbortController()
    const timer = setTimeout(() => {
      const words = text.trim()
      // The last word may be unfinished.
      const query = words === '' ? '*' : `${words.replace(/\*+$/, '')}*`
      graphql(pickEntities, { query, types: [...types], count: optionsMaxCount }, ending.signal).then(
        ({ searchAcrossEntities: { searchResults } }) => {
          setFound({ text, options: searchResults.map(({ entity }) => cardOf(entity)) })
          setChosen(0)
        },
        () => {
          if (!ending.signal.aborted) setFound({ text, options: [] })
        }
      )
    }, debounceMs)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [text])
  return (
    <div class="picker stack">
      <label class="field">
        {label}
        <input
          type="text"
          role="combobox"
          aria-expanded={options.length > 0}
          aria-controls={`${id}-options`}
          aria-autocomplete="list"
          aria-activedescendant={options.length > 0 ? `${id}-${chosen}` : undefined}
          autocomplete="off"
          spellcheck={false}
          autofocus={isFirst}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') {
              event.preventDefault()
              // The options may still belong to an earlier text.
              const option = found.text === text ? options[chosen] : undefined
              if (option) pick(option)
            }
            if ((event.key !== 'ArrowDown' && event.key !== 'ArrowUp') || options.length === 0) return
            event.preventDefault()
            setChosen((chosen + (event.key === 'ArrowDown' ? 1 : -1) + options.length) % options.length)
          }}
        />
      </label>
      <ul id={`${id}-options`} role="listbox" aria-label={label}>
        {options.map((option, index) => (
          <li
            key={option.urn}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => {
              pick(option)
            }}
          >
            <CardLine card={option} />
          </li>
        ))}
      </ul>
      <span class="visually-hidden" role="status">
        {texts.search.options(options.length)}
      </span>
    </div>
  )
}
