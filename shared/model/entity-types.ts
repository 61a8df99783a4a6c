/**
 * The table of entity types: name in URNs, name in GraphQL, key aspect, and whether the type can be in
 * domains and lineage.
 */
import { aspectClasses } from './aspect-classes.ts'
import { typesOfAspect } from './aspect-places.ts'
import { dataHubEntities } from './datahub-model.ts'
import { knownRelationships } from './lineage-relationships.ts'

export type EntityTypeInfo = {
  /** The name in URNs, for example `dataJob`. */
  name: string
  /** The name in GraphQL, for example `DATA_JOB`; `OTHER` for an unknown type. */
  graphqlType: string
  /** Name and class of the aspect that repeats the URN. */
  keyAspect: string
  keyClass: string
  /** Whether an entity of the type can be in a domain. */
  isAsset: boolean
  /** Whether an entity of the type can be in lineage. */
  hasLineage: boolean
}

/** The GraphQL names of the types that are in DataHub's GraphQL enum. */
const graphqlTypes: { readonly [name: string]: string } = {
  domain: 'DOMAIN',
  dataset: 'DATASET',
  dataJob: 'DATA_JOB',
  dataFlow: 'DATA_FLOW',
  chart: 'CHART',
  dashboard: 'DASHBOARD',
  mlModel: 'MLMODEL',
  mlModelGroup: 'MLMODEL_GROUP',
  mlFeature: 'MLFEATURE',
  mlFeatureTable: 'MLFEATURE_TABLE',
  mlPrimaryKey: 'MLPRIMARY_KEY',
  schemaField: 'SCHEMA_FIELD',
  dataProcessInstance: 'DATA_PROCESS_INSTANCE',
  container: 'CONTAINER',
  notebook: 'NOTEBOOK',
  glossaryTerm: 'GLOSSARY_TERM',
  glossaryNode: 'GLOSSARY_NODE',
  dataProduct: 'DATA_PRODUCT',
  application: 'APPLICATION',
  document: 'DOCUMENT',
  dataPlatform: 'DATA_PLATFORM',
  dataPlatformInstance: 'DATA_PLATFORM_INSTANCE',
  query: 'QUERY',
  corpuser: 'CORP_USER',
  corpGroup: 'CORP_GROUP',
  tag: 'TAG',
  assertion: 'ASSERTION',
  incident: 'INCIDENT',
  role: 'ROLE',
  test: 'TEST',
  post: 'POST',
  structuredProperty: 'STRUCTURED_PROPERTY',
  form: 'FORM',
  dataContract: 'DATA_CONTRACT',
  businessAttribute: 'BUSINESS_ATTRIBUTE',
  restricted: 'RESTRICTED',
  dataHubIngestionSource: 'INGESTION_SOURCE',
  dataHubExecutionRequest: 'EXECUTION_REQUEST',
  dataHubAccessToken: 'ACCESS_TOKEN',
  dataHubPolicy: 'DATAHUB_POLICY',
  dataHubRole: 'DATAHUB_ROLE',
  dataHubView: 'DATAHUB_VIEW',
  ownershipType: 'CUSTOM_OWNERSHIP_TYPE',
  entityType: 'ENTITY_TYPE',
  dataType: 'DATA_TYPE',
  erModelRelationship: 'ER_MODEL_RELATIONSHIP',
  metric: 'METRIC',
  semanticModel: 'SEMANTIC_MODEL'
}

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

const keyAspects = new Map(dataHubEntities.map(({ name, keyAspect }) => [name, keyAspect]))
const types = new Set([...Object.keys(graphqlTypes), ...keyAspects.keys()])

/** A type that DataHub does not have may be in a domain, because clients have types of their own. */
const canBeInDomain = (name: string): boolean => typesOfAspect('domains').includes(name) || !types.has(name)

/**
 * Columns, and the types that state lineage or are named in it. A flow is in no edge, but people ask for the
 * lineage of its jobs.
 */
const typesWithLineage: ReadonlySet<string> = new Set([
  'schemaField',
  'dataFlow',
  ...knownRelationships
    .filter(({ lineage }) => lineage !== null)
    .flatMap(({ aspectName, entityTypes }) => [...typesOfAspect(aspectName), ...entityTypes])
])

const row = (name: string): EntityTypeInfo => {
  const keyAspect = keyAspects.get(name) ?? `${name}Key`
  return {
    name,
    graphqlType: Object.hasOwn(graphqlTypes, name) ? (graphqlTypes[name] ?? 'OTHER') : 'OTHER',
    keyAspect,
    keyClass: aspectClasses.get(keyAspect) ?? `com.linkedin.metadata.key.${capitalised(name)}Key`,
    isAsset: canBeInDomain(name),
    hasLineage: typesWithLineage.has(name)
  }
}

export const entityTypes: readonly EntityTypeInfo[] = [...types].map(row)

const byName = new Map(entityTypes.map((info) => [info.name, info]))
const byGraphqlType = new Map(Object.entries(graphqlTypes).map(([name, graphqlType]) => [graphqlType, name]))

/**
 * The facts about an entity type. An unknown type may be in a domain, because clients have types of their
 * own.
 */
export const entityTypeInfo = (name: string): EntityTypeInfo => byName.get(name) ?? row(name)

export const isKnownEntityType = (name: string): boolean => byName.has(name)

export const isAsset = (name: string): boolean => entityTypeInfo(name).isAsset

export const graphqlTypeOf = (name: string): string => byName.get(name)?.graphqlType ?? 'OTHER'

/** The name in URNs of a GraphQL entity type; null for OTHER and for a type without URNs. */
export const entityTypeOfGraphql = (graphqlType: string): string | null =>
  byGraphqlType.get(graphqlType) ?? null

/** Whether a URN can have this GraphQL type: some of DataHub's types never occur in URNs. */
export const isTypeOfUrns = (graphqlType: string): boolean =>
  graphqlType === 'OTHER' || byGraphqlType.has(graphqlType)

/** The types that a search finds by default: as in DataHub, and what a dbt project has besides. */
export const searchableTypes: readonly string[] = [
  'DATASET',
  'DASHBOARD',
  'CHART',
  'MLMODEL',
  'MLMODEL_GROUP',
  'MLFEATURE_TABLE',
  'MLFEATURE',
  'MLPRIMARY_KEY',
  'DATA_FLOW',
  'DATA_JOB',
  'GLOSSARY_TERM',
  'GLOSSARY_NODE',
  'TAG',
  'ROLE',
  'CORP_USER',
  'CORP_GROUP',
  'CONTAINER',
  'DOMAIN',
  'DATA_PRODUCT',
  'NOTEBOOK',
  'BUSINESS_ATTRIBUTE',
  'APPLICATION',
  'DOCUMENT',
  'METRIC',
  'SEMANTIC_MODEL'
]
