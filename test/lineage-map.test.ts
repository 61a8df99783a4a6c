/**
 * The map of lineage by level: boxes and edges of every place of random catalogs are those of an oracle that is
 * too simple to be wrong, in memory and in SQL.
 */
import t from 'tap'
import type { JsonObject } from '../shared/model/changes.ts'
import { schemaIn } from '../shared/urn/schema-name.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import { contracted } from './cases/lineage-views.ts'
import { casesOf, fc, seed } from './support/fast-check.ts'
import { makeAssets } from './support/graph.ts'
import { propose, remove, withBoth, type Ask } from './support/lineage-views.ts'
import type { TestServer } from './support/server.ts'

const worldsCount = casesOf(8)

type Place = { domain?: string; system?: string; schema?: string }
type Box = {
  key: string
  kind: string
  name: string
  entity: { urn: string } | null
  platforms: { urn: string }[]
  assetCount: number
  insideCount: number
  upstreamCount: number
  downstreamCount: number
  fromOutsideCount: number
  toOutsideCount: number
}
type Edge = { upstreamKey: string; downstreamKey: string; edgeCount: number }
type LineageMap = {
  start: number
  count: number
  total: number
  assetCount: number
  edgeCount: number
  edgeTotal: number
  edgesOfPage: number
  boxes: Box[]
  edges: Edge[]
}

const mapQuery = `query ($input: LineageMapInput) { lineageMap(input: $input) {
  start count total assetCount edgeCount edgeTotal edgesOfPage
  boxes { key kind name entity { urn } platforms { urn } assetCount insideCount upstreamCount downstreamCount fromOutsideCount toOutsideCount }
  edges { upstreamKey downstreamKey edgeCount }
} }`

/** What the oracle knows of an asset, without reading its URN. */
type Asset = { urn: Urn; platform: string; system: string; schema: string; isJob: boolean }
type World = {
  assets: Asset[]
  /** By domain, its parent. */
  parents: Map<Urn, Urn | null>
  domainOf: Map<Urn, Urn>
  edges: [Urn, Urn][]
  removed: Set<Urn>
}

const emptyWorld = (): World => ({
  assets: [],
  parents: new Map(),
  domainOf: new Map(),
  edges: [],
  removed: new Set()
})

const table = (platform: string, schema: string, name: string, environment = 'PROD'): Asset => ({
  urn: toUrn(
    `urn:li:dataset:(urn:li:dataPlatform:${platform},${schema === '' ? '' : `${schema}.`}${name},${environment})`
  ),
  platform: `urn:li:dataPlatform:${platform}`,
  system: `${platform},${environment}`,
  schema,
  isJob: false
})
const job = (flow: string, name: string): Asset => ({
  urn: toUrn(`urn:li:dataJob:(urn:li:dataFlow:(airflow,${flow},PROD),${name})`),
  platform: 'urn:li:dataPlatform:airflow',
  system: 'airflow,PROD',
  schema: flow,
  isJob: true
})

const chainOf = ({ parents }: World, domain: Urn): Urn[] => {
  const parent = parents.get(domain) ?? null
  return [domain, ...(parent === null ? [] : chainOf({ parents } as World, parent))]
}

/** The key of the box that an asset is in, or null if it is outside of the place. */
function boxOf(world: World, { domain, system, schema }: Place, asset: Asset): string | null {
  const own = world.domainOf.get(asset.urn)
  const chain = own === undefined ? [] : chainOf(world, own)
  if (domain === undefined) return chain.at(-1) ?? ''
  if (domain === '' ? chain.length > 0 : !chain.includes(toUrn(domain))) return null
  const isDirect = domain === '' || own === domain
  if (!isDirect) return system === undefined ? (chain[chain.indexOf(toUrn(domain)) - 1] ?? null) : null
  if (system === undefined) return asset.system
  if (asset.system !== system) return null
  if (schema === undefined) return asset.schema
  return asset.schema === schema ? asset.urn : null
}

