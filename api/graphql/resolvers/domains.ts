/** Domains: one of them, one level of them, the assets in a domain, and the domains above. */
import { listDomains, type ListDomainsInput } from '../../../shared/catalog/domains/list-domains.ts'
import { readEntity, type EntityReference } from '../../../shared/catalog/lineage/read-entity.ts'
import type { DomainMembersInput } from '../../../shared/catalog/domains/read-domain.ts'
import { graphqlTypeOf } from '../../../shared/model/entity-types.ts'
import { keyOfUrn } from '../../../shared/urn/kinds.ts'
import { entityTypeOf } from '../../../shared/urn/urn.ts'
import type { GraphqlContext } from '../context.ts'
import { domainProperties, ownership } from '../entity-shapes.ts'
import {
  loadAspect,
  loadChildCount,
  loadDomainMembers,
  loadExistence,
  loadParentDomains
} from '../loaders.ts'

export const domainResolvers = {
  Query: {
    domain: (_: unknown, { urn }: { urn: string }, { lineage }: GraphqlContext) =>
      readEntity(lineage, urn, 'domain'),
    listDomains: (_: unknown, { input }: { input: ListDomainsInput }, { lineage }: GraphqlContext) =>
      listDomains(lineage, input)
  },
  Domain: {
    type: ({ urn }: EntityReference) => graphqlTypeOf(entityTypeOf(urn)),
    exists: ({ urn, exists }: EntityReference, _: unknown, context: GraphqlContext) =>
      exists ?? loadExistence(context, urn),
    id: ({ urn }: EntityReference) => keyOfUrn(urn).id,
    properties: async ({ urn }: EntityReference, _: unknown, context: GraphqlContext) =>
      domainProperties(urn, await loadAspect(context, urn, 'domainProperties')),
    ownership: async ({ urn }: EntityReference, _: unknown, context: GraphqlContext) =>
      ownership(urn, await loadAspect(context, urn, 'ownership')),
    childCount: ({ urn }: EntityReference, _: unknown, context: GraphqlContext) =>
      loadChildCount(context, urn),
    async entities(
      { urn }: EntityReference,
      { input }: { input?: DomainMembersInput | null },
      context: GraphqlContext
    ) {
      const { members, ...page } = await loadDomainMembers(context, urn, input ?? {})
      context.budget.spendReads(members.length)
      return { ...page, searchResults: members }
    },
    async parentDomains({ urn }: EntityReference, _: unknown, context: GraphqlContext) {
      const domains = await loadParentDomains(context, urn)
      context.budget.spendReads(domains.length)
      return { count: domains.length, domains }
    }
  }
}
