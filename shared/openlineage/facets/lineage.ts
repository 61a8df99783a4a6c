/**
 * Reads the explicit facet `lineage` (LineageJobFacet and LineageDatasetFacet, 1-0-0): which input goes into which output.
 * Where it is present nothing else says what goes into what.
 */
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { readName, refuse, type OpenLineageName } from '../event.ts'
import { readColumnInputs, type ColumnInput } from './columns.ts'

/** A job, or null for the one that the event is about. */
export type LineageEnd =
  { type: 'DATASET'; dataset: OpenLineageName } | { type: 'JOB'; job: OpenLineageName | null }

export type LineageEntry = { target: LineageEnd; inputs: LineageEnd[]; columns: Map<string, ColumnInput[]> }

/** The entries of a job's facet. Throws BAD_REQUEST naming the path. */
export function readLineageOfJob(facet: JsonObject, field: string): LineageEntry[] {
  return listOf(facet.entries).map((entry, index) => {
    const place = `${field}.entries[${index}]`
    if (!isObject(entry)) throw refuse(place, 'must be an object')
    return { target: readEnd(entry, place), ...readInputs(entry, place) }
  })
}

/** The facet of a dataset: its own entry. */
export const readLineageOfDataset = (
  facet: JsonObject,
  dataset: OpenLineageName,
  field: string
): LineageEntry => ({ target: { type: 'DATASET', dataset }, ...readInputs(facet, field) })

function readInputs(sent: JsonObject, field: string): Pick<LineageEntry, 'inputs' | 'columns'> {
  const fields: [string, JsonValue | undefined][] = isObject(sent.fields) ? Object.entries(sent.fields) : []
  const columns = new Map(
    fields.map(([column, each]) => [
      column,
      readColumnInputs(isObject(each) ? each.inputs : undefined, `${field}.fields.${column}.inputs`)
    ])
  )
  const inputs = listOf(sent.inputs).map((input, index) => {
    const place = `${field}.inputs[${index}]`
    if (!isObject(input)) throw refuse(place, 'must be an object')
    return readEnd(input, place)
  })
  // What a column is made from, its dataset is made from.
  const ofColumns = [...columns.values()]
    .flat()
    .map(({ dataset }): LineageEnd => ({ type: 'DATASET', dataset }))
  return { inputs: [...inputs, ...ofColumns], columns }
}

function readEnd(sent: JsonObject, field: string): LineageEnd {
  if (sent.type === 'JOB')
    return {
      type: 'JOB',
      job: sent.name === undefined && sent.namespace === undefined ? null : readName(sent, field)
    }
  if (sent.type !== undefined && sent.type !== 'DATASET')
    throw refuse(`${field}.type`, 'must be DATASET or JOB')
  return { type: 'DATASET', dataset: readName(sent, field) }
}
