/** Trials of reports about search, counts and what is read of an asset. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import type { Trial } from './trial.ts'
import type { World } from './world.ts'

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

const states = (world: World, ...urns: string[]): Promise<unknown> =>
  world.load(urns.map((urn) => ({ op: 'upsertEntity', urn })))

export const searchTrials: readonly Trial[] = [
  {
    reports: ['open-metadata/OpenMetadata 25563'],
    tried: 'A load of 1,500 tables, searched and scrolled as soon as it was done',
    answer: 'right',
    name: 'every asset of a load is found as soon as the load is done, and once',
    run: async (world) => {
      await states(world, ...range(1_500).map((at) => world.table(`t${at}`)))
      equal((await world.find({ query: world.tag, count: 10 })).total, 1_500)
      const seen = new Set<string>()
      let scrollId: string | null = null
      do {
        const data: {
          scrollAcrossEntities: { nextScrollId: string | null; searchResults: { entity: { urn: string } }[] }
        } = await world.read(
          'query ($input: ScrollAcrossEntitiesInput!) { scrollAcrossEntities(input: $input) { nextScrollId searchResults { entity { urn } } } }',
          {
            input: {
              query: world.tag,
              types: ['DATASET'],
              count: 400,
              ...(scrollId === null ? {} : { scrollId })
            }
          }
        )
        for (const { entity } of data.scrollAcrossEntities.searchResults) {
          ok(!seen.has(entity.urn))
          seen.add(entity.urn)
        }
        scrollId = data.scrollAcrossEntities.nextScrollId
      } while (scrollId !== null)
      equal(seen.size, 1_500)
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 18995'],
    tried:
      'Names written in PascalCase, with hyphens, with underscores and with digits, searched by one of their words',
    answer: 'right',
    name: 'a word within a name is found, whatever joins it to the others',
    run: async (world) => {
      const names = ['SalesRegion', 'sales_region', 'sales-region', 'sales.region']
      await states(world, ...names.map((name) => world.table(name)))
      for (const query of ['region', 'Region', 'sales region', 'reg*'])
        deepEqual((await world.find({ query: `${world.tag} ${query}` })).names, [...names].sort(), query)
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 21769', 'open-metadata/OpenMetadata 16001'],
    tried: 'Searches with every character that query languages reserve, alone, inside a name and unbalanced',
    answer: 'right',
    name: 'no character makes a search fail, and a name with it is found by it',
    run: async (world) => {
      for (const character of '+-=&|><!(){}[]^"~*?:\\/%_\'`;#@$.'.split('')) {
        for (const query of [character, `${character}${character}`, `x${character}y`, `${character}"(`])
          equal(
            await world.refusal(
              'query ($input: SearchAcrossEntitiesInput!) { searchAcrossEntities(input: $input) { total } }',
              { input: { query } }
            ),
            'none',
            query
          )
      }
      const user = `urn:li:corpuser:${world.tag}+ann&co[1]@example.org`
      await world.propose(user, 'corpUserInfo', { active: true, displayName: 'Ann & Co [1]' })
      for (const query of ['ann&co[1]', 'ann+co', '[1]'])
        deepEqual((await world.find({ query: `${world.tag}+${query}`, types: ['CORP_USER'] })).names, [user])
    }
  },
  {
    reports: ['datahub-project/datahub 16318'],
    tried: 'A platform with two tables, a query and a run, counted by facets',
    answer: 'right',
    name: 'the facets of a search count what it finds, without queries and runs',
    run: async (world) => {
      const { table } = world
      await states(world, table('a'), table('b'))
      await world.propose(`urn:li:query:${world.tag}-q`, 'queryProperties', {
        statement: { value: `select * from ${world.tag}.a`, language: 'SQL' },
        source: 'SYSTEM',
        created: { time: 1, actor: 'urn:li:corpuser:ann' },
        lastModified: { time: 1, actor: 'urn:li:corpuser:ann' }
      })
      await world.propose(`urn:li:dataProcessInstance:${world.tag}-run`, 'dataProcessInstanceProperties', {
        name: world.tag,
        created: { time: 1, actor: 'urn:li:corpuser:ann' }
      })
      const { total, facets, names } = await world.find({ query: world.tag })
      deepEqual(names, ['a', 'b'])
      equal(total, 2)
      for (const { field, aggregations } of facets) {
        const sum = aggregations.reduce((all: number, { count }: { count: number }) => all + count, 0)
        ok(sum <= 2, field)
      }
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 24386'],
    tried: 'A dashboard with a term, a tag and an owner that are deleted permanently',
    answer: 'right',
    name: 'an asset can be read and found when its term, tag and owner are gone',
    run: async (world) => {
      const { dashboard, tag } = world
      const urn = dashboard('board')
      const [term, gold, ann] = [`urn:li:glossaryTerm:${tag}`, `urn:li:tag:${tag}`, `urn:li:corpuser:${tag}`]
      await world.propose(term, 'glossaryTermInfo', { definition: 'x', termSource: 'INTERNAL' })
      await world.propose(gold, 'tagProperties', { name: 'gold' })
      await world.propose(ann, 'corpUserInfo', { active: true })
      await states(world, urn)
      const auditStamp = { time: 1, actor: ann }
      await world.propose(urn, 'glossaryTerms', { terms: [{ urn: term }], auditStamp })
      await world.propose(urn, 'globalTags', { tags: [{ tag: gold }] })
      await world.propose(urn, 'ownership', {
        owners: [{ owner: ann, type: 'DATAOWNER' }],
        lastModified: auditStamp
      })
      for (const gone of [term, gold, ann])
        await world.ask({ method: 'POST', url: '/entities?action=delete', body: { urn: gone } })
      const { dashboard: read } = await world.read(
        `query ($urn: String!) { dashboard(urn: $urn) { urn
          glossaryTerms { terms { term { urn } } } tags { tags { tag { urn } } } ownership { owners { owner { ... on CorpUser { urn } } } } } }`,
        { urn }
      )
      equal(read.urn, urn)
      deepEqual((await world.find({ query: tag, types: ['DASHBOARD'] })).names, ['dashboard board'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 25858'],
    tried: 'A dashboard whose aspect names a chart that nothing has described, beside one that exists',
    answer: 'right',
    name: 'a dashboard keeps the charts that are known, and names the one that is not',
    run: async (world) => {
      const { chart, dashboard, table } = world
      await world.draw([[table('sales'), chart('known')]])
      await world.propose(dashboard('board'), 'dashboardInfo', {
        title: 'Board',
        description: '',
        charts: [chart('known'), chart('missing')],
        lastModified: {
          created: { time: 0, actor: 'urn:li:corpuser:ann' },
          lastModified: { time: 0, actor: 'urn:li:corpuser:ann' }
        }
      })
      deepEqual(await world.upstream(dashboard('board')), ['chart known', 'chart missing', 'sales'])
      const { searchResults } = await world.walk(dashboard('board'), { direction: 'UPSTREAM' })
      deepEqual(
        searchResults
          .filter(({ entity }: { entity: { exists: boolean } }) => !entity.exists)
          .map(({ entity }: { entity: { urn: string } }) => entity.urn),
        [chart('missing')]
      )
    }
  },
  {
    reports: ['datahub-project/datahub 14877', 'datahub-project/datahub 10831'],
    tried: 'A scroll of 25 tables over OpenAPI in pages of seven, one of them soft-deleted',
    answer: 'right',
    name: 'a scroll over OpenAPI has each entity once, and soft-deleted ones on demand',
    run: async (world) => {
      const { table } = world
      await states(world, ...range(25).map((at) => table(`t${at}`)))
      await world.propose(table('t3'), 'status', { removed: true })
      const scroll = async (includeSoftDelete: boolean): Promise<string[]> => {
        const seen: string[] = []
        let scrollId = ''
        do {
          const parameters = new URLSearchParams({
            query: world.tag,
            count: '7',
            includeSoftDelete: String(includeSoftDelete),
            ...(scrollId === '' ? {} : { scrollId })
          }).toString()
          const { body, status, text } = await world.ask({ url: `/openapi/v3/entity/dataset?${parameters}` })
          if (status !== 200) throw new Error(text)
          seen.push(...body.entities.map(({ urn }: { urn: string }) => urn))
          scrollId = body.scrollId ?? ''
        } while (scrollId !== '')
        return seen
      }
      const [without, all] = [await scroll(false), await scroll(true)]
      deepEqual([without.length, new Set(without).size], [24, 24])
      deepEqual([all.length, new Set(all).size], [25, 25])
      ok(!without.includes(table('t3')))
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 29862'],
    tried: 'References to a person, deleted before the person is deleted permanently',
    answer: 'right',
    name: 'references to an entity can be deleted before it, and nothing names it afterwards',
    run: async (world) => {
      const { table, tag, ask } = world
      const ann = `urn:li:corpuser:${tag}`
      await world.propose(ann, 'corpUserInfo', { active: true })
      await states(world, table('a'))
      await world.propose(table('a'), 'ownership', {
        owners: [{ owner: ann, type: 'DATAOWNER' }],
        lastModified: { time: 1, actor: ann }
      })
      const post = (action: string) =>
        ask({ method: 'POST', url: `/entities?action=${action}`, body: { urn: ann } })
      equal((await post('deleteReferences')).body.value.total, 1)
      await post('delete')
      deepEqual((await world.aspect(table('a'), 'ownership')).owners, [])
    }
  }
]
