/**
 * Mutations of domains and lineage: each replaces short references by URNs and calls one function of the
 * catalog. resolver-map.ts checks the scopes.
 */
import {
  createDomain,
  deleteDomain,
  describeDomain,
  moveDomain,
  renameDomain,
  type CreateDomainInput
} from '../../../shared/catalog/write/create-domain.ts'
import { withUrns, type UrnFields } from '../../../shared/catalog/search/reference-urns.ts'
import {
  batchSetDomain,
  setDomain,
  unsetDomain,
  type BatchSetDomainInput
} from '../../../shared/catalog/write/set-domain.ts'
import { updateLineage, type UpdateLineageInput } from '../../../shared/catalog/write/update-lineage.ts'
import type { GraphqlContext } from '../context.ts'

type Input<T> = { input: T }
type Description = { resourceUrn: string; description: string; subResource?: string | null }

const [anyType, domain] = [{}, { entityType: 'domain' }]

/** Arguments that accept a short reference. */
const urnFields: { readonly [mutation: string]: UrnFields } = {
  createDomain: { parentDomain: domain },
  deleteDomain: { urn: domain },
  moveDomain: { resourceUrn: domain, parentDomain: domain },
  updateName: { urn: domain },
  updateDescription: { resourceUrn: domain },
  setDomain: { entityUrn: anyType, domainUrn: domain },
  unsetDomain: { entityUrn: anyType },
  batchSetDomain: { resourceUrn: anyType, domainUrn: domain },
  updateLineage: { upstreamUrn: anyType, downstreamUrn: anyType }
}

type Mutation<Args, Answer> = (args: Args, context: GraphqlContext) => Promise<Answer>

const taking =
  <Args, Answer>(name: keyof typeof urnFields, run: Mutation<Args, Answer>) =>
  async (_: unknown, args: Args, context: GraphqlContext): Promise<Answer> =>
    run(await withUrns(context.lineage, args, urnFields[name] ?? {}), context)

export const mutationResolvers = {
  Mutation: {
    createDomain: taking('createDomain', ({ input }: Input<CreateDomainInput>, context) =>
      createDomain(context.db, input, context)
    ),
    deleteDomain: taking('deleteDomain', ({ urn }: { urn: string }, context) =>
      deleteDomain(context.db, urn, context)
    ),
    moveDomain: taking(
      'moveDomain',
      ({ input }: Input<{ resourceUrn: string; parentDomain?: string | null }>, context) =>
        moveDomain(context.db, input, context)
    ),
    updateName: taking('updateName', ({ input }: Input<{ urn: string; name: string }>, context) =>
      renameDomain(context.db, input, context)
    ),
    updateDescription: taking('updateDescription', ({ input }: Input<Description>, context) =>
      describeDomain(context.db, input, context)
    ),
    setDomain: taking('setDomain', (input: { entityUrn: string; domainUrn: string }, context) =>
      setDomain(context.db, input, context)
    ),
    unsetDomain: taking('unsetDomain', (input: { entityUrn: string }, context) =>
      unsetDomain(context.db, input, context)
    ),
    batchSetDomain: taking('batchSetDomain', ({ input }: Input<BatchSetDomainInput>, context) =>
      batchSetDomain(context.db, input, context)
    ),
    updateLineage: taking('updateLineage', ({ input }: Input<UpdateLineageInput>, context) =>
      updateLineage(context.db, input, context)
    )
  }
}
