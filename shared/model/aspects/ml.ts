/** The aspects of machine-learning entities that state lineage, and of the tables that group features. */
import { optional, record, required, text } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { urns } from './shared-records.ts'

export const mlPrimaryKeyProperties: AspectModel = {
  name: 'mlPrimaryKeyProperties',
  className: 'com.linkedin.ml.metadata.MLPrimaryKeyProperties',
  entityTypes: ['mlPrimaryKey'],
  template: () => ({ sources: [] }),
  shape: record({ description: optional(text), dataType: optional(text), sources: required(urns('dataset')) })
}

export const mlFeatureProperties: AspectModel = {
  name: 'mlFeatureProperties',
  className: 'com.linkedin.ml.metadata.MLFeatureProperties',
  entityTypes: ['mlFeature'],
  shape: record({ description: optional(text), dataType: optional(text), sources: optional(urns('dataset')) })
}

export const mlFeatureTableProperties: AspectModel = {
  name: 'mlFeatureTableProperties',
  className: 'com.linkedin.ml.metadata.MLFeatureTableProperties',
  entityTypes: ['mlFeatureTable'],
  shape: record({ description: optional(text), mlFeatures: optional(urns('mlFeature')), mlPrimaryKeys: optional(urns('mlPrimaryKey')) })
}

export const mlModelProperties: AspectModel = {
  name: 'mlModelProperties',
  className: 'com.linkedin.ml.metadata.MLModelProperties',
  entityTypes: ['mlModel'],
  shape: record({
    description: optional(text),
    mlFeatures: optional(urns('mlFeature')),
    groups: optional(urns('mlModelGroup')),
    trainingJobs: optional(urns('dataJob', 'dataProcessInstance')),
    downstreamJobs: optional(urns('dataJob'))
  })
}

export const mlModelGroupProperties: AspectModel = {
  name: 'mlModelGroupProperties',
  className: 'com.linkedin.ml.metadata.MLModelGroupProperties',
  entityTypes: ['mlModelGroup'],
  shape: record({
    description: optional(text),
    trainingJobs: optional(urns('dataJob', 'dataProcessInstance')),
    downstreamJobs: optional(urns('dataJob'))
  })
}
