/**
 * Search for entities: each resolver passes its input to one function of the catalog, and returns its page.
 */
import type { GraphQLResolveInfo } from 'graphql'
import {
  aggregateEntities,
  type AggregationInput
} from '../../../shared/catalog/search/aggregate-entities.ts'
import {
  completeNames,
  completeNamesOfEach,
  type CompletionInput
} from '../../../shared/catalog/search/complete-names.ts'
import { resolveReference } from '../../../shared/catalog/search/resolve-reference.ts'
import { scrollEntities, type EntityScrollInput } from '../../../shared/catalog/search/scroll-entities.ts'
import {
  searchEntities,
  type EntityPage,
  type RankedSearchInput
} from '../../../shared/catalog/search/search-entities.ts'
import type { GraphqlContext } from '../context.ts'
import { selects } from '../selection.ts'

type Input<Fields> = { input: Fields }

const completedTypes = ['DATASET', 'DATA_JOB', 'DATA_FLOW', 'CHART', 'DASHBOARD', 'CONTAINER', 'DOMAIN']

export const searchResolvers = {
  Query: {
    search: (
      _: unknown,
      { input: { type, ...input } }: Input<Omit<RankedSearchInput, 'types'> & { type: string }>,
      context: GraphqlContext,
      info: GraphQLResolveInfo
    ) => searched({ ...input, types: [type] }, context, info),
    searchAcrossEntities: (
      _: unknown,
      { input }: Input<RankedSearchInput>,
      context: GraphqlContext,
      info: GraphQLResolveInfo
    ) => searched(input, context, info),
    aggregateAcrossEntities: async (
      _: unknown,
      { input }: Input<AggregationInput>,
      { lineage }: GraphqlContext
    ) => ({ facets: await aggregateEntities(lineage, input) }),
    async scrollAcrossEntities(
      _: unknown,
      { input }: Input<EntityScrollInput>,
      context: GraphqlContext,
      info: GraphQLResolveInfo
    ) {
      const page = await scrollEntities(context.lineage, input, requestedPartsOf(info))
      return { ...shown(page, context), nextScrollId: page.nextScrollId }
    },
    async autoComplete(
      _: unknown,
      { input: { type, ...input } }: Input<CompletionInput & { type?: string | null }>,
      context: GraphqlContext
    ) {
      return completed({ ...input, types: type ? [type] : null }, context)
    },
    async autoCompleteForMultiple(_: unknown, { input }: Input<CompletionInput>, context: GraphqlContext) {
      const types = [...new Set(input.types?.length ? input.types : completedTypes)]
      const found = await completeNamesOfEach(
        context.lineage,
        input,
        types.map((type) => [type])
      )
      context.budget.spendReads(found.reduce((sum, { entities }) => sum + entities.length, 0))
      const suggestions = found.map(({ names, entities }, index) => ({
        type: types[index],
        suggestions: names,
        entities
      }))
      return { query: input.query, suggestions: suggestions.filter(({ entities }) => entities.length > 0) }
    },
    resolve: (_: unknown, { reference }: { reference: string }, { lineage }: GraphqlContext) =>
      resolveReference(lineage, reference)
  },
  SearchResults: {
    isEstimate: ({ isEstimate }: { isEstimate?: boolean }) => isEstimate ?? false
  },
  SearchResult: {
    insights: () => [],
    extraProperties: () => []
  }
}

const requestedPartsOf = (info: GraphQLResolveInfo) => ({
  facets: selects(info, ['facets']),
  matchedFields: selects(info, ['searchResults', 'matchedFields']),
  suggestions: selects(info, ['suggestions'])
})

async function searched(input: RankedSearchInput, context: GraphqlContext, info: GraphQLResolveInfo) {
  const page = await searchEntities(context.lineage, input, requestedPartsOf(info))
  return { ...shown(page, context), start: page.start, suggestions: page.suggestions }
}

/** The fields that both kinds of page share. */
function shown({ total, results, facets, isEstimate }: EntityPage, context: GraphqlContext) {
  context.budget.spendReads(results.length)
  return { count: results.length, total, searchResults: results, facets, isEstimate }
}

async function completed(input: CompletionInput, context: GraphqlContext) {
  const { names, entities } = await completeNames(context.lineage, input)
  context.budget.spendReads(entities.length)
  return { query: input.query, suggestions: names, entities }
}
