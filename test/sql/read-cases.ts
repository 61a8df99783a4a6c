/**
 * Reads the cases of the SQL reader: text files in `test/sql/cases`, one for each kind of statement.
 *
 *     # postgres, redshift: a join in brackets keeps the tables of its columns
 *     database shop
 *     schema public
 *     columns orders: id int, buyer int
 *     ---
 *     select o.id from (orders o left join buyers b on o.buyer = b.id)
 *     =>
 *     SELECT from orders, buyers
 *     id <- orders.id
 *     filtered by orders.buyer, buyers.id: JOIN
 *
 * - `# DIALECT, DIALECT: TITLE` begins a case, which is run in each of the dialects. Lines that begin with `//` say
 *   why, between cases and in a head or an answer.
 * - The head may have `database NAME`, `schema NAME`, `columns TABLE: COLUMN TYPE, …` for each known table,
 *   `exact case`, and `not yet: REASON` for what the reader is known to get wrong, or `not yet in DIALECT, …: REASON`.
 * - `---`, the SQL, `=>`.
 * - The answer has for each statement a line `KIND into TABLE, … from TABLE, …`, and below it:
 *   - `COLUMN <- TABLE.COLUMN, … : identity|transformation|aggregation, by schema` for each column. Without words it
 *     is an identity that is certain. A column without upstreams may be listed, as `COLUMN <-`, or left out.
 *     Where a statement has several outputs, it is `OUTPUT.COLUMN`.
 *   - `filtered by TABLE.COLUMN, …: KIND`: compared only in statements that have such a line
 *   - `problem CODE at LINE:COLUMN`; the column, or the whole place, may be left out when it does not matter
 *
 * Statements that neither read nor write a table, and have no problem, do not count. Every table of an
 * answer is made whole with the head's database and schema, as the reader does. A part with a dot or a space is in
 * double quotes. Names are compared exactly, except in a case whose dialects fold differently and that does not say
 * `exact case`.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { packagePath } from '../../shared/platform/paths.ts'
import { dialectNames, type DialectName } from '../../shared/sql/dialects.ts'

export type Dialect = DialectName

const transformations = ['identity', 'transformation', 'aggregation'] as const
type Transformation = Uppercase<(typeof transformations)[number]>

export type ExpectedColumn = {
  output?: string
  column: string
  upstreams: { table: string; column: string }[]
  transformation: Transformation
  certainty: 'CERTAIN' | 'BY_SCHEMA'
}

export type ExpectedStatement = {
  kind: string
  outputs: string[]
  inputs: string[]
  columns: ExpectedColumn[]
  indirect: { table: string; column: string; transformation: string }[]
  problems: { code: string; line?: number; column?: number }[]
}

export type SqlCase = {
  /** The file's name without its ending. */
  kind: string
  /** Where the case begins: `joins.txt:12`. */
  place: string
  title: string
  dialects: Dialect[]
  database?: string
  schema?: string
  schemas: { [table: string]: { [column: string]: string } }
  isExactCase: boolean
  notYet?: { dialects: Dialect[]; reason: string }
  sql: string
  statements: ExpectedStatement[]
}

/** The cases of every file, in the order of their names. Throws with the file and line of a mistake. */
export function readAllCases(): SqlCase[] {
  const folder = packagePath('test/sql/cases')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .flatMap((name) => readCases(readFileSync(join(folder, name), 'utf8'), name))
}

/** The cases of one file. Throws with the name and line of a mistake. */
export function readCases(text: string, name: string): SqlCase[] {
  const lines = new Lines(text, name)
  const cases: SqlCase[] = []
  while (lines.skipToContent()) cases.push(readCase(lines, name.replace(/\.txt$/, '')))
  return cases
}

/** The lines of a file, read one by one. */
class Lines {
  readonly name: string
  readonly #lines: readonly string[]
  #next = 0

  constructor(text: string, name: string) {
    this.name = name
    this.#lines = text.split('\n')
  }

