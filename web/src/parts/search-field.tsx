/** The search field of every page: completes names during typing, and opens a pasted URN. */
import { useLocation } from 'preact-iso'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { addressOf, assetAddress } from '../address.ts'
import { cardOf, type Card } from '../api/entity.ts'
import { complete } from '../api/queries.ts'
import { graphql } from '../api/request.ts'
import { texts } from '../texts.ts'
import { CardLine } from './card-line.tsx'
import { goTo } from './use-address.ts'

const debounceMs = 120
const perType = 5
const optionsMaxCount = 12

export function SearchField({ isLarge = false }: { isLarge?: boolean }) {
  const { route, query } = useLocation()
  const [text, setText] = useState(query.q ?? '')
  const [options, setOptions] = useState<readonly Card[]>([])
  const [chosen, setChosen] = useState(-1)
  const [isOpen, setOpen] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const typed = useRef(false)
  const id = useId()

  useEffect(() => {
    setText(query.q ?? '')
  }, [query.q])

  useEffect(() => {
    // `/` and Ctrl+K focus the field from anywhere. Only one field listens: the large one, if there is one.
    const focus = (event: KeyboardEvent): void => {
      const isInField =
        event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
      const isSlash = event.key === '/' && !isInField && !event.ctrlKey && !event.metaKey
      if (!isSlash && !(event.key === 'k' && (event.ctrlKey || event.metaKey))) return
      event.preventDefault()
      input.current?.focus()
      input.current?.select()
    }
    addEventListener('keydown', focus)
    return () => {
      removeEventListener('keydown', focus)
    }
  }, [])

  useEffect(() => {
    if (!typed.current) return
    const words = text.trim()
    setChosen(-1)
    if (words === '') {
      setOptions([])
      return
    }
    const ending = new AbortController()
    const timer = setTimeout(() => {
      graphql(complete, { query: words, limit: perType }, ending.signal).then(
        ({ autoCompleteForMultiple: { suggestions } }) => {
          const found = suggestions.flatMap(({ entities }) => entities.map(cardOf))
          setOptions(found.slice(0, optionsMaxCount))
          setOpen(true)
        },
        () => {
          // The field works without completion, and the page of results shows errors.
          if (!ending.signal.aborted) setOptions([])
        }
      )
    }, debounceMs)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [text])

  const leave = (address: string): void => {
    setOpen(false)
    typed.current = false
    input.current?.blur()
    goTo(route, address)
  }
  const submit = (): void => {
    const option = options[chosen]
    const words = text.trim()
    if (isOpen && option) leave(assetAddress(option.urn))
    else if (words.startsWith('urn:li:')) leave(assetAddress(words))
    else leave(addressOf('search', { q: words || '*' }))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') setOpen(false)
    if (event.key === 'Enter') {
      event.preventDefault()
      submit()
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    if (options.length === 0) return
    setOpen(true)
    const step = event.key === 'ArrowDown' ? 1 : -1
    setChosen((chosen + step + options.length + (chosen < 0 && step < 0 ? 1 : 0)) % options.length)
  }
  const isListed = isOpen && options.length > 0
  return (
    <div class={isLarge ? 'search large' : 'search'} role="search">
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label={texts.search.label}
        aria-expanded={isListed}
        aria-controls={`${id}-options`}
        aria-autocomplete="list"
        aria-activedescendant={isListed && chosen >= 0 ? `${id}-${chosen}` : undefined}
        placeholder={texts.search.placeholder}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          typed.current = true
          setText(event.currentTarget.value)
        }}
        onKeyDown={onKeyDown}
        onBlur={() => {
          setOpen(false)
        }}
      />
      <ul id={`${id}-options`} role="listbox" aria-label={texts.search.label} hidden={!isListed}>
        {options.map((option, index) => (
          <li
            key={option.urn}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            // Before the field loses the focus, which closes the list.
            onMouseDown={(event) => {
              event.preventDefault()
              leave(assetAddress(option.urn))
            }}
          >
            <CardLine card={option} />
          </li>
        ))}
      </ul>
      <span class="visually-hidden" role="status">
        {isListed ? texts.search.options(options.length) : ''}
      </span>
    </div>
  )
}
