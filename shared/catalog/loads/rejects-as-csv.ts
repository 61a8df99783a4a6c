/**
 * The rejects of a CSV load as a CSV that can be fixed and sent again, with the error in front of each row and
 * with the same separator.
 */
import type { Db } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { printRow, splitCells, type Separator } from '../../formats/csv-cells.ts'
import { parseCsvHeader, printCsvHeader, type CsvHeader } from '../../formats/csv-header.ts'
import { isRejectColumn, rejectColumns } from '../../formats/csv-names.ts'
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
  return rowsOf(rejects, parseCsvHeader(load.header))
}

async function* rowsOf(
  rejects: AsyncIterable<RejectView>,
  { names, separator }: CsvHeader
): AsyncGenerator<string> {
  // A fixed file that was sent again already has these columns.
  const withoutErrors = (cells: readonly string[]): string[] =>
    cells.filter((_, place) => !isRejectColumn(names[place] ?? ''))
  yield `${printCsvHeader({ names: [...rejectColumns, ...withoutErrors(names)], separator })}\r\n`
  for await (const { line, code, field, message, record } of rejects)
    yield printRow(
      [line, code, field, message, ...withoutErrors(cellsOf(record ?? '', separator))],
      separator
    )
}

function cellsOf(record: string, separator: Separator): string[] {
  try {
    return splitCells(record, separator)
  } catch {
    return [record]
  }
}
