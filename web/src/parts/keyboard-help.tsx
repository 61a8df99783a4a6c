/** The list of keyboard shortcuts, which `?` opens on every page. */
import { useEffect, useState } from 'preact/hooks'
import { dialogTexts } from '../texts/dialog.ts'
import { keyboardTexts as words } from '../texts/keyboard.ts'
import { Dialog } from './dialog.tsx'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** The dialog, and a button for people who do not know the key. */
export function KeyboardHelp() {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || isTyping(event.target)) return
      // This dialog must not cover another.
      if (document.querySelector('dialog[open]')) return
      event.preventDefault()
      setOpen(true)
    }
    addEventListener('keydown', open)
    return () => {
      removeEventListener('keydown', open)
    }
  }, [])
  const close = (): void => {
    setOpen(false)
  }
  return (
    <>
      <button
        type="button"
        class="plain"
        onClick={() => {
          setOpen(true)
        }}
      >
        {words.open}
      </button>
      {isOpen && (
        <Dialog title={words.title} close={close}>
          {words.groups.map(({ name, keys }) => (
            <section key={name}>
              <h3>{name}</h3>
              <dl class="keys">
                {keys.map(({ keys: names, does }) => (
                  <div key={does} class="key-line">
                    <dt>
                      {names.map((each) => (
                        <kbd key={each}>{each}</kbd>
                      ))}
                    </dt>
                    <dd>{does}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
          <div>
            <button type="button" autofocus onClick={close}>
              {dialogTexts.close}
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}
