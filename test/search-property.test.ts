/**
 * Search compared with a plain oracle: for random catalogs, words and filters, the same entities, totals,
 * facets and pages.
 */
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { scrollEntities } from '../shared/catalog/search/scroll-entities.ts'
import { searchEntities } from '../shared/catalog/search/search-entities.ts'
import type { EntitySearchInput } from '../shared/catalog/search/search-question.ts'
import type { LineageSources } from '../shared/catalog/lineage/with-lineage.ts'
import type { Change } from '../shared/model/changes.ts'
import { datasetUrn } from '../shared/urn/kinds.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import {
  asCall,
  createDomain,
  domain,
  hardDelete,
  record,
  setDomain,
  unsetDomain,
  upsert,
  addEdge
} from './support/changes.ts'
import { onBothEngines } from './support/engines.ts'
import { casesOf, fc } from './support/fast-check.ts'

const chartUrn = (platform: string, name: string): Urn => toUrn(`urn:li:chart:(${platform},${name})`)

const vocabulary = ['order', 'orders', 'customer', 'daily', 'raw', 'x1', 'über']
const platforms = ['hive', 'kafka']
const origins = ['PROD', 'DEV']
const tags = ['urn:li:tag:pii', 'urn:li:tag:gold']
const domains = [domain('top'), domain('below'), domain('other')] as const
const below: Readonly<Record<string, readonly string[]>> = {
  [domains[0]]: [domains[0], domains[1]],
  [domains[1]]: [domains[1]],
  [domains[2]]: [domains[2]]
}

/** The facts about an asset that the oracle has. */
type Asset = {
  urn: Urn
  type: 'dataset' | 'chart'
  platform: string
  origin: string | null
  /** The words of each text; a phrase is within one text. */
  texts: string[][]
  names: string[]
  tags: string[]
  domain: string | null
  isRemoved: boolean
  property: string | null
}

const words = (min: number) => fc.array(fc.constantFrom(...vocabulary), { minLength: min, maxLength: 3 })

const anAsset = fc.record({
  type: fc.constantFrom('dataset' as const, 'dataset' as const, 'chart' as const),
  platform: fc.constantFrom(...platforms),
  origin: fc.constantFrom(...origins),
  urnWords: words(1),
  name: fc.option(words(1)),
  description: words(0),
  columns: words(0),
  property: fc.option(fc.constantFrom(...vocabulary)),
  tags: fc.subarray(tags),
  domain: fc.option(fc.constantFrom(...domains)),
  state: fc.constantFrom('present', 'present', 'present', 'removed', 'deleted', 'placeholder')
})
type Drawn = typeof anAsset extends fc.Arbitrary<infer Value> ? Value : never

const aFilter = fc.oneof(
  fc.record({
    field: fc.constant('platform'),
    values: fc.subarray(platforms, { minLength: 1 }),
    negated: fc.boolean()
  }),
  fc.record({
    field: fc.constant('origin'),
    values: fc.subarray(origins, { minLength: 1 }),
    negated: fc.boolean()
  }),
  fc.record({
    field: fc.constant('tags'),
    values: fc.subarray(tags, { minLength: 1 }),
    negated: fc.boolean()
  }),
  fc.record({
    field: fc.constant('domains'),
    values: fc.subarray([...domains], { minLength: 1 }),
    negated: fc.boolean(),
    condition: fc.constantFrom('EQUAL', 'DESCENDANTS_INCL')
  }),
  fc.record({ field: fc.constant('removed'), values: fc.constant(['true']), negated: fc.boolean() }),
  fc.record({
    field: fc.constant('customProperties'),
    values: fc.constantFrom(...vocabulary).map((word) => [`team=${word}`]),
    negated: fc.boolean()
  }),
  fc.record({
    field: fc.constant('name'),
    values: words(1).map((drawn) => [drawn.join(' ')]),
    negated: fc.boolean()
  }),
  fc.record({
    field: fc.constant('name'),
    values: fc.array(
      fc.tuple(words(1), fc.nat(12)).map(([drawn, end]) => drawn.join(' ').slice(0, end + 1)),
      { minLength: 1, maxLength: 3 }
    ),
    negated: fc.boolean(),
    condition: fc.constantFrom('START_WITH', 'CONTAIN', 'END_WITH')
  }),
  fc.record({
    field: fc.constantFrom('tags', 'customProperties', 'name'),
    values: fc.constant<string[]>([]),
    negated: fc.boolean(),
    condition: fc.constant('EXISTS')
  }),
  fc.record({
    field: fc.constant('_entityType'),
    values: fc.subarray(['DATASET', 'CHART'], { minLength: 1 }),
    negated: fc.boolean()
  })
)
type Filter = { field: string; values: readonly string[]; negated: boolean; condition?: string }

