/**
 * Reads the explicit facet `lineage` (LineageJobFacet and LineageDatasetFacet, 1-0-0): which input goes into
 * which output. If it is present, the other parts of the event do not count as lineage.
 */
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject } from '../../model/json-values.ts'
import { readName, type OpenLineageName } from '../event.ts'
import { refuse, type EventParts } from '../parts.ts'
import { readColumnInputs, withTableInputs, type ColumnsOfFacet } from './columns.ts'

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

type Reading = { parts: EventParts }

/** The entries of a job's facet. */
export const readLineageOfJob = (facet: JsonObject, field: string, reading: Reading): LineageEntry[] =>
  reading.parts.objects(facet.entries, `${field}.entries`).flatMap(({ each, place }) => {
    const target = reading.parts.take(() => readEnd(each, place))
    return target ? [entryOf(each, place, target, reading)] : []
  })

/** The facet of a dataset, as its own entry. */
export const readLineageOfDataset = (
  facet: JsonObject,
  dataset: OpenLineageName,
  field: string,
  reading: Reading
): LineageEntry => entryOf(facet, field, { type: 'DATASET', dataset, field }, reading)

/** Whether a facet or an entry says from what something is made; an empty list of inputs says from nothing. */
export const statesLineage = ({ inputs, fields }: JsonObject): boolean =>
  Array.isArray(inputs) || (isObject(fields) && Object.keys(fields).length > 0)

function entryOf(sent: JsonObject, field: string, target: LineageEnd, { parts }: Reading): LineageEntry {
  const fields = Object.entries(parts.object(sent.fields, `${field}.fields`)).map(([column, each]) => {
    const place = `${field}.fields.${column}`
    return { column, inputs: parts.object(each, place).inputs, place: `${place}.inputs` }
  })
  const ofFields: ColumnsOfFacet = new Map(
    fields.map(({ column, inputs, place }) => [column, readColumnInputs(inputs, place, parts)])
  )
  const ofTable = readColumnInputs(sent.inputs, `${field}.inputs`, parts)
  const columns =
    target.type === 'DATASET' ? withTableInputs(ofFields, [], ofTable, target.dataset, field) : ofFields
  // The inputs of a column are inputs of its dataset too, even if the column is unknown or the input is a
  // job.
  const inputs = [
    ...readEnds(sent.inputs, `${field}.inputs`, parts),
    ...fields.flatMap((each) => readEnds(each.inputs, each.place, parts))
  ]
  // A list whose inputs could not be read does not say that there is none.
  const saysThatThereIsNone = Array.isArray(sent.inputs) && sent.inputs.length === 0 && inputs.length === 0
  return {
    target,
    inputs,
    columns,
    isDescribed: saysThatThereIsNone || inputs.some(({ type }) => type === 'DATASET')
  }
}

const readEnds = (sent: JsonValue | undefined, field: string, parts: EventParts): LineageEnd[] =>
  parts.objects(sent, field).flatMap(({ each, place }) => parts.take(() => readEnd(each, place)) ?? [])

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
