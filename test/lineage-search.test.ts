/**
 * Searches across lineage besides filters: by number, by time, from columns, several paths, and the snapshot
 * of a scroll.
 */
import t from 'tap'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import { heldResultsBounds, holdResults, type HeldResults } from '../shared/catalog/lineage/held-results.ts'
import { findHits, type FoundHits } from '../shared/catalog/lineage/find-hits.ts'
import { scrollAcrossLineage } from '../shared/catalog/lineage/scroll-across-lineage.ts'
import { checkQuestion } from '../shared/catalog/lineage/scroll-question.ts'
import { searchAcrossLineage } from '../shared/catalog/lineage/search-across-lineage.ts'
import { sqlLineageReader } from '../shared/catalog/lineage/sql-lineage-reader.ts'
import type { LineageSources } from '../shared/catalog/lineage/with-lineage.ts'
import { query } from '../shared/db/query.ts'
import type { Change, JsonObject } from '../shared/model/changes.ts'
import { addEdge, asCall, patch, record, upsert } from './support/changes.ts'
import { onBothEngines } from './support/engines.ts'
import { makeAssets } from './support/graph.ts'
import { where, withGraph } from './support/named-graph.ts'
import { withServer } from './support/server.ts'

type Result = { degree: number; entity: { urn: string }; paths: { path: { urn: string }[] }[] }

const searchQuery = `query ($input: SearchAcrossLineageInput!) { searchAcrossLineage(input: $input) {
  start count total isPartial lineageSearchPath freshness { cached } facets { field }
  searchResults { degree entity { urn type } paths { path { urn } } }
} }`

onBothEngines('search by number', async (t, server, engine) => {
  const { urn } = await withGraph(
    server,
    `${Array.from({ length: 12 }, (_, index) => `hub -> n${index}`).join('; ')}; n3 -> chart:c -> dash:d; hub#x -> n1#y`,
    'numbers'
  )
  const search = async (more: JsonObject) => {
    const { body } = await server.graphql(searchQuery, {
      input: { urn: urn('hub'), direction: 'DOWNSTREAM', ...more }
    })
    return {
      page: body.data?.searchAcrossLineage,
      extensions: body.extensions,
      error: body.errors?.[0]?.extensions
    }
  }
  const urnsOf = (page: { searchResults: Result[] }) => page.searchResults.map((result) => result.entity.urn)

  await t.test('its pages have every result once, in the order of the scroll', async (t) => {
    const whole = await search({ count: 100 })
    t.match(whole.page, { start: 0, count: 14, total: 14, isPartial: false, lineageSearchPath: 'LIGHTNING' })
    t.equal(whole.extensions.lineage.engine, engine)
    const pages = [
      await search({ start: 0, count: 5 }),
      await search({ start: 5, count: 5 }),
      await search({ start: 10, count: 5 })
    ]
    t.strictSame(
      pages.flatMap(({ page }) => urnsOf(page)),
      urnsOf(whole.page)
    )
    t.strictSame(
      pages.map(({ page }) => [page.start, page.count, page.total]),
      [
        [0, 5, 14],
        [5, 5, 14],
        [10, 4, 14]
      ]
    )
    t.strictSame((await search({ start: 14 })).page.searchResults, [], 'behind the last one')
    t.match(
      [(await search({ start: -1 })).error, (await search({ count: 10_001 })).error],
      [{ reason: 'BAD_REQUEST' }, { reason: 'LIMIT_EXCEEDED' }]
    )
  })

  await t.test('the older filters apply in addition to the groups', async (t) => {
    const older = { filters: [{ field: '_entityType', values: ['CHART', 'DASHBOARD'] }] }
    t.strictSame(urnsOf((await search(older)).page), [urn('chart:c'), urn('dash:d')])
    t.strictSame(
      urnsOf(
        (
          await search({
            ...older,
            ...where([{ field: 'degree', values: ['3+'] }], [{ field: 'degree', values: ['1'] }])
          })
        ).page
      ),
      [urn('dash:d')]
    )
  })

  await t.test('inputs without effect are named', async (t) => {
    const { page, extensions } = await search({
      query: 'numbers',
      viewUrn: 'urn:li:dataHubView:v',
      sortInput: { sortCriterion: { field: 'name', sortOrder: 'ASCENDING' } }
    })
    t.strictSame(
      [extensions.lineage.withoutEffect, page.lineageSearchPath, page.total],
      [['viewUrn', 'sortInput'], 'TORTOISE', 14]
    )
  })

  await t.test('from a column it returns columns if the grouping says so', async (t) => {
    const grouping = {
      searchFlags: {
        groupingSpec: {
          groupingCriteria: [{ baseEntityType: 'SCHEMA_FIELD', groupingEntityType: 'SCHEMA_FIELD' }]
        }
      }
    }
    t.strictSame(
      [
        urnsOf((await search({ urn: urn('hub#x') })).page),
        urnsOf((await search({ urn: urn('hub#x'), ...grouping })).page)
      ],
      [[urn('n1')], [urn('n1#y')]]
    )
  })
})

