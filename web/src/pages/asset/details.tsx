/**
 * The details of an asset besides its lineage: description, owners, tags, terms, links, container,
 * properties.
 */
import type { ComponentChildren } from 'preact'
import { assetAddress } from '../../address.ts'
import {
  descriptionOf,
  infoOf,
  objectsOf,
  textOf,
  type Aspects,
  type AspectValue
} from '../../api/aspects.ts'
import { lastPartOf } from '../../api/entity.ts'
import { assetTexts } from '../../texts/asset.ts'

const words = assetTexts.facts

const listOf = (aspects: Aspects, aspectName: string, listName: string): AspectValue[] =>
  objectsOf(aspects[aspectName]?.value[listName])

/** Only web addresses are links, because an aspect may contain `javascript:`. */
const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text)

const WebLink = ({ href, children }: { href: string; children: ComponentChildren }) =>
  isWebAddress(href) ? (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ) : (
    <span>
      {children} <code>{href}</code>
    </span>
  )

export function Details({ aspects }: { aspects: Aspects }) {
  const info = infoOf(aspects)
  const description = descriptionOf(aspects)
  const properties = Object.entries((info.customProperties as AspectValue | undefined) ?? {})
  const externalUrl = textOf(info.externalUrl)
  const urns = (list: readonly AspectValue[], field: string): string[] =>
    list.flatMap((each) => textOf(each[field]) ?? [])
  const facts: [string, ComponentChildren[]][] = [
    [words.owners, urns(listOf(aspects, 'ownership', 'owners'), 'owner').map(chipOf)],
    [words.tags, urns(listOf(aspects, 'globalTags', 'tags'), 'tag').map(chipOf)],
    [words.terms, urns(listOf(aspects, 'glossaryTerms', 'terms'), 'urn').map(chipOf)],
    [
      words.links,
      listOf(aspects, 'institutionalMemory', 'elements').map((link) => (
        <WebLink key={textOf(link.url)} href={textOf(link.url) ?? ''}>
          {textOf(link.description) ?? textOf(link.url)}
        </WebLink>
      ))
    ],
    [
      words.container,
      [textOf(aspects.container?.value.container)].flatMap((urn) =>
        urn === null
          ? []
          : [
              <a key={urn} href={assetAddress(urn)}>
                {lastPartOf(urn)}
              </a>
            ]
      )
    ],
    [words.subTypes, namesOf(aspects.subTypes?.value.typeNames)],
    [words.instance, namesOf([aspects.dataPlatformInstance?.value.instance].map(instanceName))]
  ]
  return (
    <div class="stack">
      <section class="panel stack" aria-labelledby="description">
        <h2 id="description">{assetTexts.description}</h2>
        {description === null ? (
          <p class="soft">{assetTexts.noDescription}</p>
        ) : (
          <p class="prose">{description}</p>
        )}
        {externalUrl && (
          <p>
            <WebLink href={externalUrl}>{words.externalUrl}</WebLink>
          </p>
        )}
      </section>
      <section class="panel stack" aria-labelledby="facts">
        <h2 id="facts">{words.title}</h2>
        <dl class="facts-list">
          {facts
            .filter(([, values]) => values.length > 0)
            .map(([name, values]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd class="row">{values}</dd>
              </div>
            ))}
          {properties.map(([name, value]) => (
            <div key={`property ${name}`}>
              <dt>{name}</dt>
              <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
        {facts.every(([, values]) => values.length === 0) && properties.length === 0 && (
          <p class="soft">{words.none}</p>
        )}
      </section>
    </div>
  )
}

const chipOf = (urn: string) => (
  <span key={urn} class="chip" title={urn}>
    {lastPartOf(urn)}
  </span>
)

const namesOf = (values: unknown) =>
  (Array.isArray(values) ? values : []).flatMap((value: unknown) =>
    typeof value === 'string'
      ? [
          <span key={value} class="chip">
            {value}
          </span>
        ]
      : []
  )

const instanceName = (urn: unknown): unknown => (typeof urn === 'string' ? lastPartOf(urn) : undefined)
