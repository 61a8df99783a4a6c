/**
 * A time window keeps the edges whose span from first to last use overlaps it: through every interface that
 * takes times, and compared with a plain oracle.
 */
import t from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { timeWindowRule } from '../shared/model/edge-stamps.ts'
import { datasetUrn } from '../shared/urn/kinds.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import { ndjsonLines } from './support/export-files.ts'
import { addEdge, asCall, patch, record, segment } from './support/changes.ts'
import { casesOf, fc } from './support/fast-check.ts'
import { makeAssets } from './support/graph.ts'
import { withServer } from './support/server.ts'

const server = await withServer(t)

type Times = { startTimeMillis?: number; endTimeMillis?: number }
type Direction = 'UPSTREAM' | 'DOWNSTREAM'
/** The neighbours that a door shows, and the times that its answer says it is limited to. */
type Answer = { found: string[]; limits: JsonObject | null }
type Door = (urn: Urn, direction: Direction, times: Times) => Promise<Answer>

type Entity = { entity: { urn: string } }
const urnsOf = (rows: readonly Entity[]): string[] => rows.map(({ entity }) => entity.urn).sort()
const windowFields = 'timeWindow { startTimeMillis endTimeMillis rule }'
const nearest = { orFilters: [{ and: [{ field: 'degree', values: ['1'] }] }] }

async function asked(inputType: string, field: string, input: JsonObject) {
  const { body } = await server.graphql(`query ($input: ${inputType}) { ${field} }`, { input })
  if (body.errors) throw new Error(JSON.stringify(body.errors))
  return body
}

const searchDoor =
  (name: 'scrollAcrossLineage' | 'searchAcrossLineage', inputOf: (times: Times) => JsonObject): Door =>
  async (urn, direction, times) => {
    const { data, extensions } = await asked(
      name === 'scrollAcrossLineage' ? 'ScrollAcrossLineageInput' : 'SearchAcrossLineageInput!',
      `${name}(input: $input) { searchResults { entity { urn } } ${windowFields} }`,
      { urn, direction, count: 1_000, ...nearest, ...inputOf(times) }
    )
    const { searchResults, timeWindow } = data[name]
    t.strictSame(extensions.lineage.timeWindow ?? null, timeWindow, 'the extensions say the same')
    t.strictSame(extensions.lineage.walks[name].timeWindow ?? null, timeWindow)
    return { found: urnsOf(searchResults), limits: timeWindow }
  }

const asFlags = (times: Times): JsonObject => ({ lineageFlags: times })

const doors: { [name: string]: Door } = {
  scroll: searchDoor('scrollAcrossLineage', (times) => times),
  'scroll with flags': searchDoor('scrollAcrossLineage', asFlags),
  search: searchDoor('searchAcrossLineage', (times) => times),
  'search with flags': searchDoor('searchAcrossLineage', asFlags),
  graph: async (urn, direction, times) => {
    const { data } = await asked(
      'LineageGraphInput!',
      `lineageGraph(input: $input) { nodes { entity { urn } } edges { upstreamUrn downstreamUrn } ${windowFields} }`,
      {
        urn,
        ...(direction === 'UPSTREAM' ? { upHops: 1, downHops: 0 } : { upHops: 0, downHops: 1 }),
        count: 1_000,
        ...times
      }
    )
    const { nodes, edges, timeWindow } = data.lineageGraph
    t.equal(edges.length, nodes.length - 1, 'an edge for each neighbour')
    return { found: urnsOf(nodes.slice(1)), limits: timeWindow }
  },
  'lineage of an entity': async (urn, direction, times) => {
    const { body } = await server.graphql(
      `query ($urn: String!, $input: LineageInput!) { entity(urn: $urn) { ... on EntityWithRelationships {
        lineage(input: $input) { total relationships { entity { urn } } ${windowFields} } } } }`,
      { urn, input: { direction, count: 1_000, ...times } }
    )
    const { total, relationships, timeWindow } = body.data.entity.lineage
    t.equal(total, relationships.length)
    return { found: urnsOf(relationships), limits: timeWindow }
  },
  export: async (urn, direction, times) => {
    const parameters = new URLSearchParams({
      urn,
      direction,
      format: 'ndjson',
      hops: '1',
      ...Object.fromEntries(Object.entries(times).map(([name, time]) => [name, String(time)]))
    })
    const { text, headers } = await server.rest({ url: `/lineage/export?${parameters.toString()}` })
    const [startTimeMillis, endTimeMillis] = ['start', 'end'].map((name) => headers[`x-lineage-${name}-time`])
    const found = ndjsonLines(text).map((row) => row.urn)
    t.equal(headers['x-lineage-total'], String(found.length))
    return {
      found: found.sort(),
      limits:
        startTimeMillis === undefined
          ? null
          : {
              startTimeMillis: Number(startTimeMillis),
              endTimeMillis: Number(endTimeMillis),
              rule: timeWindowRule
            }
    }
  }
}

