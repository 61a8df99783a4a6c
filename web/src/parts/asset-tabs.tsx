/** The tabs of an asset, over its page and over its lineage in the whole window. */
import { assetAddress } from '../address.ts'
import { hasLineage, type Card } from '../api/entity.ts'
import { assetTexts as words } from '../texts/asset.ts'
import { Tabs } from './tabs.tsx'

export type TabName = keyof typeof words.tabs

export const tabsOf = ({ urn, type }: Pick<Card, 'urn' | 'type'>, hasAspects: boolean): TabName[] => [
  'details',
  ...(type === 'DATASET' ? ['columns' as const] : []),
  ...(hasLineage(urn) ? (['lineage', 'impact', 'statements'] as const) : []),
  ...(type === 'DATA_JOB' ? ['runs' as const] : []),
  ...(type === 'DATA_PROCESS_INSTANCE' ? ['run' as const] : []),
  ...(hasAspects ? ['raw' as const] : [])
]

export const AssetTabs = ({
  card,
  current,
  hasAspects
}: {
  card: Card
  current: TabName
  hasAspects: boolean
}) => (
  <Tabs
    label={words.tabList}
    tabs={tabsOf(card, hasAspects).map((name) => ({ name, title: words.tabs[name] }))}
    current={current}
    addressOf={(name) => assetAddress(card.urn, { tab: name === 'details' ? null : name })}
  />
)
