/** The most connected assets, in SQL and in memory, by hand and on random graphs. */
import t from 'tap'
import { toUrn } from '../shared/urn/urn.ts'
import { randomGraph } from './cases/graphs.ts'
import { casesOf, fc, seed } from './support/fast-check.ts'
import { doors, urnEdges, urnOfName } from './support/graph.ts'
import { propose, remove, withBoth, write, type Ask } from './support/lineage-views.ts'

const query = `query ($input: MostConnectedInput) {
  mostConnected(input: $input) { entity { urn exists } upstreamCount downstreamCount }
}`

type Asset = { entity: { urn: string; exists: boolean }; upstreamCount: number; downstreamCount: number }

const linesOf = async (ask: Ask, name: (urn: string) => string, count?: number): Promise<string[]> => {
  const { data }: { data: Asset[] } = await ask(query, count === undefined ? {} : { count })
  return data.map(
    ({ entity, upstreamCount, downstreamCount }) =>
      `${entity.exists ? '' : '?'}${name(entity.urn)} ${upstreamCount}/${downstreamCount}`
  )
}

t.test('the most connected assets of a known graph', async (t) => {
  const { server, ask } = await withBoth(t)
  t.strictSame(await linesOf(ask, String), [], 'an empty catalog has none')
  const { urn, name } = await write(
    server,
    'a -> hub; b -> hub; gone -> hub; hub -> c & d & hub; c -> d; e -> d; d -> hub; ghost -> e; a#x -> hub#x & c#y',
    'known',
    { removed: ['gone'], placeholders: ['ghost'] }
  )

  t.test('come with their counts, most neighbours first and then by age', async (t) => {
    t.strictSame(await linesOf(ask, name), [
      'hub 3/2',
      'd 3/1',
      'c 1/1',
      'e 1/1',
      'a 0/1',
      'b 0/1',
      '?ghost 0/1'
    ])
  })

  t.test('count a neighbour once, however often it is stated', async (t) => {
    await propose(server, urn('hub'), 'upstreamLineage', {
      upstreams: ['a', 'a', 'b', 'd'].map((each) => ({ dataset: urn(each), type: 'COPY' }))
    })
    await server.graphql('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', {
      input: { edgesToAdd: urnEdges([['a', 'hub']], 'known') }
    })
    t.strictSame(await linesOf(ask, name, 1), ['hub 3/2'])
  })

  t.test('are at most as many as asked for, of which there is a bound', async (t) => {
    t.strictSame(await linesOf(ask, name, 2), ['hub 3/2', 'd 3/1'])
    for (const [count, reason] of [
      [0, 'BAD_REQUEST'],
      [101, 'LIMIT_EXCEEDED']
    ] as const) {
      const { error } = await ask(query, { count })
      t.strictSame([error?.reason, error?.field], [reason, 'input.count'], String(count))
    }
  })
})

t.test('the most connected assets of random graphs are those of a naive count', async (t) => {
  const { server, ask } = await withBoth(t)
  const graphs = fc.sample(randomGraph, { numRuns: casesOf(25), seed })
  const edges = graphs.flatMap(({ edges }, index) => urnEdges(edges, `r${index}`))
  await doors[0]?.write(server, edges)
  const isColumn = (urn: string): boolean => urn.startsWith('urn:li:schemaField:')
  const all = [...new Set(edges.flatMap(({ upstreamUrn, downstreamUrn }) => [upstreamUrn, downstreamUrn]))]
  const removed = new Set<string>(
    graphs.flatMap(({ from }, index) => (index % 3 === 0 ? [urnOfName(from, `r${index}`)] : []))
  )
  for (const urn of removed) await remove(server, toUrn(urn))
  const counts = new Map<string, { up: Set<string>; down: Set<string> }>(
    all.map((urn) => [urn, { up: new Set<string>(), down: new Set<string>() }])
  )
  for (const { upstreamUrn, downstreamUrn } of edges) {
    if (upstreamUrn === downstreamUrn || isColumn(upstreamUrn)) continue
    if ([upstreamUrn, downstreamUrn].some((urn) => removed.has(urn))) continue
    counts.get(upstreamUrn)?.down.add(downstreamUrn)
    counts.get(downstreamUrn)?.up.add(upstreamUrn)
  }
  const sums = [...counts.values()].map(({ up, down }) => up.size + down.size).filter((sum) => sum > 0)
  const found: { data: Asset[] } = await ask(query, { count: 100 })
  t.strictSame(
    found.data.map(({ upstreamCount, downstreamCount }) => upstreamCount + downstreamCount),
    sums.sort((a, b) => b - a).slice(0, 100),
    `seed ${seed}`
  )
  for (const { entity, upstreamCount, downstreamCount } of found.data) {
    const own = counts.get(entity.urn)
    t.strictSame([upstreamCount, downstreamCount], [own?.up.size, own?.down.size], entity.urn)
  }
})
