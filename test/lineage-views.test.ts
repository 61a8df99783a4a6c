/**
 * Views of lineage: graphs, shortest paths, domains and counts, in cases worked out by hand and in random
 * ones, in SQL and in memory.
 */
import t, { type Test } from 'tap'
import { findLineagePaths } from '../shared/catalog/lineage/find-lineage-paths.ts'
import { readColumnEdges } from '../shared/catalog/lineage/graph-edges.ts'
import type { LineageReader } from '../shared/catalog/lineage/lineage-reader.ts'
import { readDomainLineage } from '../shared/catalog/lineage/read-domain-lineage.ts'
import { readLineageGraph } from '../shared/catalog/lineage/read-lineage-graph.ts'
import { shortestPaths } from '../shared/catalog/lineage/shortest-paths.ts'
import { throughHidden } from '../shared/catalog/lineage/through-hidden.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import { naiveDegrees, randomGraph, type NamedEdge } from './cases/graphs.ts'
import {
  contracted,
  domainCases,
  graphViewCases,
  naiveDomainEdges,
  naivePaths,
  pathsCases,
  randomDomains,
  type DomainCase
} from './cases/lineage-views.ts'
import { withReaders } from './support/export-clients.ts'
import { casesOf, fc, seed } from './support/fast-check.ts'
import { doors, urnEdges, urnOfName } from './support/graph.ts'
import { propose, remove, withBoth, write, type Ask } from './support/lineage-views.ts'
import type { TestServer } from './support/server.ts'

const randomCount = casesOf(25)
const randomDomainsCount = 8

type Ref = { urn: string; exists: boolean }
type Node = {
  entity: Ref
  side: string
  degree: number | null
  upstreamCount: number
  downstreamCount: number
  hiddenUpstream: number
  hiddenDownstream: number
  columns: { urn: string; fieldPath: string }[] | null
}
type Edge = { upstreamUrn: string; downstreamUrn: string; level: string; via: Ref[]; viaCount: number }
type Graph = {
  nodes: Node[]
  edges: Edge[]
  totals: { upstream: number; downstream: number; assetEdges: number; columnEdges: number | null }
}

const graphQuery = `query ($input: LineageGraphInput!) { lineageGraph(input: $input) {
  nodes { entity { urn exists } side degree upstreamCount downstreamCount hiddenUpstream hiddenDownstream columns { urn fieldPath } }
  edges { upstreamUrn downstreamUrn level via { urn exists } viaCount }
  totals { upstream downstream assetEdges columnEdges }
} }`

const nodeLine =
  (name: (urn: string) => string) =>
  (node: Node): string => {
    const columns = node.columns?.map((column) => column.fieldPath).sort() ?? []
    return `${node.entity.exists ? '' : '?'}${name(node.entity.urn)} ${node.side} ${node.degree}, ${node.hiddenUpstream}/${node.upstreamCount}, ${node.hiddenDownstream}/${node.downstreamCount}${columns.length > 0 ? ` [${columns.join(' ')}]` : ''}`
  }

const edgeLine =
  (name: (urn: string) => string) =>
  ({ upstreamUrn, downstreamUrn, via }: Edge): string =>
    `${name(upstreamUrn)} -> ${name(downstreamUrn)}${via.length > 0 ? ` via ${via.map((entity) => name(entity.urn)).join(' ')}` : ''}`

/** Tests that share only the server: each writes into its own namespaces. */
const tests: { name: string; run: (t: Test, server: TestServer, ask: Ask) => Promise<void> }[] = []
const onOneServer = (name: string, run: (t: Test, server: TestServer, ask: Ask) => Promise<void>): void => {
  tests.push({ name, run })
}

onOneServer('pictures of known graphs', async (t, server, ask) => {
  for (const [index, graph] of graphViewCases.entries()) {
    await t.test(graph.name, async (t) => {
      const { urn, name } = await write(server, graph.edges, `view${index}`, graph)
      const named = (found: string): string => (found === urn('a#untold') ? 'a#untold' : name(found))
      for (const view of graph.views) {
        const { expand, ...rest } = view.ask ?? {}
        const input = {
          urn: urn(view.from),
          ...rest,
          types: [...(view.ask?.types ?? [])],
          ...(expand ? { expand: expand.map(({ at, ...how }) => ({ urn: urn(at), ...how })) } : {})
        }
        const { data, error, report }: { data: Graph; error: unknown; report: JsonObject } = await ask(
          graphQuery,
          input
        )
        const label = `from ${view.from} ${JSON.stringify(view.ask ?? {})}`
        if (error) t.fail(`${label}: ${JSON.stringify(error)}`)
        t.strictSame(data.nodes.map(nodeLine(named)), view.nodes, `${label}: nodes`)
        t.strictSame(data.edges.map(edgeLine(named)).sort(), [...view.edges].sort(), `${label}: edges`)
        t.ok(
          data.edges.every(
            (edge) =>
              edge.viaCount === edge.via.length &&
              edge.level === (edge.upstreamUrn.includes('schemaField') ? 'COLUMN' : 'ASSET')
          ),
          `${label}: levels`
        )
        const { upstream, downstream, assetEdges, columnEdges } = data.totals
        t.equal(`${upstream} ${downstream}, ${assetEdges}, ${columnEdges}`, view.totals, `${label}: totals`)
        t.strictSame(
          [report.complete, report.truncatedBy, report.withoutEffect ?? []],
          [true, null, view.ignored ?? []],
          `${label}: report`
        )
      }
    })
  }
})

