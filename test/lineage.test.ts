/**
 * Walks: the same degrees whichever interface wrote the edges and whichever reads them; filters, pages,
 * limits, paths.
 */
import t from 'tap'
import { scrollAcrossLineage } from '../shared/catalog/lineage/scroll-across-lineage.ts'
import { query } from '../shared/db/query.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { keepDeadline } from '../shared/store/deadline.ts'
import { toUrn } from '../shared/urn/urn.ts'
import { graphCases, naiveDegrees, randomGraph, type Direction } from './cases/graphs.ts'
import { onBothEngines } from './support/engines.ts'
import { casesOf, fc, seed } from './support/fast-check.ts'
import { degreeReaders, doors, edgesOf, inOrder, urnDegrees, urnEdges, urnOfName } from './support/graph.ts'
import { scrollQuery, where, withGraph } from './support/named-graph.ts'
import { withServer, type TestServer } from './support/server.ts'

const randomGraphCount = casesOf(500)

t.test('degrees of known graphs', async (t) => {
  const server = await withServer(t, { withWorker: true })
  for (const door of doors) {
    for (const [index, graph] of graphCases.entries()) {
      await t.test(`${graph.name}, written through ${door.name}, has these degrees`, async (t) => {
        const namespace = `${door.name.replaceAll(' ', '_')}_${index}`
        await door.write(server, urnEdges(edgesOf(graph.edges), namespace))
        for (const { from, direction, expected, folded, kept = [] } of graph.walks) {
          const start = urnOfName(from, namespace)
          for (const reader of degreeReaders) {
            t.strictSame(
              inOrder(await reader.read(server, start, direction, true)),
              inOrder(urnDegrees(expected, namespace)),
              `${direction} from ${from} by ${reader.name}`
            )
          }
          const whole = await scrolled(server, start, direction, 10_000)
          t.strictSame(
            await scrolled(server, start, direction, Math.ceil((whole.length + 1) / 3)),
            whole,
            `pages ${direction} from ${from}`
          )
          for (const { groups, names } of kept) {
            const wanted = new Set(names.map((name) => urnOfName(name, namespace)))
            const filters = { orFilters: groups.map((and) => ({ and: [...and] })) }
            const found = await scrolled(server, start, direction, 10_000, filters)
            t.strictSame(
              [found, found.length],
              [whole.filter((urn) => wanted.has(toUrn(urn))), names.length],
              `${JSON.stringify(groups)} from ${from}`
            )
          }
          if (folded)
            t.strictSame(
              inOrder((await degreeReaders[1]?.read(server, start, direction, false)) ?? new Map()),
              inOrder(urnDegrees(folded, namespace)),
              `${from} folded to assets`
            )
        }
      })
    }
  }
})

/** URNs in the order of the results, read in pages of `count`. */
async function scrolled(
  server: TestServer,
  urn: string,
  direction: Direction,
  count: number,
  more: JsonObject = {}
): Promise<string[]> {
  const urns: string[] = []
  let scrollId: string | null = null
  do {
    const input: JsonObject = { urn, direction, count, ...more, ...(scrollId === null ? {} : { scrollId }) }
    const { body } = await server.graphql(
      'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { nextScrollId searchResults { entity { urn } } } }',
      { input }
    )
    urns.push(
      ...body.data.scrollAcrossLineage.searchResults.map(
        (result: { entity: { urn: string } }) => result.entity.urn
      )
    )
    scrollId = body.data.scrollAcrossLineage.nextScrollId
  } while (scrollId !== null)
  return urns
}

