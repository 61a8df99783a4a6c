/** The jobs that state edges between columns. */
import type { Tx } from '../db/database.ts'
import { query } from '../db/query.ts'
import { jobColumnsField } from '../model/lineage-fields.ts'
import type { LineageDirection } from '../model/walk.ts'
import { idArray } from './id-array.ts'
import { endsOf } from './neighbours.ts'

/** A job, and the column nearest to it. `place` is the index of the column in the given list. */
export type ColumnJobRow = { jobId: number; place: number }

/**
 * The jobs that state an edge from any of the columns in a direction. Each is returned once, with the first
 * column of the list that leads to it.
 */
export async function jobsOfColumns(
  tx: Tx,
  columnIds: readonly number[] | Int32Array,
  direction: LineageDirection
): Promise<ColumnJobRow[]> {
  const [near] = endsOf(direction)
  return query<ColumnJobRow>(
    tx,
    `
    select statement.owner_id as "jobId", (min(walked.place) - 1)::int as place
    from unnest(?::int[]) with ordinality as walked (id, place)
    join statement on statement.${near} = walked.id
    where statement.field = ${jobColumnsField.code}
      and statement.upstream_id <> statement.downstream_id
    group by statement.owner_id`,
    [idArray(columnIds)]
  )
}