/** Random graphs, each written into its own namespace. */
async function writeRandom(server: TestServer, prefix: string) {
  const graphs = fc
    .sample(randomGraph, { numRuns: randomCount, seed })
    .filter(({ edges, from }) => edges.some((edge) => edge.includes(from)))
  await doors[0]?.write(
    server,
    graphs.flatMap(({ edges }, index) => urnEdges(edges, `${prefix}${index}`))
  )
  return graphs.map((graph, index) => ({
    ...graph,
    namespace: `${prefix}${index}`,
    names: new Map(
      graph.edges.flat().map((name): [string, string] => [urnOfName(name, `${prefix}${index}`), name])
    )
  }))
}

const isJob = (name: string): boolean => name.startsWith('job:')
const distinct = (edges: readonly NamedEdge[]): string[] =>
  [...new Set(edges.flatMap(([up, down]) => (up === down ? [] : [`${up} -> ${down}`])))].sort()

onOneServer(
  `pictures of ${randomCount} random graphs are those of a naive oracle`,
  async (t, server, ask) => {
    const wrong: unknown[] = []
    for (const { edges, from, namespace, names } of await writeRandom(server, 'rv')) {
      for (const hideJobs of [false, true]) {
        const left = hideJobs ? contracted(edges, (name) => isJob(name) && name !== from) : edges
        const degrees = {
          UPSTREAM: naiveDegrees(edges, from, 'UPSTREAM'),
          DOWNSTREAM: naiveDegrees(edges, from, 'DOWNSTREAM')
        }
        const shown = new Set([
          from,
          ...Object.keys(naiveDegrees(left, from, 'UPSTREAM')),
          ...Object.keys(naiveDegrees(left, from, 'DOWNSTREAM'))
        ])
        const count = (pairs: string[], at: number, name: string): number =>
          pairs.filter((pair) => pair.split(' -> ')[at] === name).length
        const hidden = (pairs: string[], at: number, name: string): number =>
          pairs.filter(
            (pair) => pair.split(' -> ')[at] === name && !shown.has(pair.split(' -> ')[1 - at] ?? '')
          ).length
        const all = distinct(left)
        const expected = [...shown]
          .map((name) => {
            const [up, down] = [degrees.UPSTREAM[name] ?? Infinity, degrees.DOWNSTREAM[name] ?? Infinity]
            const place = name === from ? 'START 0' : up <= down ? `UPSTREAM ${up}` : `DOWNSTREAM ${down}`
            return `${name} ${place}, ${hidden(all, 1, name)}/${count(all, 1, name)}, ${hidden(all, 0, name)}/${count(all, 0, name)}`
          })
          .sort()
        const { data }: { data: Graph } = await ask(graphQuery, {
          urn: urnOfName(from, namespace),
          upHops: 100,
          downHops: 100,
          hideJobs,
          count: 2_000
        })
        const name = (urn: string): string => names.get(urn) ?? urn
        const found = [
          data.nodes.map(nodeLine(name)).sort(),
          data.edges.map((edge) => `${name(edge.upstreamUrn)} -> ${name(edge.downstreamUrn)}`).sort()
        ]
        const loops = edges.flatMap(([up, down]) => (up === down ? [`${up} -> ${down}`] : []))
        const drawn = [...new Set([...all, ...loops])].sort()
        const wanted = [expected, drawn.filter((pair) => pair.split(' -> ').every((end) => shown.has(end)))]
        if (JSON.stringify(found) !== JSON.stringify(wanted))
          wrong.push({
            from,
            hideJobs,
            edges: edges.map((edge) => edge.join(' -> ')).join('; '),
            found,
            wanted
          })
      }
    }
    t.strictSame(wrong.slice(0, 2), [], `seed ${seed}`)
  }
)

