/** Reads the columns of lineage: the facet `columnLineage`, and the inputs of a column in the facet `lineage`. */
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import { rowsPath } from '../../urn/rows-urn.ts'
import type { OpenLineageName } from '../event.ts'
import { readName } from '../event.ts'
import { refuse, type EventParts } from '../parts.ts'

/**
 * A column from which another column is made. `operation` is `TYPE:SUBTYPE` of each transformation, sorted;
 * `field` is its place in the event.
 */
export type ColumnInput = { dataset: OpenLineageName; column: string; operation: string; field: string }
/** The inputs by the column that is made from them. */
export type ColumnsOfFacet = ReadonlyMap<string, readonly ColumnInput[]>

/**
 * `field` is the place of the facet in the event, and `names` are the columns of the dataset, as far as the
 * event says.
 */
export function readColumnLineage(
  facet: JsonObject,
  field: string,
  { names, target, parts }: { names: readonly string[]; target: OpenLineageName; parts: EventParts }
): ColumnsOfFacet {
  const columns: ColumnsOfFacet = new Map(
    Object.entries(parts.object(facet.fields, `${field}.fields`)).map(([column, sent]) => {
      const each = parts.object(sent, `${field}.fields.${column}`)
      return [
        column,
        readColumnInputs(each.inputFields, `${field}.fields.${column}.inputFields`, parts, {
          before: each,
          areColumns: true
        })
      ]
    })
  )
  const ofTable = readColumnInputs(facet.dataset, `${field}.dataset`, parts)
  return withTableInputs(columns, names, ofTable, target, field)
}

/**
 * Adds columns that decide the whole dataset, such as by a join or a filter: they are inputs of its rows, and
 * its rows are an input of each column. So a hundred of them in front of a hundred columns are 200 edges, not
 * 10,000. `target` is the dataset.
 */
export function withTableInputs(
  columns: ColumnsOfFacet,
  names: readonly string[],
  ofTable: readonly ColumnInput[],
  target: OpenLineageName,
  field: string
): ColumnsOfFacet {
  if (ofTable.length === 0) return columns
  const ofRows: ColumnInput = { dataset: target, column: rowsPath, operation: '', field }
  return new Map([
    ...[...new Set([...columns.keys(), ...names])].map((column): [string, ColumnInput[]] => [
      column,
      [...(columns.get(column) ?? []), ofRows]
    ]),
    [rowsPath, [...ofTable]]
  ])
}

/**
 * The datasets whose columns decide the whole dataset, such as by a join or a filter: the list `dataset` of
 * the facet `columnLineage`. `field` is its place in the event.
 */
export const readTableInputs = (
  list: JsonValue | undefined,
  field: string,
  parts: EventParts
): Pick<ColumnInput, 'dataset' | 'field'>[] =>
  parts
    .objects(list, field)
    .flatMap(({ each, place }) => parts.take(() => ({ dataset: readName(each, place), field: place })) ?? [])

/**
 * Leaves out inputs without a column: whole datasets, and jobs. With `areColumns`, an input must have a
 * column. `before` is what old producers write beside the list.
 */
export const readColumnInputs = (
  sent: JsonValue | undefined,
  field: string,
  parts: EventParts,
  { before = {}, areColumns = false }: { before?: JsonObject; areColumns?: boolean } = {}
): ColumnInput[] =>
  parts.objects(sent, field).flatMap(({ each, place }) => {
    const { field: column } = each
    if (typeof column !== 'string' || column === '') {
      if (areColumns || (column !== undefined && column !== null))
        parts.drop(refuse(`${place}.field`, 'must be a text that is not empty'))
      return []
    }
    if (each.type === 'JOB') return []
    const dataset = parts.take(() => readName(each, place))
    return dataset
      ? [{ dataset, column, operation: operationOf(each.transformations, before), field: place }]
      : []
  })

function operationOf(transformations: JsonValue | undefined, before: JsonObject): string {
  const names = listOf(transformations).flatMap((each) =>
    isObject(each) && typeof each.type === 'string'
      ? [typeof each.subtype === 'string' && each.subtype !== '' ? `${each.type}:${each.subtype}` : each.type]
      : []
  )
  if (names.length > 0) return [...new Set(names)].sort().join(',')
  return typeof before.transformationType === 'string' ? before.transformationType : ''
}
