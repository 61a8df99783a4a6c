/**
 * Random graphs with random histories: which entities exist, who adds and removes which edges, what is
 * deleted and created again.
 *
 * A history is plain data. Its steps are interpreted when they are played, by what exists then, so most
 * removals remove something. Each step gives the changes to send, and their effects in the simplest form for
 * the oracle.
 */
import type { Change } from '../../shared/model/changes.ts'
import { toUrn, type Urn } from '../../shared/urn/urn.ts'
import {
  addEdge,
  createDomain,
  deleteAspect,
  hardDelete,
  patch,
  removeEdge,
  segment,
  setDomain,
  unsetDomain,
  upsert,
  upstream
} from './changes.ts'
import { fc } from './fast-check.ts'
import { aspectStating } from './graph.ts'
import type { Effect, Oracle } from './history-oracle.ts'

/** The facts that filters use, written out instead of derived from URNs. */
export type Thing = {
  urn: Urn
  type: string
  platform: string | null
  origin: string | null
  assetUrn: Urn | null
}

/** An edge that can be asserted, and the aspect that then asserts it. */
export type Pair = { up: Urn; down: Urn; owner: Urn; aspect: string }

export type World = { things: Thing[]; columns: Thing[]; domains: Urn[]; pairs: Pair[] }

type Kind = {
  type: string
  platform: string | null
  origin: string | null
  urn: (id: string) => string
  fedBy: readonly string[]
  aspect: string
  hasColumns: boolean
}

const platform = (name: string): string => `urn:li:dataPlatform:${name}`

const kinds = {
  table: {
    type: 'dataset',
    platform: platform('hive'),
    origin: 'PROD',
    urn: (id) => `urn:li:dataset:(urn:li:dataPlatform:hive,${id},PROD)`,
    fedBy: ['dataset', 'dataJob'],
    aspect: 'upstreamLineage',
    hasColumns: true
  },
  staged: {
    type: 'dataset',
    platform: platform('snowflake'),
    origin: 'DEV',
    urn: (id) => `urn:li:dataset:(urn:li:dataPlatform:snowflake,${id}.größe,DEV)`,
    fedBy: ['dataset', 'dataJob'],
    aspect: 'upstreamLineage',
    hasColumns: true
  },
  job: {
    type: 'dataJob',
    platform: platform('airflow'),
    origin: 'PROD',
    urn: (id) => `urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,PROD),${id})`,
    fedBy: ['dataset', 'dataJob'],
    aspect: 'dataJobInputOutput',
    hasColumns: false
  },
  chart: {
    type: 'chart',
    platform: platform('looker'),
    origin: null,
    urn: (id) => `urn:li:chart:(looker,${id})`,
    fedBy: ['dataset', 'chart'],
    aspect: 'chartInfo',
    hasColumns: true
  },
  dashboard: {
    type: 'dashboard',
    platform: platform('looker'),
    origin: null,
    urn: (id) => `urn:li:dashboard:(looker,${id})`,
    fedBy: ['dataset', 'chart', 'dashboard'],
    aspect: 'dashboardInfo',
    hasColumns: true
  },
  key: {
    type: 'mlPrimaryKey',
    platform: null,
    origin: null,
    urn: (id) => `urn:li:mlPrimaryKey:(keys,${id})`,
    fedBy: ['dataset'],
    aspect: 'mlPrimaryKeyProperties',
    hasColumns: false
  },
  feature: {
    type: 'mlFeature',
    platform: null,
    origin: null,
    urn: (id) => `urn:li:mlFeature:(features,${id})`,
    fedBy: ['dataset'],
    aspect: 'mlFeatureProperties',
    hasColumns: false
  },
  model: {
    type: 'mlModel',
    platform: platform('mlflow'),
    origin: 'PROD',
    urn: (id) => `urn:li:mlModel:(urn:li:dataPlatform:mlflow,${id},PROD)`,
    fedBy: ['mlFeature'],
    aspect: 'mlModelProperties',
    hasColumns: false
  }
} satisfies { [name: string]: Kind }

type KindName = keyof typeof kinds

