/** Entities of every type: how they are found, and which parts of URN and aspects their fields show. */
import {
  readEntities,
  readEntity,
  readExistence,
  type EntityReference
} from '../../../shared/catalog/lineage/read-entity.ts'
import { pageCount } from '../../../shared/catalog/entities/page-count.ts'
import {
  readFailedRuns,
  readLastRunsOf,
  readRuns,
  type JobRun
} from '../../../shared/catalog/openlineage/last-runs.ts'
import type { JsonObject } from '../../../shared/model/changes.ts'
import { checkCount } from '../../../shared/model/count-checks.ts'
import { graphqlTypeOf } from '../../../shared/model/entity-types.ts'
import { dataFlowOf, nameFromUrn, originOf, platformOf, schemaFieldParts } from '../../../shared/urn/kinds.ts'
import { entityTypeOf, splitUrn, toUrn, type Urn } from '../../../shared/urn/urn.ts'
import { batched } from '../batched.ts'
import type { GraphqlContext } from '../context.ts'
import * as shapes from '../entity-shapes.ts'
import { loadAspect, loadDomain, loadExistence, loadNeighbours, loadRunsOf } from '../loaders.ts'
import { longScalar } from '../long-scalar.ts'

type UrnArgument = { urn: string }
type Field = (entity: EntityReference, args: never, context: GraphqlContext) => unknown

/** GraphQL's object type of an entity type; GenericEntity for all others. */
const objectTypes: ReadonlyMap<string, string> = new Map([
  ['domain', 'Domain'],
  ['dataset', 'Dataset'],
  ['dataJob', 'DataJob'],
  ['dataFlow', 'DataFlow'],
  ['chart', 'Chart'],
  ['dashboard', 'Dashboard'],
  ['container', 'Container'],
  ['mlModel', 'MLModel'],
  ['mlModelGroup', 'MLModelGroup'],
  ['mlFeature', 'MLFeature'],
  ['mlFeatureTable', 'MLFeatureTable'],
  ['mlPrimaryKey', 'MLPrimaryKey'],
  ['dataProcessInstance', 'DataProcessInstance'],
  ['schemaField', 'SchemaFieldEntity'],
  ['dataPlatform', 'DataPlatform'],
  ['corpuser', 'CorpUser'],
  ['corpGroup', 'CorpGroup'],
  ['tag', 'Tag'],
  ['glossaryTerm', 'GlossaryTerm'],
  ['glossaryNode', 'GlossaryNode'],
  ['notebook', 'Notebook'],
  ['dataProduct', 'DataProduct'],
  ['application', 'Application'],
  ['document', 'Document']
])

const resolveType = ({ urn }: EntityReference): string =>
  objectTypes.get(entityTypeOf(urn)) ?? 'GenericEntity'

export const find =
  (entityType: string) =>
  (_: unknown, { urn }: UrnArgument, { lineage }: GraphqlContext) =>
    readEntity(lineage, urn, entityType)

/** A field computed from the URN. */
export const fromUrn =
  <T>(read: (urn: Urn) => T) =>
  ({ urn }: EntityReference): T =>
    read(urn)
export const part = (index: number) => fromUrn((urn) => splitUrn(urn).parts[index] ?? '')

/** A field that shows an aspect. */
export const fromAspect =
  <T>(aspectName: string, shape: (urn: Urn, aspect: JsonObject | null) => T): Field =>
  async ({ urn }, _args, context) =>
    shape(urn, await loadAspect(context, urn, aspectName))

export const entity = {
  type: fromUrn((urn) => graphqlTypeOf(entityTypeOf(urn))),
  exists: ({ urn, exists }: EntityReference, _: unknown, context: GraphqlContext) =>
    exists ?? loadExistence(context, urn)
}
const platform = { platform: fromUrn((urn) => ({ urn: platformOf(urn) })) }
const origin = { origin: fromUrn(originOf) }
const named = { name: fromUrn(nameFromUrn) }
export const status = { status: fromAspect('status', shapes.status) }
export const subTypes = { subTypes: fromAspect('subTypes', shapes.subTypes) }

export const domain: Field = async ({ urn }, _args, context) => {
  const found = await loadDomain(context, urn)
  return found && { domain: found, associatedUrn: urn }
}

