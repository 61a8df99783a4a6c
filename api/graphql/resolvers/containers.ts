/** Containers: what is in one, and which contain an entity. */
import type { EntityReference } from '../../../shared/catalog/lineage/read-entity.ts'
import { searchEntities, type RankedSearchInput } from '../../../shared/catalog/search/search-entities.ts'
import type { GraphqlContext } from '../context.ts'
import { loadParentContainers } from '../loaders.ts'

type MembersInput = Pick<RankedSearchInput, 'query' | 'start' | 'count' | 'filters'>

const membersDefaultCount = 20
/** The cost of the search for each container: a request can do about a hundred. */
const readsPerSearch = 1_000

const parentContainers = {
  async parentContainers({ urn }: EntityReference, _: unknown, context: GraphqlContext) {
    const containers = await loadParentContainers(context, urn)
    context.budget.spendReads(containers.length)
    return { count: containers.length, containers }
  }
}

export const containerResolvers = {
  Container: {
    ...parentContainers,
    async entities(
      { urn }: EntityReference,
      { input }: { input?: MembersInput | null },
      context: GraphqlContext
    ) {
      context.budget.spendReads(readsPerSearch)
      const question = {
        ...input,
        count: input?.count ?? membersDefaultCount,
        orFilters: [{ and: [{ field: 'container', values: [urn] }] }]
      }
      const { start, total, results, isEstimate } = await searchEntities(context.lineage, question, {
        facets: false,
        matchedFields: true
      })
      context.budget.spendReads(results.length)
      return { start, count: results.length, total, searchResults: results, facets: null, isEstimate }
    }
  },
  Dataset: parentContainers,
  VersionedDataset: parentContainers,
  DataJob: parentContainers,
  DataFlow: parentContainers,
  Chart: parentContainers,
  Dashboard: parentContainers
}