t.test('degrees of random graphs', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const graphs = fc.sample(randomGraph, { numRuns: randomGraphCount, seed })
  for (const door of doors) {
    await t.test(
      `${randomGraphCount} random graphs, written through ${door.name}, have the degrees of a naive oracle`,
      async (t) => {
        const namespaceOf = (index: number): string => `${door.name.replaceAll(' ', '_')}_r${index}`
        await door.write(
          server,
          graphs.flatMap(({ edges }, index) => urnEdges(edges, namespaceOf(index)))
        )
        const wrong: unknown[] = []
        let reachedCount = 0
        const check = async (index: number): Promise<void> => {
          const { edges, from, direction } = graphs[index] ?? { edges: [], from: '', direction: 'UPSTREAM' }
          // A start without edges was never written.
          if (!edges.some((edge) => edge.includes(from))) return
          const expected = inOrder(urnDegrees(naiveDegrees(edges, from, direction), namespaceOf(index)))
          reachedCount += expected.length
          for (const reader of degreeReaders) {
            const found = inOrder(
              await reader.read(server, urnOfName(from, namespaceOf(index)), direction, true)
            )
            if (JSON.stringify(found) !== JSON.stringify(expected))
              wrong.push({
                seed,
                reader: reader.name,
                from,
                direction,
                edges: edges.map((edge) => edge.join(' -> ')).join('; '),
                found,
                expected
              })
          }
        }
        const readsAtOnce = 8
        for (let begin = 0; begin < graphs.length; begin += readsAtOnce) {
          await Promise.all(
            Array.from({ length: Math.min(readsAtOnce, graphs.length - begin) }, (_, offset) =>
              check(begin + offset)
            )
          )
        }
        t.strictSame(wrong.slice(0, 3), [], `seed ${seed}`)
        t.ok(reachedCount > randomGraphCount, 'the graphs are worth walking')
      }
    )
  }
})

