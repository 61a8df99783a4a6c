/** Reads the columns of lineage: the facet `columnLineage`, and the inputs of a column in the facet `lineage`. */
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
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
  { names, left, parts }: { names: readonly string[]; left: TableEdges; parts: EventParts }
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
  return withTableInputs(columns, names, ofTable, left)
}

/** The number of edges from inputs of whole datasets to columns that an event may still make. */
export type TableEdges = { count: number }

/**
 * More of these edges say nothing that people could use, and a job remembers a limited number of links
 * (state.ts), in which those of its other runs need room. They are counted for the whole event, because a few
 * kilobytes about one dataset make thousands of them.
 */
export const tableEdgesOfEvent = (): TableEdges => ({ count: 500 })

/**
 * Adds columns that decide the whole dataset, such as by a join or a filter, to the inputs of each column, if
 * the event may still make so many edges.
 */
export function withTableInputs(
  columns: ColumnsOfFacet,
  names: readonly string[],
  ofTable: readonly ColumnInput[],
  left: TableEdges
): ColumnsOfFacet {
  const all = [...new Set([...columns.keys(), ...names])]
  const count = ofTable.length * all.length
  if (count === 0 || count > left.count) return columns
  left.count -= count
  return new Map(all.map((column) => [column, [...(columns.get(column) ?? []), ...ofTable]]))
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
