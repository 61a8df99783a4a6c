/** A filter with several possible values: a button with their number, and below it a list of check boxes. */
import { useEffect, useRef } from 'preact/hooks'

export type Option = { value: string; name: string }

export function ChoiceMenu({
  label,
  options,
  chosen,
  choose
}: {
  label: string
  options: readonly Option[]
  chosen: readonly string[]
  choose: (values: readonly string[]) => void
}) {
  const menu = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const close = (event: Event): void => {
      const element = menu.current
      if (element?.open && event.target instanceof Node && !element.contains(event.target))
        element.open = false
    }
    addEventListener('pointerdown', close)
    addEventListener('focusin', close)
    return () => {
      removeEventListener('pointerdown', close)
      removeEventListener('focusin', close)
    }
  }, [])
  // Values in the address stay in the list, so that they can be unchosen even if nothing has them any more.
  const gone = chosen.filter((value) => !options.some((option) => option.value === value))
  const all = [...options, ...gone.map((value) => ({ value, name: value }))]
  return (
    <details
      ref={menu}
      class="choice-menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !menu.current?.open) return
        menu.current.open = false
        menu.current.querySelector('summary')?.focus()
      }}
    >
      <summary class="button">{chosen.length > 0 ? `${label} (${chosen.length})` : label}</summary>
      <div class="choice-list" role="group" aria-label={label}>
        {all.map(({ value, name }) => (
          <label key={value} class="row">
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={() => {
                choose(chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value])
              }}
            />
            <span>{name}</span>
          </label>
        ))}
      </div>
    </details>
  )
}