onBothEngines('columns of an asset', async (t, server) => {
  const { urn, scroll, found } = await withGraph(
    server,
    'a#x -> b#y -> c#z; a#w -> c#v -> a#late; a -> d',
    'from_columns'
  )

  await t.test(
    'a walk from all of them finds what any of them feeds, and not the asset itself',
    async (t) => {
      const { page } = await scroll('a', { columns: true })
      t.strictSame(
        page.searchResults.map((result: Result) => `${result.degree} ${result.entity.urn}`).sort(),
        [`1 ${urn('b')}`, `1 ${urn('c')}`]
      )
      t.strictSame(await found('a'), ['d'], 'without it assets are followed')
    }
  )

  await t.test('its paths begin at a column', async (t) => {
    const { page } = await scroll('a', { columns: true })
    const ofB = page.searchResults.find((result: Result) => result.entity.urn === urn('b'))
    t.strictSame(ofB.paths, [
      {
        path: [
          { urn: urn('a#x'), type: 'SCHEMA_FIELD', exists: true },
          { urn: urn('b#y'), type: 'SCHEMA_FIELD', exists: true }
        ]
      }
    ])
  })
})

onBothEngines('jobs that assert column lineage', async (t, server) => {
  const { urn, names, scroll, propose } = await withGraph(
    server,
    `a -> b -> c; a#x -> b#y -> c#z; e#q -> f#q; s -> ${['one', 'two', 'back', 'self', 'other', 'late'].map((name) => `job:${name}`).join(' & ')}`,
    'column_jobs'
  )
  const asserts = (job: string, ...pairs: [string, string][]) =>
    propose(job, 'dataJobInputOutput', {
      inputDatasets: [],
      outputDatasets: [],
      fineGrainedLineages: pairs.map(([from, to]) => ({
        upstreamType: 'FIELD_SET',
        upstreams: [urn(from)],
        downstreamType: 'FIELD_SET',
        downstreams: [urn(to)]
      }))
    })
  await asserts('job:one', ['a#x', 'b#y'])
  await asserts('job:two', ['b#y', 'c#z'], ['e#q', 'f#q'])
  await asserts('job:back', ['c#z', 'a#x'])
  await asserts('job:self', ['c#z', 'c#z'])
  await asserts('job:other', ['e#q', 'f#q'])
  const found = async (from: string, more: JsonObject = {}): Promise<string[]> =>
    (await scroll(from, more)).page.searchResults.map(
      ({ degree, entity }: Result) => `${degree} ${names.get(entity.urn)}`
    )
  const sorted = async (from: string, more: JsonObject = {}) => (await found(from, more)).sort()

  await t.test('are found one hop behind the nearest column that leads to them', async (t) => {
    t.strictSame(await sorted('a#x'), ['1 b', '1 job:one', '2 c', '2 job:two', '3 job:back'])
    t.strictSame(await sorted('a', { columns: true }), ['1 b', '1 job:one', '2 c', '2 job:two', '3 job:back'])
    t.strictSame(await sorted('c#z', { direction: 'UPSTREAM' }), [
      '1 b',
      '1 job:two',
      '2 a',
      '2 job:one',
      '3 job:back'
    ])
    t.strictSame(
      await sorted('a#x', { foldColumns: false }),
      ['1 b#y', '1 job:one', '2 c#z', '2 job:two', '3 job:back'],
      'also where columns are shown'
    )
  })

  await t.test('are filtered, counted and paged as any result is', async (t) => {
    const nearest = where([{ field: 'degree', values: ['1'] }])
    t.strictSame(await sorted('a#x', nearest), ['1 b', '1 job:one'])
    t.strictSame(await sorted('a#x', { types: ['DATASET'] }), ['1 b', '2 c'])
    t.strictSame(await found('a#x', { types: ['DATA_JOB'] }), ['1 job:one', '2 job:two', '3 job:back'])
    const pages: string[] = []
    let scrollId: string | null = null
    do {
      const { page } = await scroll('a#x', { count: 2, scrollId })
      pages.push(...page.searchResults.map(({ entity }: Result) => entity.urn))
      scrollId = page.nextScrollId
    } while (scrollId !== null)
    t.strictSame(
      pages,
      (await scroll('a#x')).page.searchResults.map(({ entity }: Result) => entity.urn)
    )
    const { body } = await server.graphql(
      `query ($input: LineageCountsInput!) { lineageCounts(input: $input) { total types { type count } } }`,
      { input: { urn: urn('a#x'), direction: 'DOWNSTREAM' } }
    )
    t.strictSame(body.data?.lineageCounts, {
      total: 5,
      types: [
        { type: 'DATA_JOB', count: 3 },
        { type: 'DATASET', count: 2 }
      ]
    })
  })

  await t.test('are the ends of their own paths', async (t) => {
    const { page } = await scroll('a#x', { types: ['DATA_JOB'] })
    t.strictSame(
      page.searchResults.map(({ paths }: Result) =>
        paths.map(({ path }) => path.map((step) => names.get(step.urn)).join(' '))
      ),
      [['a#x job:one'], ['a#x b#y job:two'], ['a#x b#y c#z job:back']]
    )
  })

  await t.test(
    'are there as soon as they assert an edge that is known, and gone when they no longer do',
    async (t) => {
      await asserts('job:late', ['a#x', 'b#y'])
      t.ok((await found('a#x')).includes('1 job:late'))
      await asserts('job:late')
      t.notOk((await found('a#x')).includes('1 job:late'))
      await propose('job:one', 'status', { removed: true })
      t.notOk((await found('a#x')).includes('1 job:one'), 'a soft-deleted one is not shown')
    }
  )
})