export type Step =
  | { do: 'add'; picks: number[]; source: string }
  | { do: 'remove'; picks: number[]; isLive: boolean }
  | { do: 'upsert'; pick: number; more: number[]; source: string }
  | { do: 'patch'; pick: number; source: string }
  | { do: 'replace'; pick: number; more: number[]; by: string | null }
  | { do: 'clear'; pick: number }
  | { do: 'unpatch'; pick: number }
  | { do: 'soft'; of: number; isRemoved: boolean; byAspect: boolean }
  | { do: 'hard' | 'create'; of: number }
  | { do: 'domain'; of: number; domain: number; what: 'set' | 'unset' | 'put' | 'delete' }
  | { do: 'tree'; domain: number; parent: number; what: 'create' | 'move' | 'delete' }

/** A filter, by its index among the possible filters. */
export type DrawnFilter = { at: number; isNegated: boolean }

export type History = {
  kinds: KindName[]
  /** The asset of each column, by number. */
  columns: number[]
  /** Whether the domain is below the one before it. */
  domains: boolean[]
  /** The entities that exist from the beginning; the others begin as placeholders. */
  isThere: boolean[]
  shape: string
  columnShape: string
  steps: Step[]
  filters: DrawnFilter[][]
  pageSize: number
}

const shapes: { readonly [name: string]: (count: number) => [number, number][] } = {
  none: () => [],
  chain: (count) => numbers(count - 1).map((at) => [at, at + 1]),
  cycle: (count) => numbers(count).map((at) => [at, (at + 1) % count]),
  diamonds: (count) =>
    numbers(count - 2).flatMap((at): [number, number][] => [
      [at, at + 1],
      [at, at + 2]
    ]),
  hub: (count) => numbers(count - 1).map((at) => [0, at + 1]),
  funnel: (count) => numbers(count - 1).map((at) => [at + 1, 0]),
  tree: (count) => numbers(count - 1).map((at) => [at >> 1, at + 1]),
  all: (count) =>
    numbers(Math.min(count, 5)).flatMap((up) =>
      numbers(Math.min(count, 5)).map((down): [number, number] => [up, down])
    )
}

const numbers = (count: number): number[] => Array.from({ length: Math.max(0, count) }, (_, index) => index)
const pick = fc.nat(9_999)
const picks = (maxLength: number) => fc.array(pick, { minLength: 1, maxLength, size: 'max' })
/** Usually a few, sometimes none, which removes the statements. */
const more = fc.array(pick, { maxLength: 5, size: 'max' })
const source = fc.constantFrom('manual', 's0', 's1')

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 7, arbitrary: fc.record({ do: fc.constant('add' as const), picks: picks(6), source }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('remove' as const),
      picks: picks(3),
      isLive: fc.nat(4).map((drawn) => drawn > 0)
    })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('upsert' as const), pick, more, source }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('patch' as const), pick, source }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unpatch' as const), pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('replace' as const),
      pick,
      more,
      by: fc.constantFrom('s0', 's0', 's1', null)
    })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('soft' as const),
      of: pick,
      isRemoved: fc.boolean(),
      byAspect: fc.boolean()
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('hard' as const, 'create' as const, 'create' as const),
      of: pick
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('domain' as const),
      of: pick,
      domain: pick,
      what: fc.constantFrom(
        'set' as const,
        'set' as const,
        'put' as const,
        'unset' as const,
        'delete' as const
      )
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('tree' as const),
      domain: pick,
      parent: pick,
      what: fc.constantFrom('move' as const, 'delete' as const, 'create' as const)
    })
  }
)

const shape = fc.constantFrom(...Object.keys(shapes))
const otherKind = fc.constantFrom<KindName>(
  'table',
  'table',
  'table',
  'staged',
  'staged',
  'job',
  'job',
  'chart',
  'dashboard',
  'key',
  'feature',
  'model'
)

export const anyHistory: fc.Arbitrary<History> = fc.record({
  kinds: fc
    .array(otherKind, { minLength: 1, maxLength: 10, size: 'max' })
    .map((others): KindName[] => ['table', 'table', ...others]),
  columns: fc.array(pick, { maxLength: 8, size: 'max' }),
  domains: fc.array(fc.boolean(), { maxLength: 4, size: 'max' }),
  isThere: fc.array(
    fc.nat(4).map((drawn) => drawn > 0),
    { minLength: 12, maxLength: 12 }
  ),
  shape,
  columnShape: shape,
  steps: fc.array(step, { minLength: 4, maxLength: 12, size: 'max' }),
  filters: fc.array(
    fc.array(fc.record({ at: pick, isNegated: fc.boolean() }), { minLength: 1, maxLength: 3 }),
    { maxLength: 3 }
  ),
  pageSize: fc.constantFrom(1, 1, 2, 3, 5, 1_000)
})