onOneServer('a picture', async (t, server, ask) => {
  const { urn } = await write(server, 'a -> b -> c -> d', 'refusals')

  await t.test('is refused for what does not exist and for numbers out of range', async (t) => {
    const refused: [JsonObject, string, string][] = [
      [{ urn: urn('nobody') }, 'NOT_FOUND', 'input.urn'],
      [{ urn: urn('nobody#x') }, 'NOT_FOUND', 'input.urn'],
      [{ urn: 'a' }, 'INVALID_URN', 'input.urn'],
      [{ urn: urn('a'), upHops: -1 }, 'BAD_REQUEST', 'input.upHops'],
      [{ urn: urn('a'), downHops: 1_001 }, 'LIMIT_EXCEEDED', 'input.downHops'],
      [{ urn: urn('a'), count: 0 }, 'BAD_REQUEST', 'input.count'],
      [{ urn: urn('a'), count: 2_001 }, 'LIMIT_EXCEEDED', 'input.count'],
      [
        { urn: urn('a'), expand: [{ urn: 'b', direction: 'UPSTREAM' }] },
        'INVALID_URN',
        'input.expand[0].urn'
      ],
      [
        {
          urn: urn('a'),
          expand: Array.from({ length: 501 }, () => ({ urn: urn('b'), direction: 'UPSTREAM' }))
        },
        'LIMIT_EXCEEDED',
        'input.expand'
      ],
      [
        { urn: urn('a'), expand: [{ urn: urn('b'), direction: 'UPSTREAM', neighbours: [urn('c'), 'x'] }] },
        'INVALID_URN',
        'input.expand[0].neighbours[1]'
      ],
      [
        {
          urn: urn('a'),
          expand: [
            {
              urn: urn('b'),
              direction: 'UPSTREAM',
              neighbours: Array.from({ length: 2_001 }, () => urn('c'))
            }
          ]
        },
        'LIMIT_EXCEEDED',
        'input.expand'
      ],
      [
        { urn: urn('a'), collapse: [{ urn: 'b', direction: 'UPSTREAM' }] },
        'INVALID_URN',
        'input.collapse[0].urn'
      ],
      [
        {
          urn: urn('a'),
          collapse: Array.from({ length: 501 }, () => ({ urn: urn('b'), direction: 'UPSTREAM' }))
        },
        'LIMIT_EXCEEDED',
        'input.collapse'
      ],
      [{ urn: urn('a'), fanOut: { above: 0, show: 0 } }, 'BAD_REQUEST', 'input.fanOut.above'],
      [{ urn: urn('a'), fanOut: { above: 5, show: 0 } }, 'BAD_REQUEST', 'input.fanOut.show'],
      [{ urn: urn('a'), fanOut: { above: 5, show: 6 } }, 'BAD_REQUEST', 'input.fanOut.show'],
      [{ urn: urn('a'), fanOut: { above: 2_001, show: 6 } }, 'LIMIT_EXCEEDED', 'input.fanOut.above'],
      [{ urn: urn('a'), columnRows: -1 }, 'BAD_REQUEST', 'input.columnRows'],
      [{ urn: urn('a'), columnRows: 10_001 }, 'LIMIT_EXCEEDED', 'input.columnRows'],
      [{ urn: urn('a'), count: 2_000, columnRows: 101 }, 'LIMIT_EXCEEDED', 'input.columnRows'],
      [{ urn: urn('a'), startTimeMillis: 2, endTimeMillis: 1 }, 'BAD_REQUEST', 'input.endTimeMillis']
    ]
    for (const [input, reason, field] of refused) {
      const { error } = await ask(graphQuery, input)
      t.strictSame([error?.reason, error?.field], [reason, field], JSON.stringify(input).slice(0, 100))
    }
  })

  await t.test('has the same nodes without totals, and walks no further than it must', async (t) => {
    const query =
      'query ($input: LineageGraphInput!) { lineageGraph(input: $input) { nodes { entity { urn } side degree } } }'
    const near = await ask(query, { urn: urn('a') })
    t.strictSame(
      near.data.nodes.map((node: Node) => [node.entity.urn, node.side, node.degree]),
      [
        [urn('a'), 'START', 0],
        [urn('b'), 'DOWNSTREAM', 1]
      ]
    )
    t.equal(near.report.visited, 1)
    const far = await ask(query, {
      urn: urn('a'),
      expand: [
        { urn: urn('b'), direction: 'DOWNSTREAM' },
        { urn: urn('c'), direction: 'DOWNSTREAM' }
      ]
    })
    t.strictSame(
      far.data.nodes.map((node: Node) => node.degree),
      [0, 1, 2, 3]
    )
  })

  await t.test('agrees with scrollAcrossLineage on totals and degrees', async (t) => {
    const { body } = await server.graphql(
      'query ($urn: String!) { scrollAcrossLineage(input: { urn: $urn, direction: DOWNSTREAM }) { total searchResults { degree entity { urn } } } }',
      { urn: urn('a') }
    )
    const { data }: { data: Graph } = await ask(graphQuery, { urn: urn('a'), downHops: 9 })
    t.equal(data.totals.downstream, body.data.scrollAcrossLineage.total)
    t.strictSame(
      data.nodes.slice(1).map((node) => [node.entity.urn, node.degree]),
      body.data.scrollAcrossLineage.searchResults.map((result: { entity: Ref; degree: number }) => [
        result.entity.urn,
        result.degree
      ])
    )
  })

  await t.test('resolves what it shows as any entity', async (t) => {
    const { data } = await ask(
      'query ($input: LineageGraphInput!) { lineageGraph(input: $input) { nodes { entity { urn type ... on Dataset { name platform { name } status { removed } } } } } }',
      { urn: urn('a') }
    )
    t.strictSame(data.nodes[0].entity, {
      urn: urn('a'),
      type: 'DATASET',
      name: 'refusals.a',
      platform: { name: 'hive' },
      status: { removed: false }
    })
  })
})