/** The number of neighbours according to the interface that only counts. */
async function countedNear(urn: Urn, direction: Direction, times: Times): Promise<number> {
  const { data } = await asked(
    'LineageCountsInput!',
    `lineageCounts(input: $input) { total ${windowFields} }`,
    {
      urn,
      direction,
      ...nearest,
      ...times
    }
  )
  t.equal(data.lineageCounts.timeWindow?.rule, timeWindowRule)
  return data.lineageCounts.total
}

type Statement = { source?: string; created?: number; auditStamp?: number; lastModified?: number }
const stamp = (time: number): JsonObject => ({ time, actor: 'urn:li:corpuser:etl' })
const stampsOf = (times: Omit<Statement, 'source'>): JsonObject =>
  Object.fromEntries(Object.entries(times).map(([name, time]) => [name, stamp(time)]))

/** One statement of an edge from dataset to dataset, beside those of other sources. */
async function state(up: Urn, down: Urn, { source = 'etl', ...times }: Statement): Promise<void> {
  const change =
    source === 'manual' && Object.keys(times).length === 0
      ? addEdge(up, down)
      : patch(down, 'upstreamLineage', {
          op: 'add',
          path: `/upstreams/${segment(up)}`,
          value: { dataset: up, type: 'COPY', ...stampsOf(times) }
        })
  await applyCall(server.db, [record(0, change)], asCall({ source }))
}

const named = (name: string): Urn => datasetUrn('hive', `window.${name}`)

async function pairOf(name: string, statements: readonly Statement[]): Promise<[Urn, Urn]> {
  const [up, down] = [named(`${name}.up`), named(`${name}.down`)]
  await makeAssets(server, [up, down])
  for (const each of statements) await state(up, down, each)
  return [up, down]
}

const at = (day: string): number => Date.parse(`${day}T00:00:00Z`)
const month = (first: string, last: string): Times => ({
  startTimeMillis: at(first),
  endTimeMillis: at(last) + 24 * 60 * 60 * 1_000 - 1
})

/** A job that runs in January, March, June and October, from its runs' events, which come in another order. */
async function quarterlyJob(): Promise<[Urn, Urn]> {
  for (const day of ['2026-06-15', '2026-01-15', '2026-10-15', '2026-03-15']) {
    const { status, text } = await server.rest({
      method: 'POST',
      url: '/api/v1/lineage',
      body: {
        eventType: 'COMPLETE',
        eventTime: `${day}T00:00:00Z`,
        producer: 'https://example.com/nightly',
        schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json',
        run: { runId: `00000000-0000-4000-8000-0000${day.replaceAll('-', '')}` },
        job: { namespace: 'nightly', name: 'quarter.close' },
        inputs: [{ namespace: 'hive://host:9083', name: 'window.ledger' }],
        outputs: [{ namespace: 'hive://host:9083', name: 'window.report' }]
      }
    })
    if (status >= 300) throw new Error(text)
  }
  const { body } = await server.graphql(
    'query { dataset(urn: "urn:li:dataset:(urn:li:dataPlatform:hive,window.ledger,PROD)") { urn lineage(input: { direction: DOWNSTREAM }) { relationships { entity { urn } } } } }'
  )
  const { urn, lineage } = body.data.dataset
  return [toUrn(urn), toUrn(lineage.relationships[0].entity.urn)]
}

/** A job of a DataHub client, with stamps at the edge to its input. */
async function jobWithStamps(): Promise<[Urn, Urn]> {
  const up = named('read')
  const job = toUrn('urn:li:dataJob:(urn:li:dataFlow:(airflow,window,PROD),read)')
  await makeAssets(server, [up, job])
  await applyCall(
    server.db,
    [
      record(
        0,
        patch(job, 'dataJobInputOutput', {
          op: 'add',
          path: `/inputDatasetEdges/${segment(up)}`,
          value: { destinationUrn: up, ...stampsOf({ created: 100, lastModified: 400 }) }
        })
      )
    ],
    asCall({ source: 'etl' })
  )
  return [up, job]
}

