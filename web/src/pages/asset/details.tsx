/** The overview of an asset below its header: description, what belongs to it, and its other facts. */
import type { ComponentChildren } from 'preact'
import { assetAddress } from '../../address.ts'
import { columnsIn, descriptionOf, infoOf, objectsOf, textOf, type AspectValue } from '../../api/aspects.ts'
import { columnUrn, shownPath } from '../../api/column-urn.ts'
import { hasLineage, lastPartOf, nameOfActor } from '../../api/entity.ts'
import { Markdown } from '../../parts/markdown.tsx'
import { WebLink } from '../../parts/web-link.tsx'
import { Ago } from '../../parts/when.tsx'
import { assetTexts } from '../../texts/asset.ts'
import { Belongings, FirstColumns } from './belongings.tsx'
import { Jobs } from './jobs.tsx'
import { Neighbours } from './neighbours.tsx'
import type { Asset } from './read-asset.ts'

const words = assetTexts.facts

/** People and groups have no description unless they write one themselves. */
const typesOfPeople = new Set(['CORP_USER', 'CORP_GROUP'])

export function Details({ asset: { card, aspects, column, containers, lastChange } }: { asset: Asset }) {
  const info = infoOf(aspects)
  const description = descriptionOf(aspects) ?? textOf(column?.description)
  const properties = Object.entries((info.customProperties as AspectValue | undefined) ?? {})
  const columns = card.type === 'DATASET' ? columnsIn(aspects) : []
  const facts: [string, ComponentChildren[]][] = [
    [words.dataType, namesOf([column?.type || undefined])],
    [
      words.links,
      objectsOf(aspects.institutionalMemory?.value.elements).map((link) => (
        <WebLink key={textOf(link.url)} href={textOf(link.url) ?? ''}>
          {textOf(link.description) ?? textOf(link.url)}
        </WebLink>
      ))
    ],
    [
      words.container,
      containers.map(({ urn, name }) => (
        <a key={urn} href={assetAddress(urn)} title={urn}>
          {name}
        </a>
      ))
    ],
    [words.subTypes, namesOf(aspects.subTypes?.value.typeNames)],
    [words.instance, namesOf([aspects.dataPlatformInstance?.value.instance].map(instanceName))],
    ...properties.map(([name, value]): [string, ComponentChildren[]] => [
      name,
      [typeof value === 'string' ? value : JSON.stringify(value)]
    ]),
    [
      words.lastChange,
      lastChange === null
        ? []
        : [
            <span key="change" data-testid="last-change">
              <Ago millis={lastChange.at} /> {assetTexts.by(nameOfActor(lastChange.actor))}
            </span>
          ]
    ],
    [
      words.urn,
      [
        <code key="urn" class="urn">
          {card.urn.split(/(?<=[,.(])/).flatMap((part, place) => [part, <wbr key={place} />])}
        </code>
      ]
    ]
  ]
  const shown = facts.filter(([, values]) => values.length > 0)
  return (
    <div class={shown.length > 2 ? 'asset-body' : 'asset-body alone'}>
      <div class="stack">
        {(description !== null || !typesOfPeople.has(card.type)) && (
          <section class="panel stack" aria-labelledby="description">
            <h2 id="description">{assetTexts.description}</h2>
            {description === null ? (
              <p class="soft">{assetTexts.noDescription}</p>
            ) : (
              <Markdown text={description} />
            )}
          </section>
        )}
        {hasLineage(card.urn) && card.type !== 'DATA_JOB' && <Neighbours urn={card.urn} />}
        {columns.length > 0 && (
          <FirstColumns
            urn={card.urn}
            columns={columns.map(({ path, type, description: about }) => ({
              path,
              name: shownPath(path),
              urn: columnUrn(card.urn, path),
              type,
              about
            }))}
          />
        )}
        {(card.type === 'DATA_FLOW' || card.type === 'DATA_JOB') && (
          <Jobs urn={card.urn} isFlow={card.type === 'DATA_FLOW'} />
        )}
        <Belongings card={card} />
      </div>
      <section class="panel stack" aria-labelledby="facts">
        <h2 id="facts">{words.title}</h2>
        <dl class="facts-list">
          {shown.map(([name, values], place) => (
            <div key={`${place} ${name}`}>
              <dt>{name}</dt>
              <dd class="row">{values}</dd>
            </div>
          ))}
        </dl>
      </section>
    </div>
  )
}

const namesOf = (values: unknown): ComponentChildren[] =>
  (Array.isArray(values) ? values : []).flatMap((value: unknown) =>
    typeof value === 'string' ? [<span key={value}>{value}</span>] : []
  )

const instanceName = (urn: unknown): unknown => (typeof urn === 'string' ? lastPartOf(urn) : undefined)
