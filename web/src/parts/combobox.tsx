/**
 * The one combobox of the UI: a text field, and below it the entities it found. Arrow keys choose an entity,
 * Enter takes it.
 */
import type { RefObject } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Card } from '../api/entity.ts'
import { texts } from '../texts.ts'
import { CardLine } from './card-line.tsx'

export type ComboboxProps = {
  label: string
  /** Shown in the field instead of a label above it. */
  placeholder?: string
  text: string
  setText: (text: string) => void
  options: readonly Card[]
  /**
   * A floating list covers the page, has no option chosen at first, and closes on Escape and when the focus
   * leaves.
   */
  isFloating?: boolean
  /** Whether the field has the focus from the start. */
  isFirst?: boolean
  input?: RefObject<HTMLInputElement | null>
  /** Called at an arrow key if there are no options. */
  leave?: (event: KeyboardEvent) => void
  /** Called at Enter; null if no option is chosen. */
  enter: (option: Card | null) => void
  pick: (option: Card) => void
}

export function Combobox({
  label,
  placeholder,
  text,
  setText,
  options,
  isFloating = false,
  isFirst = false,
  input,
  leave,
  enter,
  pick
}: ComboboxProps) {
  const none = isFloating ? -1 : 0
  const [chosen, setChosen] = useState(none)
  const [isOpen, setOpen] = useState(!isFloating)
  const own = useRef<HTMLInputElement>(null)
  const field = input ?? own
  const id = useId()
  useEffect(() => {
    setChosen(none)
    // An answer may come after the focus has left.
    if (isFloating) setOpen(document.activeElement === field.current)
  }, [options])
  const isListed = isOpen && options.length > 0
  const close = (): void => {
    if (isFloating) setOpen(false)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') close()
    if (event.key === 'Enter') {
      event.preventDefault()
      close()
      enter((isListed && options[chosen]) || null)
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    if (options.length === 0) {
      leave?.(event)
      return
    }
    event.preventDefault()
    setOpen(true)
    const step = event.key === 'ArrowDown' ? 1 : -1
    const from = chosen < 0 && step < 0 ? 0 : chosen
    setChosen((from + step + options.length) % options.length)
  }
  const control = (
    <input
      ref={field}
      type="text"
      role="combobox"
      aria-label={placeholder === undefined ? undefined : label}
      aria-expanded={isListed}
      aria-controls={`${id}-options`}
      aria-autocomplete="list"
      aria-activedescendant={isListed && chosen >= 0 ? `${id}-${chosen}` : undefined}
      placeholder={placeholder}
      spellcheck={false}
      autocomplete="off"
      autofocus={isFirst}
      value={text}
      onInput={(event) => {
        setText(event.currentTarget.value)
      }}
      onKeyDown={onKeyDown}
      onBlur={close}
    />
  )
  return (
    <>
      {placeholder === undefined ? (
        <label class="field">
          {label}
          {control}
        </label>
      ) : (
        control
      )}
      <ul
        id={`${id}-options`}
        role="listbox"
        class={isFloating ? 'options floating' : 'options'}
        aria-label={label}
        hidden={!isListed}
        // Otherwise a press beside an option, as on the scroll bar, takes the focus and closes the list.
        onMouseDown={(event) => {
          event.preventDefault()
        }}
      >
        {options.map((option, index) => (
          <li
            key={option.urn}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            // Happens before the field loses the focus, which closes the list.
            onMouseDown={() => {
              close()
              pick(option)
            }}
          >
            <CardLine card={option} />
          </li>
        ))}
      </ul>
      <span class="visually-hidden" role="status">
        {isListed ? texts.search.options(options.length) : ''}
      </span>
    </>
  )
}