onOneServer(
  'a picture of two assets with many columns takes time in proportion to their number',
  async (t, server) => {
    const entityClass = {
      index: 0,
      entityType: 'schemaField',
      platformUrn: null,
      origin: null,
      exists: true,
      isRemoved: false,
      domainId: null
    }
    /** CPU time in microseconds, so that other programs on the machine do not matter. */
    const leastWork = async (wide: number): Promise<number> => {
      const made: Partial<LineageReader> = {
        columns: async () => (assetId) => Array.from({ length: wide }, (_, index) => assetId * wide + index),
        classes: async () => () => entityClass,
        neighbours: async () => (id) => (id < 2 * wide ? [id + wide] : []),
        pause: () => undefined
      }
      let least = Infinity
      for (let run = 0; run < 4; run += 1) {
        await readMadeUp(server, made, async (reader) => {
          const before = process.cpuUsage()
          const { total, columnsOf: found } = await readColumnEdges(reader, new Set([1, 2]))
          const { user, system } = process.cpuUsage(before)
          least = Math.min(least, user + system)
          t.strictSame([total, found.get(1)?.length, found.get(2)?.length], [wide, wide, wide])
        })
      }
      return least
    }
    // It would be 64 if lists were copied for each column.
    const ratio = (await leastWork(20_000)) / (await leastWork(2_500))
    t.ok(ratio < 32, `8 times the columns take ${Math.round(ratio)} times the work`)
  }
)

const pathsQuery = `query ($input: LineagePathsInput!) { lineagePaths(input: $input) {
  hops totalShortest complete paths { steps { entity { urn exists } via { urn type exists } } }
} }`
type Paths = {
  hops: number | null
  totalShortest: number
  complete: boolean
  paths: { steps: { entity: Ref; via: Ref[] }[] }[]
}

onOneServer('shortest paths in known graphs', async (t, server, ask) => {
  for (const [index, graph] of pathsCases.entries()) {
    await t.test(graph.name, async (t) => {
      const { urn, name } = await write(server, graph.edges, `ways${index}`, graph)
      for (const { from, to, count, ...expected } of graph.ways) {
        const { data, report }: { data: Paths; report: JsonObject } = await ask(pathsQuery, {
          from: urn(from),
          to: urn(to),
          ...(count ? { count } : {})
        })
        const paths = data.paths.map(({ steps }) => steps.map((step) => name(step.entity.urn)).join(' '))
        t.strictSame({ hops: data.hops, total: data.totalShortest, paths }, expected, `${from} to ${to}`)
        t.strictSame([data.complete, report.complete], [true, true])
      }
    })
  }
})

onOneServer(
  `shortest paths in ${randomCount} random graphs have the length and number of a naive oracle`,
  async (t, server, ask) => {
    const wrong: unknown[] = []
    let foundCount = 0
    for (const { edges, from, direction, namespace, names } of await writeRandom(server, 'rw')) {
      const real = new Set(edges.map((edge) => edge.join(' -> ')))
      for (const other of [...new Set(edges.flat())].filter((name) => name !== from).slice(0, 4)) {
        const [start, end] = direction === 'DOWNSTREAM' ? [from, other] : [other, from]
        const { data }: { data: Paths } = await ask(pathsQuery, {
          from: urnOfName(start, namespace),
          to: urnOfName(end, namespace),
          count: 50
        })
        const paths = data.paths.map(({ steps }) => steps.map((step) => names.get(step.entity.urn) ?? ''))
        const isPath = (path: string[]): boolean =>
          path[0] === start &&
          path.at(-1) === end &&
          path.length === (data.hops ?? 0) + 1 &&
          path.every((name, at) => at === 0 || real.has(`${path[at - 1]} -> ${name}`))
        const found = { hops: data.hops, total: data.totalShortest }
        const wanted = naivePaths(edges, start, end)
        foundCount += paths.length
        const isRight =
          JSON.stringify(found) === JSON.stringify(wanted) &&
          paths.every(isPath) &&
          new Set(paths.map((path) => path.join())).size === Math.min(50, wanted.total)
        if (!isRight) wrong.push({ start, end, edges: [...real].join('; '), found, wanted, paths })
      }
    }
    t.strictSame(wrong.slice(0, 2), [], `seed ${seed}`)
    // With 25 graphs there are 30 to 55.
    t.ok(foundCount > randomCount / 4, 'the graphs have paths')
  }
)

/** Reads data that the test makes up, because writing a graph of that size would take minutes. */
async function readMadeUp(
  server: TestServer,
  made: Partial<LineageReader>,
  use: (reader: LineageReader) => Promise<void>
): Promise<void> {
  const state = await server.memory?.open()
  if (!state) throw new Error('there is no memory')
  try {
    await use({ ...state.reader, ...made })
  } finally {
    state.release()
  }
}

