/** Search across lineage: the input in, one catalog verb, its page out. */
import type { GraphQLResolveInfo } from 'graphql'
import { scrollAcrossLineage, type LineageReport, type LineageResult } from '../../../shared/catalog/scroll-across-lineage.ts'
import type { ScrollInput } from '../../../shared/catalog/scroll-question.ts'
import type { JsonObject } from '../../../shared/model/changes.ts'
import { isObject } from '../../../shared/model/json-values.ts'
import { nameFromUrn } from '../../../shared/urn/kinds.ts'
import { toUrn } from '../../../shared/urn/urn.ts'
import type { GraphqlContext } from '../context.ts'
import { selects } from '../selection.ts'

export const lineageResolvers = {
  Query: {
    async scrollAcrossLineage(_: unknown, { input }: { input: ScrollInput }, context: GraphqlContext, info: GraphQLResolveInfo) {
      const wishes = { facets: selects(info, ['facets']), paths: selects(info, ['searchResults', 'paths']) }
      const { nextScrollId, total, results, facets, report } = await scrollAcrossLineage(context.db, input, wishes)
      addToExtensions(context, String(info.path.key), report)
      return {
        nextScrollId,
        count: results.length,
        total,
        searchResults: results.map(resultOf),
        facets,
        freshness: { cached: false },
        isPartial: !report.complete
      }
    }
  },
  AggregationMetadata: {
    entity: ({ value }: { value: string }) => value.startsWith('urn:li:') ? { urn: toUrn(value) } : null,
    displayName: ({ value }: { value: string }) => value.startsWith('urn:li:') ? nameFromUrn(toUrn(value)) : value
  }
}

const resultOf = ({ paths, isExplored, ...result }: LineageResult) => ({
  ...result,
  paths: paths.map((path) => ({ path })),
  explored: isExplored,
  truncatedChildren: false,
  ignoredAsHop: false
})

/** `extensions.lineage` says whether all walks of the request were complete, and what each did, by its key in the answer. */
function addToExtensions(context: GraphqlContext, key: string, { complete, cutBy, withoutEffect, ...report }: LineageReport): void {
  const known = context.extensions.lineage
  const before: JsonObject = isObject(known) ? known : { complete: true, walks: {} }
  const walks = isObject(before.walks) ? before.walks : {}
  const walk: JsonObject = { complete, ...cutBy ? { cutBy } : {}, ...report, ...withoutEffect.length > 0 ? { withoutEffect: [...withoutEffect] } : {} }
  context.extensions.lineage = { complete: before.complete === true && complete, walks: { ...walks, [key]: walk } }
}
