/** `tributary sql-lineage FILE`: which tables and columns SQL reads and writes, as a list or as JSON. */
import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import { dialectNames } from '../../shared/sql/dialects.ts'
import { serverOf, serverOptions } from '../client-options.ts'
import { postJson } from '../client/ask.ts'
import { isObject } from '../client/load-view.ts'
import type { Command, CommandInput } from '../command.ts'
import { exitCodes, Refusal } from '../failure.ts'
import { printable } from '../printable.ts'
import { openTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'

const fields = ['dialect', 'database', 'schema', 'platform', 'env'] as const

export const sqlLineage: Command = {
  notes: [
    'FILE is a file of SQL, or - for standard input. Nothing is stored, and nothing is run.',
    'A column is certain if the statement says which table it is in, and by schema if only the columns of the tables say so. What cannot be told has no row, and is a problem.',
    'Exit code: 0 all statements read, 1 usage, refused, or a statement that could not be read, 4 server unreachable.'
  ],
  examples: [
    'tributary sql-lineage models/orders.sql --dialect snowflake',
    'tributary sql-lineage - --dialect postgres --json'
  ],
  operands: ['FILE'],
  options: {
    dialect: {
      value: 'NAME',
      choices: [...dialectNames],
      help: `One of ${dialectNames.join(', ')}. Default: generic.`
    },
    database: { value: 'NAME', help: 'Database, project or catalog of names without one.' },
    schema: { value: 'NAME', help: 'Schema of names without one.' },
    platform: { value: 'NAME', help: 'Platform of the tables. Default: that of the dialect.' },
    env: { value: 'NAME', help: 'Environment of the tables. Default: PROD.' },
    schemas: { value: 'FILE', help: 'JSON file with columns: {"db.schema.table": {"column": "type"}}.' },
    json: { help: 'Print the whole answer as JSON.' },
    ...serverOptions
  },
  async run(input, terminal) {
    const [path = ''] = input.operands
    const sql = path === '-' ? await readAll(terminal.input()) : await readText(path)
    const server = await serverOf(input, terminal)
    const answer = await postJson(server, 'rest/v1/sql/lineage', undefined, {
      sql,
      ...textsOf(input),
      ...(await schemasOf(input))
    })
    const statements = isObject(answer) && Array.isArray(answer.statements) ? answer.statements : []
    if (input.isSet('json')) terminal.out(JSON.stringify(answer, null, 2))
    else for (const statement of statements) if (isObject(statement)) printStatement(statement, terminal)
    return statements.some((each) => isObject(each) && each.kind === 'UNKNOWN')
      ? exitCodes.refused
      : exitCodes.ok
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new Refusal(`Cannot read ${printable(path)}: ${code}.`)
  }
}

const textsOf = (input: CommandInput): Record<string, string> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const value = input.text(field)
      return value === undefined ? [] : [[field, value]]
    })
  )

async function schemasOf(input: CommandInput): Promise<{ schemas?: unknown }> {
  const path = input.text('schemas')
  if (path === undefined) return {}
  try {
    return { schemas: JSON.parse(await readText(path)) as unknown }
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refusal(`${printable(path)} is not JSON.`)
    throw error
  }
}

type Fields = Record<string, unknown>

const listIn = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : [])
const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

const namesOf = (tables: unknown): string =>
  listIn(tables)
    .map(({ name, exists }) => `${printable(textIn(name))}${exists === true ? '' : ' (not in the catalog)'}`)
    .join(', ')

function printStatement(statement: Fields, terminal: Terminal): void {
  const { kind, line, inputs, outputs, columns, problems } = statement
  terminal.out(`${textIn(kind)}, line ${String(line)}`)
  if (listIn(outputs).length > 0) terminal.out(`  writes ${namesOf(outputs)}`)
  if (listIn(inputs).length > 0) terminal.out(`  reads  ${namesOf(inputs)}`)
  const table = openTable(
    [
      { title: 'COLUMN', kind: 'name' },
      { title: 'FROM', kind: 'name' },
      { title: 'HOW', leaveOut: 1 },
      { title: 'SURE', leaveOut: 2 }
    ],
    terminal
  )
  table.print(
    listIn(columns).flatMap(({ output, column, upstreams }) =>
      listIn(upstreams).map((upstream) => [
        output === null || output === undefined ? textIn(column) : `${textIn(output)}.${textIn(column)}`,
        `${textIn(upstream.table)}.${textIn(upstream.column)}`,
        textIn(upstream.transformation).toLowerCase(),
        upstream.certainty === 'CERTAIN' ? 'certain' : 'by schema'
      ])
    )
  )
  for (const problem of listIn(problems))
    terminal.err(`  ${String(problem.line)}:${String(problem.column)} ${printable(textIn(problem.message))}`)
}