type Case = [times: Times, counts: boolean]
const between = (startTimeMillis: number, endTimeMillis: number): Times => ({
  startTimeMillis,
  endTimeMillis
})

const table: { name: string; pair: () => Promise<[Urn, Urn]>; cases: Case[] }[] = [
  {
    name: 'a job that ran in January, March, June and October',
    pair: quarterlyJob,
    cases: [
      [month('2026-03-01', '2026-03-31'), true],
      [month('2026-01-01', '2026-01-31'), true],
      [month('2026-10-01', '2026-10-31'), true],
      // No run: but only the first and the last are known.
      [month('2026-02-01', '2026-02-28'), true],
      [month('2025-12-01', '2025-12-31'), false],
      [month('2026-11-01', '2026-11-02'), false],
      [{ startTimeMillis: at('2026-08-01') }, true],
      [{ startTimeMillis: at('2026-10-16') }, false],
      [{ endTimeMillis: at('2026-01-15') - 1 }, false],
      [{ endTimeMillis: at('2026-01-15') }, true]
    ]
  },
  {
    name: 'stamps of creation and last change',
    pair: () => pairOf('both', [{ created: 100, auditStamp: 400 }]),
    cases: [
      [between(200, 300), true],
      [between(1, 99), false],
      [between(401, 500), false],
      [between(400, 400), true],
      [between(100, 100), true],
      [between(1, 1_000), true]
    ]
  },
  {
    name: 'one stamp',
    pair: () => pairOf('one', [{ created: 100 }]),
    cases: [
      [between(100, 100), true],
      [between(101, 300), false],
      [{ startTimeMillis: 101 }, false],
      [{ endTimeMillis: 100 }, true]
    ]
  },
  {
    name: 'two sources, used by one and later by the other',
    pair: () =>
      pairOf('sources', [
        { created: 100, source: 'a' },
        { auditStamp: 400, source: 'b' }
      ]),
    cases: [
      [between(200, 300), true],
      [between(401, 500), false]
    ]
  },
  {
    name: 'a source without stamps beside one with stamps',
    pair: () => pairOf('partly', [{ source: 'a' }, { created: 100, auditStamp: 200, source: 'b' }]),
    cases: [
      [between(150, 160), true],
      [between(201, 300), false]
    ]
  },
  {
    name: 'stamps in the wrong order',
    pair: () => pairOf('swapped', [{ created: 400, auditStamp: 100 }]),
    cases: [
      [between(200, 300), true],
      [between(1, 99), false]
    ]
  },
  {
    name: 'a stamp of time 0, which means unknown, before one that is known',
    pair: () => pairOf('zero', [{ created: 0, auditStamp: 400 }]),
    cases: [
      [between(1, 399), false],
      [between(400, 400), true]
    ]
  },
  {
    name: 'no stamp that is known',
    pair: () => pairOf('unknown', [{ created: 0, auditStamp: 0 }]),
    cases: [[between(1, 2), true]]
  },
  {
    name: 'an edge that a person stated',
    pair: () => pairOf('person', [{ created: 100, source: 'etl' }, { source: 'manual' }]),
    cases: [[between(500, 600), true]]
  },
  {
    name: 'the input of a job',
    pair: jobWithStamps,
    cases: [
      [between(200, 300), true],
      [between(401, 402), false]
    ]
  }
]

await t.test('an edge counts in a time that its span from first to last use overlaps', async (t) => {
  for (const { name, pair, cases } of table)
    await t.test(name, async (t) => {
      const [up, down] = await pair()
      for (const [index, [times, counts]] of cases.entries()) {
        const { startTimeMillis, endTimeMillis } = times
        const [from, to, direction] =
          index % 2 === 0 ? ([down, up, 'UPSTREAM'] as const) : ([up, down, 'DOWNSTREAM'] as const)
        const what = `${direction}, ${startTimeMillis ?? ''} to ${endTimeMillis ?? ''}`
        for (const [door, ask] of Object.entries(doors)) {
          const { found, limits } = await ask(from, direction, times)
          t.strictSame(found, counts ? [to] : [], `${door}, ${what}`)
          t.match(
            limits,
            {
              startTimeMillis: startTimeMillis ?? 0,
              endTimeMillis: endTimeMillis ?? Number,
              rule: timeWindowRule
            },
            `${door} says so`
          )
        }
        t.equal(await countedNear(from, direction, times), counts ? 1 : 0, `counts, ${what}`)
      }
      for (const [door, ask] of Object.entries(doors)) {
        const { found, limits } = await ask(down, 'UPSTREAM', {})
        t.strictSame([found, limits], [[up], null], `${door} without times`)
      }
    })
})