const lineage = async (
  { urn }: EntityReference,
  { input }: { input: Parameters<typeof loadNeighbours>[2] },
  context: GraphqlContext
) => {
  const { neighbours, ...page } = await loadNeighbours(context, urn, input)
  context.budget.spendReads(neighbours.length)
  return {
    ...page,
    relationships: neighbours.map(({ createdBy, updatedBy, ...neighbour }) => ({
      ...neighbour,
      createdActor: shapes.referenceTo(createdBy),
      updatedActor: shapes.referenceTo(updatedBy),
      degree: 1
    }))
  }
}

/** From the aspect, otherwise from the URN: every asset whose URN names a platform is on it. */
export const dataPlatformInstance: Field = async ({ urn }, _args, context) => {
  const aspect = await loadAspect(context, urn, 'dataPlatformInstance')
  const known = platformOf(urn)
  const platform =
    shapes.referenceTo(shapes.textOf(aspect?.platform)) ?? (known === null ? null : { urn: known })
  if (platform === null) return null
  const instance = shapes.referenceTo(shapes.textOf(aspect?.instance))
  return {
    urn: instance?.urn ?? null,
    type: 'DATA_PLATFORM_INSTANCE',
    platform,
    instanceId: instance === null ? null : (splitUrn(instance.urn).parts[1] ?? null)
  }
}

const asset = { ...entity, ...status, domain, lineage }

const loadRun = batched((urns, { db }) =>
  readRuns(
    db,
    urns.map((urn) => toUrn(urn))
  )
)

/** Of a job its last run, of a run itself. */
const jobRun: Field = ({ urn }, _args, context) => loadRun(context, urn)

const loadLastRun = batched((urns, { db }) =>
  readLastRunsOf(
    db,
    urns.map((urn) => toUrn(urn))
  )
)

/** Of a dataset the newest run of the jobs that write it, of a flow the newest of its jobs. */
const lastRun = { lastRun: (({ urn }, _args, context) => loadLastRun(context, urn)) satisfies Field }

const runs = async (
  { urn }: EntityReference,
  { count }: { count: number },
  context: GraphqlContext
): Promise<JobRun[]> => {
  const found = await loadRunsOf(context, urn, pageCount(count, 'count'))
  context.budget.spendReads(found.length)
  return found
}

/** Features and keys also show the fields of their properties at the top level. */
const feature = (aspectName: string) => ({
  ...asset,
  ...named,
  featureNamespace: part(0),
  description: fromAspect(
    aspectName,
    (urn, aspect) => shapes.featureProperties(urn, aspect)?.description ?? null
  ),
  dataType: fromAspect(aspectName, (urn, aspect) => shapes.featureProperties(urn, aspect)?.dataType ?? null),
  properties: fromAspect(aspectName, shapes.featureProperties)
})

/** The fields of a dataset that do not depend on the version asked for. */
export const versionedDatasetFields = {
  ...entity,
  ...named,
  ...platform,
  ...origin,
  ...subTypes,
  domain,
  properties: fromAspect('datasetProperties', shapes.datasetProperties),
  editableProperties: fromAspect('editableDatasetProperties', shapes.editableProperties),
  schemaMetadata: fromAspect('schemaMetadata', shapes.schemaMetadata),
  deprecation: fromAspect('deprecation', shapes.deprecation)
}

