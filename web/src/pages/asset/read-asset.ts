/** Everything that the header and the overview of an asset show. */
import {
  columnsIn,
  infoOf,
  objectsOf,
  readAspects,
  textOf,
  type Aspects,
  type AspectValue,
  type Column
} from '../../api/aspects.ts'
import { isColumnUrn } from '../../api/column-urn.ts'
import { cardOf, hasLineage, type Card } from '../../api/entity.ts'
import { asset, namesOf, type RunOfJob } from '../../api/queries.ts'
import { graphql } from '../../api/request.ts'
import { asColumns } from '../impact-question.ts'

export type Asset = {
  card: Card
  /** The asset of a column. */
  parent: Card | null
  aspects: Aspects
  /** What the schema of its asset says of a column. */
  column: Column | undefined
  owners: readonly Card[]
  tags: readonly Card[]
  terms: readonly Card[]
  containers: readonly Card[]
  /** The assets that lineage reaches; null for types without lineage. */
  upstream: number | null
  downstream: number | null
  lastRun: RunOfJob | null
  lastChange: { at: number; actor: string } | null
}

/** What the page asks first; the impact of a column counts columns. */
export const questionOf = (urn: string) => ({
  urn,
  withLineage: hasLineage(urn),
  flags: isColumnUrn(urn) ? asColumns.searchFlags : null
})

const urnsIn = (values: readonly AspectValue[], field: string): string[] => [
  ...new Set(values.flatMap((each) => textOf(each[field]) ?? []))
]
const listOf = (aspects: Aspects, aspectName: string, listName: string): AspectValue[] =>
  objectsOf(aspects[aspectName]?.value[listName])

/** The most entities whose names are read. */
const namesMaxCount = 500

/** Null for an entity that the catalog does not know. Throws ApiError. */
export async function readAsset(urn: string, signal: AbortSignal): Promise<Asset | null> {
  const { entity, up, down } = await graphql(asset, questionOf(urn), signal)
  if (!entity) return null
  // A placeholder has no aspects to read.
  const aspects = entity.exists === false ? {} : await readAspects(urn, signal)
  // The schema of the asset describes its columns.
  const ofParent = entity.parent ? await readAspects(entity.parent.urn, signal) : {}
  const column = columnsIn(ofParent).find(({ path }) => path === entity.fieldPath)
  const owners = urnsIn(listOf(aspects.ownership ? aspects : ofParent, 'ownership', 'owners'), 'owner')
  const tags = [
    ...new Set([...urnsIn(listOf(aspects, 'globalTags', 'tags'), 'tag'), ...(column?.tags ?? [])])
  ]
  const terms = urnsIn(listOf(aspects, 'glossaryTerms', 'terms'), 'urn')
  const containers = urnsIn([aspects.container?.value ?? {}], 'container')
  const cardOfUrn = await cardsOf([...owners, ...tags, ...terms, ...containers], signal)
  return {
    card: cardOf(entity),
    parent: entity.parent ? cardOf(entity.parent) : null,
    aspects,
    column,
    owners: owners.map(cardOfUrn),
    tags: tags.map(cardOfUrn),
    terms: terms.map(cardOfUrn),
    containers: containers.map(cardOfUrn),
    upstream: up?.total ?? null,
    downstream: down?.total ?? null,
    lastRun: entity.lastRun?.startedAt ? entity.lastRun : null,
    lastChange: Object.values(aspects).reduce<Asset['lastChange']>(
      (last, { writtenAt, actor }) =>
        writtenAt !== null && writtenAt > (last?.at ?? 0) ? { at: writtenAt, actor: actor ?? '' } : last,
      null
    )
  }
}

/** Aspects may name entities by texts other than URNs, so a refused list only leaves the names in the URNs. */
export async function cardsOf(urns: readonly string[], signal: AbortSignal): Promise<(urn: string) => Card> {
  const asked = [...new Set(urns)].slice(0, namesMaxCount)
  const { entities } =
    asked.length === 0
      ? { entities: [] }
      : await graphql(namesOf, { urns: asked }, signal).catch(() => ({ entities: [] }))
  const cards = new Map(entities.flatMap((entity) => (entity ? [[entity.urn, cardOf(entity)] as const] : [])))
  return (urn) =>
    cards.get(urn) ??
    cardOf({ urn, type: urn.startsWith('urn:li:corpGroup:') ? 'CORP_GROUP' : 'CORP_USER', exists: false })
}

const addressFields = ['externalUrl', 'chartUrl', 'dashboardUrl'] as const

/** Where its own system shows the asset. */
export const sourceOf = (aspects: Aspects): string | null => {
  const info = infoOf(aspects)
  return addressFields.map((name) => textOf(info[name])).find((address) => address !== null) ?? null
}
