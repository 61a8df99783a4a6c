/** The GraphQL requests of the bench, and the check of their answers against the oracle. */
import type { LineageDirection } from '../../shared/model/walk.ts'
import type { BenchGraph } from '../lineage/graphs.ts'
import type { Asked } from './ask.ts'
import type { Reached } from './oracle.ts'

export const hopsQuery =
  'query hops($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { searchResults { degree entity { urn type } } } }'
export const pageQuery =
  'query page($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { nextScrollId total searchResults { degree entity { urn type } } } }'
export const domainQuery =
  'query domain($urn: String!) { dataset(urn: $urn) { urn domain { associatedUrn domain { urn properties { name } } } } }'
export const nothingQuery = '{ __typename }'
export const changeQuery = 'mutation change($input: UpdateLineageInput!) { updateLineage(input: $input) }'

/** The ten nearest within `hops` hops (1 or 2). */
export const hopsInput = (urn: string, direction: LineageDirection, hops: 1 | 2): object => ({
  input: {
    urn,
    direction,
    query: '*',
    count: 10,
    orFilters: [{ and: [{ field: 'degree', values: hops === 1 ? ['1'] : ['1', '2'] }] }]
  }
})

/** Asks for the first page of an earlier question again. */
export const pageInput = (
  urn: string,
  direction: LineageDirection,
  count: number,
  scrollId: string | null = null
): object => ({ input: { urn, direction, query: '*', count, scrollId, searchFlags: { skipCache: true } } })

export type Page = {
  nextScrollId: string | null
  total: number
  searchResults: { degree: number; entity: { urn: string; type: string } }[]
}

// a border: a field that is absent is undefined and compares unequal
export const pageOf = ({ answer }: Asked): Page =>
  (answer.data as { scrollAcrossLineage: Page }).scrollAcrossLineage

export const isComplete = ({ answer }: Asked): boolean => answer.extensions?.lineage?.complete === true

export const engineOf = ({ answer }: Asked): string => answer.extensions?.lineage?.engine ?? 'none named'

/** The mistake in the results of a page that begins at `begin`; null if there is none. */
export function faultOf(
  { searchResults }: Page,
  graph: BenchGraph,
  { nodes, degrees }: Reached,
  begin: number,
  count: number
): string | null {
  const expectedCount = Math.max(0, Math.min(count, nodes.length - begin))
  if (searchResults.length !== expectedCount)
    return `${searchResults.length} results instead of ${expectedCount} from ${begin} on`
  for (const [index, { degree, entity }] of searchResults.entries()) {
    const urn = graph.urnOf(nodes[begin + index] ?? 0)
    if (entity.urn !== urn || degree !== degrees[begin + index])
      return `result ${begin + index} is ${entity.urn} at ${degree} instead of ${urn} at ${degrees[begin + index]}`
  }
  return null
}

/** Throws if the results or the total are wrong. */
export function checkPage(
  page: Page,
  graph: BenchGraph,
  reached: Reached,
  begin: number,
  count: number
): void {
  const total = reached.nodes.length
  mustBeRight(
    page.total === total
      ? faultOf(page, graph, reached, begin, count)
      : `total ${page.total} instead of ${total}`
  )
}

/** Throws the mistake, if there is one. */
export function mustBeRight(fault: string | null): void {
  if (fault !== null) throw new Error(`a wrong answer: ${fault}`)
}