export const entityResolvers = {
  Long: longScalar,
  Entity: { resolveType },
  EntityWithRelationships: { resolveType },
  OwnerType: { resolveType },
  Query: {
    dataset: find('dataset'),
    dataJob: find('dataJob'),
    dataFlow: find('dataFlow'),
    chart: find('chart'),
    dashboard: find('dashboard'),
    container: find('container'),
    mlModel: find('mlModel'),
    mlModelGroup: find('mlModelGroup'),
    mlFeature: find('mlFeature'),
    mlFeatureTable: find('mlFeatureTable'),
    mlPrimaryKey: find('mlPrimaryKey'),
    dataProcessInstance: find('dataProcessInstance'),
    dataPlatform: find('dataPlatform'),
    corpUser: find('corpuser'),
    corpGroup: find('corpGroup'),
    tag: find('tag'),
    entity: (_: unknown, { urn }: UrnArgument, { lineage }: GraphqlContext) => readEntity(lineage, urn),
    async entities(
      _: unknown,
      { urns, checkForExistence }: { urns: readonly string[]; checkForExistence?: boolean | null },
      context: GraphqlContext
    ) {
      checkCount(urns.length, 'pageMaxCount', { field: 'urns', what: `urns has ${urns.length} entries` })
      context.budget.spendReads(urns.length)
      const found = await readEntities(context.lineage, urns)
      return found.map(
        ({ urn, entity: known }) => known ?? (checkForExistence ? null : { urn, exists: false })
      )
    },
    async failedRuns(_: unknown, { count }: { count: number }, { db, budget }: GraphqlContext) {
      const runs = await readFailedRuns(db, pageCount(count, 'count'))
      budget.spendReads(runs.length)
      return runs
    },
    async entityExists(_: unknown, { urn }: UrnArgument, { lineage }: GraphqlContext) {
      const [exists] = await readExistence(lineage, [toUrn(urn)])
      return exists ?? false
    }
  },
  Dataset: {
    ...versionedDatasetFields,
    lineage,
    ...status,
    ...lastRun,
    dataPlatformInstance,
    fineGrainedLineages: fromAspect('upstreamLineage', shapes.columnRecords)
  },
  DataJob: {
    ...asset,
    ...subTypes,
    dataPlatformInstance,
    jobId: part(1),
    dataFlow: fromUrn((urn) => ({ urn: dataFlowOf(urn) })),
    properties: fromAspect('dataJobInfo', shapes.namedProperties),
    inputOutput: fromAspect('dataJobInputOutput', shapes.jobInputOutput),
    lastRun: jobRun,
    runs
  },
  DataFlow: {
    ...asset,
    ...platform,
    ...lastRun,
    orchestrator: part(0),
    flowId: part(1),
    cluster: part(2),
    properties: fromAspect('dataFlowInfo', shapes.dataFlowProperties)
  },
  Chart: {
    ...asset,
    ...platform,
    ...subTypes,
    tool: part(0),
    chartId: part(1),
    properties: fromAspect('chartInfo', shapes.titledProperties)
  },
  Dashboard: {
    ...asset,
    ...platform,
    ...subTypes,
    tool: part(0),
    dashboardId: part(1),
    properties: fromAspect('dashboardInfo', shapes.titledProperties)
  },
  Container: {
    ...entity,
    ...status,
    ...subTypes,
    domain,
    dataPlatformInstance,
    properties: fromAspect('containerProperties', shapes.namedProperties)
  },
  MLModel: {
    ...asset,
    ...named,
    ...platform,
    ...origin,
    properties: fromAspect('mlModelProperties', shapes.modelProperties)
  },
  MLModelGroup: {
    ...asset,
    ...named,
    ...platform,
    ...origin,
    properties: fromAspect('mlModelGroupProperties', shapes.modelProperties)
  },
  MLFeatureTable: {
    ...asset,
    ...named,
    ...platform,
    properties: fromAspect('mlFeatureTableProperties', shapes.featureTableProperties)
  },
  MLFeature: feature('mlFeatureProperties'),
  MLPrimaryKey: feature('mlPrimaryKeyProperties'),
  DataProcessInstance: {
    ...entity,
    ...status,
    lineage,
    jobRun,
    name: fromAspect('dataProcessInstanceProperties', (_urn, aspect) => shapes.textOf(aspect?.name))
  },
  SchemaFieldEntity: {
    ...entity,
    ...status,
    lineage,
    fieldPath: fromUrn((urn) => schemaFieldParts(urn).fieldPath),
    parent: fromUrn((urn) => ({ urn: schemaFieldParts(urn).parentUrn }))
  },
  DataPlatform: {
    ...entity,
    ...named,
    properties: fromAspect('dataPlatformInfo', shapes.platformProperties)
  },
  CorpUser: { ...entity, username: part(0) },
  CorpGroup: { ...entity, ...named },
  Tag: { ...entity, ...named, properties: fromAspect('tagProperties', shapes.tagProperties) },
  GenericEntity: entity
}
