/**
 * The rejects of a CSV load as a CSV that can be fixed and sent again, with the error in front of each row.
 */
import type { Db } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { printCells, printRow, splitCells } from '../../formats/csv-cells.ts'
import { parseCsvHeader, rejectColumns } from '../../formats/csv-header.ts'
import type { Actor } from '../../model/changes.ts'
import { findLoad } from '../../store/loads.ts'
import { readRejects, type RejectView } from './read-load.ts'

/**
 * The header and a row for each reject, as readRejects returns them. A record that cannot be split into cells
 * becomes one cell, so that the file as a whole is well formed. Throws NOT_FOUND as readLoad does,
 * UNSUPPORTED for a load of another format.
 */
export async function readRejectsAsCsv(
  db: Db,
  actor: Actor,
  id: string,
  page: { after: number; limit: number }
): Promise<AsyncIterable<string>> {
  const rejects = await readRejects(db, actor, id, page)
  const load = await findLoad(db, id)
  if (load?.format !== 'csv' || load.header === null) {
    throw new CatalogError('UNSUPPORTED', 'Rejects are available as CSV only for CSV loads', {
      field: 'format',
      allowed: ['ndjson']
    })
  }
  return rowsOf(rejects, parseCsvHeader(load.header).names)
}

async function* rowsOf(rejects: AsyncIterable<RejectView>, names: readonly string[]): AsyncGenerator<string> {
  // A fixed file that was sent again already has these columns.
  const isErrorColumn = (place: number): boolean =>
    rejectColumns.some((column) => column === names[place]?.toLowerCase())
  const withoutErrors = (cells: readonly string[]): string[] =>
    cells.filter((_, place) => !isErrorColumn(place))
  yield printRow([...rejectColumns, ...withoutErrors(names)])
  for await (const { line, code, field, message, record } of rejects)
    yield `${printCells([line, code, field, message])},${printCells(withoutErrors(cellsOf(record ?? '')))}\r\n`
}

function cellsOf(record: string): string[] {
  try {
    return splitCells(record)
  } catch {
    return [record]
  }
}