type Term = { kind: 'word' | 'prefix' | 'phrase'; words: string[] }
const aTerm = fc.oneof(
  fc.constantFrom(...vocabulary).map((word): Term => ({ kind: 'word', words: [word] })),
  fc.constantFrom('or', 'd', 'cust', 'ü').map((word): Term => ({ kind: 'prefix', words: [word] })),
  fc
    .array(fc.constantFrom(...vocabulary), { minLength: 2, maxLength: 2 })
    .map((drawn): Term => ({ kind: 'phrase', words: drawn }))
)

const aQuestion = fc.record({
  terms: fc.oneof(fc.constant<Term[]>([]), fc.array(aTerm, { minLength: 1, maxLength: 2 })),
  groups: fc.array(fc.array(aFilter, { minLength: 1, maxLength: 2 }), { maxLength: 2 }),
  types: fc.constantFrom(null, ['DATASET'], ['CHART', 'DATASET']),
  count: fc.integer({ min: 1, max: 9 }),
  slices: fc.constantFrom(1, 1, 1, 2, 3)
})

const holdsTerm = ({ texts }: Asset, { kind, words: sought }: Term): boolean =>
  texts.some((text) => {
    if (kind === 'phrase')
      return text.some((_, at) => sought.every((word, index) => text[at + index] === word))
    return text.some((word) => (kind === 'prefix' ? word.startsWith(sought[0] ?? '') : word === sought[0]))
  })

const textConditions: Readonly<Record<string, (value: string, sought: string) => boolean>> = {
  START_WITH: (value, sought) => value.startsWith(sought),
  CONTAIN: (value, sought) => value.includes(sought),
  END_WITH: (value, sought) => value.endsWith(sought)
}

function holdsFilter(asset: Asset, { field, values, negated, condition }: Filter): boolean {
  const own: Record<string, readonly (string | null)[]> = {
    platform: [asset.platform],
    origin: [asset.origin],
    tags: asset.tags,
    domains: [asset.domain],
    removed: [String(asset.isRemoved)],
    name: asset.names,
    customProperties: [asset.property === null ? null : `team=${asset.property}`],
    _entityType: [asset.type.toUpperCase()]
  }
  const has = (own[field] ?? []).filter((value) => value !== null)
  if (condition === 'EXISTS') return has.length > 0 !== negated
  const compares = textConditions[condition ?? '']
  if (compares) return has.some((value) => values.some((sought) => compares(value, sought))) !== negated
  const wanted = condition === 'DESCENDANTS_INCL' ? values.flatMap((value) => below[value] ?? []) : values
  return (own[field] ?? []).some((value) => value !== null && wanted.includes(value)) !== negated
}

function expected(
  assets: readonly Asset[],
  {
    terms,
    groups,
    types
  }: { terms: readonly Term[]; groups: readonly (readonly Filter[])[]; types: readonly string[] | null }
): Asset[] {
  const asksRemoved = groups.flat().some(({ field }) => field === 'removed')
  return assets.filter(
    (asset) =>
      (asksRemoved || !asset.isRemoved) &&
      (types === null || types.includes(asset.type.toUpperCase())) &&
      terms.every((term) => holdsTerm(asset, term)) &&
      (groups.length === 0 || groups.some((group) => group.every((filter) => holdsFilter(asset, filter))))
  )
}