onOneServer(
  'shortest paths through more entities of a hop than a call takes arguments',
  async (t, server) => {
    const wide = 150_000
    const [start, end] = [1, 2 * wide + 2]
    const layer = (from: number): number[] => Array.from({ length: wide }, (_, index) => from + index)
    const [first, second] = [layer(2), layer(wide + 2)]
    const isIn = (ids: readonly number[], id: number): boolean =>
      id >= (ids[0] ?? 0) && id <= (ids.at(-1) ?? 0)
    const down = (id: number): readonly number[] =>
      id === start ? first : isIn(first, id) ? [id + wide] : isIn(second, id) ? [end] : []
    const up = (id: number): readonly number[] =>
      id === end ? second : isIn(second, id) ? [id - wide] : isIn(first, id) ? [start] : []
    await readMadeUp(
      server,
      { neighbours: async (_, direction) => (direction === 'DOWNSTREAM' ? down : up) },
      async (reader) => {
        const { hops, total, nextOf } = await shortestPaths(reader, start, end, 'asset', {
          maxHops: 10,
          maxEntities: 1_000_000
        })
        t.strictSame([hops, total, nextOf(2), nextOf(wide + 2)], [3, wide, [wide + 2], [end]])
      }
    )
  }
)

onOneServer('a path', async (t, server, ask) => {
  const { urn } = await write(server, 'a -> b -> c -> d; a#x -> b#y; job:x -> b', 'via')
  const paths = async (
    from: string,
    to: string,
    more: JsonObject = {}
  ): Promise<{ data: Paths; error: JsonObject | undefined }> =>
    ask(pathsQuery, { from: urn(from), to: urn(to), ...more })

  await t.test(
    'names the jobs and queries that state its edges, but never the ends of an edge',
    async (t) => {
      const record = (more: JsonObject): JsonObject => ({
        upstreamType: 'FIELD_SET',
        upstreams: [urn('b#y')],
        downstreamType: 'FIELD',
        downstreams: [urn('c#z')],
        ...more
      })
      await propose(server, urn('job:x'), 'dataJobInputOutput', {
        inputDatasets: [],
        outputDatasets: [urn('b')],
        fineGrainedLineages: [record({})]
      })
      await propose(server, urn('c'), 'upstreamLineage', {
        upstreams: [{ dataset: urn('b'), type: 'TRANSFORMED', query: 'urn:li:query:q1' }],
        fineGrainedLineages: [record({ query: 'urn:li:query:q2' })]
      })
      const assets = await paths('a', 'c')
      t.strictSame(
        assets.data.paths.map(({ steps }) => steps.map((step) => step.via)),
        [[[], [], [{ urn: 'urn:li:query:q1', type: 'QUERY', exists: false }]]]
      )
      const columns = await paths('a#x', 'c#z')
      t.strictSame(
        columns.data.paths[0]?.steps.map((step) => step.via),
        [
          [],
          [],
          [
            { urn: urn('job:x'), type: 'DATA_JOB', exists: true },
            { urn: 'urn:li:query:q2', type: 'QUERY', exists: false }
          ]
        ]
      )
    }
  )

  await t.test('is refused for ends that do not exist, are the same, or of two kinds', async (t) => {
    const refused: [string, string, JsonObject, string, string][] = [
      ['nobody', 'a', {}, 'NOT_FOUND', 'input.from'],
      ['a', 'nobody#x', {}, 'BAD_REQUEST', 'input.to'],
      ['a#x', 'nobody#x', {}, 'NOT_FOUND', 'input.to'],
      ['a', 'a', {}, 'BAD_REQUEST', 'input.to'],
      ['a', 'b', { count: 0 }, 'BAD_REQUEST', 'input.count'],
      ['a', 'b', { count: 10_001 }, 'LIMIT_EXCEEDED', 'input.count']
    ]
    for (const [from, to, more, reason, field] of refused) {
      const { error } = await paths(from, to, more)
      t.strictSame([error?.reason, error?.field], [reason, field], `${from} to ${to}`)
    }
  })

  await t.test('that is longer than a bound is not found, and the answer says so', async (t) => {
    const find = async (bounds: { maxHops: number; maxEntities: number }) =>
      findLineagePaths(
        { db: server.db, memory: server.memory },
        { from: urn('a'), to: urn('d') },
        { via: false },
        bounds
      )
    const cut = await find({ maxHops: 2, maxEntities: 100 })
    t.strictSame(
      [cut.hops, cut.paths, cut.report.complete, cut.report.truncatedBy],
      [null, [], false, 'maxHops']
    )
    t.strictSame(
      [
        (await find({ maxHops: 3, maxEntities: 100 })).hops,
        (await find({ maxHops: 3, maxEntities: 100 })).report.complete
      ],
      [3, true]
    )
    t.equal((await find({ maxHops: 100, maxEntities: 1 })).report.truncatedBy, 'maxEntities')
  })
})