onBothEngines('filters', async (t, server) => {
  const { urn, found, scroll, propose } = await withGraph(
    server,
    'a -> b -> c -> d -> e; a -> job:x; b -> chart:y',
    'filters'
  )
  await propose('b', 'datasetProperties', {
    name: 'Sales 100%',
    description: 'sums of Orders',
    customProperties: { tier: 'gold' }
  })
  await propose('c', 'globalTags', { tags: [{ tag: 'urn:li:tag:pii' }] })
  await propose('c', 'ownership', {
    owners: [{ owner: 'urn:li:corpuser:jo', type: 'DATAOWNER' }],
    lastModified: { time: 0, actor: 'urn:li:corpuser:jo' }
  })
  await propose('d', 'subTypes', { typeNames: ['View'] })
  const domain = async (input: JsonObject): Promise<string> =>
    (await server.graphql('mutation ($input: CreateDomainInput!) { createDomain(input: $input) }', { input }))
      .body.data.createDomain
  const top = await domain({ name: 'Filters top' })
  const below = await domain({ name: 'Filters below', parentDomain: top })
  const other = await domain({ name: 'Filters other' })
  for (const [name, domainUrn] of [
    ['b', top],
    ['c', below],
    ['d', other]
  ] as const) {
    await server.graphql(
      'mutation ($entityUrn: String!, $domainUrn: String!) { setDomain(entityUrn: $entityUrn, domainUrn: $domainUrn) }',
      { entityUrn: urn(name), domainUrn }
    )
  }

  await t.test('each field keeps what it names', async (t) => {
    const kept: [JsonObject, string[]][] = [
      [{ field: 'degree', values: ['1'] }, ['b', 'job:x']],
      [{ field: 'degree', values: ['2', '3+'] }, ['c', 'chart:y', 'd', 'e']],
      [{ field: 'degree', values: ['3+'], negated: true }, ['b', 'c', 'chart:y', 'job:x']],
      [{ field: '_entityType', values: ['DATA_JOB'] }, ['job:x']],
      [{ field: 'entityType', condition: 'IN', values: ['chart', 'DATA_JOB'] }, ['chart:y', 'job:x']],
      [{ field: 'platform', values: ['hive'] }, ['b', 'c', 'd', 'e']],
      [{ field: 'platform', condition: 'CONTAIN', values: ['IVE'] }, ['b', 'c', 'd', 'e']],
      [{ field: 'platform.keyword', values: ['urn:li:dataPlatform:looker'] }, ['chart:y']],
      [{ field: 'origin', values: ['PROD'] }, ['b', 'c', 'd', 'e', 'job:x']],
      [{ field: 'env', values: ['PROD'], negated: true }, ['chart:y']],
      [{ field: 'origin', condition: 'EXISTS' }, ['b', 'c', 'd', 'e', 'job:x']],
      [{ field: 'urn', values: [urn('c')] }, ['c']],
      [{ field: 'urn', condition: 'END_WITH', values: ['FILTERS.D,PROD)'] }, ['d']],
      [{ field: 'name', values: ['Sales 100%'] }, ['b']],
      [{ field: 'name', values: ['sales 100%'] }, []],
      [{ field: 'name', condition: 'IEQUAL', values: ['sales 100%'] }, ['b']],
      [{ field: 'name', condition: 'START_WITH', values: ['SALES'] }, ['b']],
      [{ field: 'description', condition: 'CONTAIN', values: ['orders'] }, ['b']],
      [{ field: 'customProperties', values: ['tier=gold'] }, ['b']],
      [{ field: 'tags', values: ['urn:li:tag:pii'] }, ['c']],
      [{ field: 'owners', condition: 'EXISTS' }, ['c']],
      [{ field: 'typeNames', values: ['View'] }, ['d']],
      [{ field: 'removed', values: ['true'] }, []],
      [{ field: 'removed', values: ['true'], negated: true }, ['b', 'c', 'chart:y', 'd', 'e', 'job:x']],
      [{ field: 'domains', values: [top] }, ['b']],
      [{ field: 'domains', condition: 'DESCENDANTS_INCL', values: [top] }, ['b', 'c']],
      [{ field: 'domains', condition: 'ANCESTORS_INCL', values: [below] }, ['b', 'c']],
      [{ field: 'domains', condition: 'RELATED_INCL', values: [top, other] }, ['b', 'c', 'd']],
      [{ field: 'domains', condition: 'EXISTS', negated: true }, ['chart:y', 'e', 'job:x']],
      [{ field: 'domains', values: ['urn:li:domain:nowhere'] }, []]
    ]
    for (const [filter, names] of kept)
      t.strictSame(await found('a', where([filter])), names, JSON.stringify(filter))
  })

  await t.test('groups are joined by OR, the filters in a group by AND, whatever their fields', async (t) => {
    const filters: { name: string; filter: JsonObject; holds: (name: string) => boolean }[] = [
      {
        name: 'degree 1',
        filter: { field: 'degree', values: ['1'] },
        holds: (name) => ['b', 'job:x'].includes(name)
      },
      {
        name: 'degree 2',
        filter: { field: 'degree', values: ['2'] },
        holds: (name) => ['c', 'chart:y'].includes(name)
      },
      {
        name: 'degree 3+',
        filter: { field: 'degree', values: ['3+'] },
        holds: (name) => ['d', 'e'].includes(name)
      },
      { name: 'hive', filter: { field: 'platform', values: ['hive'] }, holds: (name) => !name.includes(':') },
      {
        name: 'job',
        filter: { field: '_entityType', values: ['DATA_JOB'] },
        holds: (name) => name === 'job:x'
      },
      {
        name: 'in a domain',
        filter: { field: 'domains', condition: 'EXISTS' },
        holds: (name) => ['b', 'c', 'd'].includes(name)
      }
    ]
    const group = fc.array(fc.record({ at: fc.nat(filters.length - 1), negated: fc.boolean() }), {
      maxLength: 3
    })
    await fc.assert(
      fc.asyncProperty(fc.array(group, { maxLength: 3 }), async (groups) => {
        const asked = where(
          ...groups.map((own) => own.map(({ at, negated }) => ({ ...filters[at]?.filter, negated })))
        )
        const expected = ['b', 'c', 'chart:y', 'd', 'e', 'job:x'].filter(
          (name) =>
            groups.length === 0 ||
            groups.some((own) => own.every(({ at, negated }) => filters[at]?.holds(name) !== negated))
        )
        const names = await found('a', asked)
        if (JSON.stringify(names) !== JSON.stringify(expected))
          throw new Error(
            `${JSON.stringify(asked)} kept ${JSON.stringify(names)}, not ${JSON.stringify(expected)}`
          )
      }),
      { numRuns: 150 }
    )
    t.pass('150 random filters')
  })

  await t.test('the search text is found in names, descriptions and URNs, and says where', async (t) => {
    t.strictSame(await found('a', { query: 'sALES 100%' }), ['b'])
    t.strictSame(await found('a', { query: 'orders' }), ['b'])
    t.strictSame(await found('a', { query: 'airflow' }), ['job:x'])
    t.strictSame(await found('a', { query: 's_les' }), [], 'no wildcards')
    const { page } = await scroll('a', { query: 'sums' })
    t.strictSame(page.searchResults[0].matchedFields, [{ name: 'description', value: 'sums of Orders' }])
    t.equal(page.total, 1)
  })

  await t.test('types keep entity types, and the walk passes through the others', async (t) => {
    t.strictSame(await found('a', { types: ['CHART'] }), ['chart:y'])
    t.strictSame(await found('a', { types: ['DATA_JOB', 'CHART'] }), ['chart:y', 'job:x'])
  })

  await t.test(
    'a field, condition or value that is not allowed is refused with those that are',
    async (t) => {
      const refused: [JsonObject, string, string][] = [
        [{ field: 'colour', values: ['red'] }, 'field', 'degree'],
        [{ field: '__proto__', values: ['1'] }, 'field', 'degree'],
        [{ field: 'degree', values: ['4'] }, 'values[0]', '3+'],
        [{ field: 'degree', condition: 'CONTAIN', values: ['1'] }, 'condition', 'EQUAL'],
        [{ field: 'name', condition: 'GREATER_THAN', values: ['m'] }, 'condition', 'CONTAIN'],
        [{ field: 'removed', values: ['yes'] }, 'values[0]', 'true']
      ]
      for (const [filter, place, allowed] of refused) {
        const { error } = await scroll('a', where([filter]))
        t.strictSame(
          [error.extensions.reason, error.extensions.field],
          ['BAD_REQUEST', `input.orFilters[0].and[0].${place}`],
          JSON.stringify(filter)
        )
        t.ok(error.extensions.allowed.includes(allowed))
      }
      t.equal((await scroll('a', where([{ field: 'domains', values: ['finance'] }]))).reason, 'INVALID_URN')
    }
  )

  await t.test('facets count all results, degree first', async (t) => {
    const { page } = await scroll('a', { count: 1 })
    const counts = page.facets.map((facet: JsonObject) => [
      facet.field,
      (facet.aggregations as JsonObject[]).map(({ value, count }) => `${String(value)} ${String(count)}`)
    ])
    t.strictSame(counts, [
      ['degree', ['1 2', '2 2', '3+ 2']],
      [
        'platform',
        ['urn:li:dataPlatform:hive 4', 'urn:li:dataPlatform:airflow 1', 'urn:li:dataPlatform:looker 1']
      ],
      ['_entityType', ['DATASET 4', 'CHART 1', 'DATA_JOB 1']],
      ['origin', ['PROD 5']],
      ['domains', [`${top} 1`, `${below} 1`, `${other} 1`].sort()]
    ])
    t.equal((await scroll('a', { searchFlags: { skipAggregates: true } })).page.facets, null)
  })
})

