/** What belongs to an entity of its kind, such as the jobs of a flow: counted exactly, the first ones listed. */
import { Button } from '../../parts/fields.tsx'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { assetAddress } from '../../address.ts'
import { columnUrn, shownPath } from '../../api/column-urn.ts'
import { cardOf, type Card } from '../../api/entity.ts'
import { findAssets } from '../../api/domain-queries.ts'
import { related, tagsOfColumns, type RawCard } from '../../api/queries.ts'
import { graphql } from '../../api/request.ts'
import { readFacts } from '../../api/row-facts.ts'
import { AssetRow } from '../../parts/asset-row.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Failure, Loading } from '../../parts/states.tsx'
import { useResource } from '../../parts/use-resource.ts'
import { assetTexts } from '../../texts/asset.ts'
import { addressWith } from '../search-question.ts'

const words = assetTexts.belongings

/** A list that a filter of the search gives, or the other ends of relationships. */
type Listed = { title: string; isOptional?: true; isOfColumns?: true } & (
  { field: string } | { types: readonly string[]; direction: 'INCOMING' | 'OUTGOING' }
)

const membership = ['IsMemberOfGroup', 'IsMemberOfNativeGroup']
const within = { title: words.within, types: ['IsPartOf'], direction: 'OUTGOING', isOptional: true } as const
const owned = { title: words.owned, field: 'owners' } as const

const ofColumns = (...types: readonly string[]): Listed => ({
  title: words.withColumns,
  types,
  direction: 'INCOMING',
  isOptional: true,
  isOfColumns: true
})

const listsOf: { readonly [type: string]: readonly Listed[] } = {
  TAG: [
    { title: words.tagged, field: 'tags' },
    ofColumns('SchemaFieldTaggedWith', 'EditableSchemaFieldTaggedWith')
  ],
  GLOSSARY_TERM: [
    { title: words.termed, field: 'glossaryTerms' },
    ofColumns('SchemaFieldWithGlossaryTerm', 'EditableSchemaFieldWithGlossaryTerm'),
    within
  ],
  GLOSSARY_NODE: [{ title: words.terms, types: ['IsPartOf'], direction: 'INCOMING' }, within],
  CORP_USER: [owned, { title: words.groups, types: membership, direction: 'OUTGOING', isOptional: true }],
  CORP_GROUP: [{ title: words.members, types: membership, direction: 'INCOMING', isOptional: true }, owned],
  CONTAINER: [{ title: words.contents, field: 'container' }],
  DATA_PLATFORM: [{ title: words.contents, field: 'platform' }],
  DATA_JOB: [{ title: words.flow, types: ['IsPartOf'], direction: 'OUTGOING', isOptional: true }],
  DASHBOARD: [
    { title: words.charts, types: ['Contains', 'DashboardContainsDashboard'], direction: 'OUTGOING' }
  ],
  CHART: [{ title: words.dashboards, types: ['Contains'], direction: 'INCOMING', isOptional: true }],
  MLFEATURE_TABLE: [{ title: words.features, types: ['Contains', 'KeyedBy'], direction: 'OUTGOING' }],
  MLFEATURE: [{ title: words.featureTables, types: ['Contains'], direction: 'INCOMING', isOptional: true }],
  MLPRIMARY_KEY: [
    { title: words.featureTables, types: ['KeyedBy'], direction: 'INCOMING', isOptional: true }
  ],
  MLMODEL_GROUP: [{ title: words.models, types: ['MemberOf'], direction: 'INCOMING' }],
  DATA_PRODUCT: [{ title: words.assets, types: ['DataProductContains'], direction: 'OUTGOING' }]
}
const products: Listed = {
  title: words.products,
  types: ['DataProductContains'],
  direction: 'INCOMING',
  isOptional: true
}
const typesInProducts = new Set([
  'DATASET',
  'DATA_JOB',
  'DATA_FLOW',
  'CHART',
  'DASHBOARD',
  'MLMODEL',
  'MLFEATURE_TABLE'
])

export const Belongings = ({ card }: { card: Card }) => (
  <>
    {[...(listsOf[card.type] ?? []), ...(typesInProducts.has(card.type) ? [products] : [])].map((list) => (
      <Belonging key={`${card.urn} ${list.title}`} card={card} list={list} />
    ))}
  </>
)

const shownFirstCount = 10
const shownMaxCount = 1_000

type Found = { total: number; cards: Card[] }

const found = (total: number, entities: readonly (RawCard | null)[]): Found => ({
  total,
  cards: entities.flatMap((entity) => (entity ? [cardOf(entity)] : []))
})

