/** datasetProperties: name, description and other properties of a dataset. */
import { defaulted, list, optional, record, text } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { customProperties, timeStamp } from './shared-records.ts'

export const datasetProperties: AspectModel = {
  name: 'datasetProperties',
  template: () => ({ customProperties: {}, tags: [] }),
  shape: record({
    customProperties,
    externalUrl: optional(text),
    name: optional(text),
    qualifiedName: optional(text),
    description: optional(text),
    uri: optional(text),
    created: optional(timeStamp),
    lastModified: optional(timeStamp),
    tags: defaulted(list(text), () => [])
  })
}
