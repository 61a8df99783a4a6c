/** A modal dialog of the browser: it keeps the focus, Escape closes it, and the focus then returns to where it was. */
import { Problem } from './states.tsx'
import { Button } from './fields.tsx'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { dialogTexts } from '../texts/dialog.ts'
import '../style/dialog.css'

export type DialogProps = {
  title: string
  close: () => void
  children: ComponentChildren
  /** False if closing would lose something that cannot be shown again. */
  isEscapable?: boolean
}

export function Dialog({ title, close, children, isEscapable = true }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement || before instanceof SVGElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        if (isEscapable) close()
      }}
      onClose={() => {
        // The browser closes a dialog at the second Escape, even if the first was prevented.
        if (!isEscapable && dialog.current?.isConnected) dialog.current.showModal()
      }}
    >
      <div class="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

/** Asks before something is done. If the action fails, the dialog shows the error and stays open. */
export function ConfirmDialog({
  title,
  action,
  isDanger = false,
  isBusy,
  error,
  run,
  close,
  children,
  isReady = true
}: {
  title: string
  action: string
  isDanger?: boolean
  isBusy: boolean
  error: Error | undefined
  run: () => void
  close: () => void
  children?: ComponentChildren
  /** Whether the dialog has everything it needs. */
  isReady?: boolean
}) {
  return (
    <Dialog title={title} close={close}>
      <form
        class="stack"
        onKeyDown={(event) => {
          // Enter in a search field searches, and must not confirm the dialog.
          if (
            event.key === 'Enter' &&
            event.target instanceof HTMLInputElement &&
            event.target.type === 'search'
          )
            event.preventDefault()
        }}
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady && !isBusy) run()
        }}
      >
        {children}
        <Problem of={error} />
        <div class="row">
          <button type="submit" class={isDanger ? 'danger' : 'primary'} disabled={isBusy || !isReady}>
            {action}
          </button>
          <Button run={close}>{dialogTexts.cancel}</Button>
        </div>
      </form>
    </Dialog>
  )
}