onBothEngines('what is removed, deleted or only referred to', async (t, server) => {
  const { urn, scroll, found, propose } = await withGraph(server, 'a -> b -> c; a#x -> b#y -> c#z', 'ghosts')

  await t.test('a placeholder is returned and says that it does not exist', async (t) => {
    await server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      headers: { 'x-missing-references': 'create' },
      body: {
        proposal: {
          entityType: 'dataset',
          entityUrn: urn('a'),
          changeType: 'UPSERT',
          aspectName: 'upstreamLineage',
          aspect: { json: { upstreams: [{ dataset: urn('ghost'), type: 'COPY' }] } }
        }
      }
    })
    const { page } = await scroll('a', { direction: 'UPSTREAM' })
    t.strictSame(
      page.searchResults.map((result: { entity: JsonObject }) => result.entity),
      [{ urn: urn('ghost'), type: 'DATASET', exists: false }]
    )
    t.strictSame(await found('ghost'), ['a', 'b', 'c'], 'and can be walked from')
  })

  await t.test(
    'a soft-deleted entity is walked through and not returned, unless it is asked for',
    async (t) => {
      await propose('b', 'status', { removed: true })
      t.strictSame(await found('a'), ['c'])
      t.equal((await scroll('a')).page.searchResults[0].degree, 2)
      t.strictSame(await found('a', { searchFlags: { includeSoftDeleted: true } }), ['b', 'c'])
      t.strictSame(await found('a', where([{ field: 'removed', values: ['true'] }])), ['b'])
      t.strictSame(await found('a#x'), ['c'], 'its columns as well')
      await propose('b', 'status', { removed: false })
      t.strictSame(await found('a'), ['b', 'c'])
    }
  )

  await t.test('an entity that nothing has named is not found', async (t) => {
    const { page, error } = await scroll('nobody')
    t.strictSame([page, error.extensions.reason, error.extensions.urn], [null, 'NOT_FOUND', urn('nobody')])
    t.equal((await scroll('nobody#column')).reason, 'NOT_FOUND', 'nor is a column of it')
  })

  await t.test('a column that no edge names exists with its asset and reaches nothing', async (t) => {
    t.strictSame(await found('a#untold'), [])
  })
})

