/** An entity on two lines: its mark and whole name, then its type, platform, environment and domain. */
import { assetAddress } from '../address.ts'
import { domainPath, type Card } from '../api/entity.ts'
import { texts, typeName } from '../texts.ts'
import { TypeIcon } from './icons.tsx'
import { PlatformMark } from './platform-mark.tsx'
import { platformTitle } from './platforms.ts'

/** It has no link, because the rows of some lists are options. */
export const CardLine = ({ card }: { card: Card }) => (
  <span class="card-line">
    <CardMark card={card} />
    <span class="name">
      <WholeName card={card} />
    </span>
    <Facts card={card} />
  </span>
)

export const CardLink = ({ card }: { card: Card }) => (
  <span class="card-line">
    <CardMark card={card} />
    <a class="name" href={assetAddress(card.urn)} title={card.urn}>
      <WholeName card={card} />
    </a>
    <Facts card={card} />
  </span>
)

/** The name after what tells it from others of its name; it breaks between the two where there is no room. */
export const WholeName = ({ card: { qualifier, name } }: { card: Pick<Card, 'qualifier' | 'name'> }) => (
  <>
    {qualifier !== '' && (
      <>
        <span class="qualifier">{qualifier}</span>
        <wbr />
      </>
    )}
    {name}
  </>
)

/** The platform's mark, or the icon of the type where no platform is known. */
export const CardMark = ({ card, size = 20 }: { card: Pick<Card, 'platform' | 'type'>; size?: number }) => (
  <span class="card-mark" style={{ width: `${size}px`, height: `${size}px` }}>
    {card.platform ? <PlatformMark platform={card.platform} size={size} /> : <TypeIcon type={card.type} />}
  </span>
)

const Facts = ({ card }: { card: Card }) => (
  <span class="facts">
    {[
      typeName(card.type),
      card.platform && platformTitle(card.platform),
      card.environment,
      card.domain && domainPath(card.domain),
      card.nameThere,
      card.exists ? null : texts.placeholder
    ]
      .filter(Boolean)
      .join(' · ')}
  </span>
)
