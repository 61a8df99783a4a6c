/** Every GraphQL document of the UI fits the schema, and none is without a use. */
import { readFileSync, readdirSync } from 'node:fs'
import { buildSchema, parse, validate, visit } from 'graphql'
import t from 'tap'
import { limits } from '../../shared/limits.ts'
import { packagePath } from '../../shared/platform/paths.ts'
import * as domainQueries from '../../web/src/api/domain-queries.ts'
import * as lineageQueries from '../../web/src/api/lineage-queries.ts'
import * as loadQueries from '../../web/src/api/load-queries.ts'
import * as queries from '../../web/src/api/queries.ts'
import * as runQueries from '../../web/src/api/run-queries.ts'
import * as tokenQueries from '../../web/src/api/token-queries.ts'

const schema = buildSchema(readFileSync(packagePath('api/graphql/schema.graphql'), 'utf8'))

const documents = [queries, domainQueries, lineageQueries, loadQueries, runQueries, tokenQueries].flatMap(
  (file) =>
    Object.entries(file).flatMap(([name, value]) =>
      typeof value === 'object' && 'text' in value ? [{ name, text: value.text }] : []
    )
)

t.test('every document fits the schema', async (t) => {
  for (const { name, text } of documents)
    t.strictSame(
      validate(schema, parse(text)).map(({ message }) => message),
      [],
      name
    )
})

t.test('no document has more aliases than the server allows', async (t) => {
  for (const { name, text } of documents) {
    let count = 0
    visit(parse(text), {
      Field(field) {
        if (field.alias) count += 1
      }
    })
    t.ok(count <= limits.graphqlMaxAliases, `${name} has ${count}`)
  }
})

t.test('every operation has a name, which logs contain', async (t) => {
  for (const { name, text } of documents) t.match(text, /\b(query|mutation) \w/, name)
})

t.test('every document is used', async (t) => {
  const folder = packagePath('web/src')
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('queries.ts'))
    .map((path) => readFileSync(`${folder}/${path}`, 'utf8'))
  for (const { name } of documents)
    t.ok(
      sources.some((source) => new RegExp(`\\b${name}\\b`).test(source)),
      name
    )
})
