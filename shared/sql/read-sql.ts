/** Reads SQL: the tables and columns that each statement of a script reads and writes, and how sure that is. */
import type { Dialect } from './dialects.ts'
import { findDialect } from './dialects.ts'
import { asUnload, copyOf } from './read-copy.ts'
import type { Path, Statement } from './form.ts'
import { statementOf, unloadedText } from './form-of-statement.ts'
import type { Defaults } from './names.ts'
import { foldDefault, keyOf, tableId } from './names.ts'
import { SqlSyntaxError, loadParser, parse } from './parser.ts'
import type { Problem, ProblemCode } from './problems.ts'
import { alternatives, goesByName, prepare } from './rewrites.ts'
import type { Schemas } from './session.ts'
import { Session } from './session.ts'
import type { Piece } from './split-script.ts'
import { splitScript } from './split-script.ts'
import type { StatementLineage } from './statement-lineage.ts'
import { lineageOf } from './statement-lineage.ts'
import { createPositions } from './tokens.ts'

export interface ReadOptions extends Defaults {
  /** A name that findDialect knows. */
  dialect: string
  /** Columns of tables, in order. A name may be less whole than the statement's, if only one fits. */
  schemas?: Schemas
  /** Names in `schemas` of tables that have other columns besides. */
  partlyKnown?: readonly string[]
}

export interface SqlReader {
  /** The statements of a script, in order. Throws RangeError for an unknown dialect; never for SQL, whatever it is. */
  read: (sql: string, options: ReadOptions) => StatementLineage[]
}

/** Problems that one statement reports at most; a statement with more says the first ones. */
const problemsMaxCount = 50

type Position = { line: number; column: number }

interface Read {
  piece: Piece
  statements: Statement[]
  problem?: Problem
}

/** The trees of a piece: as it is, or else with what the grammar does not know taken off. */
function treesOf(sql: string, dialect: Dialect): readonly unknown[] {
  let failed: unknown
  for (const text of [sql, ...alternatives(sql, dialect)]) {
    try {
      return parse(text, dialect)
    } catch (error) {
      failed ??= error
    }
  }
  throw failed
}

function readPiece(piece: Piece, { line, column }: Position, dialect: Dialect): Read {
  if (piece.isForeign === true)
    return {
      piece,
      statements: [],
      problem: { line, column, code: 'NOT_READ', message: 'The body is not written in SQL' }
    }
  if (piece.isDynamic === true)
    return {
      piece,
      statements: [],
      problem: {
        line,
        column,
        code: 'DYNAMIC_SQL',
        message: 'The text of this statement is made at run time'
      }
    }
  try {
    const copy = copyOf(piece.sql, dialect)
    if (copy !== undefined) return { piece, statements: [copy] }
    const isExport = /^\s*EXPORT\s+DATA\b/i.test(piece.sql)
    const statements = prepare(piece.sql, dialect).flatMap((sql) =>
      treesOf(sql, dialect).map((tree) => {
        const text = unloadedText(tree)
        const statement = statementOf(text === undefined ? tree : treesOf(text, dialect)[0])
        return isExport || text !== undefined ? asUnload(statement) : statement
      })
    )
    if (goesByName(piece.sql, dialect))
      for (const statement of statements)
        if (statement.kind === 'INSERT') for (const into of statement.into) into.byName = true
    return { piece, statements }
  } catch (error) {
    if (error instanceof RangeError)
      return {
        piece,
        statements: [],
        problem: { line, column, code: 'TOO_LARGE', message: 'The statement is nested too deeply' }
      }
    if (!(error instanceof SqlSyntaxError)) throw error
    const problem: Problem = {
      line: line + error.line - 1,
      column: error.line === 1 ? column + error.column - 1 : error.column,
      code: /nested/.test(error.message) ? 'TOO_LARGE' : 'NOT_READ',
      message: error.message
    }
    return { piece, statements: [], problem }
  }
}

/** Tables that the script makes and then removes or renames: they do not outlast it. */
function passingTables(statements: readonly Statement[], session: Session): Set<string> {
  const made = new Map<string, boolean>()
  const written = new Set<string>()
  const idOf = (path: Path): string => keyOf(tableId(session.wholeName(path)))
  for (const statement of statements) {
    if (statement.kind === 'USE') session.use(statement.path, statement.what)
    if (statement.kind === 'CREATE_TABLE') made.set(idOf(statement.target), false)
    if (statement.kind === 'INSERT') for (const { target } of statement.into) written.add(idOf(target))
    if (statement.kind === 'DROP')
      for (const table of statement.tables) if (made.has(idOf(table))) made.set(idOf(table), true)
    if (statement.kind !== 'RENAME' || statement.isSwap) continue
    const renamed = idOf(statement.from)
    if (made.has(renamed) || written.has(renamed)) made.set(renamed, true)
  }
  return new Set([...made].filter(([, isGone]) => isGone).map(([id]) => id))
}

function readScript(sql: string, options: ReadOptions): StatementLineage[] {
  const dialect = findDialect(options.dialect)
  if (dialect === undefined) throw new RangeError(`Unknown dialect: ${options.dialect}`)
  const defaults: Defaults = {
    ...(options.database === undefined ? {} : { database: foldDefault(options.database, dialect) }),
    ...(options.schema === undefined ? {} : { schema: foldDefault(options.schema, dialect) })
  }
  const schemas = options.schemas ?? {}
  const positionOf = createPositions(sql)
  const reads = splitScript(sql, dialect).map((piece) => readPiece(piece, positionOf(piece.start), dialect))
  const all = reads.flatMap(({ statements }) => statements)
  const passing = passingTables(all, new Session(dialect, defaults, {}))
  const session = new Session(dialect, defaults, schemas, {
    passing,
    hasOneStatement: all.length === 1,
    partlyKnown: options.partlyKnown ?? []
  })
  const answers: StatementLineage[] = []
  for (const { piece, statements, problem } of reads) {
    const at = positionOf(piece.start)
    if (problem !== undefined)
      answers.push({
        kind: 'UNKNOWN',
        line: at.line,
        inputs: [],
        outputs: [],
        columns: [],
        indirect: [],
        problems: [problem]
      })
    for (const statement of statements) {
      if (statement.kind === 'USE') {
        session.use(statement.path, statement.what)
        continue
      }
      const problems: Problem[] = []
      const report = (code: ProblemCode, path: Path, message: string): void => {
        const { line = 1, column = 1 } = path[0] ?? {}
        const place = {
          line: at.line + Math.max(line, 1) - 1,
          column: line <= 1 ? at.column + Math.max(column, 1) - 1 : column
        }
        const isKnown = problems.some(
          (each) => each.message === message && each.line === place.line && each.column === place.column
        )
        if (!isKnown && problems.length < problemsMaxCount) problems.push({ ...place, code, message })
      }
      session.enter(piece)
      answers.push({ ...lineageOf(statement, session, at.line, report), problems })
    }
  }
  return answers
}

/** Loads the grammar, and gives the reader. Its work is synchronous: it belongs into a thread of its own. */
export async function openSqlReader(): Promise<SqlReader> {
  await loadParser()
  return { read: readScript }
}
