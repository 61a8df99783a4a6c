/** Compares what the SQL reader answers with what a case expects: what differs, and counts for the floors. */
import type { StatementLineage } from '../../shared/sql/statement-lineage.ts'
import type { ExpectedColumn, ExpectedStatement, SqlCase } from './read-cases.ts'

/** Counts of one case, or their sums. */
export type Score = {
  statements: number
  /** Statements all of whose tables are right, and none besides. */
  tablesRight: number
  /** Output columns that have upstreams. */
  rows: number
  rowsRight: number
  /** Pairs of an output column and an upstream that the reader answers and the case has. */
  edgesRight: number
  certainRight: number
  /** Pairs that the case does not have, which the reader calls certain. */
  certainWrong: number
}

export type Comparison = { differences: string[]; score: Score }

export const noScore: Score = {
  statements: 0,
  tablesRight: 0,
  rows: 0,
  rowsRight: 0,
  edgesRight: 0,
  certainRight: 0,
  certainWrong: 0
}

const scoreKeys = [
  'statements',
  'tablesRight',
  'rows',
  'rowsRight',
  'edgesRight',
  'certainRight',
  'certainWrong'
] as const

export function addScores(one: Score, other: Score): Score {
  const sum = { ...one }
  for (const key of scoreKeys) sum[key] += other[key]
  return sum
}

type Fold = (name: string) => string

/** Statements that write rows over others read their target only to find these. */
const findsItsTarget = new Set(['UPDATE', 'DELETE', 'MERGE'])

/** Compares all statements of a case. */
export function compareCase(
  { statements, isExactCase }: SqlCase,
  answers: readonly StatementLineage[]
): Comparison {
  const fold: Fold = isExactCase ? (name) => name : (name) => name.toLowerCase()
  const wanted = statements.filter(saysSomething)
  const found = answers.filter(saysSomething)
  const pairs = align(wanted, found, fold)
  const differences: string[] = []
  if (wanted.length !== found.length)
    differences.push(
      `${found.length} statements instead of ${wanted.length}: ${found.map(({ kind }) => kind).join(', ')}`
    )
  let score = noScore
  for (const [expected, answer] of pairs) {
    const each = compareStatement(expected, answer, fold)
    differences.push(...each.differences)
    score = addScores(score, each.score)
  }
  return { differences, score }
}

/** Whether a statement reads or writes a table, or has a problem. */
const saysSomething = (statement: {
  inputs: readonly string[]
  outputs: readonly string[]
  problems: readonly unknown[]
}): boolean => statement.inputs.length + statement.outputs.length + statement.problems.length > 0

/** Each expected statement with its answer: by their order, or where one is missing, by kind and output. */
function align(
  expected: readonly ExpectedStatement[],
  answers: readonly StatementLineage[],
  fold: Fold
): [ExpectedStatement, StatementLineage | undefined][] {
  if (expected.length === answers.length) return expected.map((each, index) => [each, answers[index]])
  const rest = [...answers]
  return expected.map((each) => {
    const index = rest.findIndex(
      ({ kind, outputs }) => kind === each.kind && listOf(outputs, fold) === listOf(each.outputs, fold)
    )
    return [each, index < 0 ? undefined : rest.splice(index, 1)[0]]
  })
}

const listOf = (names: readonly string[], fold: Fold): string =>
  [...new Set(names.map(fold))].sort().join(', ')

