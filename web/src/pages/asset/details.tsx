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
  type Column,
  type AspectValue
} from '../../api/aspects.ts'
import { cardOf, lastPartOf } from '../../api/entity.ts'
import { namesOf as namesOfUrns } from '../../api/queries.ts'
import { graphql } from '../../api/request.ts'
import { ShowAll } from '../../parts/show-all.tsx'
import { useResource } from '../../parts/use-resource.ts'
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

/** The number of values of a fact that are shown at first. */
const shownFirstCount = 50
/** The number of entities whose names are read. */
const namesMaxCount = 500

/** Names by URN: the part of the URN that people call the name until they are read, or if they are unknown. */
function useNames(urns: readonly string[]): (urn: string) => string {
  const asked = urns.slice(0, namesMaxCount)
  const { data } = useResource(asked.length === 0 ? null : asked.join(' '), (signal) =>
    graphql(namesOfUrns, { urns: asked }, signal)
  )
  const names = new Map(
    (data?.entities ?? []).flatMap((entity) => (entity ? [[entity.urn, cardOf(entity).name] as const] : []))
  )
  return (urn) => names.get(urn) ?? lastPartOf(urn)
}

/** `column` is what the schema of its asset says of a column, which has the owners of the asset. */
export function Details({
  aspects,
  column,
  ofParent
}: {
  aspects: Aspects
  column: Column | undefined
  ofParent: Aspects
}) {
  const info = infoOf(aspects)
  const description = descriptionOf(aspects) ?? textOf(column?.description)
  const properties = Object.entries((info.customProperties as AspectValue | undefined) ?? {})
  const externalUrl = textOf(info.externalUrl)
  const urns = (list: readonly AspectValue[], field: string): string[] =>
    list.flatMap((each) => textOf(each[field]) ?? [])
  const owners = urns(listOf(aspects.ownership ? aspects : ofParent, 'ownership', 'owners'), 'owner')
  const tags = [...urns(listOf(aspects, 'globalTags', 'tags'), 'tag'), ...(column?.tags ?? [])]
  const terms = urns(listOf(aspects, 'glossaryTerms', 'terms'), 'urn')
  const assets = urns(objectsOf(info.assets), 'destinationUrn')
  const containers = urns([aspects.container?.value ?? {}], 'container')
  const referred = [...new Set([...owners, ...tags, ...terms, ...assets, ...containers])]
  const nameOf = useNames(referred)
  const links = (list: readonly string[], label: string) =>
    list.length === 0
      ? []
      : [
          <ShowAll
            key={label}
            items={[...new Set(list)]}
            firstCount={shownFirstCount}
            label={label}
            draw={(urn) => (
              <a key={urn} class="chip" href={assetAddress(urn)} title={urn}>
                {nameOf(urn)}
              </a>
            )}
          />
        ]
  const facts: [string, ComponentChildren[]][] = [
    [words.dataType, namesOf([column?.type || undefined])],
    [words.personTitle, namesOf([info.title]).filter(() => 'corpUserInfo' in aspects)],
    [words.email, namesOf([info.email])],
    [words.owners, links(owners, words.owners)],
    [words.tags, links(tags, words.tags)],
    [words.terms, links(terms, words.terms)],
    [words.assets, links(assets, words.assets)],
    [
      words.links,
      listOf(aspects, 'institutionalMemory', 'elements').map((link) => (
        <WebLink key={textOf(link.url)} href={textOf(link.url) ?? ''}>
          {textOf(link.description) ?? textOf(link.url)}
        </WebLink>
      ))
    ],
    [words.container, links(containers, words.container)],
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