async function read({ urn }: Card, list: Listed, count: number, signal: AbortSignal): Promise<Found> {
  if ('field' in list) {
    const filters = [{ field: list.field, values: [urn] }]
    const answer = await graphql(findAssets, { query: '*', count, groups: [{ and: filters }] }, signal)
    const { total, searchResults } = answer.searchAcrossEntities
    return found(
      total,
      searchResults.map(({ entity }) => entity)
    )
  }
  const { entity } = await graphql(
    related,
    { urn, types: [...list.types], direction: list.direction, count },
    signal
  )
  return found(
    entity?.relationships?.total ?? 0,
    (entity?.relationships?.relationships ?? []).map((each) => each.entity)
  )
}

/** The paths of the columns of each table that have a tag or a term. */
async function readColumnsWith(
  urn: string,
  tables: readonly string[],
  signal: AbortSignal
): Promise<Map<string, string[]>> {
  const { entities } = await graphql(tagsOfColumns, { urns: [...tables] }, signal)
  return new Map(
    entities.flatMap((entity) => {
      const paths = (entity?.schemaMetadata?.fields ?? [])
        .filter(
          ({ tags, glossaryTerms }) =>
            tags?.tags?.some(({ tag }) => tag.urn === urn) ||
            glossaryTerms?.terms?.some(({ term }) => term.urn === urn)
        )
        .map(({ fieldPath }) => fieldPath)
      return entity && paths.length > 0 ? [[entity.urn, paths] as const] : []
    })
  )
}

function Belonging({ card, list }: { card: Card; list: Listed }) {
  const [count, setCount] = useState(shownFirstCount)
  const { last, error, reload } = useResource(`${card.urn} ${list.title} ${count}`, async (signal) => {
    const answer = await read(card, list, count, signal)
    const urns = answer.cards.map(({ urn }) => urn)
    const [columns] = await Promise.all([
      list.isOfColumns ? readColumnsWith(card.urn, urns, signal) : null,
      readFacts(urns)
    ])
    return { ...answer, columns }
  })
  if (error && !last) return <Failure error={error} retry={reload} />
  if (!last) return list.isOptional ? null : <Loading />
  if (last.total === 0 && list.isOptional) return null
  const isCut = last.cards.length < last.total
  return (
    <Section title={list.title} total={last.total}>
      {last.total === 0 ? (
        <p class="soft">{words.none}</p>
      ) : (
        <ul class="list">
          {last.cards.map((each) => (
            <li key={each.urn}>
              <AssetRow card={each}>
                {last.columns?.get(each.urn) && (
                  <p class="row-about row columns-with">
                    {last.columns.get(each.urn)?.map((path) => (
                      <a key={path} class="chip" href={assetAddress(columnUrn(each.urn, path))}>
                        {shownPath(path)}
                      </a>
                    ))}
                  </p>
                )}
              </AssetRow>
            </li>
          ))}
        </ul>
      )}
      {isCut && 'field' in list && (
        <p>
          <a href={addressWith('*', [{ field: list.field, values: [card.urn] }])}>{words.all(last.total)}</a>
        </p>
      )}
      {error && <p class="problem">{error.message}</p>}
      {isCut && !('field' in list) && count < shownMaxCount && (
        <div>
          <Button class="plain" run={() => setCount(Math.min(last.total, shownMaxCount))}>
            {words.all(last.total)}
          </Button>
        </div>
      )}
    </Section>
  )
}

export const Section = ({
  title,
  total,
  children
}: {
  title: string
  total?: number
  children: ComponentChildren
}) => (
  <section class="panel stack" aria-label={title}>
    <h2>
      {title} {total !== undefined && <span class="count">{assetTexts.count(total)}</span>}
    </h2>
    {children}
  </section>
)

const columnsFirstCount = 8

/** The first columns of a table, and the way to the others. */
export const FirstColumns = ({
  urn,
  columns
}: {
  urn: string
  columns: readonly { path: string; name: string; urn: string; type: string; about: string }[]
}) => (
  <Section title={assetTexts.tabs.columns} total={columns.length}>
    <ul class="list">
      {columns.slice(0, columnsFirstCount).map((column) => (
        <li key={column.path} class="row first-column">
          <a href={assetAddress(column.urn)}>{column.name}</a>
          <span class="soft">
            <Markdown text={column.about} isInline />
          </span>
          <span class="soft mono">{column.type}</span>
        </li>
      ))}
    </ul>
    {columns.length > columnsFirstCount && (
      <p>
        <a href={assetAddress(urn, { tab: 'columns' })}>{words.all(columns.length)}</a>
      </p>
    )}
  </Section>
)
