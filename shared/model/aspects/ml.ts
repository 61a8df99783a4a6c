/** The aspects of machine-learning entities that state lineage, and of the tables that group features. */
import { list, optional, record, required, text, urn } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { lineageLists } from './lineage-lists.ts'
import { urns } from './shared-records.ts'

export const mlPrimaryKeyProperties: AspectModel = {
  name: 'mlPrimaryKeyProperties',
  template: () => ({ sources: [] }),
  shape: record({ description: optional(text), dataType: optional(text), sources: required(urns('dataset')) })
}

export const mlFeatureProperties: AspectModel = {
  name: 'mlFeatureProperties',
  shape: record({ description: optional(text), dataType: optional(text), sources: optional(urns('dataset')) })
}

export const mlFeatureTableProperties: AspectModel = {
  name: 'mlFeatureTableProperties',
  shape: record({
    description: optional(text),
    mlFeatures: optional(urns('mlFeature')),
    mlPrimaryKeys: optional(urns('mlPrimaryKey'))
  })
}

export const mlModelProperties: AspectModel = {
  name: 'mlModelProperties',
  shape: record({
    description: optional(text),
    ...lineageLists('mlModelProperties')
  })
}

export const mlModelTrainingData: AspectModel = {
  name: 'mlModelTrainingData',
  template: () => ({ trainingData: [] }),
  shape: record({
    trainingData: required(
      list(
        record({
          dataset: required(urn('dataset')),
          motivation: optional(text),
          preProcessing: optional(list(text))
        })
      )
    )
  })
}

export const mlModelGroupProperties: AspectModel = {
  name: 'mlModelGroupProperties',
  shape: record({
    description: optional(text),
    ...lineageLists('mlModelGroupProperties')
  })
}
