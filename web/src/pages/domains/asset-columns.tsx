/** The columns of lists of assets. */
import { assetAddress } from '../../address.ts'
import type { Card } from '../../api/entity.ts'
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
    value: ({ name }) => name,
    width: 'minmax(160px, 3fr)',
    ...(isLinked
      ? {
          cell: ({ urn, name }, tab) => (
            <a href={assetAddress(urn)} title={urn} tabIndex={tab}>
              {name}
            </a>
          )
        }
      : {})
  },
  { id: 'type', head: heads.type, value: ({ type }) => typeName(type), width: 'minmax(80px, 1fr)' },
  { id: 'platform', head: heads.platform, value: ({ platform }) => platform, width: 'minmax(90px, 1fr)' },
  { id: 'environment', head: heads.environment, value: ({ environment }) => environment, width: '60px' },
  ...(withDomain
    ? [
        {
          id: 'domain',
          head: heads.domain,
          value: ({ domain }: Card) => domain?.name ?? null,
          width: 'minmax(100px, 1fr)'
        }
      ]
    : [])
]
