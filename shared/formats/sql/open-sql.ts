/** Reads the records of a load from files of SQL: one record for each statement that writes a table. */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { recordParser } from '../parse-record.ts'
import { readText, type NamingRecord, type SingleRecord } from '../read-text.ts'
import { nextFileLine, type SqlReading, type SqlStatementRecords } from './options.ts'

export type OpenedSql = {
  records: AsyncGenerator<(SingleRecord | NamingRecord)[]>
  /** What of the statements could not be resolved. */
  warnings: string[]
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const parser = recordParser({ format: 'sql', header: null })

/**
 * Reads the whole body, because its warnings are known only then: at most sqlLoadMaxBytes. A statement that cannot be read
 * is a record with its error. Throws BAD_REQUEST for a body that is not UTF-8 or without a dialect, LIMIT_EXCEEDED, and what
 * the reader throws.
 */
export async function openSql(
  chunks: AsyncIterable<Buffer>,
  reading: SqlReading | undefined
): Promise<OpenedSql> {
  const text = await textOf(chunks)
  if (reading === undefined)
    throw new CatalogError('BAD_REQUEST', 'A load of SQL needs dialect=, such as snowflake', {
      field: 'dialect'
    })
  const found: SqlStatementRecords[] = []
  for (const { sql, firstLine } of filesOf(text))
    for (const statement of await reading.read(sql))
      found.push({ ...statement, line: statement.line + firstLine - 1 })
  const warnings = found.flatMap(({ line, name, warnings: said }) =>
    said.map((each) => `Line ${line}, ${name}: ${each}`)
  )
  return { records: recordsOf(found), warnings: warnings.slice(0, limits.sqlWarningsMaxCount) }
}

async function textOf(chunks: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > limits.sqlLoadMaxBytes)
      throw new CatalogError('LIMIT_EXCEEDED', `A load of SQL has at most ${limits.sqlLoadMaxBytes} bytes`, {
        limit: 'sqlLoadMaxBytes',
        maximum: limits.sqlLoadMaxBytes
      })
    parts.push(chunk)
  }
  try {
    return utf8.decode(Buffer.concat(parts))
  } catch (cause) {
    throw new CatalogError('BAD_REQUEST', 'The body is not UTF-8', {}, { cause })
  }
}

/** The scripts of a body, each with the line on which it begins. */
function* filesOf(text: string): Generator<{ sql: string; firstLine: number }> {
  let firstLine = 1
  for (const sql of text.split(new RegExp(`^${nextFileLine}[ \\t]*\\r?\\n`, 'm'))) {
    if (sql.trim() !== '') yield { sql, firstLine }
    firstLine += sql.split('\n').length
  }
}

/** Statements that record nothing are left out. Two statements of one line are records of different lines. */
async function* recordsOf(
  statements: readonly SqlStatementRecords[]
): AsyncGenerator<(SingleRecord | NamingRecord)[]> {
  let last = 0
  for (const { line: begin, name, records, fault } of statements) {
    if (fault === null && records.length === 0) continue
    const line = Math.max(begin, last + 1)
    last = line
    if (fault !== null) {
      const error = new CatalogError('BAD_REQUEST', `The statement could not be read: ${fault}`, { line })
      yield [{ line, text: JSON.stringify({ node: name }), error }]
      continue
    }
    const text = JSON.stringify({ node: name, records })
    const actual = Buffer.byteLength(text)
    const maximum = limits.recordMaxBytes
    const error = new CatalogError(
      'LIMIT_EXCEEDED',
      `${name}: the lineage of the statement has ${actual} bytes; at most ${maximum} are allowed`,
      { line, limit: 'recordMaxBytes', maximum, actual }
    )
    yield [
      actual > maximum
        ? { line, text: JSON.stringify({ node: name }), error }
        : readText({ parser, readPlainEdge: null }, text, line)
    ]
  }
}
