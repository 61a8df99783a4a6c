/** Who asserted edges and associations, batched across all fields that ask. */
import {
  readAssociationProvenance,
  readAttributions,
  readStatedEdges,
  type EdgeProvenance
} from '../../../shared/catalog/lineage/read-provenance.ts'
import { toUrn, type Urn } from '../../../shared/urn/urn.ts'
import { attribution } from '../association-shapes.ts'
import { batched } from '../batched.ts'
import type { GraphqlContext } from '../context.ts'

type Ends = { upstreamUrn: Urn; downstreamUrn: Urn }

const loadByEnds = batched<EdgeProvenance>((keys, { db }) =>
  readStatedEdges(
    db,
    keys.map((key) => {
      const [upstreamUrn = '', downstreamUrn = ''] = key.split('\n')
      return { upstreamUrn: toUrn(upstreamUrn), downstreamUrn: toUrn(downstreamUrn) }
    })
  )
)

async function loadStated(
  context: GraphqlContext,
  { upstreamUrn, downstreamUrn }: Ends
): Promise<EdgeProvenance> {
  const edge = await loadByEnds(context, `${upstreamUrn}\n${downstreamUrn}`)
  context.budget.spendReads(edge.statements.length)
  return edge
}

const loadAssociationProvenance = batched((urns, { db }) =>
  readAssociationProvenance(
    db,
    urns.map((urn) => toUrn(urn))
  )
)

const loadAttribution = batched((urns, { db }) =>
  readAttributions(
    db,
    urns.map((urn) => toUrn(urn))
  )
)

const lastUsed = ({ statements }: EdgeProvenance): number | null =>
  statements.reduce<number | null>(
    (last, statement) => (statement.lastUsed === null ? last : Math.max(last ?? 0, statement.lastUsed)),
    null
  )

export const provenanceResolvers = {
  Query: {
    async lineageEdge(
      _: unknown,
      { upstreamUrn, downstreamUrn }: { upstreamUrn: string; downstreamUrn: string },
      context: GraphqlContext
    ) {
      const edge = await loadStated(context, {
        upstreamUrn: toUrn(upstreamUrn, 'upstreamUrn'),
        downstreamUrn: toUrn(downstreamUrn, 'downstreamUrn')
      })
      return edge.statementCount === 0 ? null : edge
    }
  },
  GraphEdge: {
    statements: async (edge: Ends, _: unknown, context: GraphqlContext) =>
      (await loadStated(context, edge)).statements,
    lastUsed: async (edge: Ends, _: unknown, context: GraphqlContext) =>
      lastUsed(await loadStated(context, edge))
  },
  StatedEdge: {
    lastUsed
  },
  DomainAssociation: {
    provenance: ({ associatedUrn }: { associatedUrn: Urn }, _: unknown, context: GraphqlContext) =>
      loadAssociationProvenance(context, associatedUrn),
    attribution: async ({ associatedUrn }: { associatedUrn: Urn }, _: unknown, context: GraphqlContext) =>
      attribution(await loadAttribution(context, associatedUrn))
  }
}
