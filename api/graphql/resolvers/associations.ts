/**
 * Fields that entities of many types share (owners, tags, terms, links, containers), and the types with few
 * other fields.
 */
import { readEntity } from '../../../shared/catalog/lineage/read-entity.ts'
import { CatalogError } from '../../../shared/errors.ts'
import { splitUrn } from '../../../shared/urn/urn.ts'
import * as associations from '../association-shapes.ts'
import type { GraphqlContext } from '../context.ts'
import * as shapes from '../entity-shapes.ts'
import {
  dataPlatformInstance,
  domain,
  entity,
  find,
  fromAspect,
  fromUrn,
  part,
  status,
  subTypes,
  versionedDatasetFields
} from './entities.ts'

const ownership = { ownership: fromAspect('ownership', shapes.ownership) }
const deprecation = { deprecation: fromAspect('deprecation', shapes.deprecation) }
const tags = { tags: fromAspect('globalTags', associations.globalTags) }
const terms = { glossaryTerms: fromAspect('glossaryTerms', associations.glossaryTerms) }
const links = { institutionalMemory: fromAspect('institutionalMemory', associations.institutionalMemory) }
const inputFields = { inputFields: fromAspect('inputFields', associations.inputFields) }
const container = { container: fromAspect('container', associations.container) }
const platform = { platform: fromAspect('dataPlatformInstance', associations.instancePlatform) }

const annotations = { ...ownership, ...tags, ...terms, ...links }
/** An asset that can be in a domain but not in lineage. */
const plainAsset = { ...entity, ...status, ...ownership, domain }
const userProperties = fromAspect('corpUserInfo', associations.userProperties)
const groupProperties = fromAspect('corpGroupInfo', associations.groupProperties)

export const associationResolvers = {
  Query: {
    glossaryTerm: find('glossaryTerm'),
    notebook: find('notebook'),
    versionedDataset(
      _: unknown,
      { urn, versionStamp }: { urn: string; versionStamp?: string | null },
      { lineage }: GraphqlContext
    ) {
      if (versionStamp)
        throw new CatalogError(
          'UNSUPPORTED',
          'Older versions of datasets are not kept; omit versionStamp to read the current one',
          { field: 'versionStamp' }
        )
      return readEntity(lineage, urn, 'dataset')
    }
  },
  Dataset: {
    ...annotations,
    ...container,
    globalTags: tags.tags,
    description: fromAspect(
      'datasetProperties',
      (urn, aspect) => shapes.datasetProperties(urn, aspect)?.description ?? null
    )
  },
  DataJob: { ...annotations, ...deprecation, ...container },
  DataFlow: { ...annotations, ...deprecation, ...container, ...subTypes, dataPlatformInstance },
  Chart: { ...annotations, ...deprecation, ...container, ...inputFields, dataPlatformInstance },
  Dashboard: { ...annotations, ...deprecation, ...container, ...inputFields, dataPlatformInstance },
  Container: { ...annotations, ...deprecation, ...container, ...platform },
  MLModel: { ...annotations, ...deprecation, dataPlatformInstance },
  MLModelGroup: { ...annotations, ...deprecation, dataPlatformInstance },
  MLFeature: { ...annotations, ...deprecation, dataPlatformInstance },
  MLFeatureTable: { ...annotations, ...deprecation, dataPlatformInstance },
  MLPrimaryKey: { ...annotations, ...deprecation, dataPlatformInstance },
  DataProcessInstance: {
    dataPlatformInstance,
    properties: fromAspect('dataProcessInstanceProperties', associations.runProperties)
  },
  Domain: { ...links, ...deprecation },
  VersionedDataset: { ...versionedDatasetFields, ...annotations, ...container },
  Tag: ownership,
  CorpUser: { properties: userProperties, info: userProperties },
  CorpGroup: { properties: groupProperties, info: groupProperties },
  GlossaryTerm: {
    ...plainAsset,
    ...links,
    ...deprecation,
    name: fromUrn((urn) => (splitUrn(urn).parts[0] ?? '').split('.').at(-1) ?? ''),
    hierarchicalName: part(0),
    properties: fromAspect('glossaryTermInfo', associations.termProperties)
  },
  GlossaryNode: { ...plainAsset, properties: fromAspect('glossaryNodeInfo', associations.nodeProperties) },
  Notebook: {
    ...plainAsset,
    ...annotations,
    ...subTypes,
    dataPlatformInstance,
    tool: part(0),
    notebookId: part(1),
    info: fromAspect('notebookInfo', associations.notebookInfo)
  },
  DataProduct: {
    ...plainAsset,
    ...annotations,
    properties: fromAspect('dataProductProperties', shapes.namedProperties)
  },
  Application: {
    ...plainAsset,
    ...annotations,
    properties: fromAspect('applicationProperties', shapes.namedProperties)
  },
  Document: {
    ...plainAsset,
    ...tags,
    ...terms,
    ...platform,
    subType: fromAspect('subTypes', (urn, aspect) => shapes.subTypes(urn, aspect)?.typeNames[0] ?? null),
    info: fromAspect('documentInfo', associations.documentInfo)
  }
}