/** Edges between boxes, and boxes with their numbers, as lines in order. */
function naiveMap(world: World, place: Place): { boxes: string[]; edges: string[] } {
  const isBridged = ({ urn, isJob }: Asset): boolean => isJob && !world.domainOf.has(urn)
  const living = world.assets.filter((asset) => !world.removed.has(asset.urn))
  const keys = new Map<string, string | null>(
    living
      .filter((asset) => !isBridged(asset))
      .map((asset): [string, string | null] => [asset.urn, boxOf(world, place, asset)])
  )
  const bridged = new Set<string>(living.filter(isBridged).map(({ urn }) => urn))
  const named = world.edges.filter((edge) => !edge.some((urn) => world.removed.has(urn)))
  const boxes = new Map<string, { assets: number; counts: number[] }>()
  for (const key of keys.values()) {
    if (key === null) continue
    const box = boxes.get(key) ?? { assets: 0, counts: [0, 0, 0, 0, 0] }
    boxes.set(key, { ...box, assets: box.assets + 1 })
  }
  const edges = new Map<string, number>()
  const add = (key: string, at: number): void => {
    const counts = boxes.get(key)?.counts ?? []
    counts[at] = (counts[at] ?? 0) + 1
  }
  for (const [up, down] of contracted(named, (urn) => bridged.has(urn))) {
    const [from = null, to = null] = [keys.get(up), keys.get(down)]
    if (from !== null && from === to) add(from, 0)
    else if (from !== null && to !== null) {
      add(from, 2)
      add(to, 1)
      edges.set(`${from} -> ${to}`, (edges.get(`${from} -> ${to}`) ?? 0) + 1)
    } else if (from !== null) add(from, 4)
    else if (to !== null) add(to, 3)
  }
  return {
    boxes: [...boxes].map(([key, { assets, counts }]) => `${key}: ${assets} (${counts.join(' ')})`).sort(),
    edges: [...edges].map(([key, count]) => `${key}: ${count}`).sort()
  }
}

const linesOf = ({ boxes, edges }: LineageMap) => ({
  boxes: boxes
    .map(
      (box) =>
        `${box.key}: ${box.assetCount} (${box.insideCount} ${box.upstreamCount} ${box.downstreamCount} ${box.fromOutsideCount} ${box.toOutsideCount})`
    )
    .sort(),
  edges: edges
    .map(({ upstreamKey, downstreamKey, edgeCount }) => `${upstreamKey} -> ${downstreamKey}: ${edgeCount}`)
    .sort()
})

async function must(answer: Promise<{ body: { data?: JsonObject }; text: string }>): Promise<void> {
  const { body, text } = await answer
  if (!Object.values(body.data ?? {})[0]) throw new Error(text)
}

/** Writes what is new in a world, and adds it to what is there. */
async function write(server: TestServer, all: World, fresh: World): Promise<void> {
  for (const [urn, parentDomain] of fresh.parents)
    await must(
      server.graphql('mutation ($input: CreateDomainInput!) { createDomain(input: $input) }', {
        input: {
          id: urn.slice('urn:li:domain:'.length),
          name: urn,
          ...(parentDomain === null ? {} : { parentDomain })
        }
      })
    )
  await makeAssets(
    server,
    fresh.assets.map(({ urn }) => urn)
  )
  const edgesToAdd = fresh.edges.map(([upstreamUrn, downstreamUrn]) => ({ upstreamUrn, downstreamUrn }))
  await must(
    server.graphql('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', {
      input: { edgesToAdd }
    })
  )
  for (const domainUrn of new Set(fresh.domainOf.values())) {
    const resources = [...fresh.domainOf].flatMap(([resourceUrn, domain]) =>
      domain === domainUrn ? [{ resourceUrn }] : []
    )
    await must(
      server.graphql('mutation ($input: BatchSetDomainInput!) { batchSetDomain(input: $input) }', {
        input: { domainUrn, resources }
      })
    )
  }
  for (const urn of fresh.removed) await remove(server, urn)
  all.assets.push(...fresh.assets)
  all.edges.push(...fresh.edges)
  for (const [urn, parent] of fresh.parents) all.parents.set(urn, parent)
  for (const [urn, domain] of fresh.domainOf) all.domainOf.set(urn, domain)
  for (const urn of fresh.removed) all.removed.add(urn)
}

