/** The field `relationships` of every type of entity that has it. */
import type { EntityReference } from '../../../shared/catalog/lineage/read-entity.ts'
import type { RelatedInput } from '../../../shared/catalog/lineage/read-relationships.ts'
import { entityTypeOfGraphql } from '../../../shared/model/entity-types.ts'
import type { GraphqlContext } from '../context.ts'
import { referenceTo } from '../entity-shapes.ts'
import { loadRelated } from '../loaders.ts'

/** Each entity takes several questions to the database, so that a request has them for a thousand at most. */
const readsPerEntity = 100

async function relationships(
  { urn }: EntityReference,
  { input }: { input: RelatedInput },
  context: GraphqlContext
) {
  context.budget.spendReads(readsPerEntity)
  // A type that no URN has is one that nothing is related to.
  const relatedEntityTypes = input.relatedEntityTypes?.map((type) => entityTypeOfGraphql(type) ?? '') ?? null
  const { relationships: found, ...page } = await loadRelated(context, urn, { ...input, relatedEntityTypes })
  context.budget.spendReads(found.length)
  return {
    ...page,
    relationships: found.map((related) => ({
      type: related.type,
      direction: input.direction,
      entity: referenceTo(related.urn),
      created: null
    }))
  }
}

const related = { relationships }

export const relationshipResolvers = {
  Dataset: related,
  DataJob: related,
  DataFlow: related,
  Chart: related,
  Dashboard: related,
  Container: related,
  Domain: related,
  MLModel: related,
  MLModelGroup: related,
  MLFeature: related,
  MLFeatureTable: related,
  MLPrimaryKey: related,
  DataProcessInstance: related,
  SchemaFieldEntity: related,
  CorpUser: related,
  CorpGroup: related,
  Tag: related,
  GlossaryTerm: related,
  GlossaryNode: related,
  Notebook: related,
  DataProduct: related,
  Application: related,
  Document: related
}
