/** Reads the columns of lineage: the facet `columnLineage`, and the inputs of a column in the facet `lineage`. */
import type { JsonObject, JsonValue } from '../../model/changes.ts'
import { isObject, listOf } from '../../model/json-values.ts'
import type { OpenLineageName } from '../event.ts'
import { readName } from '../event.ts'

/**
 * A column from which another column is made. `operation` is `TYPE:SUBTYPE` of each transformation, sorted;
 * `field` is its place in the event.
 */
export type ColumnInput = { dataset: OpenLineageName; column: string; operation: string; field: string }
/** The inputs by the column that is made from them. */
export type ColumnsOfFacet = ReadonlyMap<string, readonly ColumnInput[]>

/**
 * `field` is the place of the facet in the event, and `names` are the columns of the dataset, as far as the
 * event says. Throws BAD_REQUEST naming the path.
 */
export function readColumnLineage(
  facet: JsonValue | undefined,
  field: string,
  names: readonly string[],
  left: TableEdges
): ColumnsOfFacet {
  const fields = isObject(facet) && isObject(facet.fields) ? facet.fields : {}
  const columns: ColumnsOfFacet = new Map(
    Object.entries(fields).map(([column, each]) => [
      column,
      readColumnInputs(
        isObject(each) ? each.inputFields : undefined,
        `${field}.fields.${column}.inputFields`,
        isObject(each) ? each : {}
      )
    ])
  )
  const ofTable = readColumnInputs(isObject(facet) ? facet.dataset : undefined, `${field}.dataset`)
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
 * the facet `columnLineage`. `field` is its place in the event. Throws BAD_REQUEST naming the path.
 */
export const readTableInputs = (
  facet: JsonValue | undefined,
  field: string
): Pick<ColumnInput, 'dataset' | 'field'>[] =>
  listOf(isObject(facet) ? facet.dataset : undefined).flatMap((input, index) => {
    const place = `${field}[${index}]`
    return isObject(input) ? [{ dataset: readName(input, place), field: place }] : []
  })

/**
 * Leaves out inputs without a column: whole datasets, and jobs. `before` is what old producers write beside
 * the list.
 */
export function readColumnInputs(
  sent: JsonValue | undefined,
  field: string,
  before: JsonObject = {}
): ColumnInput[] {
  return listOf(sent).flatMap((input, index) =>
    isObject(input) && input.type !== 'JOB' && typeof input.field === 'string' && input.field !== ''
      ? [
          {
            dataset: readName(input, `${field}[${index}]`),
            column: input.field,
            operation: operationOf(input.transformations, before),
            field: `${field}[${index}]`
          }
        ]
      : []
  )
}

function operationOf(transformations: JsonValue | undefined, before: JsonObject): string {
  const names = listOf(transformations).flatMap((each) =>
    isObject(each) && typeof each.type === 'string'
      ? [typeof each.subtype === 'string' && each.subtype !== '' ? `${each.type}:${each.subtype}` : each.type]
      : []
  )
  if (names.length > 0) return [...new Set(names)].sort().join(',')
  return typeof before.transformationType === 'string' ? before.transformationType : ''
}