const domainQuery = `query ($input: DomainLineageInput!) { domainLineage(input: $input) {
  start count total edgeCount
  edges { upstream { urn exists } downstream { urn exists } edgeCount upstreamAssetCount downstreamAssetCount
    assetEdges(count: 100) { start count total edges { upstream { urn exists } downstream { urn exists } } } }
} }`
type DomainEdge = {
  upstream: Ref | null
  downstream: Ref | null
  edgeCount: number
  upstreamAssetCount: number
  downstreamAssetCount: number
  assetEdges: { total: number; edges: { upstream: Ref; downstream: Ref }[] }
}
type DomainPage = { start: number; count: number; total: number; edgeCount: number; edges: DomainEdge[] }

const domainUrn = (name: string, namespace: string): Urn => toUrn(`urn:li:domain:${namespace}_${name}`)
const domainLine =
  (namespace: string) =>
  ({ upstream, downstream, edgeCount, upstreamAssetCount, downstreamAssetCount }: DomainEdge): string => {
    const name = (domain: Ref | null): string =>
      domain === null ? 'none' : domain.urn.slice(`urn:li:domain:${namespace}_`.length)
    return `${name(upstream)} -> ${name(downstream)}: ${edgeCount} (${upstreamAssetCount} to ${downstreamAssetCount})`
  }

async function writeDomains(
  server: TestServer,
  namespace: string,
  { domains, assets }: Pick<DomainCase, 'domains' | 'assets'>
): Promise<void> {
  for (const [name, parent] of domains) {
    const input = {
      id: `${namespace}_${name}`,
      name: `${namespace} ${name}`,
      ...(parent === null ? {} : { parentDomain: domainUrn(parent, namespace) })
    }
    const answer = await server.graphql(
      'mutation ($input: CreateDomainInput!) { createDomain(input: $input) }',
      { input }
    )
    if (!answer.body?.data?.createDomain) throw new Error(answer.text)
  }
  for (const [domain, members] of Object.entries(assets)) {
    const resources = members
      .split(' ')
      .filter((name) => name !== '')
      .map((name) => ({ resourceUrn: urnOfName(name, namespace) }))
    if (resources.length === 0) continue
    const answer = await server.graphql(
      'mutation ($input: BatchSetDomainInput!) { batchSetDomain(input: $input) }',
      { input: { domainUrn: domainUrn(domain, namespace), resources } }
    )
    if (answer.body?.data?.batchSetDomain !== true) throw new Error(answer.text)
  }
}

for (const [index, domainCase] of domainCases.entries()) {
  t.test(`lineage between domains: ${domainCase.name}`, async (t) => {
    const { server, ask } = await withBoth(t)
    const namespace = `dom${index}`
    const { name } = await write(server, domainCase.edges, namespace, domainCase)
    await writeDomains(server, namespace, domainCase)
    for (const { of, within, expected, first, ...rest } of domainCase.asks) {
      const input = {
        ...(of === null ? {} : { urn: domainUrn(of, namespace) }),
        ...(within === undefined ? {} : { within: domainUrn(within, namespace) }),
        ...rest
      }
      const { data }: { data: DomainPage } = await ask(domainQuery, input)
      const label = `${of ?? 'all'} ${JSON.stringify({ within, ...rest })}`
      t.strictSame(data.edges.map(domainLine(namespace)), expected, label)
      t.strictSame(
        [data.total, data.count, data.edgeCount],
        [expected.length, expected.length, data.edges.reduce((sum, edge) => sum + edge.edgeCount, 0)],
        `${label}: totals`
      )
      t.ok(
        data.edges.every(
          (edge) =>
            edge.assetEdges.total === edge.edgeCount && edge.assetEdges.edges.length === edge.edgeCount
        ),
        `${label}: asset edges`
      )
      if (first)
        t.strictSame(
          data.edges[0]?.assetEdges.edges.map(
            (edge) => `${name(edge.upstream.urn)} -> ${name(edge.downstream.urn)}`
          ),
          first,
          `${label}: the first`
        )
    }
  })
}