function compareStatement(
  expected: ExpectedStatement,
  answer: StatementLineage | undefined,
  fold: Fold
): Comparison {
  const differences: string[] = []
  const compare = (what: string, ours: string, theirs: string): boolean => {
    if (ours !== theirs) differences.push(`${what}: ${theirs || 'none'} instead of ${ours || 'none'}`)
    return ours === theirs
  }
  const { kind, outputs } = expected
  const inputsOf = (inputs: readonly string[]): string =>
    listOf(
      findsItsTarget.has(kind) ? inputs.filter((name) => !outputs.map(fold).includes(fold(name))) : inputs,
      fold
    )
  compare('kind', kind, answer?.kind ?? '')
  const areOutputsRight = compare('outputs', listOf(outputs, fold), listOf(answer?.outputs ?? [], fold))
  const areInputsRight = compare('inputs', inputsOf(expected.inputs), inputsOf(answer?.inputs ?? []))
  const score: Score = {
    ...noScore,
    statements: 1,
    tablesRight: areOutputsRight && areInputsRight ? 1 : 0
  }
  compareColumns(expected, answer, fold, compare, score)
  if (expected.indirect.length > 0) {
    const lines = (all: readonly { table: string; column: string; transformation: string }[]): string =>
      listOf(
        all.map(({ table, column, transformation }) => `${fold(table)}.${fold(column)} ${transformation}`),
        (line) => line
      )
    compare('filtered by', lines(expected.indirect), lines(answer?.indirect ?? []))
  }
  const places = (problems: ExpectedStatement['problems']): string =>
    problems.map(({ code, line, column }) => [`${code} at ${line}`, column].join(':')).join(', ')
  const expectedPlaces = expected.problems
  compare(
    'problems',
    places(expectedPlaces),
    places(
      (answer?.problems ?? []).map(({ code, line, column }, index) => ({
        code,
        ...(expectedPlaces[index]?.line === undefined && index < expectedPlaces.length ? {} : { line }),
        ...(expectedPlaces[index]?.column === undefined && index < expectedPlaces.length ? {} : { column })
      }))
    )
  )
  return { differences, score }
}

type Row = Pick<ExpectedColumn, 'transformation' | 'certainty'> & {
  edges: Map<string, 'CERTAIN' | 'BY_SCHEMA' | undefined>
}

/** Columns with upstreams, by name. What a statement writes into a table that ends with the script is left out. */
function rowsOf(
  columns: readonly {
    output?: string
    column: string
    upstreams: readonly { table: string; column: string; certainty?: 'CERTAIN' | 'BY_SCHEMA' }[]
    transformation: ExpectedColumn['transformation']
    certainty: ExpectedColumn['certainty']
  }[],
  isSelect: boolean,
  fold: Fold
): Map<string, Row> {
  return new Map(
    columns
      .filter(({ output, upstreams }) => upstreams.length > 0 && (isSelect || output !== undefined))
      .map(({ output, column, upstreams, transformation, certainty }) => [
        fold(output === undefined ? column : `${output}.${column}`),
        {
          transformation,
          certainty,
          edges: new Map(
            upstreams.map(({ table, column, certainty }) => [fold(`${table}.${column}`), certainty])
          )
        }
      ])
  )
}

function compareColumns(
  expected: ExpectedStatement,
  answer: StatementLineage | undefined,
  fold: Fold,
  compare: (what: string, ours: string, theirs: string) => boolean,
  score: Score
): void {
  const isSelect = expected.kind === 'SELECT'
  const ours = rowsOf(expected.columns, isSelect, fold)
  const theirs = rowsOf(answer?.columns ?? [], isSelect, fold)
  const edgesOf = (row: Row | undefined): string => [...(row?.edges.keys() ?? [])].sort().join(', ')
  for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
    const [our, their] = [ours.get(name), theirs.get(name)]
    if (our !== undefined) score.rows += 1
    const isRight = compare(name, edgesOf(our), edgesOf(their))
    if (our !== undefined && isRight) score.rowsRight += 1
    for (const [edge, certainty] of their?.edges ?? []) {
      if (our?.edges.has(edge) === true) {
        score.edgesRight += 1
        if (certainty === 'CERTAIN') score.certainRight += 1
      } else if (certainty === 'CERTAIN') score.certainWrong += 1
    }
    if (our === undefined || their === undefined || !isRight) continue
    compare(`${name} is`, our.transformation, their.transformation)
    compare(`${name} is`, our.certainty, their.certainty)
  }
}
