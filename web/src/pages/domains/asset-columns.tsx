/** The columns of lists of assets. */
import { assetAddress } from '../../address.ts'
import { domainPath, wholeName, type Card } from '../../api/entity.ts'
import { CardMark, WholeName } from '../../parts/card-line.tsx'
import { platformTitle } from '../../parts/platforms.ts'
import type { TableColumn } from '../../parts/table.tsx'
import { domainTexts } from '../../texts/domains.ts'
import { typeName } from '../../texts.ts'

const { heads } = domainTexts

/** Names are links, except in lists in which a click chooses the row. */
export const assetColumns = ({
  withDomain,
  isLinked = true
}: {
  withDomain: boolean
  isLinked?: boolean
}): TableColumn<Card>[] => [
  {
    id: 'name',
    head: heads.name,
    value: wholeName,
    width: 'minmax(220px, 3fr)',
    cell: (card, tab) => (
      <span class="marked-name">
        <CardMark card={card} />
        {isLinked ? (
          <a href={assetAddress(card.urn)} title={card.urn} tabIndex={tab}>
            <WholeName card={card} />
          </a>
        ) : (
          <span>
            <WholeName card={card} />
          </span>
        )}
      </span>
    )
  },
  { id: 'type', head: heads.type, value: ({ type }) => typeName(type), width: 'minmax(80px, 1fr)', fold: 2 },
  {
    id: 'platform',
    head: heads.platform,
    value: ({ platform }) => platform && platformTitle(platform),
    width: 'minmax(90px, 1fr)',
    fold: 1
  },
  {
    id: 'environment',
    head: heads.environment,
    value: ({ environment }) => environment,
    width: '56px',
    fold: 3
  },
  ...(withDomain
    ? [
        {
          id: 'domain',
          head: heads.domain,
          value: ({ domain }: Card) => domain && domainPath(domain),
          width: 'minmax(150px, 2fr)',
          fold: 4
        }
      ]
    : [])
]