t.test('lineage between domains', async (t) => {
  const { server, ask } = await withBoth(t)
  const namespace = 'pages'
  await write(server, 'a -> x & y & z; b -> x; c -> a', namespace)
  await writeDomains(server, namespace, {
    domains: [
      ['one', null],
      ['two', null],
      ['three', null]
    ],
    assets: { one: 'a b', two: 'x y z', three: 'c' }
  })
  const urn = domainUrn('one', namespace)

  await t.test('is paged, edges and asset edges alike, with exact totals', async (t) => {
    const query =
      'query ($input: DomainLineageInput!, $start: Int, $size: Int) { domainLineage(input: $input) { start count total edgeCount edges { edgeCount assetEdges(start: $start, count: $size) { start count total edges { upstream { urn } downstream { urn } } } } } }'
    const read = async (input: JsonObject, start: number, size: number) =>
      (await server.graphql(query, { input, start, size })).body.data.domainLineage
    const {
      edges: [edge],
      ...page
    } = await read({ urn }, 1, 2)
    t.strictSame(page, { start: 0, count: 1, total: 1, edgeCount: 4 })
    const at = (name: string): { urn: string } => ({ urn: urnOfName(name, namespace) })
    t.strictSame(edge, {
      edgeCount: 4,
      assetEdges: {
        start: 1,
        count: 2,
        total: 4,
        edges: [
          { upstream: at('a'), downstream: at('y') },
          { upstream: at('a'), downstream: at('z') }
        ]
      }
    })
    t.strictSame(await read({ start: 1, count: 1 }, 0, 1), {
      start: 1,
      count: 1,
      total: 2,
      edgeCount: 5,
      edges: [
        {
          edgeCount: 1,
          assetEdges: { start: 0, count: 1, total: 1, edges: [{ upstream: at('c'), downstream: at('a') }] }
        }
      ]
    })
  })

  await t.test(
    'is refused for a URN that is no domain, for a domain that does not exist, and for pages out of range',
    async (t) => {
      const refused: [JsonObject, string, string][] = [
        [{ urn: urnOfName('a', namespace) }, 'INVALID_URN', 'input.urn'],
        [{ urn: domainUrn('nowhere', namespace) }, 'NOT_FOUND', 'input.urn'],
        [{ urn, within: domainUrn('nowhere', namespace) }, 'NOT_FOUND', 'input.within'],
        [{ urn, start: -1 }, 'BAD_REQUEST', 'input.start'],
        [{ urn, count: 10_001 }, 'LIMIT_EXCEEDED', 'input.count']
      ]
      for (const [input, reason, field] of refused) {
        const { error } = await ask(domainQuery, input)
        t.strictSame([error?.reason, error?.field], [reason, field], JSON.stringify(input))
      }
    }
  )
})

onOneServer(
  `lineage between the domains of ${randomDomainsCount} random worlds is that of a naive oracle`,
  async (t, server, ask) => {
    const wrong: unknown[] = []
    let edgeCount = 0
    for (const [index, world] of fc.sample(randomDomains, { numRuns: randomDomainsCount, seed }).entries()) {
      const namespace = `rd${index}`
      await doors[0]?.write(server, urnEdges(world.edges, namespace))
      for (const name of world.removed) await remove(server, urnOfName(name, namespace))
      await writeDomains(server, namespace, world)
      for (const of of world.domains.map(([name]) => name)) {
        for (const direction of ['UPSTREAM', 'DOWNSTREAM'] as const) {
          for (const includeDescendants of [true, false]) {
            const { data }: { data: DomainPage } = await ask(domainQuery, {
              urn: domainUrn(of, namespace),
              direction,
              includeDescendants
            })
            const found = data.edges.map(domainLine(namespace)).sort()
            const wanted = naiveDomainEdges(world, of, direction, includeDescendants).sort()
            edgeCount += data.edgeCount
            if (JSON.stringify(found) !== JSON.stringify(wanted))
              wrong.push({ of, direction, includeDescendants, world, found, wanted })
          }
        }
      }
    }
    t.strictSame(wrong.slice(0, 2), [], `seed ${seed}`)
    // Some seeds have fewer than fifty, others more than a hundred.
    t.ok(edgeCount > 5, 'the domains have lineage')
  }
)

onOneServer(
  'a read that looks through jobs yields at each asset and edge, because there may be many jobs',
  async (t, server) => {
    const namespace = 'turns'
    const side = (name: string): string[] => Array.from({ length: 15 }, (_, index) => `${name}${index}`)
    const [ins, outs] = [side('i'), side('o')]
    const { urn } = await write(
      server,
      `${ins.join(' & ')} -> job:one -> job:two -> ${outs.join(' & ')}`,
      namespace
    )
    await writeDomains(server, namespace, {
      domains: [
        ['near', null],
        ['far', null]
      ],
      assets: { near: ins.join(' '), far: outs.join(' ') }
    })
    if (!server.memory) throw new Error('there is no memory')
    let pauseCount = 0
    const memory = withReaders(server.memory, (reader) => ({
      ...reader,
      pause: () => {
        pauseCount += 1
        return reader.pause()
      }
    }))
    const picture = await readLineageGraph(
      { db: server.db, memory },
      { urn: urn('i0'), hideJobs: true, expand: [{ urn: urn('o0'), direction: 'UPSTREAM' }] },
      { totals: false, columnRows: false }
    )
    t.equal(picture.totals.assetEdges, 225)
    t.ok(pauseCount > 225, `${pauseCount} for a picture of 225 edges`)
    pauseCount = 0
    t.equal(
      (
        await readDomainLineage(
          { db: server.db, memory },
          { urn: domainUrn('near', namespace), direction: 'DOWNSTREAM' }
        )
      ).edgeCount,
      225
    )
    t.ok(pauseCount >= 15, `${pauseCount} for the lineage of 15 assets`)
  }
)

