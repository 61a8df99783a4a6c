/**
 * The header of an asset: what and where it is, whose it is, how fresh it is, and what can be done with it;
 * over the other tabs only what it is, so that what they show comes first.
 */
import type { ComponentChildren } from 'preact'
import { addressOf, assetAddress } from '../../address.ts'
import { infoOf, textOf } from '../../api/aspects.ts'
import { canBeInDomain, hasEditableLineage, type Card } from '../../api/entity.ts'
import { canWriteIn } from '../../api/session.ts'
import { Avatar, PersonLink } from '../../parts/avatar.tsx'
import { DomainPath } from '../../parts/domain-path.tsx'
import { CardLink, CardMark, WholeName } from '../../parts/card-line.tsx'
import { platformTitle } from '../../parts/platforms.ts'
import { LastRun } from '../../parts/run-chip.tsx'
import { ShowAll } from '../../parts/show-all.tsx'
import { isWebAddress, WebLink } from '../../parts/web-link.tsx'
import { assetTexts as words } from '../../texts/asset.ts'
import { typeName } from '../../texts.ts'
import { addressWith } from '../search-question.ts'
import { DomainChoice } from './domain-choice.tsx'
import { sourceOf, type Asset } from './read-asset.ts'

/** The values of a fact that are shown at first. */
const shownFirstCount = 12
const [markSize, shortMarkSize] = [44, 28]

const isPerson = ({ type }: Card): boolean => type === 'CORP_USER' || type === 'CORP_GROUP'

export function Header({ asset, isShort, changed }: { asset: Asset; isShort: boolean; changed: () => void }) {
  const { card, parent, aspects, owners, tags, terms, upstream, downstream, lastRun } = asset
  const { urn } = card
  const source = sourceOf(aspects)
  const email = isPerson(card) ? textOf(infoOf(aspects).email) : null
  const colour = textOf(aspects.tagProperties?.value.colorHex)
  const canEdit = card.exists && hasEditableLineage(urn) && canWriteIn(card.domain?.urns ?? [])
  const facts: [string, ComponentChildren | false][] = [
    [
      words.facts.lastRun,
      lastRun && (
        <span data-testid="last-run">
          <LastRun run={lastRun} />
        </span>
      )
    ],
    [
      words.facts.owners,
      owners.length > 0 && (
        <List
          of={owners}
          label={words.facts.owners}
          draw={(card) => <PersonLink key={card.urn} card={card} />}
        />
      )
    ],
    [
      words.facts.tags,
      tags.length > 0 && <List of={tags} label={words.facts.tags} draw={searchFor('tags')} />
    ],
    [
      words.facts.terms,
      terms.length > 0 && <List of={terms} label={words.facts.terms} draw={searchFor('glossaryTerms')} />
    ],
    [
      words.tabs.lineage,
      upstream !== null && downstream !== null && (
        <>
          <a href={assetAddress(urn, { tab: 'impact', dir: 'up' })} data-testid="upstream-count">
            {words.upstream(upstream)}
          </a>
          <a href={assetAddress(urn, { tab: 'impact' })} data-testid="downstream-count">
            {words.downstream(downstream)}
          </a>
        </>
      )
    ]
  ]
  const shown = isShort ? [] : facts.filter(([, value]) => value)
  const size = isShort ? shortMarkSize : markSize
  return (
    <header class={isShort ? 'asset-head short' : 'asset-head panel'}>
      <div class="asset-title">
        {isPerson(card) ? (
          <Avatar card={card} size={size} />
        ) : colour !== null && /^#[0-9a-f]{3,8}$/i.test(colour) ? (
          <span class="tag-mark" style={{ background: colour }} />
        ) : (
          <CardMark card={card} size={size} />
        )}
        <div>
          <p class="row soft">
            {[
              typeName(card.type),
              card.platform && platformTitle(card.platform),
              card.environment,
              textOf(aspects.corpUserInfo?.value.title)
            ]
              .filter(Boolean)
              .join(' · ')}
            {email !== null && <a href={`mailto:${email}`}>{email}</a>}
            {!card.exists && <span class="chip warn">{words.notDescribed}</span>}
            {aspects.deprecation?.value.deprecated === true && (
              <span class="chip warn">{words.deprecated}</span>
            )}
            {aspects.status?.value.removed === true && <span class="chip bad">{words.removed}</span>}
          </p>
          <h1>
            <WholeName card={card} />
          </h1>
          {card.nameThere && <p class="soft">{card.nameThere}</p>}
          {!isShort && (
            <div class="row asset-place">
              <Place card={card} parent={parent} />
            </div>
          )}
        </div>
        <div class="row asset-actions">
          {!isShort && source !== null && isWebAddress(source) && (
            <WebLink class="button" href={source}>
              {words.openIn(card.platform && platformTitle(card.platform))}
            </WebLink>
          )}
          {canEdit && (
            <a class="button" href={addressOf('edit-lineage', { urn })}>
              {words.editLineage}
            </a>
          )}
          {!isShort && canBeInDomain(card.type) && <DomainChoice card={card} changed={changed} />}
        </div>
      </div>
      {!card.exists && <p class="soft">{words.placeholder}</p>}
      {parent && !isShort && (
        <div class="row">
          <span class="soft">{words.columnOf}</span> <CardLink card={parent} />
        </div>
      )}
      {shown.length > 0 && (
        <dl class="vitals">
          {shown.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="row">{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </header>
  )
}

const Place = ({ card, parent }: { card: Card; parent: Card | null }) => {
  const domain = canBeInDomain(card.type) ? card.domain : parent?.domain
  if (domain) return <DomainPath domain={domain} />
  return canBeInDomain(card.type) ? (
    <span class="soft" data-testid="domain">
      {words.domain.none}
    </span>
  ) : null
}

const List = ({
  of,
  label,
  draw
}: {
  of: readonly Card[]
  label: string
  draw: (card: Card) => ComponentChildren
}) => <ShowAll items={of} firstCount={shownFirstCount} label={label} draw={draw} />

const searchFor = (field: string) => (card: Card) => (
  <a
    key={card.urn}
    class="chip"
    href={addressWith('*', [{ field, values: [card.urn] }])}
    title={words.searchFor(card.name)}
  >
    {card.name}
  </a>
)