/** The entities of a history in a namespace; histories in different namespaces share nothing. */
export function worldOf(history: History, namespace: string): World {
  const things = history.kinds.map((name, index): Thing => {
    const { type, platform: platformUrn, origin, urn } = kinds[name]
    return {
      urn: toUrn(urn(`${namespace}.${name}${index}`)),
      type,
      platform: platformUrn,
      origin,
      assetUrn: null
    }
  })
  const kindOf = new Map(things.map((thing, index) => [thing.urn, kinds[history.kinds[index] ?? 'table']]))
  const holders = things.filter(({ urn }) => kindOf.get(urn)?.hasColumns)
  const columns = history.columns.map((drawn, index): Thing => {
    const asset = at(holders, drawn)
    return {
      ...asset,
      urn: toUrn(`urn:li:schemaField:(${asset.urn},c${index})`),
      type: 'schemaField',
      assetUrn: asset.urn
    }
  })
  const assetPairs = things.flatMap((up) =>
    things.flatMap((down): Pair[] => {
      if (!kindOf.get(down.urn)?.fedBy.includes(up.type)) return []
      const owner = up.type === 'dataJob' && down.type === 'dataset' ? up : down
      return [{ up: up.urn, down: down.urn, owner: owner.urn, aspect: kindOf.get(owner.urn)?.aspect ?? '' }]
    })
  )
  const columnPairs = columns.flatMap((up) =>
    columns.map((down): Pair => {
      const owner = down.assetUrn ?? down.urn
      return {
        up: up.urn,
        down: down.urn,
        owner,
        aspect: kindOf.get(owner)?.type === 'dataset' ? 'upstreamLineage' : 'inputFields'
      }
    })
  )
  return {
    things,
    columns,
    domains: history.domains.map((_, index) => toUrn(`urn:li:domain:${namespace}.d${index}`)),
    pairs: [...assetPairs, ...columnPairs]
  }
}

/** The contents of one record, its source, and its effect. */
export type Act = { text: string; source: string; changes: Change[]; effects: Effect[] }

const act = (text: string, changes: Change[], effects: Effect[], by = 'manual'): Act => ({
  text,
  source: by,
  changes,
  effects
})
const at = <T>(list: readonly T[], drawn: number): T => {
  const found = list[drawn % list.length]
  if (found === undefined) throw new Error('an empty list')
  return found
}
const short = (urn: Urn): string => urn.replaceAll(/urn:li:|dataPlatform:/g, '')
const arrow = ({ up, down }: Pair): string => `${short(up)} -> ${short(down)}`
const stated = (pair: Pair, by: string): Effect => ({ ...pair, kind: 'stated', source: by })

/** Creates the graph before its history: domains and entities, then edges in a shape. */
export function beginningOf(history: History, world: World): Act[] {
  const parentOf = (index: number): Urn | null =>
    (history.domains[index] ? world.domains[index - 1] : null) ?? null
  const there = world.things.filter((_, index) => history.isThere[index % history.isThere.length])
  const made: Change[] = [
    ...world.domains.map((urn, index) => createDomain(urn, short(urn), parentOf(index) ?? undefined)),
    ...there.map(({ urn }): Change => ({ kind: 'upsertEntity', entityUrn: urn }))
  ]
  const madeOf: Effect[] = [
    ...[...world.domains, ...there.map(({ urn }) => urn)].map((urn): Effect => ({ kind: 'present', urn })),
    ...world.domains.map((urn, index): Effect => ({ kind: 'parent', urn, parent: parentOf(index) }))
  ]
  const pairOf = new Map(world.pairs.map((pair) => [`${pair.up} ${pair.down}`, pair]))
  const drawn = (shapeName: string, list: readonly Thing[]): Pair[] =>
    (shapes[shapeName]?.(list.length) ?? []).flatMap(
      ([up, down]) => pairOf.get(`${list[up]?.urn} ${list[down]?.urn}`) ?? []
    )
  const pairs = [
    ...drawn(
      history.shape,
      world.things.filter(({ type }) => type === 'dataset' || type === 'dataJob')
    ),
    ...drawn(history.columnShape, world.columns)
  ]
  return [
    act(
      `create ${[...world.domains.map((urn, index) => `${short(urn)} in ${parentOf(index) ?? 'nothing'}`), ...there.map(({ urn }) => short(urn))].join(', ')}`,
      made,
      madeOf
    ),
    act(
      `add ${pairs.map(arrow).join(', ')}`,
      pairs.map(({ up, down }) => addEdge(up, down)),
      pairs.map((pair) => stated(pair, 'manual'))
    )
  ].filter(({ changes }) => changes.length > 0)
}

