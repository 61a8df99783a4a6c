/** The search field of every page: completes names during typing, and opens a pasted URN. */
import { useLocation } from 'preact-iso'
import { useEffect, useRef, useState } from 'preact/hooks'
import { addressOf, assetAddress } from '../address.ts'
import { cardOf } from '../api/entity.ts'
import { complete } from '../api/queries.ts'
import { graphql } from '../api/request.ts'
import { texts } from '../texts.ts'
import { Combobox } from './combobox.tsx'
import { moveAmong } from './move-among.ts'
import { useFound } from './use-found.ts'
import { goTo } from './use-address.ts'

const perType = 5
const optionsMaxCount = 12

export function SearchField({ isLarge = false }: { isLarge?: boolean }) {
  const { route, query } = useLocation()
  // A star finds everything, and says nothing to a reader.
  const asked = query.q === '*' ? '' : (query.q ?? '')
  const [text, setText] = useState(asked)
  /** The text to complete: only what the person typed, not the words from the address. */
  const [typed, setTyped] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const { options } = useFound(typed, async (words, signal) => {
    const { autoCompleteForMultiple } = await graphql(complete, { query: words, limit: perType }, signal)
    return autoCompleteForMultiple.suggestions
      .flatMap(({ entities }) => entities.map(cardOf))
      .slice(0, optionsMaxCount)
  })

  useEffect(() => {
    setText(asked)
  }, [asked])

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

  const leave = (address: string): void => {
    setTyped(null)
    input.current?.blur()
    goTo(route, address)
  }
  return (
    <div class={isLarge ? 'search large' : 'search'} role="search">
      <Combobox
        label={texts.search.label}
        placeholder={texts.search.placeholder}
        isFloating
        input={input}
        leave={(event) => {
          moveAmong(event, document.querySelector<HTMLElement>('main .results'), 'a.name')
        }}
        text={text}
        setText={(text) => {
          setText(text)
          setTyped(text.trim() || null)
        }}
        options={options}
        enter={(option) => {
          const words = text.trim()
          if (option) leave(assetAddress(option.urn))
          else if (words.startsWith('urn:li:')) leave(assetAddress(words))
          else leave(addressOf('search', { q: words || '*' }))
        }}
        pick={({ urn }) => {
          leave(assetAddress(urn))
        }}
      />
    </div>
  )
}