const printed = ({ kind, words: sought }: Term): string =>
  kind === 'phrase' ? `"${sought.join(' ')}"` : kind === 'prefix' ? `${sought[0] ?? ''}*` : (sought[0] ?? '')

onBothEngines('what is found is what a plain look at everything finds', async (t, server) => {
  await applyCall(
    server.db,
    [record(0, createDomain(domains[0], 'one')), record(1, createDomain(domains[2], 'two'))],
    asCall()
  )
  await applyCall(server.db, [record(0, createDomain(domains[1], 'three', domains[0]))], asCall())
  const [drawn = []] = fc.sample(fc.array(anAsset, { minLength: 90, maxLength: 90 }), { numRuns: 1, seed: 7 })
  const assets: Asset[] = [
    {
      urn: sink,
      type: 'dataset',
      platform: 'kafka',
      origin: 'DEV',
      texts: [['sink'], ['kafka', 'sink', 'dev']],
      names: ['sink'],
      tags: [],
      domain: null,
      isRemoved: false,
      property: null
    }
  ]
  await applyCall(server.db, [record(0, upsert(sink, 'status', { removed: false }))], asCall())
  for (const [index, each] of drawn.entries()) assets.push(...(await write(server.db, each, index)))
  const sources: LineageSources = { db: server.db, memory: server.memory }

  for (const exactMaxCount of [10_000, 5]) {
    await fc.assert(
      fc.asyncProperty(aQuestion, async (question) => {
        const wanted = expected(assets, question)
        const input: EntitySearchInput = {
          query: question.terms.length === 0 ? '*' : question.terms.map(printed).join(' '),
          types: question.types ?? ['DATASET', 'CHART'],
          count: question.count,
          orFilters: question.groups.map((and) => ({ and }))
        }
        const scrolled: string[] = []
        for (let id = 0; id < question.slices; id += 1) {
          const slice = question.slices === 1 ? null : { id, max: question.slices }
          const before = scrolled.length
          let scrollId: string | null = null
          let total: number | null = null
          do {
            const page = await scrollEntities(
              sources,
              { ...input, slice, scrollId },
              { facets: false, matchedFields: false },
              { exactMaxCount }
            )
            if (!page.isEstimate) total = page.total
            scrolled.push(...page.results.map(({ entity }) => entity.urn))
            scrollId = page.nextScrollId
          } while (scrollId !== null)
          if (total !== null && total !== scrolled.length - before)
            throw new Error(`scroll says ${total} of ${scrolled.length - before}`)
        }
        compare(
          scrolled,
          wanted.map(({ urn }) => urn),
          'scrolled'
        )
        const page = await searchEntities(
          sources,
          { ...input, count: 1_000 },
          { facets: true, matchedFields: true },
          { exactMaxCount }
        )
        const urns = page.results.map(({ entity }) => entity.urn)
        if (page.isEstimate) {
          if (!urns.every((urn) => wanted.some((asset) => asset.urn === urn)))
            throw new Error('searched finds what it should not')
          return
        }
        compare(
          urns,
          wanted.map(({ urn }) => urn),
          'searched'
        )
        const facet = page.facets?.find(({ field }) => field === 'platform')?.aggregations ?? []
        compare(
          facet.map(({ value, count }) => `${value} ${count}`),
          platforms.flatMap((platform) => {
            const count = wanted.filter((asset) => asset.platform === platform).length
            return count > 0 ? [`urn:li:dataPlatform:${platform} ${count}`] : []
          }),
          'counted'
        )
        for (const { entity, matchedFields } of page.results)
          if (question.terms.length > 0 && matchedFields.length === 0)
            throw new Error(`${entity.urn} does not say where it matched`)
      }),
      { numRuns: casesOf(60) }
    )
  }
  t.pass('each question')
})

