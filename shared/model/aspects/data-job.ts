/** The aspects of data jobs and data flows: dataJobInputOutput, dataJobInfo, dataFlowInfo. */
import { anything, optional, record, required, text, urn } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { fineGrainedLineages } from './fine-grained-lineages.ts'
import { customProperties, edges, timeStamp, urns } from './shared-records.ts'

export const dataJobInputOutput: AspectModel = {
  name: 'dataJobInputOutput',
  requiresEntity: true,
  template: () => ({ inputDatasets: [], outputDatasets: [] }),
  shape: record({
    inputDatasets: required(urns('dataset')),
    outputDatasets: required(urns('dataset')),
    inputDatasetEdges: optional(edges('dataset')),
    outputDatasetEdges: optional(edges('dataset')),
    inputDatajobs: optional(urns('dataJob')),
    inputDatajobEdges: optional(edges('dataJob')),
    inputDatasetFields: optional(urns('schemaField')),
    outputDatasetFields: optional(urns('schemaField')),
    fineGrainedLineages: optional(fineGrainedLineages)
  })
}

export const dataJobInfo: AspectModel = {
  name: 'dataJobInfo',
  template: () => ({ customProperties: {}, name: '', type: { string: '' } }),
  shape: record({
    customProperties,
    externalUrl: optional(text),
    name: required(text),
    description: optional(text),
    // A union of an enumeration and a string: {"string": "AIRFLOW"}; old files have only the string.
    type: required(anything),
    flowUrn: optional(urn('dataFlow')),
    created: optional(timeStamp),
    lastModified: optional(timeStamp),
    status: optional(text),
    env: optional(text)
  })
}

export const dataFlowInfo: AspectModel = {
  name: 'dataFlowInfo',
  template: () => ({ customProperties: {}, name: '' }),
  shape: record({
    customProperties,
    externalUrl: optional(text),
    name: required(text),
    description: optional(text),
    project: optional(text),
    created: optional(timeStamp),
    lastModified: optional(timeStamp),
    env: optional(text)
  })
}
