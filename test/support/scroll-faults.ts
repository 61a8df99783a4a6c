/**
 * Scrolls across lineage as a client does, page by page to the end, and reports differences from the oracle.
 */
import type { JsonObject } from '../../shared/model/changes.ts'
import type { LineageDirection } from '../../shared/model/walk.ts'
import type { Urn } from '../../shared/urn/urn.ts'
import type { History } from './histories.ts'
import type { Oracle, Reached } from './history-oracle.ts'
import { directions, levelOf, type Fault } from './reader-faults.ts'

export type Page = {
  nextScrollId: string | null
  count: number
  total: number
  facets: { field: string; aggregations: { value: string; count: number }[] }[] | null
  searchResults: { degree: number; entity: { urn: Urn; exists: boolean } }[]
}

/** One page for a ScrollAcrossLineageInput, or the reason of the error. */
export type Scroll = (input: JsonObject) => Promise<Page | string>

export const scrollQuery = `query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) {
  nextScrollId count total facets { field aggregations { value count } }
  searchResults { degree entity { urn ... on Dataset { exists } } }
} }`

type Hit = Reached & {
  type: string
  platform: string | null
  origin: string | null
  domain: Urn | null
  isRemoved: boolean
}

type FilterCase = { filter: JsonObject; holds: (hit: Hit) => boolean }

/** All filters on a history's results that need no documents. */
function filterCases({ world, below, above }: Oracle): FilterCase[] {
  const degreeOf = ({ degree }: Hit): string => (degree > 2 ? '3+' : String(degree))
  const isIn = (hit: Hit, domains: ReadonlySet<Urn>): boolean =>
    hit.domain !== null && domains.has(hit.domain)
  const types = [...new Set([...world.things, ...world.columns].map(({ type }) => type))]
  const platforms = [...new Set(world.things.flatMap(({ platform }) => platform ?? []))]
  return [
    ...[['1'], ['2'], ['3+'], ['1', '3+']].map((values): FilterCase => ({
      filter: { field: 'degree', values },
      holds: (hit) => values.includes(degreeOf(hit))
    })),
    ...types.map((type): FilterCase => ({
      filter: { field: '_entityType', values: [type] },
      holds: (hit) => hit.type === type
    })),
    ...platforms.map((platform): FilterCase => ({
      filter: { field: 'platform', values: [platform] },
      holds: (hit) => hit.platform === platform
    })),
    ...['PROD', 'DEV'].map((origin): FilterCase => ({
      filter: { field: 'origin', values: [origin] },
      holds: (hit) => hit.origin === origin
    })),
    { filter: { field: 'origin', condition: 'EXISTS' }, holds: (hit) => hit.origin !== null },
    { filter: { field: 'domains', condition: 'EXISTS' }, holds: (hit) => hit.domain !== null },
    ...['true', 'false'].map((removed): FilterCase => ({
      filter: { field: 'removed', values: [removed] },
      holds: (hit) => String(hit.isRemoved) === removed
    })),
    ...world.domains.flatMap((urn): FilterCase[] => [
      { filter: { field: 'domains', values: [urn] }, holds: (hit) => hit.domain === urn },
      {
        filter: { field: 'domains', condition: 'DESCENDANTS_INCL', values: [urn] },
        holds: (hit) => isIn(hit, new Set([urn, ...below([urn])]))
      },
      {
        filter: { field: 'domains', condition: 'ANCESTORS_INCL', values: [urn] },
        holds: (hit) => isIn(hit, new Set([urn, ...above([urn])]))
      },
      {
        filter: { field: 'domains', condition: 'RELATED_INCL', values: [urn] },
        holds: (hit) => isIn(hit, new Set([urn, ...above([urn]), ...below([urn])]))
      }
    ])
  ]
}

/**
 * Scrolls from the asset and the column that reach most, and from one more; folded or not, with and without
 * filters.
 */
export async function scrollFaults(
  scroll: Scroll,
  oracle: Oracle,
  history: History,
  figures: { pages: number; results: number }
): Promise<Fault[]> {
  const faults: Fault[] = []
  const counted: Scroll = async (input) => {
    const page = await scroll(input)
    figures.pages += 1
    figures.results += typeof page === 'string' ? 0 : page.count
    return page
  }
  const urns = [...oracle.world.things, ...oracle.world.columns].map(({ urn }) => urn)
  const reach = (urn: Urn): number =>
    Math.max(...directions.map((direction) => oracle.reached([urn], direction, levelOf(oracle, urn)).length))
  const best = (list: readonly Urn[]): Urn[] => [...list].sort((a, b) => reach(b) - reach(a)).slice(0, 1)
  const isColumn = (urn: Urn): boolean => levelOf(oracle, urn) === 'column'
  const starts = [
    ...best(urns.filter((urn) => !isColumn(urn))),
    ...best(urns.filter(isColumn)),
    ...urns.slice(history.pageSize % urns.length).slice(0, 1)
  ]
  for (const [index, urn] of [...new Set(starts)].entries()) {
    for (const direction of index === 0
      ? directions
      : directions.slice(history.steps.length % 2).slice(0, 1)) {
      faults.push(
        ...(await faultsFrom(counted, oracle, urn, direction, {
          drawn: [],
          count: 1_000,
          keepsColumns: history.steps.length % 3 === 0
        }))
      )
      faults.push(
        ...(await faultsFrom(counted, oracle, urn, direction, {
          drawn: history.filters,
          count: history.pageSize,
          keepsColumns: false
        }))
      )
    }
  }
  return faults
}