function compare(found: readonly string[], wanted: readonly string[], what: string): void {
  const [left, right] = [[...found].sort().join('\n'), [...wanted].sort().join('\n')]
  if (left !== right) throw new Error(`${what}:\n${left}\nbut expected:\n${right}`)
}

/** The entities that refer to placeholders. */
const sink = datasetUrn('kafka', 'sink', 'DEV')

/** Writes the random asset in steps, and returns the facts for the oracle; none if it has been deleted. */
async function write(db: LineageSources['db'], drawn: Drawn, index: number): Promise<Asset[]> {
  const own = `${drawn.urnWords.join('_')}_n${index}`
  const urn =
    drawn.type === 'dataset' ? datasetUrn(drawn.platform, own, drawn.origin) : chartUrn(drawn.platform, own)
  const apply = async (...changes: Change[]): Promise<void> => {
    await applyCall(db, [record(0, ...changes)], asCall({ missingReferences: 'create' }))
  }
  const base: Asset = {
    urn,
    type: drawn.type,
    platform: drawn.platform,
    origin: drawn.type === 'dataset' ? drawn.origin : null,
    names: [own],
    tags: [],
    domain: null,
    isRemoved: false,
    property: null,
    texts: [
      [...drawn.urnWords, `n${index}`],
      [
        drawn.platform,
        ...drawn.urnWords,
        `n${index}`,
        ...(drawn.type === 'dataset' ? [drawn.origin.toLowerCase()] : [])
      ]
    ]
  }
  if (drawn.state === 'placeholder') {
    await apply(drawn.type === 'dataset' ? addEdge(urn, sink) : addEdge(sink, urn))
    return [base]
  }
  const [name, description] = [drawn.name?.join(' '), drawn.description.join(' ')]
  const customProperties = drawn.property === null ? {} : { team: drawn.property }
  await apply(
    drawn.type === 'dataset'
      ? upsert(urn, 'datasetProperties', {
          ...(name === undefined ? {} : { name: 'something else' }),
          description,
          customProperties
        })
      : upsert(urn, 'chartInfo', { title: 'something else', description, customProperties })
  )
  await apply(
    drawn.type === 'dataset'
      ? upsert(urn, 'datasetProperties', {
          ...(name === undefined ? {} : { name }),
          description,
          customProperties
        })
      : upsert(urn, 'chartInfo', { title: name ?? 'x1', description, customProperties })
  )
  const columns = [...new Set(drawn.columns)]
  if (drawn.type === 'dataset')
    await apply(upsert(urn, 'schemaMetadata', { fields: columns.map((fieldPath) => ({ fieldPath })) }))
  await apply(upsert(urn, 'globalTags', { tags: drawn.tags.map((tag) => ({ tag })) }))
  await apply(drawn.domain === null ? unsetDomain(urn) : setDomain(urn, toUrn(drawn.domain)))
  if (drawn.state === 'removed') await apply(upsert(urn, 'status', { removed: true }))
  if (drawn.state === 'deleted') {
    await apply(hardDelete(urn))
    return []
  }
  const shownName = drawn.type === 'chart' ? (name ?? 'x1') : name
  return [
    {
      ...base,
      names: [...(shownName === undefined ? [] : [shownName]), own],
      tags: drawn.tags,
      domain: drawn.domain,
      isRemoved: drawn.state === 'removed',
      property: drawn.property,
      texts: [
        ...base.texts,
        ...(shownName === undefined ? [] : [shownName.split(' ')]),
        drawn.description,
        ...(drawn.type === 'dataset' ? columns.map((column) => [column]) : []),
        ...(drawn.property === null ? [] : [['team'], [drawn.property]])
      ]
    }
  ]
}