onBothEngines('several paths', async (t, server) => {
  const { urn, scroll } = await withGraph(
    server,
    'a -> b & c & d -> e & f -> g; a -> x -> y -> z -> g; e -> e',
    'paths'
  )
  const pathsTo = async (name: string, more: JsonObject): Promise<string[]> => {
    const { page } = await scroll('a', more)
    const result = page.searchResults.find((found: Result) => found.entity.urn === urn(name))
    return result.paths.map(({ path }: { path: { urn: string }[] }) =>
      path.map((step) => step.urn.split('.').at(-1)?.replace(',PROD)', '')).join(' ')
    )
  }

  await t.test('all shortest ones are shown, and none that is longer', async (t) => {
    t.strictSame((await pathsTo('g', { pathsPerResult: 10 })).sort(), [
      'a b e g',
      'a b f g',
      'a c e g',
      'a c f g',
      'a d e g',
      'a d f g'
    ])
    t.strictSame(await pathsTo('z', { pathsPerResult: 10 }), ['a x y z'])
  })

  await t.test('if fewer are requested, they are the first ones, and the same each time', async (t) => {
    const all = await pathsTo('g', { pathsPerResult: 10 })
    t.strictSame(
      [await pathsTo('g', {}), await pathsTo('g', { pathsPerResult: 4 })],
      [all.slice(0, 1), all.slice(0, 4)]
    )
    t.match(
      [
        (await scroll('a', { pathsPerResult: 0 })).reason,
        (await scroll('a', { pathsPerResult: 101 })).reason
      ],
      ['BAD_REQUEST', 'LIMIT_EXCEEDED']
    )
  })
})

