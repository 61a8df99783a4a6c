/** The domain of an asset, and buttons to change it, each with an undo. */
import { useState } from 'preact/hooks'
import { assetAddress } from '../../address.ts'
import type { Card } from '../../api/entity.ts'
import { setDomain, unsetDomain } from '../../api/queries.ts'
import { graphql } from '../../api/request.ts'
import { canWrite } from '../../api/session.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { EntityPicker } from '../../parts/entity-picker.tsx'
import { tell } from '../../parts/toasts.tsx'
import { assetTexts } from '../../texts/asset.ts'
import { dialogTexts } from '../../texts/dialog.ts'

const words = assetTexts.domain

type Domain = { urn: string; name: string } | null

export function DomainChoice({ card, changed }: { card: Card; changed: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const change = async (next: Domain): Promise<void> => {
    if (next) await graphql(setDomain, { urn: card.urn, domainUrn: next.urn })
    else await graphql(unsetDomain, { urn: card.urn })
    changed()
  }
  const choose = (next: Domain): void => {
    setOpen(false)
    const before = card.domain
    change(next).then(
      () => {
        tell(next ? words.changed(next.name) : words.taken, {
          label: words.undo,
          run: () => {
            change(before).catch((error: Error) => {
              tell(error.message)
            })
          }
        })
      },
      (error: Error) => {
        tell(error.message)
      }
    )
  }
  return (
    <span class="row">
      {card.domain ? (
        <a class="chip" data-testid="domain" href={assetAddress(card.domain.urn)}>
          {card.domain.name}
        </a>
      ) : (
        <span class="chip" data-testid="domain">
          {words.none}
        </span>
      )}
      {canWrite() && (
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
      {canWrite() && card.domain && (
        <button
          type="button"
          class="plain"
          onClick={() => {
            choose(null)
          }}
        >
          {words.unset}
        </button>
      )}
      {isOpen && (
        <Dialog
          title={words.change}
          close={() => {
            setOpen(false)
          }}
        >
          <EntityPicker label={words.pick} types={['DOMAIN']} isFirst pick={choose} />
          <div>
            <button
              type="button"
              onClick={() => {
                setOpen(false)
              }}
            >
              {dialogTexts.cancel}
            </button>
          </div>
        </Dialog>
      )}
    </span>
  )
}
