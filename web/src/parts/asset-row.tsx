/** A row of a list: the card, one line of what it is about, its owners, what is made from it, and its last run. */
import type { ComponentChildren } from 'preact'
import type { Card } from '../api/entity.ts'
import { factsOf, type RowFacts } from '../api/row-facts.ts'
import { texts } from '../texts.ts'
import { Avatar } from './avatar.tsx'
import { CardLink } from './card-line.tsx'
import { plainText } from './plain-text.ts'
import { LastRun } from './run-chip.tsx'

/** Undefined until they are there. */
const useFacts = (urn: string): RowFacts | undefined => factsOf(urn).facts.value

/** `children` come below; `withAbout` false leaves out what it is about. */
export function AssetRow({
  card,
  withAbout = true,
  children
}: {
  card: Card
  withAbout?: boolean
  children?: ComponentChildren
}) {
  const facts = useFacts(card.urn)
  const [about = ''] = (facts?.about ?? '').trim().split(/\n\s*\n/)
  return (
    <div class="asset-row">
      <CardLink card={card} />
      {withAbout && about !== '' && <p class="row-about">{plainText(about)}</p>}
      {children}
      {facts && (
        <span class="row-facts">
          <Owners owners={facts.owners} />
          <span class="row-used" title={texts.rows.usedByHint}>
            {facts.usedBy === null ? '' : texts.rows.usedBy(facts.usedBy)}
          </span>
          {facts.lastRun && <LastRun run={facts.lastRun} />}
        </span>
      )}
    </div>
  )
}

/** The first by name, the others as circles. */
const Owners = ({ owners }: { owners: RowFacts['owners'] }) =>
  owners === null ? (
    <span />
  ) : owners.length === 0 ? (
    <span class="row-owners none">{texts.rows.noOwner}</span>
  ) : (
    <span class="row-owners" role="img" aria-label={texts.search.owners(owners.map(({ name }) => name))}>
      <Avatar card={owners[0] as Card} size={20} />
      <span>
        {owners
          .slice(0, 2)
          .map(({ name }) => name)
          .join(', ')}
        {owners.length > 2 && ` +${owners.length - 2}`}
      </span>
    </span>
  )

/** One of the facts, in the cell of a table. */
export function FactCell({
  urn,
  fact,
  tab
}: {
  urn: string
  fact: 'owners' | 'usedBy' | 'lastRun'
  tab: 0 | -1
}) {
  const facts = useFacts(urn)
  if (!facts) return null
  if (fact === 'owners') return <Owners owners={facts.owners} />
  if (fact === 'usedBy') return <>{facts.usedBy}</>
  return facts.lastRun && <LastRun run={facts.lastRun} tab={tab} />
}