  get place(): string {
    return `${this.name}:${this.#next}`
  }

  /** Undefined at the end. */
  peek(): string | undefined {
    return this.#lines[this.#next]
  }

  take(): string {
    this.#next += 1
    return this.#lines[this.#next - 1] ?? ''
  }

  /** Skips empty lines and remarks. False at the end. */
  skipToContent(): boolean {
    while (/^(?:\/\/.*|\s*)$/.test(this.peek() ?? 'end')) this.#next += 1
    return this.peek() !== undefined
  }

  fail(message: string): never {
    throw new Error(`${this.place}: ${message}`)
  }
}

function readCase(lines: Lines, kind: string): SqlCase {
  const [, list = '', title = ''] = /^# ([\w, ]+): (.+)$/.exec(lines.take()) ?? []
  if (title === '') lines.fail('a case must begin with `# DIALECT, DIALECT: TITLE`')
  const found: SqlCase = {
    kind,
    place: lines.place,
    title,
    dialects: dialectsOf(list, lines),
    schemas: {},
    isExactCase: false,
    sql: '',
    statements: []
  }
  let isExact = false
  for (let line = takeHeadLine(lines); line !== '---'; line = takeHeadLine(lines)) {
    if (line === 'exact case') isExact = true
    else readHeadLine(line, found, lines)
  }
  const whole = (table: string): string => wholeName(table, found)
  found.schemas = Object.fromEntries(
    Object.entries(found.schemas).map(([table, columns]) => [whole(table), columns])
  )
  found.isExactCase = isExact || new Set(found.dialects.map(foldsToUpper)).size === 1
  const sql: string[] = []
  while (lines.peek() !== '=>') {
    if (lines.peek() === undefined) lines.fail('the SQL must end with a line `=>`')
    sql.push(lines.take())
  }
  found.sql = sql.join('\n')
  lines.take()
  while (lines.skipToContent() && !lines.peek()?.startsWith('# ')) readAnswerLine(lines, found, whole)
  return found
}

const dialectsOf = (list: string, lines: Lines): Dialect[] =>
  list.split(', ').map((word) => {
    const dialect = dialectNames.find((name) => name === word)
    return dialect ?? lines.fail(`${word} is not a dialect`)
  })

function takeHeadLine(lines: Lines): string {
  if (!lines.skipToContent()) lines.fail('the head of a case must end with `---`')
  return lines.take()
}

const foldsToUpper = (dialect: Dialect): boolean => dialect === 'snowflake' || dialect === 'oracle'

function readHeadLine(line: string, found: SqlCase, lines: Lines): void {
  const [, word, rest = ''] = /^(database|schema|not yet|columns)\b:? ?(.+)$/.exec(line) ?? []
  if (word === 'database') found.database = rest
  else if (word === 'schema') found.schema = rest
  else if (word === 'not yet') {
    const [, list, reason = rest] = /^in ([\w, ]+): (.+)$/.exec(rest) ?? []
    found.notYet = { dialects: list === undefined ? found.dialects : dialectsOf(list, lines), reason }
  } else if (word === 'columns') {
    const [, table, list] = /^(.+?): (.+)$/.exec(rest) ?? []
    if (table === undefined || list === undefined)
      return lines.fail('it must be `columns TABLE: COLUMN TYPE, …`')
    found.schemas[table] = Object.fromEntries(
      splitList(list).map((column): [string, string] => {
        const [, name = '', type = ''] = /^("[^"]+"|\S+)(?: (.+))?$/.exec(column) ?? []
        return [name.replaceAll('"', ''), type || 'varchar']
      })
    )
  } else lines.fail(`not a line of a head: ${line}`)
}

