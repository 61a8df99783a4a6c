/** Mutations of domains and lineage: arguments in, one catalog verb, its answer out. Scopes are checked in resolver-map.ts. */
import { createDomain, deleteDomain, describeDomain, moveDomain, renameDomain, type CreateDomainInput } from '../../../shared/catalog/create-domain.ts'
import { batchSetDomain, setDomain, unsetDomain, type BatchSetDomainInput } from '../../../shared/catalog/set-domain.ts'
import { updateLineage, type UpdateLineageInput } from '../../../shared/catalog/update-lineage.ts'
import type { GraphqlContext } from '../context.ts'

type Input<T> = { input: T }
type Description = { resourceUrn: string, description: string, subResource?: string | null }

export const mutationResolvers = {
  Mutation: {
    createDomain: (_: unknown, { input }: Input<CreateDomainInput>, context: GraphqlContext) => createDomain(context.db, input, context),
    deleteDomain: (_: unknown, { urn }: { urn: string }, context: GraphqlContext) => deleteDomain(context.db, urn, context),
    moveDomain: (_: unknown, { input }: Input<{ resourceUrn: string, parentDomain?: string | null }>, context: GraphqlContext) => moveDomain(context.db, input, context),
    updateName: (_: unknown, { input }: Input<{ urn: string, name: string }>, context: GraphqlContext) => renameDomain(context.db, input, context),
    updateDescription: (_: unknown, { input }: Input<Description>, context: GraphqlContext) => describeDomain(context.db, input, context),
    setDomain: (_: unknown, input: { entityUrn: string, domainUrn: string }, context: GraphqlContext) => setDomain(context.db, input, context),
    unsetDomain: (_: unknown, input: { entityUrn: string }, context: GraphqlContext) => unsetDomain(context.db, input, context),
    batchSetDomain: (_: unknown, { input }: Input<BatchSetDomainInput>, context: GraphqlContext) => batchSetDomain(context.db, input, context),
    updateLineage: (_: unknown, { input }: Input<UpdateLineageInput>, context: GraphqlContext) => updateLineage(context.db, input, context)
  }
}