/** What a step does if the oracle's state is what exists; null if it would be refused, or do nothing. */
export function actOf(each: Step, world: World, oracle: Oracle): Act | null {
  switch (each.do) {
    case 'add': {
      const pairs = [...new Set(each.picks.map((drawn) => at(world.pairs, drawn)))]
      return act(
        `add ${pairs.map(arrow).join(', ')} by ${each.source}`,
        pairs.map(({ up, down }) => addEdge(up, down)),
        pairs.map((pair) => stated(pair, each.source)),
        each.source
      )
    }
    case 'remove': {
      const live = oracle.livePairs()
      const pairs = [
        ...new Set(each.picks.map((drawn) => at(each.isLive && live.length > 0 ? live : world.pairs, drawn)))
      ]
      return act(
        `remove ${pairs.map(arrow).join(', ')}`,
        pairs.map(({ up, down }) => removeEdge(up, down)),
        pairs.map((pair) => ({ ...pair, kind: 'unstated' as const }))
      )
    }
    case 'upsert': {
      const { owner, aspect, edges, text } = entriesOf(world, at(world.pairs, each.pick), each.more)
      return act(
        `UPSERT ${aspect} of ${short(owner)} by ${each.source}: ${text}`,
        [upsert(owner, aspect, aspectStating(aspect, edges.map(ends)))],
        [
          { kind: 'named', urn: owner },
          { kind: 'present', urn: owner },
          { kind: 'removed', urn: owner, isRemoved: false },
          { kind: 'cleared', owner, aspect, source: null },
          ...edges.map((pair) => stated(pair, each.source))
        ],
        each.source
      )
    }
    case 'replace': {
      const { owner, aspect, edges, text } = entriesOf(world, at(world.pairs, each.pick), each.more)
      return act(
        `replace ${aspect} of ${short(owner)} by ${each.by ?? 'all'}: ${text}`,
        [
          {
            kind: 'replaceEdges',
            ownerUrn: owner,
            aspectName: aspect,
            ...(each.by === null ? {} : { source: each.by }),
            edges: edges.map(ends)
          }
        ],
        [
          { kind: 'named', urn: owner },
          { kind: 'cleared', owner, aspect, source: each.by },
          ...edges.map((pair) => stated(pair, each.by ?? 'manual'))
        ]
      )
    }
    case 'clear': {
      const { owner, aspect } = at(world.pairs, each.pick)
      return act(
        `delete ${aspect} of ${short(owner)}`,
        [deleteAspect(owner, aspect)],
        [{ kind: 'cleared', owner, aspect, source: null }]
      )
    }
    case 'patch':
    case 'unpatch':
      return patched(each, world)
    case 'soft': {
      const { urn, assetUrn } = at([...world.things, ...world.columns], each.of)
      if (each.byAspect || assetUrn)
        return act(
          `status of ${short(urn)}: removed ${each.isRemoved}`,
          [upsert(urn, 'status', { removed: each.isRemoved })],
          [
            { kind: 'named', urn },
            { kind: 'present', urn: assetUrn ?? urn },
            { kind: 'removed', urn, isRemoved: each.isRemoved }
          ]
        )
      return act(
        `soft delete ${short(urn)}`,
        [{ kind: 'deleteEntity', entityUrn: urn, hard: false }],
        oracle.isPresent(urn) ? [{ kind: 'removed', urn, isRemoved: true }] : []
      )
    }
    case 'hard': {
      const { urn } = at([...world.things, ...world.columns], each.of)
      return act(`delete ${short(urn)}`, [hardDelete(urn)], [{ kind: 'gone', urn }])
    }
    case 'create': {
      const { urn } = at(world.things, each.of)
      return act(
        `create ${short(urn)}`,
        [{ kind: 'upsertEntity', entityUrn: urn }],
        [
          { kind: 'present', urn },
          { kind: 'removed', urn, isRemoved: false }
        ]
      )
    }
    case 'domain':
      return associated(each, world, oracle)
    case 'tree':
      return planted(each, world, oracle)
  }
}

