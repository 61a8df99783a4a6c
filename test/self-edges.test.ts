/** An edge of an asset to itself: shown as a loop, and never followed. */
import type { JsonObject } from '../shared/model/changes.ts'
import { applyCall } from '../shared/catalog/write/apply-call.ts'
import {
  addEdge,
  apply,
  asCall,
  column,
  create,
  dataset,
  record,
  upsert,
  upstream
} from './support/changes.ts'
import { onBothEngines } from './support/engines.ts'
import type { TestServer } from './support/server.ts'

const [a, b] = [dataset('a'), dataset('b')]

const edgesOf = async ({ graphql }: TestServer, input: JsonObject): Promise<string[]> => {
  const { body } = await graphql(
    'query ($input: LineageGraphInput!) { lineageGraph(input: $input) { nodes { entity { urn } upstreamCount downstreamCount } edges { upstreamUrn downstreamUrn level } } }',
    { input }
  )
  return body.data.lineageGraph.edges
    .map(
      ({ upstreamUrn, downstreamUrn, level }: { [name: string]: string }) =>
        `${level} ${upstreamUrn} ${downstreamUrn}`
    )
    .sort()
}
const exported = async ({ rest }: TestServer, urn: string, more = ''): Promise<string[]> => {
  const { text } = await rest({
    url: `/lineage/export?of=edges&format=ndjson&urn=${encodeURIComponent(urn)}${more}`
  })
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map(({ upstream, downstream }) => `${upstream} ${downstream}`)
}

onBothEngines('an edge of an asset to itself', async (t, server) => {
  const { db, graphql, rest } = server
  await apply(db, ...create(a, b), addEdge(a, a), addEdge(a, b))
  await apply(db, addEdge(column(a, 'x'), column(a, 'x')), addEdge(column(a, 'x'), column(a, 'y')))

  await t.test('is a loop in the picture', async (t) => {
    t.strictSame(await edgesOf(server, { urn: a, count: 10 }), [`ASSET ${a} ${a}`, `ASSET ${a} ${b}`])
    t.strictSame(await edgesOf(server, { urn: b, count: 10 }), [`ASSET ${a} ${a}`, `ASSET ${a} ${b}`])
    const withColumns = await edgesOf(server, { urn: a, count: 10, columns: true })
    t.ok(withColumns.includes(`COLUMN ${column(a, 'x')} ${column(a, 'x')}`))
    t.ok(withColumns.includes(`COLUMN ${column(a, 'x')} ${column(a, 'y')}`))
    t.ok(
      (await edgesOf(server, { urn: column(a, 'x'), count: 10 })).includes(
        `COLUMN ${column(a, 'x')} ${column(a, 'x')}`
      )
    )
  })

  await t.test('is in exports and diagrams, once', async (t) => {
    t.strictSame(await exported(server, a), [`${a} ${a}`, `${a} ${b}`])
    t.strictSame(await exported(server, b, '&direction=UPSTREAM'), [`${a} ${b}`, `${a} ${a}`])
    t.strictSame(await exported(server, b), [])
    const dot = await rest({ url: `/lineage/export?format=dot&urn=${encodeURIComponent(a)}` })
    const loops = [...dot.text.matchAll(/(\S+) -> (\S+?);?$/gm)].filter(([, from, to]) => from === to)
    t.equal(loops.length, 1)
  })

  await t.test('says who stated it', async (t) => {
    const { body } = await graphql(
      'query ($urn: String!) { lineageEdge(upstreamUrn: $urn, downstreamUrn: $urn) { statements { source } statementCount } }',
      { urn: a }
    )
    t.equal(body.data.lineageEdge.statementCount, 1)
  })

  await t.test('is not followed, and counts as no neighbour', async (t) => {
    const { body } = await graphql(
      `
        query ($input: ScrollAcrossLineageInput!, $graph: LineageGraphInput!) {
          scrollAcrossLineage(input: $input) {
            total
            searchResults {
              entity {
                urn
              }
            }
          }
          lineageGraph(input: $graph) {
            nodes {
              entity {
                urn
              }
              upstreamCount
              downstreamCount
            }
          }
        }
      `,
      { input: { urn: a, direction: 'DOWNSTREAM', count: 10 }, graph: { urn: a, count: 10 } }
    )
    t.strictSame(body.data.scrollAcrossLineage, { total: 1, searchResults: [{ entity: { urn: b } }] })
    t.match(
      body.data.lineageGraph.nodes.find(({ entity }: { entity: { urn: string } }) => entity.urn === a),
      {
        upstreamCount: 0,
        downstreamCount: 1
      }
    )
  })

  await t.test('counts in a time window in which it was stated', async (t) => {
    const at = (time: number): JsonObject => ({ created: { time, actor: 'urn:li:corpuser:x' } })
    const stated = upsert(b, 'upstreamLineage', { upstreams: [upstream(b, at(200))] })
    await applyCall(db, [record(0, stated)], asCall({ source: 'etl' }))
    const within = (startTimeMillis: number, endTimeMillis: number): Promise<string[]> =>
      edgesOf(server, { urn: b, count: 10, startTimeMillis, endTimeMillis })
    t.notOk((await within(1, 100)).includes(`ASSET ${b} ${b}`))
    t.ok((await within(100, 300)).includes(`ASSET ${b} ${b}`))
    t.notOk((await within(300, 600)).includes(`ASSET ${b} ${b}`))
  })
})
