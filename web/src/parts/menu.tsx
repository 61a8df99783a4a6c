/** A button that opens a list below it, which closes when the person turns to something else, and on Escape. */
import { Button } from './fields.tsx'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export function Menu({
  label,
  title = label,
  children
}: {
  /** The name of the list. */
  label: string
  /** What the button says. */
  title?: ComponentChildren
  /** `close` closes the list after a choice. */
  children: (close: () => void) => ComponentChildren
}) {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = (): void => {
    if (menu.current) menu.current.open = false
  }
  useEffect(() => {
    const closeOutside = ({ target }: Event): void => {
      if (target instanceof Node && !menu.current?.contains(target)) close()
    }
    // A click on text in the list gives the focus to `main` around it, which is not to turn to something else.
    // Chromium even ends the tab if the list closes before the label under the pointer is clicked.
    const closeElsewhere = (event: Event): void => {
      if (event.target instanceof Node && !event.target.contains(menu.current)) closeOutside(event)
    }
    addEventListener('pointerdown', closeOutside)
    addEventListener('focusin', closeElsewhere)
    return () => {
      removeEventListener('pointerdown', closeOutside)
      removeEventListener('focusin', closeElsewhere)
    }
  }, [])
  return (
    <details
      ref={menu}
      class="choice-menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !menu.current?.open) return
        // Otherwise it closes the dialog around the menu, too.
        event.preventDefault()
        close()
        menu.current.querySelector('summary')?.focus()
      }}
    >
      <summary class="button">{title}</summary>
      <div class="choice-list" role="group" aria-label={label}>
        {children(close)}
      </div>
    </details>
  )
}

/** Actions, one below the other; the list closes after a choice. */
export const ActionMenu = ({
  label,
  actions
}: {
  label: string
  actions: readonly { label: string; run: () => void; isDisabled?: boolean }[]
}) => (
  <Menu label={label}>
    {(close) => (
      <div class="menu-list">
        {actions.map((action) => (
          <Button
            key={action.label}
            class="plain"
            disabled={action.isDisabled}
            run={() => {
              close()
              action.run()
            }}
          >
            {action.label}
          </Button>
        ))}
      </div>
    )}
  </Menu>
)