const ends = ({ up, down }: Pair) => ({ upstreamUrn: up, downstreamUrn: down })

/** An aspect, chosen by one of its edges, and some of the edges that it can assert. */
function entriesOf(world: World, { owner, aspect }: Pair, more: readonly number[]) {
  const possible = world.pairs.filter((pair) => pair.owner === owner && pair.aspect === aspect)
  const edges = [...new Set(more.map((drawn) => at(possible, drawn)))]
  return { owner, aspect, edges, text: edges.map(arrow).join(', ') || 'nothing' }
}

function patched(each: Extract<Step, { do: 'patch' | 'unpatch' }>, world: World): Act | null {
  const tables = world.pairs.filter(
    (pair) => pair.aspect === 'upstreamLineage' && world.things.some(({ urn }) => urn === pair.up)
  )
  const pair = at(tables, each.pick)
  const path = `/upstreams/${segment(pair.up)}`
  if (each.do === 'unpatch')
    return act(
      `PATCH away ${arrow(pair)}`,
      [patch(pair.owner, pair.aspect, { op: 'remove', path })],
      [
        { kind: 'named', urn: pair.owner },
        { kind: 'present', urn: pair.owner },
        { ...pair, kind: 'unstated' }
      ]
    )
  return act(
    `PATCH in ${arrow(pair)} by ${each.source}`,
    [patch(pair.owner, pair.aspect, { op: 'add', path, value: upstream(pair.up) })],
    [stated(pair, each.source), { kind: 'present', urn: pair.owner }],
    each.source
  )
}

/** Assets are not put into deleted domains: reading the asset shows no domain, while counts include it. */
function associated(each: Extract<Step, { do: 'domain' }>, world: World, oracle: Oracle): Act | null {
  if (world.domains.length === 0) return null
  const { urn } = at(world.things, each.of)
  const domain = at(world.domains, each.domain)
  if (!oracle.isPresent(domain) && (each.what === 'set' || each.what === 'put')) return null
  const text = `${each.what} domain of ${short(urn)}`
  const named: Effect[] = [
    { kind: 'named', urn },
    { kind: 'named', urn: domain },
    { kind: 'domain', urn, domain }
  ]
  if (each.what === 'set') return act(`${text}: ${short(domain)}`, [setDomain(urn, domain)], named)
  if (each.what === 'put')
    return act(
      `${text}: ${short(domain)}`,
      [upsert(urn, 'domains', { domains: [domain] })],
      [...named, { kind: 'present', urn }]
    )
  return act(
    text,
    [each.what === 'unset' ? unsetDomain(urn) : deleteAspect(urn, 'domains')],
    [{ kind: 'domain', urn, domain: null }]
  )
}

/** The tree refuses cycles, missing parents and deletions of parents. Other tests cover that. */
function planted(each: Extract<Step, { do: 'tree' }>, world: World, oracle: Oracle): Act | null {
  if (world.domains.length === 0) return null
  const urn = at(world.domains, each.domain)
  const parent =
    [
      null,
      ...world.domains.filter(
        (other) => oracle.isPresent(other) && !oracle.below([urn]).has(other) && other !== urn
      )
    ][each.parent % (world.domains.length + 1)] ?? null
  if (each.what === 'create')
    return oracle.isPresent(urn)
      ? null
      : act(
          `create ${short(urn)} in ${parent ?? 'nothing'}`,
          [createDomain(urn, short(urn), parent ?? undefined)],
          [
            { kind: 'present', urn },
            { kind: 'parent', urn, parent }
          ]
        )
  if (!oracle.isPresent(urn)) return null
  if (each.what === 'move')
    return act(
      `move ${short(urn)} to ${parent ?? 'the top'}`,
      [{ kind: 'moveDomain', domainUrn: urn, parentDomain: parent }],
      [{ kind: 'parent', urn, parent }]
    )
  return oracle.below([urn]).size > 0
    ? null
    : act(`delete ${short(urn)}`, [{ kind: 'deleteDomain', domainUrn: urn }], [{ kind: 'gone', urn }])
}
