/** The parts of an answer about a statement: where a column comes from, and which columns a query gives. */
import type { Certainty, Item, Origin } from './columns.ts'
import { weaker } from './columns.ts'
import type { Transformation } from './form.ts'
import { strongest } from './form.ts'

export interface ColumnLineage {
  /** The table that is written; absent for a bare SELECT. */
  output?: string
  column: string
  upstreams: readonly {
    table: string
    column: string
    transformation: Transformation
    certainty: Certainty
  }[]
  /** The strongest of its upstreams. */
  transformation: Transformation
  /** The weakest of its upstreams. */
  certainty: Certainty
}

/** Rows of the answer for one table, or for a bare SELECT. */
export function answer(
  name: string,
  origins: readonly Origin[],
  output: string | undefined
): ColumnLineage | undefined {
  const [first, ...rest] = origins
  if (first === undefined) return undefined
  return {
    ...(output === undefined ? {} : { output }),
    column: name,
    upstreams: origins.map(({ table, column, how, certainty }) => ({
      table,
      column,
      transformation: how,
      certainty
    })),
    transformation: rest.reduce((how, each) => strongest(how, each.how), first.how),
    certainty: rest.reduce((certainty, each) => weaker(certainty, each.certainty), first.certainty)
  }
}

/** The columns that a query gives, and whether a `*` hides others. */
export const resultOf = (items: readonly Item[]): { columns: string[]; isWhole: boolean } => ({
  columns: items.flatMap((item) => (item.kind === 'column' ? [item.name] : [])),
  isWhole: items.every(({ kind }) => kind === 'column')
})