t.test('a window of time', async (t) => {
  const server = await withServer(t)
  const { urn, names, found, scroll, propose } = await withGraph(server, 'a -> byHand', 'window')
  const stamp = (time: number) => ({ time, actor: 'urn:li:corpuser:jo' })
  const say = (source: string, ...changes: Change[]) =>
    applyCall(server.db, [record(0, ...changes)], asCall({ source }))
  const fedBy = (upstream: string, more: JsonObject) => ({
    upstreams: [{ dataset: urn(upstream), type: 'COPY', ...more }]
  })
  const made = ['created', 'audited', 'plain', 'job:j', 'two', 'patched', 'below']
  for (const name of made) names.set(urn(name), name)
  await makeAssets(server, made.map(urn))
  await propose('created', 'upstreamLineage', fedBy('a', { auditStamp: stamp(0), created: stamp(100) }))
  await propose('audited', 'upstreamLineage', fedBy('a', { auditStamp: stamp(200) }))
  await propose('plain', 'upstreamLineage', fedBy('a', {}))
  await propose('job:j', 'dataJobInputOutput', {
    inputDatasets: [],
    outputDatasets: [],
    inputDatasetEdges: [{ destinationUrn: urn('a'), created: stamp(300), lastModified: stamp(400) }]
  })
  await propose('below', 'upstreamLineage', {
    upstreams: [
      { dataset: urn('created'), type: 'COPY' },
      { dataset: urn('plain'), type: 'COPY', created: stamp(900) }
    ]
  })
  const within = (fromMs: number, toMs: number) =>
    found('a', { startTimeMillis: fromMs, endTimeMillis: toMs })
  const always = (...more: string[]) => ['byHand', 'plain', ...more].sort()

  await t.test('follows edges whose stamps span it, without a stamp, and by hand', async (t) => {
    t.strictSame(await within(50, 150), always('below', 'created'))
    t.strictSame(await within(100, 100), always('below', 'created'), 'both ends are in it')
    t.strictSame(await within(101, 199), always(), 'nothing is reached along an edge that does not count')
    t.strictSame(
      [await within(200, 250), await within(300, 350), await within(350, 399), await within(401, 450)],
      [always('audited'), always('job:j'), always('job:j'), always()]
    )
  })

  await t.test('ends now if it has no end, and has no beginning if it has no start', async (t) => {
    t.strictSame(await found('a', { startTimeMillis: 150 }), always('audited', 'below', 'job:j'))
    t.strictSame(await found('a', { startTimeMillis: Date.now() + 1_000_000 }), always(), 'a time to come')
    t.strictSame(await found('a', { endTimeMillis: 150 }), always('below', 'created'))
    t.strictSame(
      await found('a', { lineageFlags: { startTimeMillis: 200, endTimeMillis: 250 } }),
      always('audited'),
      'as the flags have it'
    )
    t.equal(await found('a', { startTimeMillis: 2, endTimeMillis: 1 }), 'BAD_REQUEST')
    t.equal((await scroll('a', { startTimeMillis: 1 })).extensions.lineage.withoutEffect, undefined)
  })

  await t.test(
    'an edge that several sources state counts from the first stamp of any of them to the last',
    async (t) => {
      await say('etl-a', upsert(urn('two'), 'upstreamLineage', fedBy('a', { created: stamp(1_000) })))
      await say(
        'etl-b',
        patch(urn('two'), 'upstreamLineage', {
          op: 'add',
          path: `/upstreams/${urn('a')}`,
          value: { dataset: urn('a'), type: 'COPY', created: stamp(2_000), auditStamp: stamp(0) }
        })
      )
      const stated = await query(
        server.db,
        'select source_id from statement where downstream_id = (select id from entity where urn = ?)',
        [urn('two')]
      )
      t.equal(stated.length, 2, 'both are kept')
      t.strictSame(
        [await within(1_000, 1_000), await within(2_000, 2_000), await within(1_001, 1_999)],
        [always('two'), always('two'), always('two')]
      )
      t.strictSame([await within(901, 999), await within(2_001, 2_500)], [always(), always()])
      await say('etl-c', addEdge(urn('a'), urn('two')))
      t.strictSame(await within(2_001, 2_500), always(), 'one that has no stamp takes none away')
      await say('manual', addEdge(urn('a'), urn('two')))
      t.strictSame(await within(2_001, 2_500), always('two'), 'once people state it, it always counts')
    }
  )

  await t.test('a stamp that was patched counts as it is now', async (t) => {
    await say('etl-a', upsert(urn('patched'), 'upstreamLineage', fedBy('a', { created: stamp(5_000) })))
    t.strictSame(await within(5_000, 5_000), always('patched', 'two'))
    await say(
      'etl-a',
      patch(urn('patched'), 'upstreamLineage', {
        op: 'add',
        path: `/upstreams/${urn('a')}/created`,
        value: stamp(6_000)
      })
    )
    t.strictSame(
      [await within(5_000, 5_000), await within(6_000, 6_000)],
      [always('two'), always('patched', 'two')]
    )
  })

  await t.test('decides about neighbours and paths in the same way', async (t) => {
    const { body } = await server.graphql(
      `query ($urn: String!) { dataset(urn: $urn) { lineage(input: { direction: DOWNSTREAM, startTimeMillis: 6000, endTimeMillis: 6000 }) {
      total relationships { createdOn updatedOn isManual entity { urn } } } } }`,
      { urn: urn('a') }
    )
    const { total, relationships } = body.data.dataset.lineage
    t.strictSame(
      [total, relationships.map((one: { entity: { urn: string } }) => names.get(one.entity.urn)).sort()],
      [4, always('patched', 'two')]
    )
    t.match(
      relationships.find((one: { entity: { urn: string } }) => one.entity.urn === urn('patched')),
      { createdOn: 6_000, isManual: false }
    )
    const { page } = await scroll('a', { startTimeMillis: 100, endTimeMillis: 150, pathsPerResult: 10 })
    t.strictSame(
      page.searchResults
        .find((one: Result) => one.entity.urn === urn('below'))
        .paths.map(({ path }: { path: { urn: string }[] }) => path.map((step) => names.get(step.urn))),
      [['a', 'created', 'below']]
    )
  })
})

