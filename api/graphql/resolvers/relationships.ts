/** The field `relationships` of all entity types that have it. */
import type { EntityReference } from '../../../shared/catalog/lineage/read-entity.ts'
import type { RelatedInput } from '../../../shared/catalog/lineage/read-relationships.ts'
import { entityTypeOfGraphql } from '../../../shared/model/entity-types.ts'
import type { GraphqlContext } from '../context.ts'
import { referenceTo } from '../entity-shapes.ts'
import { loadRelated } from '../loaders.ts'

/** The cost for each entity, which needs several queries: a request can read a thousand at most. */
const readsPerEntity = 100

async function relationships(
  { urn }: EntityReference,
  { input }: { input: RelatedInput },
  context: GraphqlContext
) {
  context.budget.spendReads(readsPerEntity)
  // An unknown type matches no relationship.
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