onBothEngines('columns', async (t, server) => {
  const { urn, scroll } = await withGraph(
    server,
    'a#x -> b#y & b#z; b#z -> c#u -> b#late; b#late -> d#v',
    'columns'
  )

  await t.test(
    'are folded to their assets at the least degree, with all degrees and a path for each',
    async (t) => {
      const { page } = await scroll('a#x')
      t.equal(page.total, 3)
      const [first] = page.searchResults
      t.strictSame(
        [first.entity.urn, first.entity.type, first.degree, first.degrees],
        [urn('b'), 'DATASET', 1, [1, 3]]
      )
      const paths: string[] = first.paths.map(({ path }: { path: { urn: string }[] }) =>
        path.map((step) => step.urn).join(' > ')
      )
      t.strictSame(
        paths.sort(),
        [
          [urn('a#x'), urn('b#y')],
          [urn('a#x'), urn('b#z')],
          [urn('a#x'), urn('b#z'), urn('c#u'), urn('b#late')]
        ]
          .map((path) => path.join(' > '))
          .sort()
      )
    }
  )

  await t.test(
    'are returned if the input says so; a grouping has no effect, and the answer says so',
    async (t) => {
      const grouping = {
        groupingSpec: {
          groupingCriteria: [{ baseEntityType: 'SCHEMA_FIELD', groupingEntityType: 'SCHEMA_FIELD' }]
        }
      }
      const folded = await scroll('a#x', { searchFlags: grouping })
      t.strictSame(
        [folded.page.total, folded.extensions.lineage.withoutEffect],
        [3, ['searchFlags.groupingSpec']]
      )
      const { page } = await scroll('a#x', { foldColumns: false })
      t.strictSame(
        page.searchResults.map((result: JsonObject) => (result.entity as JsonObject).type),
        Array(5).fill('SCHEMA_FIELD')
      )
    }
  )

  await t.test('are filtered by degree as what is returned', async (t) => {
    const { page } = await scroll('a#x', where([{ field: 'degree', values: ['2', '3+'] }]))
    t.strictSame(
      page.searchResults.map((result: { entity: JsonObject }) => result.entity.urn),
      [urn('c'), urn('d')]
    )
  })
})

