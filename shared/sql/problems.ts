/** What can keep a statement, or a column of it, from being read. Each code is explained in the guide; a test compares the two. */
export const problemCodes = {
  /** The grammar does not have this syntax. */
  NOT_READ: 'The statement could not be read',
  /** Nesting or size beyond the limits. */
  TOO_LARGE: 'The statement is too large or nested too deeply',
  /** `*` of a table whose columns nobody has told. */
  NO_SCHEMA: 'The columns of the table are not known',
  /** Several relations may have the column. */
  AMBIGUOUS_COLUMN: 'More than one relation may have the column',
  /** No relation has the column. */
  UNKNOWN_COLUMN: 'No relation has the column',
  /** A qualifier that names no relation. */
  UNKNOWN_RELATION: 'No relation has this name',
  /** The values of an INSERT are more or fewer than its columns. */
  COLUMN_COUNT: 'The query has another number of columns than its target',
  /** SQL that is made when it runs. */
  DYNAMIC_SQL: 'SQL that is made at run time is not read'
} as const

export type ProblemCode = keyof typeof problemCodes

export interface Problem {
  /** From 1, in the text as it was sent. */
  line: number
  column: number
  code: ProblemCode
  message: string
}