onBothEngines('the snapshot of a scroll', async (t, server, engine) => {
  const { urn } = await withGraph(
    server,
    `${Array.from({ length: 12 }, (_, index) => `hub -> n${index}`).join('; ')}; n3 -> below`,
    'snapshot'
  )
  const process = (): LineageSources & { held: HeldResults<FoundHits> } => ({
    db: server.db,
    memory: server.memory,
    held: holdResults<FoundHits>(heldResultsBounds)
  })
  const [first, second] = [process(), process()]
  const scroll = (sources: LineageSources, more: JsonObject = {}, paths = false) =>
    scrollAcrossLineage(
      sources,
      { urn: urn('hub'), direction: 'DOWNSTREAM', count: 5, ...more },
      { facets: true, paths }
    )
  const change = (edges: JsonObject) =>
    server.graphql('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', {
      input: edges
    })
  const urnsOf = (pages: readonly { results: { entity: { urn: string } }[] }[]) =>
    pages.flatMap(({ results }) => results.map(({ entity }) => entity.urn))

  await t.test(
    'is the same for all its pages in the process that began it, and a new scroll sees the present',
    async (t) => {
      const page1 = await scroll(first)
      const gone = page1.results[0]?.entity.urn ?? ''
      const last = await scroll(first, { count: 13 })
      const goneLater = last.results[11]?.entity.urn ?? ''
      await change({
        edgesToRemove: [gone, goneLater].map((downstreamUrn) => ({ upstreamUrn: urn('hub'), downstreamUrn }))
      })
      const page2 = await scroll(first, { scrollId: page1.nextScrollId })
      const page3 = await scroll(first, { scrollId: page2.nextScrollId })
      t.strictSame(urnsOf([page1, page2, page3]), urnsOf([last]), 'with what has gone since')
      t.strictSame(
        [page2, page3].map(({ total, isCached, facets, report }) => [
          total,
          isCached,
          facets?.[0]?.aggregations[0]?.count,
          report.changedSinceFirstPage
        ]),
        [
          [13, true, 12, undefined],
          [13, true, 12, undefined]
        ]
      )
      t.equal(page3.nextScrollId, null)
      t.strictSame(
        [(await scroll(first)).total, (await scroll(first)).report.engine],
        [gone === urn('n3') || goneLater === urn('n3') ? 10 : 11, engine]
      )
    }
  )

  await t.test(
    'is walked again by another process, which continues after the last result and says that results have changed',
    async (t) => {
      const page1 = await scroll(first)
      const page2 = await scroll(second, { scrollId: page1.nextScrollId })
      t.strictSame([page2.isCached, page2.report.changedSinceFirstPage], [false, undefined])
      await change({
        edgesToAdd: [
          { upstreamUrn: urn('hub'), downstreamUrn: urn('n0') },
          { upstreamUrn: urn('hub'), downstreamUrn: urn('n11') },
          { upstreamUrn: urn('hub'), downstreamUrn: urn('below') }
        ]
      })
      const page3 = await scroll(second, { scrollId: page2.nextScrollId })
      t.strictSame([page3.isCached, page3.total], [true, page1.total], 'which now holds it as well')
      const third = process()
      const changed = await scroll(third, { scrollId: page1.nextScrollId })
      t.strictSame([changed.isCached, changed.report.changedSinceFirstPage], [false, true])
      const rest = [changed]
      for (let page = changed; page.nextScrollId !== null; rest.push(page))
        page = await scroll(third, { scrollId: page.nextScrollId })
      t.ok(
        rest.every(({ report }) => report.changedSinceFirstPage),
        'each page says so'
      )
      t.equal(new Set(urnsOf([page1, ...rest])).size, urnsOf([page1, ...rest]).length, 'no result twice')
    }
  )

  await t.test('is left for paths: they are of the graph as it is', async (t) => {
    const page1 = await scroll(first, { count: 3 }, true)
    t.equal(
      (await scroll(first, { count: 3, scrollId: page1.nextScrollId }, true)).isCached,
      engine === 'memory',
      'in memory it is known to be unchanged'
    )
    const target = page1.results.at(-1)?.entity.urn ?? ''
    await change({ edgesToRemove: [{ upstreamUrn: urn('hub'), downstreamUrn: target }] })
    const page2 = await scroll(first, { count: 3, scrollId: page1.nextScrollId }, true)
    t.strictSame([page2.isCached, page2.report.changedSinceFirstPage], [false, true])
    t.ok(page2.results.every(({ paths, degree }) => paths[0]?.length === degree + 1))
  })

  await t.test('answers an equal question while the graph is the same, and no other', async (t) => {
    const cached = async (more: JsonObject = {}) => (await scroll(first, more)).isCached
    await Promise.all([cached(), cached({ query: 'snapshot' })])
    const isKnown = engine === 'memory'
    t.strictSame(
      [
        await cached(),
        await cached({ count: 2 }),
        await cached({ searchFlags: { skipCache: true } }),
        await cached({ query: 'snapshot' }),
        await cached({ types: ['DATASET'] })
      ],
      [isKnown, isKnown, false, false, false]
    )
    const search = () =>
      searchAcrossLineage(
        first,
        { urn: urn('hub'), direction: 'DOWNSTREAM', start: 5, count: 2 },
        { facets: false, paths: false }
      )
    t.equal((await search()).isCached, isKnown, 'by number too')
    await change({ edgesToAdd: [{ upstreamUrn: urn('n1'), downstreamUrn: urn('n2') }] })
    t.strictSame([await cached(), (await search()).isCached], [false, isKnown], 'any change ends that')
  })
})