onBothEngines('pages', async (t, server) => {
  const { urn, scroll } = await withGraph(
    server,
    `${Array.from({ length: 25 }, (_, index) => `hub -> n${index}`).join('; ')}; n3 -> m1; n4 -> m2 -> m3`,
    'pages'
  )
  type Page = {
    searchResults: { degree: number; entity: { urn: string } }[]
    nextScrollId: string | null
    total: number
    count: number
  }

  async function allPages(more: JsonObject): Promise<Page[]> {
    const pages: Page[] = []
    for (let scrollId: string | null = null; pages.length < 100;) {
      const { page }: { page: Page } = await scroll('hub', scrollId === null ? more : { ...more, scrollId })
      pages.push(page)
      scrollId = page.nextScrollId
      if (scrollId === null) break
    }
    return pages
  }

  await t.test('hold every result once, nearest first, and end with null', async (t) => {
    for (const count of [1, 7, 14, 28, 1_000]) {
      const pages = await allPages({ count })
      const results = pages.flatMap((page) => page.searchResults)
      t.strictSame(
        [results.length, new Set(results.map((result) => result.entity.urn)).size, pages.length],
        [28, 28, Math.ceil(28 / count)],
        `by ${count}`
      )
      t.ok(
        results.every((result, index) => index === 0 || result.degree >= (results[index - 1]?.degree ?? 0)),
        'nearest first'
      )
      t.ok(pages.every((page) => page.total === 28 && page.count === page.searchResults.length))
    }
  })

  await t.test('are those of the filtered results if there are filters', async (t) => {
    const pages = await allPages({ count: 1, ...where([{ field: 'degree', values: ['2', '3+'] }]) })
    t.strictSame(
      pages.map((page) => page.searchResults[0]?.degree),
      [2, 2, 3]
    )
  })

  await t.test(
    'continue where the last one ended if edges disappear meanwhile, and say that results have changed',
    async (t) => {
      const first = await scroll('hub', { count: 20 })
      t.equal(first.extensions.lineage.changedSinceFirstPage, undefined)
      const gone = first.page.searchResults[0].entity.urn
      await server.graphql('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', {
        input: { edgesToRemove: [{ upstreamUrn: urn('hub'), downstreamUrn: gone }] }
      })
      const second = await scroll('hub', { count: 20, scrollId: first.page.nextScrollId })
      const seen = [...first.page.searchResults, ...second.page.searchResults].map(
        (result: { entity: { urn: string } }) => result.entity.urn
      )
      t.strictSame([new Set(seen).size, seen.length], [28, 28])
      t.equal(second.extensions.lineage.walks.scrollAcrossLineage.changedSinceFirstPage, true)
    }
  )

  await t.test('refuse a scroll id of another question, a changed one and a text that is none', async (t) => {
    const scrollId: string = (await scroll('hub', { count: 2 })).page.nextScrollId
    const wrong: JsonObject[] = [
      { scrollId: `x${scrollId}` },
      { scrollId: scrollId.slice(0, -1) },
      { scrollId: 'hello' },
      { scrollId: '' },
      { scrollId, query: 'n1' },
      { scrollId, direction: 'UPSTREAM' },
      { scrollId, types: ['CHART'] },
      { scrollId, ...where([{ field: 'degree', values: ['1'] }]) },
      { scrollId, searchFlags: { includeSoftDeleted: true } }
    ]
    for (const more of wrong)
      t.strictSame(
        [
          (await scroll('hub', more)).error?.extensions.reason,
          (await scroll('hub', more)).error?.extensions.field
        ],
        ['BAD_REQUEST', 'input.scrollId'],
        JSON.stringify(more)
      )
    t.equal((await scroll('n3', { scrollId })).reason, 'BAD_REQUEST', 'another start')
    t.equal((await scroll('hub', { scrollId, count: 3 })).page.count, 3, 'another count is no other question')
  })

  await t.test('have 1 to 10,000 results, and 10 when nothing is said', async (t) => {
    t.equal(
      (await server.graphql(scrollQuery, { input: { urn: urn('hub') } })).body.data.scrollAcrossLineage.count,
      10
    )
    for (const count of [0, -1]) t.equal((await scroll('hub', { count })).reason, 'BAD_REQUEST')
    t.equal((await scroll('hub', { count: 10_001 })).reason, 'LIMIT_EXCEEDED')
  })
})

onBothEngines('paths', async (t, server) => {
  const { urn, scroll } = await withGraph(server, 'a -> b -> c -> d; a -> x -> d; d -> e -> a', 'paths')
  const { page } = await scroll('a')
  const edges = new Set(
    edgesOf('a -> b -> c -> d; a -> x -> d; d -> e -> a').map(([up, down]) => `${urn(up)} ${urn(down)}`)
  )
  for (const { degree, entity, paths } of page.searchResults as {
    degree: number
    entity: { urn: string }
    paths: { path: { urn: string }[] }[]
  }[]) {
    const steps = paths[0]?.path.map((step) => step.urn) ?? []
    t.strictSame(
      [paths.length, steps.length, steps[0], steps.at(-1)],
      [1, degree + 1, urn('a'), entity.urn],
      'one shortest way, both ends on it'
    )
    t.ok(
      steps.every((step, index) => index === 0 || edges.has(`${steps[index - 1] ?? ''} ${step}`)),
      'along edges'
    )
  }
})