const read = async (ask: Ask, input: JsonObject): Promise<LineageMap> => {
  const { data, error } = await ask(mapQuery, input)
  if (error) throw new Error(JSON.stringify(error))
  return data
}

/** Every place of the catalog, as its boxes lead to it. */
async function everyPlace(ask: Ask, place: Place = {}): Promise<[Place, LineageMap][]> {
  const map = await read(ask, place)
  const below: [Place, LineageMap][] = []
  for (const { kind, key } of map.boxes) {
    if (kind === 'DOMAIN') below.push(...(await everyPlace(ask, { domain: key })))
    if (kind === 'SYSTEM') below.push(...(await everyPlace(ask, { ...place, system: key })))
    if (kind === 'SCHEMA') below.push(...(await everyPlace(ask, { ...place, schema: key })))
  }
  return [[place, map], ...below]
}

/** Assets of a few systems and schemas, in some domain of a tree or in none. */
const randomWorld = (namespace: string): fc.Arbitrary<World> =>
  fc
    .record({
      parents: fc.array(fc.nat(5), { minLength: 2, maxLength: 4 }),
      drawn: fc.array(
        fc.record({ kind: fc.nat(5), schema: fc.nat(2), home: fc.nat(6), isGone: fc.nat(11) }),
        { minLength: 6, maxLength: 12 }
      ),
      pairs: fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { minLength: 8, maxLength: 30, size: 'max' })
    })
    .map(({ parents, drawn, pairs }) => {
      const domains = parents.map((_, index) => toUrn(`urn:li:domain:${namespace}_d${index}`))
      const assets = drawn.map(({ kind, schema }, index): Asset => {
        const name = `${namespace}_n${index}`
        const folder = ['', 'db.one', `${namespace}.db.two`][schema] ?? ''
        if (kind > 3) return job(`${namespace}_flow${schema}`, name)
        return kind === 3
          ? table('hive', folder, name, 'DEV')
          : table(kind === 0 ? 'hive' : 'dbt', folder, name)
      })
      const urnAt = (index: number): Urn => assets[index % assets.length]?.urn ?? toUrn('urn:li:tag:none')
      return {
        assets,
        parents: new Map(
          domains.map((urn, index): [Urn, Urn | null] => [
            urn,
            (parents[index] ?? 0) % (index + 1) < index
              ? (domains[(parents[index] ?? 0) % (index + 1)] ?? null)
              : null
          ])
        ),
        domainOf: new Map(
          drawn.flatMap(({ home }, index): [Urn, Urn][] => {
            const domain = domains[home]
            return domain === undefined ? [] : [[urnAt(index), domain]]
          })
        ),
        edges: pairs.map(([up, down]): [Urn, Urn] => [urnAt(up), urnAt(down)]),
        removed: new Set(drawn.flatMap(({ isGone }, index) => (isGone === 0 ? [urnAt(index)] : [])))
      }
    })

