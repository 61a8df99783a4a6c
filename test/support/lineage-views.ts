/** Graphs written by names, and questions about them that memory and SQL must answer alike. */
import type { Test } from 'tap'
import { buildServer } from '../../api/server.ts'
import type { JsonObject } from '../../shared/model/changes.ts'
import { readConfig } from '../../shared/platform/config.ts'
import { createLog } from '../../shared/platform/log.ts'
import { entityTypeOf, type Urn } from '../../shared/urn/urn.ts'
import type { NamedEdge } from '../cases/graphs.ts'
import { edgesOf, makeAssets, urnEdges, urnOfName } from './graph.ts'
import { withServer, type TestServer } from './server.ts'

type Answer = { data: ReturnType<typeof JSON.parse>; error: JsonObject | undefined; report: JsonObject }
export type Ask = (query: string, input: JsonObject) => Promise<Answer>

/** Two servers, one answering from memory and one in SQL; every question is asked of both. */
export async function withBoth(t: Test): Promise<{ server: TestServer; ask: Ask }> {
  const server = await withServer(t)
  const config = readConfig({ DATABASE_URL: server.databaseUrl, LOG_LEVEL: 'silent' })
  const queue = { nudge: async () => true, depth: async () => 0, close: async () => {} }
  const beside = await buildServer(
    { db: server.db, lineage: { db: server.db, memory: null }, queue, config, log: createLog(config) },
    server.state
  )
  t.teardown(() => beside.close())
  const ask: Ask = async (query, input) => {
    const { body } = await server.graphql(query, { input })
    const other: typeof body = (
      await beside.inject({
        method: 'POST',
        url: '/api/graphql',
        headers: { authorization: `Bearer ${server.token}` },
        payload: { query, variables: { input } }
      })
    ).json()
    const values: typeof body = Object.values(body.data ?? {})
    const answer = {
      data: values[0] ?? null,
      error: body.errors?.[0]?.extensions,
      report: body.extensions?.lineage
    }
    const isSame =
      JSON.stringify([body.data, withoutTime(body, 'memory')]) ===
      JSON.stringify([other.data, withoutTime(other, 'sql')])
    if (!isSame)
      throw new Error(
        `SQL answers ${JSON.stringify(other)} and memory ${JSON.stringify(body)} to ${JSON.stringify(input)}`
      )
    return answer
  }
  return { server, ask }
}

/** An answer's report of its walk without the time; throws if another engine walked. */
function withoutTime({ extensions }: Answer['data'], engine: string): JsonObject | null {
  if (!extensions?.lineage) return null
  const { ms: _ms, walks: _walks, engine: own, ...report } = extensions.lineage
  if (own !== engine) throw new Error(`answered by ${own}, not by ${engine}`)
  return report
}

const assetOf = (name: string): string => name.split('#')[0] ?? name
const namesIn = (edges: readonly NamedEdge[]): string[] => [...new Set(edges.flat().map(assetOf))]

export async function propose(
  server: TestServer,
  entityUrn: Urn,
  aspectName: string,
  value: JsonObject,
  headers: { [name: string]: string } = {}
): Promise<void> {
  const proposal = {
    entityType: entityTypeOf(entityUrn),
    entityUrn,
    changeType: 'UPSERT',
    aspectName,
    aspect: { json: value }
  }
  const { status, text } = await server.rest({
    method: 'POST',
    url: '/aspects?action=ingestProposal',
    headers,
    body: { proposal }
  })
  if (status !== 200) throw new Error(text)
}

export const remove = (server: TestServer, urn: Urn): Promise<void> =>
  propose(server, urn, 'status', { removed: true })

type Written = {
  removed?: readonly string[]
  placeholders?: readonly string[]
  waves?: readonly (readonly string[])[]
}

/** Writes a graph so that the ids are in the order of the names, and returns names for URNs. */
export async function write(
  server: TestServer,
  text: string,
  namespace: string,
  { removed = [], placeholders = [], waves }: Written = {}
) {
  const edges = edgesOf(text)
  const urn = (name: string): Urn => urnOfName(name, namespace)
  const nameOf = new Map(
    [...new Set([...edges.flat(), ...namesIn(edges)])].map((name): [string, string] => [urn(name), name])
  )
  for (const wave of waves ?? namesIn(edges).map((name) => [name]))
    await makeAssets(server, wave.filter((name) => !placeholders.includes(name)).map(urn))
  for (const [up, down] of edges) {
    if (placeholders.includes(up))
      await propose(
        server,
        urn(down),
        'upstreamLineage',
        { upstreams: [{ dataset: urn(up), type: 'COPY' }] },
        { 'x-missing-references': 'create' }
      )
  }
  const fresh = edges.filter(([up]) => !placeholders.includes(up))
  // Columns get their ids with their edges, so the edges are added one by one.
  for (const group of [
    fresh.filter(([up]) => !up.includes('#')),
    ...fresh.filter(([up]) => up.includes('#')).map((edge) => [edge])
  ]) {
    const answer = await server.graphql(
      'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }',
      { input: { edgesToAdd: urnEdges(group, namespace) } }
    )
    if (answer.body?.data?.updateLineage !== true) throw new Error(answer.text)
  }
  for (const name of removed) await remove(server, urn(name))
  return { urn, name: (found: string): string => nameOf.get(found) ?? found }
}
