/** A button that copies a text, and then shows that it did. */
import { Button } from './fields.tsx'
import { tell } from './toasts.tsx'
import { texts } from '../texts.ts'

type Copied = {
  /** A function is called when the button is pressed. */
  text: string | (() => string)
  label: string
  /** What to tell afterwards. */
  done?: string
}

export const CopyButton = ({ text, label, done = texts.copy.done }: Copied) => (
  <Button
    run={() => {
      navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
        () => {
          tell(done)
        },
        () => {
          tell(texts.copy.failed)
        }
      )
    }}
  >
    {label}
  </Button>
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
