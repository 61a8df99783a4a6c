/** The aspects of charts and dashboards: chartInfo, dashboardInfo, inputFields. */
import { defaulted, list, optional, record, required, text, urn } from '../shape.ts'
import type { Shape } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { schemaField } from './schema-metadata.ts'
import { changeStamps, customProperties, edges, unsetChangeStamps, urns } from './shared-records.ts'

const chartSource = record({ string: required(urn('dataset', 'chart')) })

/** A union of one member, `{"string": urn}`. A bare URN is accepted and means the same. */
const chartInput: Shape = (value, place) =>
  chartSource(typeof value === 'string' ? { string: value } : value, place)

export const chartInfo: AspectModel = {
  name: 'chartInfo',
  template: () => ({ customProperties: {}, title: '', description: '', lastModified: unsetChangeStamps() }),
  shape: record({
    customProperties,
    externalUrl: optional(text),
    title: required(text),
    description: required(text),
    lastModified: defaulted(changeStamps, unsetChangeStamps),
    chartUrl: optional(text),
    inputs: optional(list(chartInput)),
    inputEdges: optional(edges('dataset', 'chart'))
  })
}

export const dashboardInfo: AspectModel = {
  name: 'dashboardInfo',
  template: () => ({
    customProperties: {},
    title: '',
    description: '',
    charts: [],
    datasets: [],
    dashboards: [],
    lastModified: unsetChangeStamps()
  }),
  shape: record({
    customProperties,
    externalUrl: optional(text),
    title: required(text),
    description: required(text),
    charts: defaulted(urns('chart'), () => []),
    chartEdges: optional(edges('chart')),
    datasets: defaulted(urns('dataset'), () => []),
    datasetEdges: optional(edges('dataset')),
    dashboards: defaulted(edges('dashboard'), () => []),
    lastModified: defaulted(changeStamps, unsetChangeStamps),
    dashboardUrl: optional(text)
  })
}

export const inputFields: AspectModel = {
  name: 'inputFields',
  requiresEntity: true,
  template: () => ({ fields: [] }),
  shape: record({
    fields: required(
      list(
        record({
          schemaFieldUrn: required(urn('schemaField')),
          schemaField: optional(schemaField)
        })
      )
    )
  })
}
