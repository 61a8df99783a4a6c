/** The list of keyboard shortcuts, which `?` opens on every page. */
import { Button } from './fields.tsx'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { dialogTexts } from '../texts/dialog.ts'
import { keyboardTexts as words } from '../texts/keyboard.ts'
import { Dialog } from './dialog.tsx'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const isOpen = signal(false)

/** For people who do not know the key. */
export function openKeyboardHelp(): void {
  isOpen.value = true
}

export function KeyboardHelp() {
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || isTyping(event.target)) return
      // This dialog must not cover another.
      if (document.querySelector('dialog[open]')) return
      event.preventDefault()
      openKeyboardHelp()
    }
    addEventListener('keydown', open)
    return () => {
      removeEventListener('keydown', open)
    }
  }, [])
  const close = (): void => {
    isOpen.value = false
  }
  return (
    <>
      {isOpen.value && (
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
            <Button autofocus run={close}>
              {dialogTexts.close}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