t.test('the map of lineage', async (t) => {
  const { server, ask } = await withBoth(t)
  const all = emptyWorld()

  await t.test(`in every place of ${worldsCount} random catalogs is that of a naive oracle`, async (t) => {
    const seen = { boxes: 0, edges: 0, outside: 0 }
    for (let index = 0; index < worldsCount; index += 1) {
      const [fresh = emptyWorld()] = fc.sample(randomWorld(`w${index}`), { numRuns: 1, seed: seed + index })
      await write(server, all, fresh)
      for (const [place, map] of await everyPlace(ask)) {
        const label = `${JSON.stringify(place)}, seed ${seed}`
        t.strictSame(linesOf(map), naiveMap(all, place), label)
        t.equal(map.edgeCount, sumOf(map.edges.map(({ edgeCount }) => edgeCount)), label)
        t.equal(map.assetCount, sumOf(map.boxes.map(({ assetCount }) => assetCount)), label)
        seen.boxes += map.total
        seen.edges += map.edgeTotal
        seen.outside += sumOf(map.boxes.map(({ toOutsideCount }) => toOutsideCount))
      }
    }
    t.ok(
      Object.values(seen).every((count) => count > 5),
      JSON.stringify(seen)
    )
  })

  await t.test('sees a change as soon as it is acknowledged', async (t) => {
    const [up, down] = [table('oracle', 'now.s', 'up'), table('oracle', 'now.s', 'down')]
    const place = { domain: '', system: 'oracle,PROD' }
    t.strictSame(linesOf(await read(ask, place)), { boxes: [], edges: [] }, 'an unknown place is empty')
    await write(server, all, { ...emptyWorld(), assets: [up, down], edges: [[up.urn, down.urn]] })
    t.strictSame(linesOf(await read(ask, place)).boxes, ['now.s: 2 (1 0 0 0 0)'])
    const domain = toUrn('urn:li:domain:now')
    await write(server, all, {
      ...emptyWorld(),
      edges: [[up.urn, down.urn]],
      parents: new Map([[domain, null]]),
      domainOf: new Map([[down.urn, domain]])
    })
    t.strictSame(linesOf(await read(ask, place)).boxes, ['now.s: 1 (0 0 0 0 1)'])
    t.strictSame(linesOf(await read(ask, { domain })).boxes, ['oracle,PROD: 1 (0 0 0 1 0)'])
    await remove(server, up.urn)
    all.removed.add(up.urn)
    t.strictSame(linesOf(await read(ask, { domain })).boxes, ['oracle,PROD: 1 (0 0 0 0 0)'])
    t.strictSame(linesOf(await read(ask, place)).boxes, [])
  })

  await t.test('counts placeholders, and an edge with several statements once', async (t) => {
    const [a, b] = [table('db2', 'x.y', 'a'), table('db2', 'x.z', 'b')]
    const untold = table('db2', 'x.y', 'untold')
    await makeAssets(server, [a.urn, b.urn])
    const by = job('twice', 'copy')
    await makeAssets(server, [by.urn])
    const upstreams = [a.urn, untold.urn].map((dataset) => ({ dataset, type: 'COPY' }))
    await propose(server, b.urn, 'upstreamLineage', { upstreams }, { 'x-missing-references': 'create' })
    await propose(server, by.urn, 'dataJobInputOutput', {
      inputDatasets: [a.urn],
      outputDatasets: [b.urn, a.urn]
    })
    const map = await read(ask, { domain: '', system: 'db2,PROD' })
    t.strictSame(linesOf(map), {
      boxes: ['x.y: 2 (0 0 2 0 0)', 'x.z: 1 (0 2 0 0 0)'],
      edges: ['x.y -> x.z: 2']
    })
    t.strictSame(
      map.boxes.map(({ kind, name, platforms }) => ({ kind, name, platforms })),
      ['x.y', 'x.z'].map((name) => ({
        kind: 'SCHEMA',
        name,
        platforms: [{ urn: 'urn:li:dataPlatform:db2' }]
      }))
    )
  })

  await t.test(
    'is paged: the boxes with the most lineage first, and edges between those of the page',
    async (t) => {
      const names = ['hub', 'b', 'c', 'd', 'alone']
      const assets = names.map((name) => table('teradata', 'p.q', name))
      const [hub, b, c, d] = assets.map(({ urn }) => urn)
      if (!hub || !b || !c || !d) throw new Error('no assets')
      await write(server, all, {
        ...emptyWorld(),
        assets,
        edges: [
          [hub, b],
          [hub, c],
          [hub, d],
          [c, d],
          [c, hub]
        ]
      })
      const place = { domain: '', system: 'teradata,PROD', schema: 'p.q' }
      const whole = await read(ask, place)
      t.strictSame(
        whole.boxes.map(({ name, entity, key }) => [name, entity?.urn === key]),
        ['hub', 'c', 'd', 'b', 'alone'].map((name) => [`p.q.${name}`, true])
      )
      const pages = [
        await read(ask, { ...place, count: 2 }),
        await read(ask, { ...place, start: 2, count: 2 }),
        await read(ask, { ...place, start: 4, count: 2 })
      ]
      t.strictSame(
        pages.flatMap(({ boxes }) => boxes),
        whole.boxes
      )
      t.strictSame(
        pages.map(({ start, count, total, edgeTotal, edgeCount, edgesOfPage, edges }) => ({
          start,
          count,
          total,
          edgeTotal,
          edgeCount,
          edgesOfPage,
          edges: edges.length
        })),
        [
          { start: 0, count: 2, total: 5, edgeTotal: 5, edgeCount: 5, edgesOfPage: 2, edges: 2 },
          { start: 2, count: 2, total: 5, edgeTotal: 5, edgeCount: 5, edgesOfPage: 0, edges: 0 },
          { start: 4, count: 1, total: 5, edgeTotal: 5, edgeCount: 5, edgesOfPage: 0, edges: 0 }
        ]
      )
      const few = await read(ask, { ...place, edgeCount: 2 })
      t.strictSame([few.edgesOfPage, few.edges], [5, whole.edges.slice(0, 2)])
    }
  )

  await t.test('is refused for a place without the one around it, and for pages out of range', async (t) => {
    const refused: [JsonObject, string, string][] = [
      [{ domain: 'urn:li:tag:pii' }, 'INVALID_URN', 'input.domain'],
      [{ domain: 'finance' }, 'INVALID_URN', 'input.domain'],
      [{ domain: 'urn:li:domain:nowhere' }, 'NOT_FOUND', 'input.domain'],
      [{ system: 'hive,PROD' }, 'BAD_REQUEST', 'input.system'],
      [{ domain: '', schema: 'db.one' }, 'BAD_REQUEST', 'input.schema'],
      [{ start: -1 }, 'BAD_REQUEST', 'input.start'],
      [{ count: 0 }, 'BAD_REQUEST', 'input.count'],
      [{ count: 10_001 }, 'LIMIT_EXCEEDED', 'input.count'],
      [{ edgeCount: 10_001 }, 'LIMIT_EXCEEDED', 'input.edgeCount']
    ]
    for (const [input, reason, field] of refused) {
      const { error } = await ask(mapQuery, input)
      t.strictSame([error?.reason, error?.field], [reason, field], JSON.stringify(input))
    }
  })
})

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