onOneServer('a look at a hub gives way to others again and again', async (t, server) => {
  const wide = 100_000
  const far = Array.from({ length: wide }, (_, index) => index + 2)
  const entityClass = {
    index: 0,
    entityType: 'dataset',
    platformUrn: null,
    origin: null,
    exists: true,
    isRemoved: false,
    domainId: null
  }
  let pauseCount = 0
  const pause = (): undefined => {
    pauseCount += 1
  }
  await readMadeUp(
    server,
    { classes: async () => () => entityClass, neighbours: async () => (id) => (id === 1 ? far : []), pause },
    async (reader) => {
      const { beyond } = await throughHidden(reader, {
        direction: 'DOWNSTREAM',
        level: 'asset',
        fateOf: () => 'shown'
      })([1])
      t.equal(beyond(1).met.length, wide)
      t.ok(pauseCount > 40, `${pauseCount} times`)
    }
  )
})

const countsQuery = `query ($input: LineageCountsInput!) { lineageCounts(input: $input) {
  total complete degrees { degree count } exactDegrees { degree count } types { type count }
  platforms { platform { urn name } count } domains { domain { urn exists } count }
} }`

onOneServer('counts', async (t, server, ask) => {
  const namespace = 'counts'
  const { urn } = await write(
    server,
    'a -> b & c -> job:j -> d -> chart:e -> dash:f; a -> gone & h; c -> gone -> g; a#x -> b#y & b#z -> c#u',
    namespace,
    { removed: ['gone'] }
  )
  await writeDomains(server, namespace, {
    domains: [
      ['one', null],
      ['two', 'one']
    ],
    assets: { one: 'b d', two: 'chart:e' }
  })
  const [one, two] = [domainUrn('one', namespace), domainUrn('two', namespace)]
  const counts = async (input: JsonObject): Promise<string> => {
    const { data, error } = await ask(countsQuery, { direction: 'DOWNSTREAM', ...input })
    if (error) return `${String(error.reason)} ${String(error.field)}`
    if (data.complete !== true) return 'not complete'
    const list = (entries: JsonObject[], key: string): string =>
      entries
        .map(
          (entry) =>
            `${typeof entry[key] === 'object' ? (((entry[key] as JsonObject | null)?.urn as string) ?? 'none') : String(entry[key])} ${String(entry.count)}`
        )
        .join(', ')
    return [
      data.total,
      list(data.degrees, 'degree'),
      list(data.exactDegrees, 'degree'),
      list(data.types, 'type'),
      list(data.platforms, 'platform'),
      list(data.domains, 'domain')
    ].join(' | ')
  }
  const [hive, airflow, looker] = ['hive', 'airflow', 'looker'].map((name) => `urn:li:dataPlatform:${name}`)

  await t.test('are exact by degree, type, platform and domain', async (t) => {
    const whole = `8 | 1 3, 2 2, 3+ 3 | 1 3, 2 2, 3 1, 4 1, 5 1 | DATASET 5, CHART 1, DASHBOARD 1, DATA_JOB 1 | ${hive} 5, ${looker} 2, ${airflow} 1 | none 5, ${one} 2, ${two} 1`
    t.equal(await counts({ urn: urn('a') }), whole)
    t.equal(
      await counts({ urn: urn('a'), searchFlags: { includeSoftDeleted: true } }),
      whole
        .replace('8 | 1 3', '9 | 1 4')
        .replace('| 1 3', '| 1 4')
        .replace('DATASET 5', 'DATASET 6')
        .replace(`${hive} 5`, `${hive} 6`)
        .replace('none 5', 'none 6')
    )
    t.equal(await counts({ urn: urn('dash:f') }), '0 | 1 0, 2 0, 3+ 0 |  |  |  | ')
    t.equal(
      await counts({ urn: urn('a#x') }),
      `2 | 1 1, 2 1, 3+ 0 | 1 1, 2 1 | DATASET 2 | ${hive} 2 | none 1, ${one} 1`
    )
  })

  await t.test('are of what filters keep', async (t) => {
    const filter = (field: string, values: string[]): JsonObject => ({
      orFilters: [{ and: [{ field, values }] }]
    })
    t.equal(
      await counts({ urn: urn('a'), types: ['CHART', 'DATASET'], ...filter('degree', ['2', '3+']) }),
      `3 | 1 0, 2 1, 3+ 2 | 2 1, 3 1, 4 1 | DATASET 2, CHART 1 | ${hive} 2, ${looker} 1 | none 1, ${one} 1, ${two} 1`
    )
    t.equal(
      await counts({ urn: urn('a'), query: 'counts.E' }),
      `1 | 1 0, 2 0, 3+ 1 | 4 1 | CHART 1 | ${looker} 1 | ${two} 1`
    )
    t.equal(
      await counts({ urn: urn('a'), ...filter('domains', [two]) }),
      `1 | 1 0, 2 0, 3+ 1 | 4 1 | CHART 1 | ${looker} 1 | ${two} 1`
    )
    t.equal(
      await counts({ urn: urn('a'), ...filter('colour', ['red']) }),
      'BAD_REQUEST input.orFilters[0].and[0].field'
    )
    t.equal(await counts({ urn: urn('nobody') }), 'NOT_FOUND input.urn')
  })
})

t.test('assets, columns and named domains', async (t) => {
  const { server, ask } = await withBoth(t)
  for (const { name, run } of tests) await t.test(name, (t) => run(t, server, ask))
})
