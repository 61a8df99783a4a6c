/**
 * The inputs and outputs of one run of a data process: dataProcessInstanceInput, dataProcessInstanceOutput.
 */
import { record, required } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'
import { lineageLists } from './lineage-lists.ts'
import { urns } from './shared-records.ts'

const data = ['dataset', 'mlModel'] as const

export const dataProcessInstanceInput: AspectModel = {
  name: 'dataProcessInstanceInput',
  template: () => ({ inputs: [] }),
  shape: record({ inputs: required(urns(...data)), ...lineageLists('dataProcessInstanceInput') })
}

export const dataProcessInstanceOutput: AspectModel = {
  name: 'dataProcessInstanceOutput',
  template: () => ({ outputs: [] }),
  shape: record({ outputs: required(urns(...data)), ...lineageLists('dataProcessInstanceOutput') })
}
