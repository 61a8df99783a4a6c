/** Short messages at the foot of the page, read out by screen readers; one with an action stays until it is used or closed. */
import { Button } from './fields.tsx'
import { signal } from '@preact/signals'
import { texts } from '../texts.ts'

type Toast = { id: number; text: string; action?: { label: string; run: () => void } }

const shownMs = 6_000
const toasts = signal<readonly Toast[]>([])
let lastId = 0

function close(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

export function tell(text: string, action?: Toast['action']): void {
  const id = (lastId += 1)
  toasts.value = [...toasts.value.slice(-2), { id, text, ...(action ? { action } : {}) }]
  if (!action)
    setTimeout(() => {
      close(id)
    }, shownMs)
}

/** What a refused action leaves to be said. */
export const tellError = ({ message }: Error): void => tell(message)

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, action }) => (
      <div class="toast" key={id}>
        <span>{text}</span>
        {action && (
          <Button
            run={() => {
              close(id)
              action.run()
            }}
          >
            {action.label}
          </Button>
        )}
        {action && (
          <Button class="plain" run={() => close(id)}>
            {texts.state.close}
          </Button>
        )}
      </div>
    ))}
  </div>
)
