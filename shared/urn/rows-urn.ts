/**
 * The rows of a table as one end of column lineage: a column that filters or joins decides which rows there
 * are, and so reaches every column. It is stored as a column with a reserved path, and never shown as one.
 */
import { schemaFieldParts, schemaFieldUrn } from './kinds.ts'
import { entityTypeOf, type Urn } from './urn.ts'

/** The path is reserved: a column of this name means the rows. */
export const rowsPath = '[rows]'

const rowsEnd = `,${rowsPath})`

export const isRowsUrn = (urn: string): boolean =>
  urn.startsWith('urn:li:schemaField:') && urn.endsWith(rowsEnd)

/** Matches the URNs of rows in SQL, without their prefix. */
export const rowsUrnPattern = `%${rowsEnd}`

/** The rows of the table of a column; null for any other entity. */
export const rowsBeside = (urn: Urn): Urn | null =>
  entityTypeOf(urn) === 'schemaField' ? schemaFieldUrn(schemaFieldParts(urn).parentUrn, rowsPath) : null
