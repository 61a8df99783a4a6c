/** Trials of reports about domains: nesting, counts, moves, deletion and rights. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import type { JsonObject } from '../../shared/model/changes.ts'
import type { Trial } from './trial.ts'
import type { World } from './world.ts'

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

const within = (domain: string, condition?: string): JsonObject => ({
  orFilters: [
    { and: [{ field: 'domains', values: [domain], ...(condition === undefined ? {} : { condition }) }] }
  ]
})

const assets = (world: World, ...names: string[]): Promise<unknown> =>
  world.load(names.map((name) => ({ op: 'upsertEntity', urn: world.table(name) })))

const remove = (world: World, urn: string): Promise<string> =>
  world.refusal('mutation ($urn: String!) { deleteDomain(urn: $urn) }', { urn })

const move = (world: World, resourceUrn: string, parentDomain: string | null): Promise<string> =>
  world.refusal('mutation ($input: MoveDomainInput!) { moveDomain(input: $input) }', {
    input: { resourceUrn, parentDomain }
  })

/** A token that may write in one domain. */
const tokenFor = async (world: World, domainUrn: string): Promise<string> => {
  const { createAccessToken } = await world.read(
    'mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { accessToken } }',
    {
      input: {
        type: 'PERSONAL',
        actorUrn: 'urn:li:corpuser:admin',
        duration: 'ONE_DAY',
        name: `${world.tag} ${domainUrn}`,
        scopes: ['write'],
        domainUrn
      }
    }
  )
  return createAccessToken.accessToken
}

const assign = (world: World, entityUrn: string, domainUrn: string, token: string): Promise<string> =>
  world.refusal(
    'mutation ($entityUrn: String!, $domainUrn: String!) { setDomain(entityUrn: $entityUrn, domainUrn: $domainUrn) }',
    { entityUrn, domainUrn },
    token
  )