t.test('bounds', async (t) => {
  const server = await withServer(t)
  const { urn } = await withGraph(
    server,
    `${['s', ...Array.from({ length: 12 }, (_, index) => `c${index}`)].join(' -> ')}; s -> w1 & w2 & w3`,
    'bounds'
  )
  const walk = (more: JsonObject, bounds: { maxHops: number; maxEntities: number }) =>
    scrollAcrossLineage(
      { db: server.db, memory: null },
      { urn: urn('s'), direction: 'DOWNSTREAM', count: 100, ...more },
      { facets: false, paths: false },
      bounds
    )

  await t.test('a walk that a bound of hops cuts says so, and one that ends there does not', async (t) => {
    const cut = await walk({}, { maxHops: 3, maxEntities: 1_000 })
    t.strictSame([cut.report.complete, cut.report.truncatedBy, cut.total], [false, 'maxHops', 6])
    t.strictSame((await walk({}, { maxHops: 12, maxEntities: 1_000 })).report.complete, true)
  })

  await t.test('a walk that meets a limit of entities says so, and its degrees are exact', async (t) => {
    const cut = await walk({}, { maxHops: 100, maxEntities: 6 })
    t.strictSame(
      [cut.report.complete, cut.report.truncatedBy, cut.results.map((result) => result.degree)],
      [false, 'maxEntities', [1, 1, 1, 1, 2, 3]]
    )
    t.ok(
      (await walk({}, { maxHops: 100, maxEntities: 15 })).report.complete,
      'reaching exactly the bound is no cut'
    )
  })

  await t.test(
    'a degree filter ends the walk where no further result can match, and the answer is complete',
    async (t) => {
      const one = await walk(where([{ field: 'degree', values: ['1'] }]), { maxHops: 2, maxEntities: 1_000 })
      t.strictSame([one.report.complete, one.report.hops, one.total], [true, 1, 4])
      const two = await walk(where([{ field: 'degree', values: ['3+'], negated: true }]), {
        maxHops: 3,
        maxEntities: 1_000
      })
      t.strictSame([two.report.complete, two.report.hops, two.total], [true, 2, 5])
      const none = await walk(
        where([
          { field: 'degree', values: ['1'] },
          { field: 'degree', values: ['2'] }
        ]),
        { maxHops: 2, maxEntities: 1_000 }
      )
      t.strictSame([none.report.complete, none.report.hops, none.total], [true, 0, 0])
    }
  )

  await t.test('the answer carries them', async (t) => {
    const { body } = await server.graphql(
      'query ($urn: String!) { one: scrollAcrossLineage(input: { urn: $urn, lineageFlags: { entitiesExploredPerHopLimit: 5 } }) { isPartial freshness { cached } } two: scrollAcrossLineage(input: { urn: $urn }) { total } }',
      { urn: urn('s') }
    )
    t.strictSame(body.data, { one: { isPartial: false, freshness: { cached: false } }, two: { total: 15 } })
    t.equal(body.extensions.lineage.complete, true)
    t.strictSame(body.extensions.lineage.walks.one.withoutEffect, [
      'lineageFlags.entitiesExploredPerHopLimit'
    ])
    t.match(body.extensions.lineage.walks.two, {
      complete: true,
      truncatedBy: null,
      hops: 13,
      visited: 15,
      ms: Number,
      engine: String
    })
    t.match(
      body.extensions.lineage,
      {
        complete: true,
        truncatedBy: null,
        hops: 13,
        visited: 30,
        ms: Number,
        withoutEffect: ['lineageFlags.entitiesExploredPerHopLimit']
      },
      'all walks together'
    )
  })

  await t.test('a walk ends with DEADLINE_EXCEEDED when its time is over, within a query too', async (t) => {
    await t.rejects(
      server.db.transaction(async (tx) =>
        keepDeadline(tx, 50, 'too slow')(() => query(tx, 'select pg_sleep(5)'))
      ),
      { code: 'DEADLINE_EXCEEDED' }
    )
    await t.rejects(
      server.db.transaction(async (tx) => keepDeadline(tx, -1, 'too slow')(() => query(tx, 'select 1'))),
      { code: 'DEADLINE_EXCEEDED' }
    )
  })
})
