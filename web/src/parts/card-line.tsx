/** An entity on one line: its type, name, platform, environment and domain. */
import { assetAddress } from '../address.ts'
import type { Card } from '../api/entity.ts'
import { typeName } from '../texts.ts'
import { TypeIcon } from './icons.tsx'

/** It has no link, because the rows of some lists are options. */
export const CardLine = ({ card }: { card: Card }) => (
  <span class="card-line">
    <Type type={card.type} />
    <span class="name">{card.name}</span>
    <Facts card={card} />
  </span>
)

export const CardLink = ({ card }: { card: Card }) => (
  <span class="card-line">
    <Type type={card.type} />
    <a class="name" href={assetAddress(card.urn)} title={card.urn}>
      {card.name}
    </a>
    <Facts card={card} />
  </span>
)

const Facts = ({ card }: { card: Card }) => (
  <span class="facts">
    {[card.platform, card.environment, card.domain?.name].filter(Boolean).join(' · ')}
  </span>
)

const Type = ({ type }: { type: string }) => (
  <span class="type">
    <TypeIcon type={type} /> {typeName(type)}
  </span>
)
