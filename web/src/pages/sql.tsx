/** Reads SQL that somebody pastes, and shows what each statement reads and writes. */
import { useEffect, useState } from 'preact/hooks'
import { rest } from '../api/request.ts'
import { Select } from '../parts/fields.tsx'
import { Loading, Problem } from '../parts/states.tsx'
import '../style/sql.css'
import { sqlTexts as words } from '../texts/sql.ts'
import { SqlPicture, type Statement } from './sql-picture.tsx'

const dialects = [
  'generic',
  'postgres',
  'tsql',
  'bigquery',
  'snowflake',
  'redshift',
  'databricks',
  'spark',
  'hive',
  'duckdb',
  'trino',
  'athena',
  'mysql',
  'oracle',
  'clickhouse',
  'sqlite',
  'teradata'
] as const

/** What was asked last in this browser tab. */
const storedAs = 'tributary-sql'
type Question = { sql: string; dialect: string; database: string; schema: string }
const firstQuestion: Question = { sql: words.first, dialect: 'postgres', database: '', schema: '' }

function lastQuestion(): Question {
  try {
    return {
      ...firstQuestion,
      ...(JSON.parse(sessionStorage.getItem(storedAs) ?? '{}') as Partial<Question>)
    }
  } catch {
    return firstQuestion
  }
}

export function SqlPage() {
  const [question, setQuestion] = useState(lastQuestion)
  const [statements, setStatements] = useState<readonly Statement[] | null>(null)
  const [problem, setProblem] = useState<Error>()
  const [isReading, setReading] = useState(false)
  const change = (part: Partial<Question>): void => setQuestion((before) => ({ ...before, ...part }))
  async function read(): Promise<void> {
    setReading(true)
    setProblem(undefined)
    try {
      sessionStorage.setItem(storedAs, JSON.stringify(question))
      const { sql, dialect, database, schema } = question
      const body = { sql, dialect, indirect: true, ...(database && { database }), ...(schema && { schema }) }
      const answer = await rest<{ statements: Statement[] }>('rest/v1/sql/lineage', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body)
      })
      setStatements(answer.statements)
    } catch (error) {
      setProblem(error instanceof Error ? error : new Error(String(error)))
    } finally {
      setReading(false)
    }
  }
  useEffect(() => void read(), [])
  return (
    <div class="stack">
      <h1>{words.title}</h1>
      <p class="soft">{words.hint}</p>
      <form
        class="panel stack"
        onSubmit={(event) => {
          event.preventDefault()
          void read()
        }}
      >
        <textarea
          class="sql-text"
          aria-label={words.sql}
          rows={9}
          spellcheck={false}
          value={question.sql}
          onInput={({ currentTarget }) => change({ sql: currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void read()
          }}
        />
        <div class="row wrap">
          <Select
            label={words.dialect}
            value={question.dialect}
            options={dialects.map((each) => [each, each] as const)}
            change={(dialect) => change({ dialect })}
          />
          {(['database', 'schema'] as const).map((field) => (
            <input
              key={field}
              aria-label={words[field]}
              placeholder={words[field]}
              value={question[field]}
              onInput={({ currentTarget }) => change({ [field]: currentTarget.value })}
            />
          ))}
          <button type="submit" class="primary" disabled={isReading || question.sql.trim() === ''}>
            {words.read}
          </button>
        </div>
        <Problem of={problem} />
      </form>
      {statements === null && isReading && <Loading />}
      {statements?.length === 0 && <p class="soft">{words.nothing}</p>}
      {statements?.map((statement, index) => (
        <StatementPanel key={index} statement={statement} />
      ))}
    </div>
  )
}

function StatementPanel({ statement }: { statement: Statement }) {
  const { kind, line, columns, indirect, problems } = statement
  const decide = [...new Set(indirect.map(({ table, column }) => `${table}.${column}`))]
  return (
    <section class="panel stack" data-testid="statement">
      <h2 class="sql-kind">{words.line(kind, line)}</h2>
      {problems.map(({ line: at, column, message }) => (
        <p key={`${at}:${column} ${message}`} class="problem">
          {words.problem(at, message)}
        </p>
      ))}
      {statement.inputs.length + statement.outputs.length > 0 && <SqlPicture statement={statement} />}
      {columns.length > 0 && (
        <div class="sql-rows" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{words.column}</th>
                <th scope="col">{words.from}</th>
                <th scope="col">{words.heads.how}</th>
                <th scope="col">{words.heads.sure}</th>
              </tr>
            </thead>
            <tbody>
              {columns.map(({ output, column, upstreams, transformation, certainty }) => (
                <tr key={`${output ?? ''} ${column}`}>
                  <td>{column}</td>
                  <td>{upstreams.map(({ table, column: from }) => `${table}.${from}`).join(', ')}</td>
                  <td>{words.how[transformation] ?? transformation}</td>
                  <td>{certainty === 'CERTAIN' ? words.certain : words.bySchema}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {decide.length > 0 && <p class="soft">{words.decide(decide)}</p>}
    </section>
  )
}
