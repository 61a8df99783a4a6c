/** Asks for the neighbours of many entities at once, each by a walk of one hop. */
import type { CatalogClient } from '../../support/catalog-client.ts'
import { valueAt } from '../../support/json-answer.ts'

type Direction = 'UPSTREAM' | 'DOWNSTREAM'

const walksPerRequest = 25
const columnsStay = 'foldColumns: false'

/** The edges that walks from each of `urns` find, as `upstream > downstream`. Throws if a walk fails. */
export async function edgesOfWalks(
  client: CatalogClient,
  urns: readonly string[],
  direction: Direction
): Promise<Set<string>> {
  const edges = new Set<string>()
  for (let first = 0; first < urns.length; first += walksPerRequest) {
    const asked = urns.slice(first, first + walksPerRequest)
    const fields = asked.map(
      (urn, index) => `
      w${index}: scrollAcrossLineage(input: {
        urn: ${JSON.stringify(urn)}, direction: ${direction}, query: "*", count: 1000, orFilters: [{ and: [{ field: "degree", values: ["1"] }] }], ${columnsStay}
      }) { searchResults { entity { urn } } }`
    )
    const { data, json } = await client.graphql(`{ ${fields.join('')} }`)
    for (const [index, urn] of asked.entries()) {
      const results = valueAt(data, `w${index}.searchResults`)
      if (!Array.isArray(results))
        throw new Error(
          `the walk from ${urn} failed: ${JSON.stringify(valueAt(json, 'errors')).slice(0, 1_000)}`
        )
      for (const result of results) {
        const found = String(valueAt(result, 'entity.urn'))
        edges.add(direction === 'UPSTREAM' ? `${found} > ${urn}` : `${urn} > ${found}`)
      }
    }
  }
  return edges
}
