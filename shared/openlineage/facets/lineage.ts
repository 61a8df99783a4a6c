/**
 * Reads the explicit facet `lineage` (LineageJobFacet and LineageDatasetFacet, 1-0-0): which input goes into
 * which output. If it is present, the other parts of the event do not count as lineage.
 */
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { readName, refuse, type OpenLineageName } from '../event.ts'
import { readColumnInputs, withTableInputs, type ColumnsOfFacet, type TableEdges } from './columns.ts'

/** A dataset, or a job: null for the job of the event. `field` is its place in the event. */
export type LineageEnd = { field: string } & (
  { type: 'DATASET'; dataset: OpenLineageName } | { type: 'JOB'; job: OpenLineageName | null }
)

/** `isDescribed`: this facet gives the upstream datasets of the target, even if there are none. */
export type LineageEntry = {
  target: LineageEnd
  inputs: LineageEnd[]
  columns: ColumnsOfFacet
  isDescribed: boolean
}

/** The entries of a job's facet. Throws BAD_REQUEST naming the path. */
export function readLineageOfJob(facet: JsonObject, field: string, left: TableEdges): LineageEntry[] {
  return listOf(facet.entries).map((entry, index) => {
    const place = `${field}.entries[${index}]`
    if (!isObject(entry)) throw refuse(place, 'must be an object')
    return { target: readEnd(entry, place), ...readInputs(entry, place, left) }
  })
}

/** The facet of a dataset, as its own entry. */
export const readLineageOfDataset = (
  facet: JsonObject,
  dataset: OpenLineageName,
  field: string,
  left: TableEdges
): LineageEntry => ({ target: { type: 'DATASET', dataset, field }, ...readInputs(facet, field, left) })

function readInputs(sent: JsonObject, field: string, left: TableEdges): Omit<LineageEntry, 'target'> {
  const fields: [string, JsonValue | undefined][] = isObject(sent.fields) ? Object.entries(sent.fields) : []
  const ofFields: ColumnsOfFacet = new Map(
    fields.map(([column, each]) => [
      column,
      readColumnInputs(isObject(each) ? each.inputs : undefined, `${field}.fields.${column}.inputs`)
    ])
  )
  const columns = withTableInputs(ofFields, [], readColumnInputs(sent.inputs, `${field}.inputs`), left)
  // The inputs of a column are inputs of its dataset too, even if the column is unknown or the input is a
  // job.
  const inputs = [
    ...readEnds(sent.inputs, `${field}.inputs`),
    ...fields.flatMap(([column, each]) =>
      readEnds(isObject(each) ? each.inputs : undefined, `${field}.fields.${column}.inputs`)
    )
  ]
  const saysThatThereIsNone = Array.isArray(sent.inputs) && inputs.length === 0
  return {
    inputs,
    columns,
    isDescribed: saysThatThereIsNone || inputs.some(({ type }) => type === 'DATASET')
  }
}

const readEnds = (sent: JsonValue | undefined, field: string): LineageEnd[] =>
  listOf(sent).map((input, index) => {
    const place = `${field}[${index}]`
    if (!isObject(input)) throw refuse(place, 'must be an object')
    return readEnd(input, place)
  })

function readEnd(sent: JsonObject, field: string): LineageEnd {
  if (sent.type === 'JOB')
    return {
      field,
      type: 'JOB',
      job: sent.name === undefined && sent.namespace === undefined ? null : readName(sent, field)
    }
  if (sent.type !== undefined && sent.type !== 'DATASET')
    throw refuse(`${field}.type`, 'must be DATASET or JOB')
  return { field, type: 'DATASET', dataset: readName(sent, field) }
}
