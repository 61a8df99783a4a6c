/** The columns of lists of assets. */
import { assetAddress } from '../../address.ts'
import { domainPath, wholeName, type Card } from '../../api/entity.ts'
import { CardMark, WholeName } from '../../parts/card-line.tsx'
import { platformTitle } from '../../parts/platforms.ts'
import { FactCell } from '../../parts/asset-row.tsx'
import type { TableColumn } from '../../parts/table.tsx'
import { domainTexts } from '../../texts/domains.ts'
import { typeName } from '../../texts.ts'

const { heads } = domainTexts

const facts = (['owners', 'usedBy', 'lastRun'] as const).map((fact): TableColumn<Card> => ({
  id: fact,
  head: heads[fact],
  value: () => null,
  cell: ({ urn }, tab) => <FactCell urn={urn} fact={fact} tab={tab} />,
  width: fact === 'usedBy' ? '64px' : fact === 'owners' ? 'minmax(130px, 1fr)' : 'minmax(168px, 1fr)',
  isSortable: false,
  isNumber: fact === 'usedBy',
  fold: fact === 'lastRun' ? 6 : 5
}))

/** Names are links, except in lists in which a click chooses the row; there what the rows have in common stays in sight. */
export const assetColumns = ({
  withDomain,
  isLinked = true,
  rows = []
}: {
  withDomain: boolean
  isLinked?: boolean
  rows?: readonly Card[]
}): TableColumn<Card>[] =>
  [
    ...placed({ withDomain, isLinked }).slice(0, 1),
    ...facts,
    ...placed({ withDomain, isLinked }).slice(1)
  ].filter(({ id, value }) => !isLinked || !sameForAll.has(id) || new Set(rows.map(value)).size > 1)

/** Columns that say nothing where all rows have the same value. */
const sameForAll = new Set(['type'])

const placed = ({
  withDomain,
  isLinked
}: {
  withDomain: boolean
  isLinked: boolean
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
  {
    id: 'type',
    head: heads.type,
    value: ({ type, platform, environment }) =>
      [typeName(type), platform && platformTitle(platform), environment === 'PROD' ? null : environment]
        .filter(Boolean)
        .join(' · '),
    width: 'minmax(150px, 1fr)',
    fold: 1
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
