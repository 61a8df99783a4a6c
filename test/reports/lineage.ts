/** Trials of reports about walks, pictures, exports and edges between assets. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { limits } from '../../shared/limits.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import type { Trial } from './trial.ts'
import type { World } from './world.ts'

const graphQuery = `query ($input: LineageGraphInput!) { lineageGraph(input: $input) {
  complete nodes { entity { urn } } edges { upstreamUrn downstreamUrn via { urn } } totals { upstream downstream } } }`

const pictureOf = async (world: World, urn: string, input: JsonObject = {}) =>
  (await world.read(graphQuery, { input: { urn, upHops: 20, downHops: 20, ...input } })).lineageGraph

const exportOf = async (world: World, parameters: { [name: string]: string }): Promise<string[]> => {
  const { status, text } = await world.ask({
    url: `/lineage/export?${new URLSearchParams(parameters).toString()}`
  })
  if (status !== 200) throw new Error(text)
  return text.trim().split('\r\n')
}

const degrees = (...values: string[]): JsonObject => ({ orFilters: [{ and: [{ field: 'degree', values }] }] })

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

export const lineageTrials: readonly Trial[] = [
  {
    reports: [
      'open-metadata/OpenMetadata 21817',
      'open-metadata/OpenMetadata 25185',
      'open-metadata/OpenMetadata 32206'
    ],
    tried: 'A table as its own upstream, by mutation, by load and by proposal',
    answer: 'mended',
    name: 'a table that is its own upstream is a loop in the picture, and not among its neighbours',
    run: async (world) => {
      const [drawn, updated, proposed] = [
        world.table('drawn'),
        world.table('updated'),
        world.table('proposed')
      ]
      await world.draw([
        [drawn, drawn],
        [updated, proposed]
      ])
      await world.update({ add: [[updated, updated]] })
      await world.propose(proposed, 'upstreamLineage', {
        upstreams: [{ dataset: proposed, type: 'TRANSFORMED' }]
      })
      for (const urn of [drawn, updated, proposed]) {
        const { edges } = await pictureOf(world, urn)
        ok(
          edges.some(
            ({ upstreamUrn, downstreamUrn }: { upstreamUrn: string; downstreamUrn: string }) =>
              upstreamUrn === urn && downstreamUrn === urn
          )
        )
        ok(!(await world.reached(urn)).includes(world.short(urn)))
      }
    }
  },
  {
    reports: ['datahub-project/datahub 11018', 'open-metadata/OpenMetadata 19936'],
    tried:
      'Tables, jobs, a chart and a dashboard in one graph, seen from each of them as a list and as a picture',
    answer: 'right',
    name: 'a list and a picture of the same lineage have the same assets, from whichever asset they start',
    run: async (world) => {
      const { table, job, chart, dashboard } = world
      const edges: [string, string][] = [
        [table('topic', 'kafka'), job('sink')],
        [job('sink'), table('lake', 's3')],
        [table('lake', 's3'), job('model')],
        [table('rates'), job('model')],
        [job('model'), table('sales')],
        [table('sales'), chart('sales')],
        [chart('sales'), dashboard('board')]
      ]
      await world.draw(edges)
      for (const urn of new Set(edges.flat())) {
        const listed = [...(await world.reached(urn)), ...(await world.upstream(urn)), world.short(urn)]
        const { nodes } = await pictureOf(world, urn)
        const drawn = nodes.map(({ entity }: { entity: { urn: string } }) => world.short(entity.urn))
        deepEqual(drawn.sort(), listed.sort(), urn)
      }
      for (const [up, down] of edges) {
        ok((await world.reached(up, degrees('1'))).includes(world.short(down)))
        ok((await world.upstream(down, degrees('1'))).includes(world.short(up)))
      }
    }
  },
  {
    reports: ['datahub-project/datahub 19072'],
    tried: 'Two ways of the same length between two tables, asked for with one path and with all',
    answer: 'right',
    name: 'the number of shortest paths is told, and all of them are given on demand',
    run: async (world) => {
      const { table } = world
      await world.draw([
        [table('start'), table('left')],
        [table('start'), table('right')],
        [table('left'), table('end')],
        [table('right'), table('end')]
      ])
      const { lineagePaths } = await world.read(
        'query ($input: LineagePathsInput!) { lineagePaths(input: $input) { hops totalShortest paths { steps { entity { urn } } } } }',
        { input: { from: table('start'), to: table('end'), count: 1 } }
      )
      deepEqual([lineagePaths.hops, lineagePaths.totalShortest, lineagePaths.paths.length], [2, 2, 1])
      const { searchResults } = await world.walk(table('start'), { pathsPerResult: 5 })
      const end = searchResults.find((each: { entity: { urn: string } }) => each.entity.urn === table('end'))
      equal(end.paths.length, 2)
    }
  },
  {
    reports: ['datahub-project/datahub 18878', 'acryldata/mcp-server-datahub 154'],
    tried: 'A table with 125 dependents: no page size, pages by number, a page behind the end, and a scroll',
    answer: 'right',
    name: 'pages by number and by cursor have each dependent once, and every page tells the total',
    run: async (world) => {
      const { table } = world
      await world.draw(range(125).map((at) => [table('hub'), table(`spoke_${at}`)]))
      const page = async (input: JsonObject) =>
        (
          await world.read(
            'query ($input: SearchAcrossLineageInput!) { searchAcrossLineage(input: $input) { start count total searchResults { entity { urn } } } }',
            { input: { urn: table('hub'), direction: 'DOWNSTREAM', query: '*', ...input } }
          )
        ).searchAcrossLineage
      equal((await page({})).searchResults.length, 10)
      const seen = new Set<string>()
      for (const start of [0, 50, 100, 150]) {
        const { total, searchResults } = await page({ start, count: 50 })
        equal(total, 125)
        for (const { entity } of searchResults) {
          ok(!seen.has(entity.urn))
          seen.add(entity.urn)
        }
      }
      equal(seen.size, 125)
      let scrolled = 0
      let scrollId: string | null = null
      do {
        const found: { nextScrollId: string | null; searchResults: object[] } = await world.walk(
          table('hub'),
          {
            count: 40,
            ...(scrollId === null ? {} : { scrollId })
          }
        )
        scrolled += found.searchResults.length
        scrollId = found.nextScrollId
      } while (scrollId !== null)
      equal(scrolled, 125)
    }
  },
  {
    reports: ['datahub-project/datahub 19413'],
    tried: 'A chain longer than a walk may be',
    answer: 'right',
    name: 'a walk that meets its limit says that it is incomplete, and which limit it met',
    run: async (world) => {
      const { table } = world
      await world.draw(range(limits.walkMaxHops + 5).map((at) => [table(`t${at}`), table(`t${at + 1}`)]))
      const { body } = await world.ask({
        method: 'POST',
        url: '/api/graphql',
        body: {
          query:
            'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { total isPartial } }',
          variables: { input: { urn: table('t0'), direction: 'DOWNSTREAM', count: 1 } }
        }
      })
      deepEqual(body.data.scrollAcrossLineage, { total: limits.walkMaxHops, isPartial: true })
      equal(body.extensions.lineage.truncatedBy, 'maxHops')
    }
  },
  {
    reports: ['datahub-project/datahub 10879'],
    tried: 'Jobs between tables, upstream and downstream, with a limit of explored entities for each hop',
    answer: 'right',
    name: 'a limit of explored entities that is not reached leaves out no job in either direction',
    run: async (world) => {
      const { table, job } = world
      await world.draw([
        [table('a'), job('one')],
        [job('one'), table('b')],
        [table('b'), job('two')],
        [job('two'), table('c')]
      ])
      const lineageFlags = { entitiesExploredPerHopLimit: 50 }
      deepEqual(await world.upstream(table('c'), { lineageFlags }), ['a', 'b', 'job one', 'job two'])
      deepEqual(await world.reached(table('a'), { lineageFlags }), ['b', 'c', 'job one', 'job two'])
    }
  },
  {
    reports: ['datahub-project/datahub 13005'],
    tried: 'Two jobs in a row and a job without an input, in a picture that hides jobs',
    answer: 'right',
    name: 'a picture without jobs joins what jobs in a row connect, and loses no table',
    run: async (world) => {
      const { table, job } = world
      await world.draw([
        [table('a'), job('one')],
        [job('one'), job('two')],
        [job('two'), table('b')],
        [table('b'), job('three')],
        [job('three'), table('c')],
        [job('four'), table('c')]
      ])
      const { nodes, edges } = await pictureOf(world, table('b'), { hideJobs: true })
      deepEqual(nodes.map(({ entity }: { entity: { urn: string } }) => world.short(entity.urn)).sort(), [
        'a',
        'b',
        'c'
      ])
      deepEqual(
        edges
          .map(
            (edge: { upstreamUrn: string; downstreamUrn: string }) =>
              `${world.short(edge.upstreamUrn)} > ${world.short(edge.downstreamUrn)}`
          )
          .sort(),
        ['a > b', 'b > c']
      )
    }
  },
  {
    reports: ['datahub-project/datahub 17081'],
    tried: 'Counts of a graph of four hops, filtered by degree',
    answer: 'right',
    name: 'counts obey a filter by degree, and are those of the list with the same filter',
    run: async (world) => {
      const { table } = world
      await world.draw([
        ...range(3).map((at): [string, string] => [table('root'), table(`first_${at}`)]),
        [table('first_0'), table('second')],
        [table('second'), table('third')],
        [table('third'), table('fourth')]
      ])
      for (const values of [['1'], ['2'], ['3+'], ['1', '3+']]) {
        const input = { urn: table('root'), direction: 'DOWNSTREAM', ...degrees(...values) }
        const { lineageCounts } = await world.read(
          'query ($input: LineageCountsInput!) { lineageCounts(input: $input) { total degrees { degree count } } }',
          { input }
        )
        equal(lineageCounts.total, (await world.walk(table('root'), degrees(...values))).total)
        deepEqual(
          lineageCounts.degrees
            .filter(({ count }: { count: number }) => count > 0)
            .map(({ degree }: { degree: string }) => degree)
            .sort(),
          values
        )
      }
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 23815'],
    tried: 'Each edge that a picture shows, whoever stated it, removed one by one',
    answer: 'right',
    name: 'every edge that a picture shows can be removed, and is then shown nowhere',
    run: async (world) => {
      const { table, job } = world
      await world.draw([[table('a'), table('b')]], '&source=crawler')
      await world.draw([
        [table('a'), job('load')],
        [job('load'), table('b')],
        [table('c'), table('d')]
      ])
      await world.update({ add: [[table('b'), table('c')]] })
      await world.propose(table('c'), 'upstreamLineage', {
        upstreams: [{ dataset: table('a'), type: 'VIEW' }]
      })
      const { edges } = await pictureOf(world, table('a'))
      ok(edges.length >= 4)
      for (const { upstreamUrn, downstreamUrn } of edges)
        await world.update({ remove: [[upstreamUrn, downstreamUrn]] })
      deepEqual(await world.reached(table('a')), [])
      deepEqual((await pictureOf(world, table('a'))).edges, [])
    }
  },
  {
    reports: ['MarquezProject/marquez 3085'],
    tried: 'A chain of three jobs whose middle one is deleted permanently',
    answer: 'right',
    name: 'what only a deleted job connected is no longer reached',
    run: async (world) => {
      const { table, job } = world
      await world.draw([
        [table('d1'), job('first')],
        [job('first'), table('d2')],
        [table('d2'), job('middle')],
        [job('middle'), table('d3')],
        [table('d3'), job('last')],
        [job('last'), table('d4')]
      ])
      await world.ask({ method: 'POST', url: '/entities?action=delete', body: { urn: job('middle') } })
      deepEqual(await world.reached(table('d1')), ['d2', 'job first'])
      deepEqual(await world.upstream(table('d4')), ['d3', 'job last'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 22901', 'open-metadata/OpenMetadata 24384'],
    tried: 'A table in the middle of a chain, first soft-deleted, then deleted permanently',
    answer: 'right',
    name: 'a soft-deleted asset is in no list, but what is behind it stays; a permanent deletion cuts the chain',
    run: async (world) => {
      const { table } = world
      await world.draw([
        [table('a'), table('b')],
        [table('b'), table('c')]
      ])
      await world.propose(table('b'), 'status', { removed: true })
      deepEqual(await world.reached(table('a')), ['c'])
      deepEqual((await world.find({ query: world.tag, types: ['DATASET'] })).names, ['a', 'c'])
      await world.ask({ method: 'POST', url: '/entities?action=delete', body: { urn: table('b') } })
      deepEqual(await world.reached(table('a')), [])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 26580'],
    tried: 'An export of 82 upstreams, one of them only named, one with a description of 60 kB',
    answer: 'right',
    name: 'an export has every upstream, however large or unknown one of them is',
    run: async (world) => {
      const { table, job } = world
      await world.draw([
        ...range(80).map((at): [string, string] => [table(`up_${at}`), table('target')]),
        [table('target'), job('refresh')],
        [job('refresh'), table('target')]
      ])
      await world.propose(table('up_7'), 'datasetProperties', { description: 'long '.repeat(12_000) })
      await world.load(
        [{ upstreamUrn: table('only_named'), downstreamUrn: table('target') }],
        '&missingReferences=create'
      )
      const rows = await exportOf(world, { urn: table('target'), direction: 'UPSTREAM', format: 'csv' })
      equal(rows.length - 1, 82)
      equal((await world.walk(table('target'), { direction: 'UPSTREAM' })).total, 82)
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 18289', 'open-metadata/OpenMetadata 16346'],
    tried: 'Exports of edges between tables and between columns, loaded into the catalog again',
    answer: 'right',
    name: 'an export of edges names both ends, of tables and of columns, and can be loaded back',
    run: async (world) => {
      const { table, column } = world
      await world.draw([
        [table('a'), table('b')],
        [table('b'), table('c')],
        [column('a', 'id'), column('b', 'a_id')],
        [column('b', 'a_id'), column('c', 'a_id')]
      ])
      const edges = await exportOf(world, { urn: table('a'), of: 'edges', format: 'csv' })
      ok(edges.some((row) => row.includes(table('a')) && row.includes(table('b'))))
      equal(edges.length - 1, 2)
      const columns = await exportOf(world, { urn: table('a'), of: 'edges', format: 'csv', columns: 'true' })
      equal(columns.length - 1, 2)
      const loaded = await world.load(columns.join('\n'), '&format=csv')
      deepEqual([loaded.counts.received, loaded.counts.rejected], [2, 0])
    }
  },
  {
    reports: ['backstage/backstage 32333'],
    tried: 'One edge stated by two sources, and a snapshot of one of them without it',
    answer: 'right',
    name: 'a source that no longer states an edge takes it from nobody else who does',
    run: async (world) => {
      const { table } = world
      const edges: [string, string][] = [
        [table('a'), table('b')],
        [table('a'), table('c')],
        [table('a'), table('d')],
        [table('a'), table('e')]
      ]
      await world.draw(edges, `&source=${world.tag}-one&mode=snapshot`)
      await world.draw([edges[0] ?? ['', '']], `&source=${world.tag}-two&mode=snapshot`)
      await world.draw(edges.slice(1), `&source=${world.tag}-one&mode=snapshot`)
      deepEqual(await world.reached(table('a')), ['b', 'c', 'd', 'e'])
      await world.draw([[table('a'), table('c')]], `&source=${world.tag}-two&mode=snapshot&force=true`)
      deepEqual(await world.reached(table('a')), ['c', 'd', 'e'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 16692', 'open-metadata/OpenMetadata 21439'],
    tried: 'A dashboard and a table whose upstreams change from one snapshot to the next',
    answer: 'right',
    name: 'a snapshot replaces what its source stated before, between tables and of dashboards',
    run: async (world) => {
      const { table, chart, dashboard } = world
      const snapshot = `&source=${world.tag}&mode=snapshot&force=true`
      await world.draw(
        [
          [table('old'), table('t')],
          [table('old'), chart('c')],
          [chart('c'), dashboard('d')]
        ],
        snapshot
      )
      await world.draw(
        [
          [table('new'), table('t')],
          [table('new'), chart('c')],
          [chart('c'), dashboard('d')]
        ],
        snapshot
      )
      deepEqual(await world.reached(table('old')), [])
      deepEqual(await world.upstream(dashboard('d')), ['chart c', 'new'])
    }
  },
  {
    reports: ['datahub-project/datahub 17683', 'dagster-io/dagster 20542'],
    tried: 'A load that names a table which nothing describes, between two known tables',
    answer: 'right',
    name: 'a table that is only named is marked as unknown, and still connects what is around it',
    run: async (world) => {
      const { table } = world
      await world.draw([[table('known'), table('end')]])
      await world.load(
        [
          { upstreamUrn: table('known'), downstreamUrn: table('ghost') },
          { upstreamUrn: table('ghost'), downstreamUrn: table('end') }
        ],
        '&missingReferences=create'
      )
      const { searchResults } = await world.walk(table('known'))
      const ghost = searchResults.find(
        (each: { entity: { urn: string } }) => each.entity.urn === table('ghost')
      )
      deepEqual([ghost.entity.exists, ghost.degree], [false, 1])
      deepEqual(await world.upstream(table('ghost')), ['known'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 15062'],
    tried: 'Lineage through a job, then columns between the same two tables',
    answer: 'right',
    name: 'columns between two tables leave the job between them in place',
    run: async (world) => {
      const { table, column, job } = world
      await world.draw([
        [table('a'), job('etl')],
        [job('etl'), table('b')]
      ])
      await world.draw([
        [table('a'), table('b')],
        [column('a', 'x'), column('b', 'y')]
      ])
      deepEqual(await world.reached(table('a')), ['b', 'job etl'])
      deepEqual(await world.reached(column('a', 'x'), { foldColumns: false }), ['b#y'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 21568'],
    tried: 'Pictures and lists of no, one and two hops of a chain',
    answer: 'right',
    name: 'a picture of n hops ends after n hops, as the list of these degrees does',
    run: async (world) => {
      const { table } = world
      await world.draw(range(4).map((at) => [table(`t${at}`), table(`t${at + 1}`)]))
      for (const hops of [0, 1, 2]) {
        const { nodes } = await pictureOf(world, table('t1'), { upHops: 0, downHops: hops })
        deepEqual(
          nodes.map(({ entity }: { entity: { urn: string } }) => world.short(entity.urn)).sort(),
          range(hops + 1).map((at) => `t${at + 1}`)
        )
      }
      deepEqual(await world.reached(table('t1'), degrees('1')), ['t2'])
      deepEqual(await world.reached(table('t1'), degrees('1', '2')), ['t2', 't3'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 19270'],
    tried: 'Three tables in a cycle, with a fourth behind it, from each of them',
    answer: 'right',
    name: 'a cycle ends, loses no table, and is drawn with each of its edges',
    run: async (world) => {
      const { table } = world
      await world.draw([
        [table('a'), table('b')],
        [table('b'), table('c')],
        [table('c'), table('a')],
        [table('c'), table('d')]
      ])
      deepEqual(await world.reached(table('a')), ['b', 'c', 'd'])
      deepEqual(await world.reached(table('b')), ['a', 'c', 'd'])
      deepEqual(await world.reached(table('c')), ['a', 'b', 'd'])
      deepEqual(await world.upstream(table('a')), ['b', 'c'])
      const { nodes, edges } = await pictureOf(world, table('a'))
      deepEqual([nodes.length, edges.length], [4, 4])
    }
  },
  {
    reports: ['datahub-project/datahub 10920', 'datahub-project/datahub 19269'],
    tried:
      'Relationships of a table to one that is soft-deleted, one that is deleted permanently, and one that is there',
    answer: 'right',
    name: 'relationships leave out what is deleted permanently, and on demand what is soft-deleted',
    run: async (world) => {
      const { table, ask } = world
      await world.draw(['b', 'c', 'd'].map((name) => [table('a'), table(name)]))
      await world.propose(table('b'), 'status', { removed: true })
      await ask({ method: 'POST', url: '/entities?action=delete', body: { urn: table('c') } })
      const related = async (includeSoftDelete: boolean): Promise<unknown[]> => {
        const { dataset } = await world.read(
          `query ($urn: String!, $input: RelationshipsInput!) { dataset(urn: $urn) { relationships(input: $input) {
            total relationships { entity { urn } } } } }`,
          {
            urn: table('a'),
            input: { types: ['DownstreamOf'], direction: 'INCOMING', count: 10, includeSoftDelete }
          }
        )
        const { total, relationships } = dataset.relationships
        return [
          total,
          ...relationships.map(({ entity }: { entity: { urn: string } }) => world.short(entity.urn)).sort()
        ]
      }
      deepEqual(await related(true), [2, 'b', 'd'])
      deepEqual(await related(false), [1, 'd'])
    }
  }
]
