/** The table of entity types: the name in URNs, the name in GraphQL, the key aspect, and what such an entity can do. */

export type EntityTypeInfo = {
  /** As in URNs: `dataJob`. */
  name: string
  /** As in GraphQL: `DATA_JOB`. `OTHER` where the type is not known. */
  graphqlType: string
  /** Name and class of the aspect that says what the URN says. */
  keyAspect: string
  keyClass: string
  /** Whether it can be in a domain. */
  isAsset: boolean
  /** Whether it can stand in lineage. */
  hasLineage: boolean
}

type Ability = 'asset' | 'lineage' | 'assetWithLineage' | 'plain'

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const row = (name: string, graphqlType: string, ability: Ability = 'plain', keyName = `${capitalised(name)}Key`, keyAspect = `${name}Key`): EntityTypeInfo => ({
  name,
  graphqlType,
  keyAspect,
  keyClass: `com.linkedin.metadata.key.${keyName}`,
  isAsset: ability === 'asset' || ability === 'assetWithLineage',
  hasLineage: ability === 'lineage' || ability === 'assetWithLineage'
})

export const entityTypes: readonly EntityTypeInfo[] = [
  row('domain', 'DOMAIN'),
  row('dataset', 'DATASET', 'assetWithLineage'),
  row('dataJob', 'DATA_JOB', 'assetWithLineage'),
  row('dataFlow', 'DATA_FLOW', 'assetWithLineage'),
  row('chart', 'CHART', 'assetWithLineage'),
  row('dashboard', 'DASHBOARD', 'assetWithLineage'),
  row('mlModel', 'MLMODEL', 'assetWithLineage', 'MLModelKey'),
  row('mlModelGroup', 'MLMODEL_GROUP', 'assetWithLineage', 'MLModelGroupKey'),
  row('mlFeature', 'MLFEATURE', 'assetWithLineage', 'MLFeatureKey'),
  row('mlFeatureTable', 'MLFEATURE_TABLE', 'assetWithLineage', 'MLFeatureTableKey'),
  row('mlPrimaryKey', 'MLPRIMARY_KEY', 'assetWithLineage', 'MLPrimaryKeyKey'),
  row('schemaField', 'SCHEMA_FIELD', 'lineage'),
  row('dataProcessInstance', 'DATA_PROCESS_INSTANCE', 'lineage'),
  row('container', 'CONTAINER', 'asset'),
  row('notebook', 'NOTEBOOK', 'asset'),
  row('glossaryTerm', 'GLOSSARY_TERM', 'asset'),
  row('glossaryNode', 'GLOSSARY_NODE', 'asset'),
  row('dataProduct', 'DATA_PRODUCT', 'asset'),
  row('application', 'APPLICATION', 'asset'),
  row('document', 'DOCUMENT', 'asset'),
  row('dataPlatform', 'DATA_PLATFORM'),
  row('dataPlatformInstance', 'DATA_PLATFORM_INSTANCE'),
  row('query', 'QUERY'),
  row('corpuser', 'CORP_USER', 'plain', 'CorpUserKey', 'corpUserKey'),
  row('corpGroup', 'CORP_GROUP'),
  row('tag', 'TAG'),
  row('assertion', 'ASSERTION'),
  row('incident', 'INCIDENT'),
  row('role', 'ROLE'),
  row('test', 'TEST'),
  row('post', 'POST'),
  row('structuredProperty', 'STRUCTURED_PROPERTY'),
  row('form', 'FORM'),
  row('dataContract', 'DATA_CONTRACT'),
  row('businessAttribute', 'BUSINESS_ATTRIBUTE'),
  row('restricted', 'RESTRICTED'),
  row('dataHubIngestionSource', 'INGESTION_SOURCE'),
  row('dataHubExecutionRequest', 'EXECUTION_REQUEST', 'plain', 'ExecutionRequestKey'),
  row('dataHubAccessToken', 'ACCESS_TOKEN'),
  row('dataHubPolicy', 'DATAHUB_POLICY'),
  row('dataHubRole', 'DATAHUB_ROLE'),
  row('dataHubView', 'DATAHUB_VIEW'),
  row('ownershipType', 'CUSTOM_OWNERSHIP_TYPE'),
  row('entityType', 'ENTITY_TYPE'),
  row('dataType', 'DATA_TYPE'),
  row('erModelRelationship', 'ER_MODEL_RELATIONSHIP', 'plain', 'ERModelRelationshipKey'),
  row('metric', 'METRIC'),
  row('semanticModel', 'SEMANTIC_MODEL')
]

const byName = new Map(entityTypes.map((info) => [info.name, info]))
const byGraphqlType = new Map(entityTypes.map((info) => [info.graphqlType, info.name]))

/** What is known of an entity type. An unknown one may carry a domain, for clients bring types of their own. */
export const entityTypeInfo = (name: string): EntityTypeInfo => byName.get(name) ?? row(name, 'OTHER', 'asset')

export const isKnownEntityType = (name: string): boolean => byName.has(name)

export const isAsset = (name: string): boolean => entityTypeInfo(name).isAsset

export const graphqlTypeOf = (name: string): string => byName.get(name)?.graphqlType ?? 'OTHER'

/** The name in URNs of a GraphQL entity type; null for OTHER and for a type that no URN has. */
export const entityTypeOfGraphql = (graphqlType: string): string | null => byGraphqlType.get(graphqlType) ?? null

/** Whether anything can be of the GraphQL type: some are in DataHub's list and in no URN. */
export const isTypeOfUrns = (graphqlType: string): boolean => graphqlType === 'OTHER' || byGraphqlType.has(graphqlType)

/** Types that a search finds where none is asked for: what people look for, as DataHub has it. */
export const searchableTypes: readonly string[] = [
  'DATASET', 'DASHBOARD', 'CHART', 'MLMODEL', 'MLMODEL_GROUP', 'MLFEATURE_TABLE', 'MLFEATURE', 'MLPRIMARY_KEY', 'DATA_FLOW', 'DATA_JOB', 'GLOSSARY_TERM', 'GLOSSARY_NODE', 'TAG',
  'ROLE', 'CORP_USER', 'CORP_GROUP', 'CONTAINER', 'DOMAIN', 'DATA_PRODUCT', 'NOTEBOOK', 'BUSINESS_ATTRIBUTE', 'APPLICATION', 'DOCUMENT'
]