export const domainTrials: readonly Trial[] = [
  {
    reports: [
      'datahub-project/datahub 14684',
      'open-metadata/OpenMetadata 16980',
      'open-metadata/OpenMetadata 23751'
    ],
    tried: 'One domain with assets of three types and a soft-deleted one, counted in five places',
    answer: 'right',
    name: 'a domain has as many assets in its list, in a search, in facets, in an export and by relationship',
    run: async (world) => {
      const { table, chart, job } = world
      const domain = await world.createDomain('Counted')
      const urns = [table('a'), table('b'), table('gone'), chart('c'), job('d')]
      await world.load(urns.map((urn) => ({ op: 'upsertEntity', urn })))
      await world.setDomain(domain, ...urns)
      await world.propose(table('gone'), 'status', { removed: true })
      const listed = await world.inDomain(domain)
      deepEqual(listed.names, ['a', 'b', 'chart c', 'job d'])
      equal(listed.total, 4)
      const found = await world.find({ query: '*', ...within(domain) })
      equal(found.total, 4)
      const facet = (await world.find({ query: world.tag })).facets.find(
        ({ field }: { field: string }) => field === 'domains'
      )
      equal(facet.aggregations.find(({ value }: { value: string }) => value === domain).count, 4)
    }
  },
  {
    reports: ['datahub-project/datahub 19796'],
    tried:
      'A domain with a table in it, deleted; the table, searches, the export and a domain of the same id afterwards',
    answer: 'right',
    name: 'a deleted domain leaves nothing behind, also for a domain with the same id later',
    run: async (world) => {
      const id = `${world.tag}-left`
      const domain = await world.createDomain('Left', undefined, id)
      await assets(world, 'a')
      await world.setDomain(domain, world.table('a'))
      equal(await remove(world, domain), 'none')
      equal(await world.domainOf(world.table('a')), null)
      equal((await world.find(within(domain))).total, 0)
      const { text } = await world.ask({ url: '/domains/export?format=csv' })
      ok(!text.includes(id))
      const again = await world.createDomain('Left again', undefined, id)
      equal(again, domain)
      equal((await world.inDomain(again)).total, 0)
      equal(await world.domainOf(world.table('a')), null)
    }
  },
  {
    reports: [
      'open-metadata/OpenMetadata 22792',
      'open-metadata/OpenMetadata 29109',
      'open-metadata/OpenMetadata 29939'
    ],
    tried: 'A domain with 60 domains below it, listed in pages, one moved away and one brought',
    answer: 'right',
    name: 'every child of a domain is counted and listed, right after it was created, moved or deleted',
    run: async (world) => {
      const parent = await world.createDomain('Parent')
      const children = []
      for (const at of range(60)) children.push(await world.createDomain(`Child ${at}`, parent))
      equal((await world.inDomain(parent)).childCount, 60)
      const listed = new Set<string>()
      for (const start of [0, 25, 50]) {
        const { listDomains } = await world.read(
          'query ($input: ListDomainsInput!) { listDomains(input: $input) { total domains { urn } } }',
          { input: { parentDomain: parent, start, count: 25 } }
        )
        equal(listDomains.total, 60)
        for (const { urn } of listDomains.domains) listed.add(urn)
      }
      deepEqual([...listed].sort(), [...children].sort())
      equal(await move(world, children[0] ?? '', null), 'none')
      equal(await remove(world, children[1] ?? ''), 'none')
      equal((await world.inDomain(parent)).childCount, 58)
      equal(await move(world, children[0] ?? '', parent), 'none')
      equal((await world.inDomain(parent)).childCount, 59)
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 17742', 'open-metadata/OpenMetadata 22885'],
    tried: 'Assets in a domain three levels down, asked for at each level',
    answer: 'right',
    name: 'the assets of a domain include those of the domains below it on demand, and only then',
    run: async (world) => {
      const top = await world.createDomain('Top')
      const middle = await world.createDomain('Middle', top)
      const bottom = await world.createDomain('Bottom', middle)
      await assets(world, 'a', 'b')
      await world.setDomain(bottom, world.table('a'))
      await world.setDomain(top, world.table('b'))
      deepEqual((await world.inDomain(top)).names, ['b'])
      deepEqual((await world.inDomain(top, true)).names, ['a', 'b'])
      deepEqual((await world.inDomain(middle, true)).names, ['a'])
      deepEqual((await world.find(within(top, 'DESCENDANTS_INCL'))).names, ['a', 'b'])
      deepEqual((await world.find(within(top))).names, ['b'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 21204'],
    tried: 'Assets of one domain put into another by batch, by load and by proposal',
    answer: 'right',
    name: 'an asset that is put into another domain is in that one alone, by whatever way',
    run: async (world) => {
      const { table } = world
      const [one, two, three] = [
        await world.createDomain('One'),
        await world.createDomain('Two'),
        await world.createDomain('Three')
      ]
      await assets(world, 'a', 'b')
      await world.setDomain(one, table('a'), table('b'))
      await world.read('mutation ($input: BatchSetDomainInput!) { batchSetDomain(input: $input) }', {
        input: { domainUrn: two, resources: [{ resourceUrn: table('a') }, { resourceUrn: table('b') }] }
      })
      deepEqual([(await world.inDomain(one)).names, (await world.inDomain(two)).names], [[], ['a', 'b']])
      await world.propose(table('a'), 'domains', { domains: [three] })
      await world.setDomain(three, table('b'))
      deepEqual((await world.inDomain(two)).names, [])
      deepEqual((await world.inDomain(three)).names, ['a', 'b'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 25235'],
    tried: 'A domain with a child and assets, renamed; searched by its new and its old name',
    answer: 'right',
    name: 'a renamed domain keeps its children and assets, and is found by its new name only',
    run: async (world) => {
      const parent = await world.createDomain('Before')
      const child = await world.createDomain('Child', parent)
      await assets(world, 'a', 'b')
      await world.setDomain(parent, world.table('a'))
      await world.setDomain(child, world.table('b'))
      await world.read('mutation ($input: UpdateNameInput!) { updateName(input: $input) }', {
        input: { urn: parent, name: `${world.tag} After` }
      })
      deepEqual((await world.inDomain(parent, true)).names, ['a', 'b'])
      equal((await world.inDomain(parent)).childCount, 1)
      const named = async (name: string) =>
        (await world.find({ query: `${world.tag} ${name}`, types: ['DOMAIN'] })).names
      deepEqual(await named('After'), [parent])
      deepEqual(await named('Before'), [])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 22193'],
    tried: 'Facets of a search that is filtered by domain',
    answer: 'right',
    name: 'facets of a search count only what its filters keep',
    run: async (world) => {
      const { table, chart } = world
      const domain = await world.createDomain('Filtered')
      await world.load(
        [table('a'), table('b', 'mysql'), table('out'), chart('c')].map((urn) => ({
          op: 'upsertEntity',
          urn
        }))
      )
      await world.setDomain(domain, table('a'), table('b', 'mysql'), chart('c'))
      const { facets, total } = await world.find({ query: '*', ...within(domain) })
      equal(total, 3)
      const sums = facets
        .filter(({ field }: { field: string }) => ['platform', '_entityType'].includes(field))
        .map(({ aggregations }: { aggregations: { count: number }[] }) =>
          aggregations.reduce((sum, { count }) => sum + count, 0)
        )
      deepEqual(sums, [3, 3])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 20467'],
    tried: 'Two domains of which the id and name of one begin with those of the other',
    answer: 'right',
    name: 'a domain whose id begins with the id of another has assets of its own',
    run: async (world) => {
      const short = await world.createDomain('New', undefined, `${world.tag}-new`)
      const long = await world.createDomain('New2', undefined, `${world.tag}-new2`)
      await assets(world, 'a', 'b')
      await world.setDomain(short, world.table('a'))
      await world.setDomain(long, world.table('b'))
      deepEqual((await world.inDomain(short, true)).names, ['a'])
      deepEqual((await world.find(within(short, 'DESCENDANTS_INCL'))).names, ['a'])
      deepEqual((await world.find(within(long, 'DESCENDANTS_INCL'))).names, ['b'])
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 22111', 'open-metadata/OpenMetadata 33420'],
    tried: 'A token limited to one domain: assets of domains below it, of no domain, and of another domain',
    answer: 'right',
    name: 'a token limited to a domain may change what is below it, and moves nothing in or out of it',
    run: async (world) => {
      const { table } = world
      const own = await world.createDomain('Own')
      const below = await world.createDomain('Below', own)
      const other = await world.createDomain('Other')
      await assets(world, 'mine', 'theirs', 'free')
      await world.setDomain(below, table('mine'))
      await world.setDomain(other, table('theirs'))
      const token = await tokenFor(world, own)
      equal(await assign(world, table('mine'), own, token), 'none')
      equal(await assign(world, table('mine'), below, token), 'none')
      equal(await assign(world, table('free'), own, token), 'FORBIDDEN')
      equal(await assign(world, table('free'), other, token), 'FORBIDDEN')
      equal(await assign(world, table('theirs'), own, token), 'FORBIDDEN')
      equal(await assign(world, table('mine'), other, token), 'FORBIDDEN')
      deepEqual((await world.inDomain(own, true)).names, ['mine'])
      equal(await world.domainOf(table('theirs')), other)
      equal(await world.domainOf(table('free')), null)
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 19085'],
    tried: 'The deletion of a domain with a child, and a move of a domain below itself',
    answer: 'right',
    name: 'a domain with a child is not deleted, and none is moved below itself',
    run: async (world) => {
      const top = await world.createDomain('Testing')
      const child = await world.createDomain('Sub', top)
      equal(await remove(world, top), 'CONFLICT')
      equal((await world.inDomain(top)).childCount, 1)
      equal(await move(world, top, child), 'CONFLICT')
      equal(await remove(world, child), 'none')
      equal(await remove(world, top), 'none')
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 23255'],
    tried: 'A table with a domain, lineage and a description that is soft-deleted and comes back',
    answer: 'right',
    name: 'an asset that is restored has the domain, the lineage and the aspects that it had',
    run: async (world) => {
      const { table } = world
      const domain = await world.createDomain('Kept')
      await world.draw([
        [table('a'), table('b')],
        [table('b'), table('c')]
      ])
      await world.propose(table('b'), 'datasetProperties', { description: 'Kept' })
      await world.setDomain(domain, table('b'))
      await world.propose(table('b'), 'status', { removed: true })
      equal((await world.inDomain(domain)).total, 0)
      await world.propose(table('b'), 'status', { removed: false })
      deepEqual((await world.inDomain(domain)).names, ['b'])
      deepEqual(await world.reached(table('a')), ['b', 'c'])
      equal((await world.aspect(table('b'), 'datasetProperties')).description, 'Kept')
    }
  },
  {
    reports: ['open-metadata/OpenMetadata 18099'],
    tried: 'A token limited to one domain that adds and removes edges into and out of it',
    answer: 'right',
    name: 'a token limited to a domain changes the edges into its assets, and no edge into others',
    run: async (world) => {
      const { table } = world
      const own = await world.createDomain('Own')
      const other = await world.createDomain('Other')
      await assets(world, 'mine', 'theirs')
      await world.setDomain(own, table('mine'))
      await world.setDomain(other, table('theirs'))
      const token = await tokenFor(world, own)
      const edge = (list: 'edgesToAdd' | 'edgesToRemove', up: string, down: string): Promise<string> =>
        world.refusal(
          'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }',
          { input: { [list]: [{ upstreamUrn: table(up), downstreamUrn: table(down) }] } },
          token
        )
      equal(await edge('edgesToAdd', 'theirs', 'mine'), 'none')
      equal(await edge('edgesToAdd', 'mine', 'theirs'), 'FORBIDDEN')
      await world.update({ add: [[table('mine'), table('theirs')]] })
      equal(await edge('edgesToRemove', 'mine', 'theirs'), 'FORBIDDEN')
      deepEqual(await world.upstream(table('theirs')), ['mine'])
      equal(await edge('edgesToRemove', 'theirs', 'mine'), 'none')
      deepEqual(await world.upstream(table('mine')), [])
    }
  }
]
