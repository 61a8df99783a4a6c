/** Puts assets into a domain that the person picks, and offers to undo that. */
import { useState } from 'preact/hooks'
import { assign, restoreDomains, type InDomain } from '../api/assign-domain.ts'
import { domainTexts as words } from '../texts/domains.ts'
import { ConfirmDialog } from './dialog.tsx'
import { DomainPicker, type Picked } from './domain-picker.tsx'
import { tell } from './toasts.tsx'
import { undoing } from './undoing.ts'
import { useAction } from './use-action.ts'

export function SetDomainDialog({
  assets,
  close,
  changed
}: {
  assets: readonly InDomain[]
  close: () => void
  /** Called after the change, and after its undo. */
  changed: () => void
}) {
  const [to, setTo] = useState<Picked | undefined>(undefined)
  const action = useAction()
  return (
    <ConfirmDialog
      title={words.setTitle(assets.length)}
      action={words.set}
      {...action}
      isReady={Boolean(to)}
      close={close}
      run={() => {
        action.run(
          () =>
            assign(
              to?.urn ?? null,
              assets.map(({ urn }) => urn)
            ),
          () => {
            tell(
              words.assigned(assets.length, to?.name ?? ''),
              undoing(() => restoreDomains(assets), changed)
            )
            close()
            changed()
          }
        )
      }}
    >
      <DomainPicker label={words.set} chosen={to} choose={setTo} />
    </ConfirmDialog>
  )
}
