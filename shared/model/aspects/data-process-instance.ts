/** What one run of a data process read and wrote: dataProcessInstanceInput, dataProcessInstanceOutput. */
import { optional, record, required } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { edges, urns } from './shared-records.ts'

const data = ['dataset', 'mlModel'] as const

export const dataProcessInstanceInput: AspectModel = {
  name: 'dataProcessInstanceInput',
  className: 'com.linkedin.dataprocess.DataProcessInstanceInput',
  entityTypes: ['dataProcessInstance'],
  template: () => ({ inputs: [] }),
  shape: record({ inputs: required(urns(...data)), inputEdges: optional(edges(...data)) })
}

export const dataProcessInstanceOutput: AspectModel = {
  name: 'dataProcessInstanceOutput',
  className: 'com.linkedin.dataprocess.DataProcessInstanceOutput',
  entityTypes: ['dataProcessInstance'],
  template: () => ({ outputs: [] }),
  shape: record({ outputs: required(urns(...data)), outputEdges: optional(edges(...data)) })
}
