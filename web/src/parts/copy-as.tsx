/** What can be copied of a page: its link, its GraphQL query, the command with the same answer, its URN. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { printGraphql, type GraphqlQuestion } from '../command-line.ts'
import { texts } from '../texts.ts'
import { CopyButton } from './copy-button.tsx'

type Copies = { graphql: GraphqlQuestion; command: string; urn?: string }

/** Of the page that is shown. */
const copies = signal<Copies | null>(null)

/** Draws nothing: the frame around the page has the menu. */
export function CopyAs(of: Copies) {
  useEffect(() => {
    copies.value = of
  })
  useEffect(
    () => () => {
      copies.value = null
    },
    []
  )
  return null
}

/** The part of a menu that copies; nothing on a page that has nothing to copy. */
export function CopyActions({ close }: { close: () => void }) {
  if (copies.value === null) return null
  const { graphql, command, urn } = copies.value
  const { copy } = texts
  return (
    <div class="menu-list" role="group" aria-label={copy.page} onClick={close}>
      {/** The address is read when the button is pressed, because it changes without a new render. */}
      <CopyButton text={() => location.href} label={copy.link} />
      {urn !== undefined && <CopyButton text={urn} label={copy.urn} />}
      <CopyButton text={() => printGraphql(graphql)} label={copy.graphql} />
      <CopyButton
        text={command}
        label={copy.cli}
        done={command.startsWith('tributary ') ? `${copy.done} ${copy.where}` : copy.done}
      />
    </div>
  )
}