type Manner = { drawn: History['filters']; count: number; keepsColumns: boolean }

async function faultsFrom(
  scroll: Scroll,
  oracle: Oracle,
  urn: Urn,
  direction: LineageDirection,
  { drawn, count, keepsColumns }: Manner
): Promise<Fault[]> {
  const cases = filterCases(oracle)
  const groups = drawn.map((group) =>
    group.flatMap(({ at, isNegated }) => {
      const found = cases[at % cases.length]
      return found ? [{ ...found, isNegated }] : []
    })
  )
  const input: JsonObject = {
    urn,
    direction,
    query: '*',
    count,
    orFilters: groups.map((group) => ({
      and: group.map(({ filter, isNegated }) => ({ ...filter, negated: isNegated }))
    })),
    ...(keepsColumns ? { foldColumns: false } : {})
  }
  const question = JSON.stringify(input)
  const pages = await allPages(scroll, input)
  if (!oracle.isKnown(urn))
    return pages === 'NOT_FOUND' ? [] : [{ oracle, question, expected: 'NOT_FOUND', found: pages }]
  const asksForRemoved = groups.some((group) => group.some(({ filter }) => filter.field === 'removed'))
  const all = oracle.reached([urn], direction, levelOf(oracle, urn))
  const results = keepsColumns ? all : oracle.folded(all)
  const kept = results
    .map((result) => hitOf(oracle, result))
    .filter((hit) => asksForRemoved || !hit.isRemoved)
    .filter(
      (hit) =>
        groups.length === 0 ||
        groups.some((group) => group.every(({ holds, isNegated }) => holds(hit) !== isNegated))
    )
  const expected = { ...pagesOf(kept, count), facets: facetsOf(kept) }
  return JSON.stringify(pages) === JSON.stringify(expected)
    ? []
    : [{ oracle, question, expected, found: pages }]
}

function hitOf(oracle: Oracle, { urn, degree }: Reached): Hit {
  const { type = '', platform = null, origin = null } = oracle.thing(urn) ?? {}
  return {
    urn,
    degree,
    type,
    platform,
    origin,
    domain: oracle.domainOf(urn),
    isRemoved: oracle.isRemoved(urn)
  }
}

/** The pages in order, each with its content; the scroll must end with null. */
async function allPages(scroll: Scroll, input: JsonObject) {
  const pages: string[][] = []
  let facets: unknown = null
  for (let scrollId: string | null = null; pages.length < 1_000;) {
    const page: Page | string = await scroll(scrollId === null ? input : { ...input, scrollId })
    if (typeof page === 'string') return page
    pages.push([
      `${page.total} in all, ${page.count} here`,
      ...page.searchResults.map(({ degree, entity }) => `${degree} ${entity.urn}`)
    ])
    if (scrollId === null)
      facets = page.facets?.map(({ field, aggregations }) => [
        field,
        byValue(aggregations.map(({ value, count }): [string, number] => [value, count]))
      ])
    scrollId = page.nextScrollId
    if (scrollId === null) break
  }
  return { pages, facets }
}

function pagesOf(kept: readonly Hit[], count: number) {
  const pages = Array.from({ length: Math.max(1, Math.ceil(kept.length / count)) }, (_, index) =>
    kept.slice(index * count, (index + 1) * count)
  )
  return {
    pages: pages.map((page) => [
      `${kept.length} in all, ${page.length} here`,
      ...page.map(({ urn, degree }) => `${degree} ${urn}`)
    ])
  }
}

const graphqlTypes: { readonly [type: string]: string } = {
  dataset: 'DATASET',
  dataJob: 'DATA_JOB',
  chart: 'CHART',
  dashboard: 'DASHBOARD',
  mlPrimaryKey: 'MLPRIMARY_KEY',
  mlFeature: 'MLFEATURE',
  mlModel: 'MLMODEL',
  schemaField: 'SCHEMA_FIELD'
}

const byValue = (counts: readonly [string, number][]) =>
  Object.fromEntries(counts.toSorted(([a], [b]) => (a < b ? -1 : 1)))

function facetsOf(kept: readonly Hit[]) {
  const count = (values: readonly (string | null)[], always: readonly string[] = []) => {
    const counts = new Map<string, number>(always.map((value) => [value, 0]))
    for (const value of values) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
    return byValue([...counts])
  }
  return [
    [
      'degree',
      count(
        kept.map(({ degree }) => (degree > 2 ? '3+' : String(degree))),
        ['1', '2', '3+']
      )
    ],
    ['platform', count(kept.map(({ platform }) => platform))],
    ['_entityType', count(kept.map(({ type }) => graphqlTypes[type] ?? type))],
    ['origin', count(kept.map(({ origin }) => origin))],
    ['domains', count(kept.map(({ domain }) => domain))]
  ]
}
