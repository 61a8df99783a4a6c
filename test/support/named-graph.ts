/** Writes a graph with named nodes into a server, and scrolls from its entities with results by name. */
import type { JsonObject } from '../../shared/model/changes.ts'
import { doors, edgesOf, urnEdges, urnOfName } from './graph.ts'
import type { TestServer } from './server.ts'

export const scrollQuery = `query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) {
  nextScrollId count total isPartial
  facets { field aggregations { value count entity { urn } displayName } }
  searchResults {
    degree degrees explored matchedFields { name value }
    entity { urn type exists }
    paths { path { urn type exists } }
  }
} }`

/** Writes a graph and returns what the subtests of a test need. */
export async function withGraph(server: TestServer, edges: string, namespace: string) {
  const urn = (name: string) => urnOfName(name, namespace)
  await doors[0]?.write(server, urnEdges(edgesOf(edges), namespace))
  const names = new Map(
    [...new Set(edgesOf(edges).flat())].map((name): [string, string] => [urn(name), name])
  )
  const scroll = async (from: string, more: JsonObject = {}) => {
    const { body } = await server.graphql(scrollQuery, {
      input: { urn: urn(from), direction: 'DOWNSTREAM', query: '*', count: 1_000, ...more }
    })
    return {
      page: body?.data?.scrollAcrossLineage,
      reason: body?.errors?.[0]?.extensions.reason,
      extensions: body?.extensions,
      error: body?.errors?.[0]
    }
  }
  /** Names of the results in alphabetical order, or the code of the error. */
  const found = async (from: string, more: JsonObject = {}): Promise<string[] | string> => {
    const { page, reason } = await scroll(from, more)
    return page
      ? page.searchResults
          .map((result: { entity: { urn: string } }) => names.get(result.entity.urn) ?? result.entity.urn)
          .sort()
      : String(reason)
  }
  const propose = async (name: string, aspectName: string, value: JsonObject) => {
    const proposal = {
      entityType: urn(name).split(':')[2] ?? '',
      entityUrn: urn(name),
      changeType: 'UPSERT',
      aspectName,
      aspect: { json: value }
    }
    const { status, text } = await server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: { proposal }
    })
    if (status !== 200) throw new Error(text)
  }
  return { urn, names, scroll, found, propose }
}

/** `orFilters` of groups. */
export const where = (...groups: JsonObject[][]): JsonObject => ({
  orFilters: groups.map((and) => ({ and }))
})