t.test('held results', async (t) => {
  const clock = { now: 1_000 }
  const held = holdResults<string>({ maxIds: 10, maxAgeMs: 100, now: () => clock.now })

  await t.test('are found by what they began with, and by their question', async (t) => {
    held.hold('q', 1, 'old', 2)
    held.hold('q', 2, 'new', 2)
    t.strictSame(
      [
        held.ofScroll('q', 1),
        held.ofScroll('q', 2),
        held.ofScroll('q', 3),
        held.ofScroll('r', 1),
        held.ofQuestion('q'),
        held.ofQuestion('r')
      ],
      ['old', 'new', null, null, 'new', null]
    )
  })

  await t.test('give way in the order of their last use', async (t) => {
    held.hold('r', 1, 'third', 4)
    held.ofScroll('q', 1)
    held.hold('s', 1, 'fourth', 4)
    t.strictSame(
      [held.ofScroll('q', 2), held.ofScroll('q', 1), held.ofScroll('r', 1), held.ofScroll('s', 1)],
      [null, 'old', 'third', 'fourth']
    )
    t.equal(held.ofQuestion('q'), null, 'the latest of a question that has gone is none')
    held.hold('large', 1, 'too large', 11)
    t.strictSame([held.ofScroll('large', 1), held.ofScroll('s', 1)], [null, 'fourth'])
  })

  await t.test('are kept for a limited time after their last use', async (t) => {
    clock.now += 99
    held.ofScroll('s', 1)
    clock.now += 99
    t.strictSame([held.ofScroll('s', 1), held.ofScroll('r', 1)], ['fourth', null])
  })
})

t.test('a walk that has no time left', async (t) => {
  const server = await withServer(t)
  const { urn } = await withGraph(server, 'a -> b -> c', 'deadline')
  await t.test('fails with DEADLINE_EXCEEDED, and never with fewer results', async (t) => {
    const question = checkQuestion({ urn: urn('a'), direction: 'DOWNSTREAM' })
    await server.db.transaction(
      async (tx) => {
        t.equal((await findHits(sqlLineageReader(tx, null), question)).filtered.total, 2)
        await t.rejects(findHits(sqlLineageReader(tx, null, -1), question), { code: 'DEADLINE_EXCEEDED' })
        // The walk itself has enough time, but the queries after it have none.
        const [early, late] = [sqlLineageReader(tx, null), sqlLineageReader(tx, null, -1)]
        await t.rejects(findHits({ ...late, find: early.find, walk: early.walk }, question), {
          code: 'DEADLINE_EXCEEDED'
        })
      },
      { isolationLevel: 'repeatable read' }
    )
  })
})
