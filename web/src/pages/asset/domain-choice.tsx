/** What can be done with the domain of an asset, each with an undo. */
import { Button } from '../../parts/fields.tsx'
import { useState } from 'preact/hooks'
import { assign, restoreDomains } from '../../api/assign-domain.ts'
import { canGetDomain, type Card } from '../../api/entity.ts'
import { canWriteIn } from '../../api/session.ts'
import { ActionMenu } from '../../parts/menu.tsx'
import { SetDomainDialog } from '../../parts/set-domain-dialog.tsx'
import { tell } from '../../parts/toasts.tsx'
import { undoing } from '../../parts/undoing.ts'
import { useAction } from '../../parts/use-action.ts'
import { assetTexts } from '../../texts/asset.ts'

const words = assetTexts.domain

export function DomainChoice({ card, changed }: { card: Card; changed: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const action = useAction()
  if (!canWriteIn(card.domain?.urns ?? []) || !canGetDomain(card)) return null
  const takeOut = (): void => {
    action.run(
      () => assign(null, [card.urn]),
      () => {
        tell(
          words.taken,
          undoing(() => restoreDomains([card]), changed)
        )
        changed()
      }
    )
  }
  const choose = (): void => {
    setOpen(true)
  }
  return (
    <>
      {card.domain ? (
        <ActionMenu
          label={words.menu}
          actions={[
            { label: words.change, run: choose },
            { label: words.unset, run: takeOut, isDisabled: action.isBusy }
          ]}
        />
      ) : (
        <Button run={choose}>{words.set}</Button>
      )}
      {action.error && <span class="problem">{action.error.message}</span>}
      {isOpen && (
        <SetDomainDialog
          assets={[card]}
          close={() => {
            setOpen(false)
          }}
          changed={changed}
        />
      )}
    </>
  )
}