t.test('the schema of an asset is read from its URN', async (t) => {
  const dataset = (platform: string, name: string): string =>
    `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`
  const schemas: [string, string][] = [
    [dataset('snowflake', 'raw.stripe.orders'), 'raw.stripe'],
    [dataset('snowflake', 'eu.raw.stripe.orders'), 'eu.raw.stripe'],
    [dataset('bigquery', 'a.b.c.d.e.f'), 'a.b.c'],
    [dataset('mysql', 'shop.orders'), 'shop'],
    [dataset('mysql', 'orders'), ''],
    [dataset('mysql', '.orders.'), ''],
    [dataset('s3', 'bucket/raw/2024/01/part.parquet'), 'bucket/raw/2024'],
    [dataset('s3', 'bucket/orders.v2.csv'), 'bucket'],
    [dataset('file', '/data/orders/'), '/data'],
    [dataset('file', '/orders.csv'), ''],
    [dataset('kafka', 'shop.orders.v1'), ''],
    ['urn:li:dataset:(urn:li:dataPlatform:odd(a,b),raw.stripe.orders,PROD)', 'raw.stripe'],
    ['urn:li:dataJob:(urn:li:dataFlow:(airflow,daily,PROD),load.orders)', 'daily'],
    ['urn:li:dataFlow:(airflow,daily,PROD)', 'daily'],
    ['urn:li:mlFeature:(users,age)', 'users'],
    ['urn:li:chart:(looker,finance.1)', ''],
    ['urn:li:container:abc', '']
  ]
  for (const [urn, schema] of schemas) t.equal(schemaIn(toUrn(urn)), schema, urn)
})
