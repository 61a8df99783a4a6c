/** POST /rest/v1/sql/lineage: which columns SQL reads and writes, without storing anything. */
import type { FastifyInstance } from 'fastify'
import { askSqlLineage, type SqlQuestion } from '../../shared/catalog/sql/ask-sql-lineage.ts'
import { CatalogError } from '../../shared/errors.ts'
import { limits } from '../../shared/limits.ts'
import { isObject } from '../../shared/model/json-values.ts'
import type { JsonValue } from '../../shared/model/changes.ts'
import { callerOf } from '../../shared/platform/turns.ts'
import type { Schemas } from '../../shared/sql/session.ts'
import type { ApiContext } from '../context.ts'
import { readQuery } from '../query-parameters.ts'

const textFields = ['sql', 'dialect', 'database', 'schema', 'platform', 'platformInstance', 'env'] as const

export function sqlRoutes(app: FastifyInstance, { lineage }: Pick<ApiContext, 'lineage'>): void {
  app.post<{ Body: JsonValue; Querystring: Record<string, string> }>(
    '/rest/v1/sql/lineage',
    { bodyLimit: limits.sqlBodyMaxBytes, config: { access: 'read' } },
    async (request) => {
      const { indirect } = readQuery(request.query, ['indirect'])
      const question = readQuestion(request.body)
      return {
        statements: await askSqlLineage(lineage, callerOf(request.actor), {
          ...question,
          ...(indirect === undefined ? {} : { indirect: readFlag(indirect) })
        })
      }
    }
  )
}

function readFlag(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new CatalogError('BAD_REQUEST', 'indirect must be true or false', {
    field: 'indirect',
    allowed: ['true', 'false']
  })
}

/** Throws BAD_REQUEST naming the field. */
function readQuestion(body: JsonValue | undefined): SqlQuestion {
  if (!isObject(body))
    throw new CatalogError(
      'BAD_REQUEST',
      'The body must be an object such as {"sql": "…", "dialect": "postgres"}'
    )
  const question: SqlQuestion = { sql: '' }
  for (const [field, value] of Object.entries(body)) {
    const known = textFields.find((each) => each === field)
    if (known !== undefined) {
      if (typeof value === 'string') question[known] = value
      else if (value !== null || known === 'sql') throw wrong(field, 'a text')
    } else if (field === 'indirect') {
      if (value !== null && typeof value !== 'boolean') throw wrong(field, 'true or false')
      question.indirect = value
    } else if (field === 'schemas') question.schemas = value === null ? null : readSchemas(value)
    else
      throw new CatalogError('BAD_REQUEST', `Unknown field ${field.slice(0, 100)}`, {
        field: field.slice(0, 100),
        allowed: [...textFields, 'schemas', 'indirect']
      })
  }
  return question
}

function readSchemas(value: JsonValue | undefined): Schemas {
  const what = 'an object such as {"db.schema.table": {"column": "type"}}'
  if (!isObject(value)) throw wrong('schemas', what)
  const schemas: Schemas = {}
  for (const [table, columns] of Object.entries(value)) {
    if (!isObject(columns)) throw wrong(`schemas.${table.slice(0, 100)}`, what)
    const types: Record<string, string> = {}
    for (const [column, type] of Object.entries(columns)) types[column] = typeof type === 'string' ? type : ''
    schemas[table] = types
  }
  return schemas
}

const wrong = (field: string, what: string): CatalogError =>
  new CatalogError('BAD_REQUEST', `${field} must be ${what}`, { field })
