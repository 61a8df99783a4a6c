/** A button that copies a text, and then shows that it did. */
import { tell } from './toasts.tsx'
import { texts } from '../texts.ts'

/** `text` may be a function, called when the button is pressed. */
export const CopyButton = ({ text, label }: { text: string | (() => string); label: string }) => (
  <button
    type="button"
    onClick={() => {
      navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
        () => {
          tell(texts.copy.done)
        },
        () => {
          tell(texts.copy.failed)
        }
      )
    }}
  >
    {label}
  </button>
)

/** Code with a button that copies it. */
export const Snippet = ({ text, label }: { text: string; label: string }) => (
  <div class="snippet">
    <pre tabIndex={0} aria-label={label}>
      {text}
    </pre>
    <CopyButton text={text} label={texts.copy.copy} />
  </div>
)
