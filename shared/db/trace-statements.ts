/**
 * A span for each statement of a connection, while a span is active: the time that each `query`, COPY, BEGIN
 * and COMMIT of a request or a chunk took in Postgres. Statements of background loops belong to no request,
 * and have no span.
 */
import type pg from 'pg'
import { activeSpan, failSpan, startSpan, type Span } from '../platform/tracing.ts'
import { summaryOf } from './statement-summary.ts'
import { sqlState } from './sql-errors.ts'

/** The forms in which knex, COPY and this program call `query` of a connection. */
type Statement = string | { text?: string; submit?: unknown }
type Callback = (error: Error | null, result: unknown) => void
/** A statement that pg drives by calling these methods: COPY. */
type Submitted = {
  handleError(error: Error, ...more: unknown[]): void
  handleReadyForQuery(...more: unknown[]): void
}

/** Replaces the method `query` of the connection. Only call this where tracing is on. */
export function traceStatements(connection: pg.Client): void {
  const send = connection.query.bind(connection) as (...args: unknown[]) => unknown
  const traced = (...args: unknown[]): unknown => {
    if (activeSpan() === undefined) return send(...args)
    // every caller passes one of these forms first
    const statement = args[0] as Statement
    const span = startStatement(typeof statement === 'string' ? statement : (statement.text ?? ''))
    if (span === null) return send(...args)
    if (typeof statement === 'object' && typeof statement.submit === 'function') {
      endWithSubmitted(span, statement as unknown as Submitted)
      return send(...args)
    }
    const last = args.at(-1)
    if (typeof last === 'function') return send(...args.slice(0, -1), endWithCallback(span, last as Callback))
    return endWithPromise(span, send(...args) as Promise<unknown>)
  }
  // pg overloads the method; each form is passed on as it is
  connection.query = traced as pg.Client['query']
}

function startStatement(sql: string): Span | null {
  const { operation, summary } = summaryOf(sql)
  return startSpan(summary, {
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.summary': summary
    }
  })
}

/** The message of an error may contain values, so only its code is noted. */
function end(span: Span, error: unknown): void {
  if (error !== null && error !== undefined) {
    const code = sqlState(error) ?? 'unknown'
    span.setAttribute('db.response.status_code', code)
    failSpan(span, code)
  }
  span.end()
}

const endWithCallback =
  (span: Span, callback: Callback): Callback =>
  (error, result) => {
    end(span, error)
    callback(error, result)
  }

async function endWithPromise(span: Span, answer: Promise<unknown>): Promise<unknown> {
  try {
    const result = await answer
    end(span, null)
    return result
  } catch (error) {
    end(span, error)
    throw error
  }
}

function endWithSubmitted(span: Span, submitted: Submitted): void {
  const handleError = submitted.handleError.bind(submitted)
  const handleReadyForQuery = submitted.handleReadyForQuery.bind(submitted)
  submitted.handleError = (error, ...more) => {
    end(span, error)
    handleError(error, ...more)
  }
  submitted.handleReadyForQuery = (...more) => {
    // after an error the span has ended
    if (span.isRecording()) end(span, null)
    handleReadyForQuery(...more)
  }
}