function readAnswerLine(lines: Lines, found: SqlCase, whole: (table: string) => string): void {
  const line = lines.take()
  const tablesIn = (list: string | undefined): string[] => (list ? splitList(list).map(whole) : [])
  const [, kind, into, from] = /^([A-Z_]+)(?: into (.+?))?(?: from (.+))?$/.exec(line) ?? []
  if (kind !== undefined) {
    found.statements.push({
      kind,
      outputs: tablesIn(into),
      inputs: tablesIn(from),
      columns: [],
      indirect: [],
      problems: []
    })
    return
  }
  const statement = found.statements.at(-1) ?? lines.fail('an answer must begin with a kind of statement')
  const columnsIn = (list: string): { table: string; column: string }[] =>
    splitList(list).map((path) => {
      const { table, column } = splitColumn(path)
      return table === '' ? lines.fail(`${path} needs a table`) : { table: whole(table), column }
    })
  const [, code, at, column] = /^problem ([A-Z_]+)(?: at (\d+)(?::(\d+))?)?$/.exec(line) ?? []
  const [, filters, how] = /^filtered by (.+): ([A-Z_]+)$/.exec(line) ?? []
  const [, path, upstreams = '', words] = /^(.+?) <-(?: ([^:]+?))?(?: : (.+))?$/.exec(line) ?? []
  if (code !== undefined)
    statement.problems.push({
      code,
      ...(at ? { line: Number(at) } : {}),
      ...(column ? { column: Number(column) } : {})
    })
  else if (filters !== undefined && how !== undefined)
    statement.indirect.push(...columnsIn(filters).map((each) => ({ ...each, transformation: how })))
  else if (path !== undefined) {
    const { table, column: name } = splitColumn(path)
    const output = table === '' ? statement.outputs[0] : whole(table)
    statement.columns.push({
      ...(output === undefined ? {} : { output }),
      column: name,
      upstreams: upstreams === '' ? [] : columnsIn(upstreams),
      ...readWords(words, lines)
    })
  } else lines.fail(`not a line of an answer: ${line}`)
}

function readWords(
  words: string | undefined,
  lines: Lines
): Pick<ExpectedColumn, 'transformation' | 'certainty'> {
  const how: Pick<ExpectedColumn, 'transformation' | 'certainty'> = {
    transformation: 'IDENTITY',
    certainty: 'CERTAIN'
  }
  for (const word of words?.split(', ') ?? []) {
    if (word === 'by schema') how.certainty = 'BY_SCHEMA'
    else if (word === 'identity') how.transformation = 'IDENTITY'
    else if (word === 'transformation') how.transformation = 'TRANSFORMATION'
    else if (word === 'aggregation') how.transformation = 'AGGREGATION'
    else lines.fail(`${word} is not one of ${transformations.join(', ')}, by schema`)
  }
  return how
}

/** At commas that are neither in quotes nor in brackets: the type `decimal(10, 2)` is one part. */
function splitList(list: string): string[] {
  const parts: string[] = ['']
  let depth = 0
  let isQuoted = false
  for (const sign of list) {
    if (sign === '"') isQuoted = !isQuoted
    else if ('(<['.includes(sign)) depth += 1
    else if (')>]'.includes(sign)) depth -= 1
    if (sign === ',' && depth === 0 && !isQuoted) parts.push('')
    else parts[parts.length - 1] += sign
  }
  return parts.map((part) => part.trim())
}

/** At dots that are not in quotes. */
export const splitName = (name: string): string[] =>
  (name.match(/"[^"]*"|[^."]+/g) ?? []).map((part) => part.replaceAll('"', ''))

function splitColumn(path: string): { table: string; column: string } {
  const parts = path.match(/"[^"]*"|[^."]+/g) ?? []
  return { table: parts.slice(0, -1).join('.'), column: (parts.at(-1) ?? '').replaceAll('"', '') }
}

/** With the database and schema of the case, as far as they are missing. */
function wholeName(table: string, { database, schema }: Pick<SqlCase, 'database' | 'schema'>): string {
  const parts = splitName(table)
  if (parts.length === 1 && schema !== undefined) parts.unshift(schema)
  if (parts.length === 2 && database !== undefined) parts.unshift(database)
  return parts.join('.')
}