await t.test('a diagram says in its first line which edges count', async (t) => {
  const [up] = await pairOf('diagram', [{ created: 100, auditStamp: 400 }])
  for (const format of ['dot', 'mermaid']) {
    const first = async (times: string): Promise<string> => {
      const { text } = await server.rest({
        url: `/lineage/export?format=${format}&urn=${encodeURIComponent(up)}${times}`
      })
      return text.slice(0, text.indexOf('\n'))
    }
    t.ok(
      (await first('&startTimeMillis=200&endTimeMillis=300')).endsWith(
        `1 entities. From 1970-01-01T00:00:00.200Z to 1970-01-01T00:00:00.300Z. ${timeWindowRule}`
      )
    )
    t.notMatch(await first(''), /From/)
  }
})

const anyTime = fc.option(fc.integer({ min: 0, max: 12 }), { nil: null })
const anyStatement = fc.record({
  source: fc.constantFrom('a', 'b', 'c', 'manual'),
  created: anyTime,
  auditStamp: anyTime
})
/** A source that states the edge, or a patch of the creation of all statements there are. */
const anyStep = fc.oneof({ weight: 4, arbitrary: anyStatement }, fc.integer({ min: 1, max: 12 }))
const anyEdge = fc
  .tuple(anyStatement, fc.array(anyStep, { maxLength: 3 }))
  .map(([first, more]) => [first, ...more])
type Edge = { source: string; created: number | null; auditStamp: number | null } | number

/** Of the statements of one source, the last counts. */
function countsByOracle(edge: readonly Edge[], { startTimeMillis, endTimeMillis }: Times): boolean {
  const last = new Map<string, (number | null)[]>()
  for (const step of edge)
    if (typeof step === 'number')
      for (const [source, [, audit = null]] of last) last.set(source, [step, audit])
    else last.set(step.source, [step.created, step.auditStamp])
  const times = [...last.values()].flat().filter((time): time is number => time !== null && time > 0)
  if (last.has('manual') || times.length === 0) return true
  return Math.min(...times) <= (endTimeMillis ?? Infinity) && Math.max(...times) >= (startTimeMillis ?? 0)
}

async function play(up: Urn, down: Urn, edge: readonly Edge[]): Promise<void> {
  for (const step of edge) {
    if (typeof step !== 'number') {
      const { source, created, auditStamp } = step
      await state(up, down, {
        source,
        ...(created === null ? {} : { created }),
        ...(auditStamp === null ? {} : { auditStamp })
      })
      continue
    }
    const path = `/upstreams/${segment(up)}/created`
    const change = patch(down, 'upstreamLineage', { op: 'add', path, value: stamp(step) })
    await applyCall(server.db, [record(0, change)], asCall({ source: 'a' }))
  }
}

await t.test('every interface agrees with a plain oracle about random statements and times', async () => {
  let round = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyEdge, { minLength: 1, maxLength: 4 }),
      fc.array(fc.tuple(anyTime, anyTime), { minLength: 1, maxLength: 3 }),
      async (edges, windows) => {
        round += 1
        const start = named(`random${round}`)
        const downs = edges.map((_, index) => named(`random${round}.down${index}`))
        await makeAssets(server, [start, ...downs])
        for (const [index, edge] of edges.entries()) await play(start, downs[index] ?? start, edge)
        for (const [a, b] of windows) {
          const [from, to] = a !== null && b !== null && b < a ? [b, a] : [a, b]
          const times = {
            ...(from === null ? {} : { startTimeMillis: from }),
            ...(to === null ? {} : { endTimeMillis: to })
          }
          const expected = downs
            .filter((_, index) => (from === null && to === null) || countsByOracle(edges[index] ?? [], times))
            .sort()
          for (const [door, ask] of Object.entries(doors)) {
            const { found } = await ask(start, 'DOWNSTREAM', times)
            if (JSON.stringify(found) !== JSON.stringify(expected))
              throw new Error(
                `${door}, ${JSON.stringify(times)}: ${found.join()} instead of ${expected.join()}`
              )
          }
        }
      }
    ),
    { numRuns: casesOf(40) }
  )
})
