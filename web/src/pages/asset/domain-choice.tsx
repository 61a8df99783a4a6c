/** The domain of an asset, and buttons to change it, each with an undo. */
import { useState } from 'preact/hooks'
import { assign, restoreDomains } from '../../api/assign-domain.ts'
import { canGetDomain, type Card } from '../../api/entity.ts'
import { canWriteIn } from '../../api/session.ts'
import { DomainPath } from '../../parts/domain-path.tsx'
import { SetDomainDialog } from '../../parts/set-domain-dialog.tsx'
import { tell } from '../../parts/toasts.tsx'
import { undoing } from '../../parts/undoing.ts'
import { useAction } from '../../parts/use-action.ts'
import { assetTexts } from '../../texts/asset.ts'

const words = assetTexts.domain

export function DomainChoice({ card, changed }: { card: Card; changed: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const action = useAction()
  const mayChange = canWriteIn(card.domain?.urns ?? [])
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
  return (
    <span class="row">
      {card.domain ? (
        <DomainPath domain={card.domain} />
      ) : (
        <span class="soft" data-testid="domain">
          {words.none}
        </span>
      )}
      {mayChange && canGetDomain(card) && (
        <button
          type="button"
          class="plain"
          onClick={() => {
            setOpen(true)
          }}
        >
          {card.domain ? words.change : words.set}
        </button>
      )}
      {mayChange && card.domain && (
        <button type="button" class="plain" disabled={action.isBusy} onClick={takeOut}>
          {words.unset}
        </button>
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
    </span>
  )
}
