/** Every GraphQL document of the UI fits the schema of the API, and asks for nothing that is out of date. */
import { readFileSync, readdirSync } from 'node:fs'
import { buildSchema, NoDeprecatedCustomRule, parse, specifiedRules, validate } from 'graphql'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import * as domains from '../../web/src/api/domain-queries.ts'
import * as lineage from '../../web/src/api/lineage-queries.ts'
import * as loads from '../../web/src/api/load-queries.ts'
import * as general from '../../web/src/api/queries.ts'
import * as tokens from '../../web/src/api/token-queries.ts'

const schema = buildSchema(readFileSync(packagePath('api/graphql/schema.graphql'), 'utf8'))
const modules = {
  'queries.ts': general,
  'domain-queries.ts': domains,
  'lineage-queries.ts': lineage,
  'load-queries.ts': loads,
  'token-queries.ts': tokens
}

const isDocument = (value: unknown): value is { text: string } =>
  typeof value === 'object' && value !== null && 'text' in value && typeof value.text === 'string'

t.test('each document is valid', async (t) => {
  for (const [name, module] of Object.entries(modules))
    for (const [key, value] of Object.entries(module)) {
      if (!isDocument(value)) continue
      const errors = validate(schema, parse(value.text), [...specifiedRules, NoDeprecatedCustomRule])
      t.strictSame(
        errors.map(({ message }) => message),
        [],
        `${name}: ${key}`
      )
    }
})

t.test('no file of documents is left out here', async (t) => {
  const files = readdirSync(packagePath('web/src/api')).filter((name) => name.endsWith('queries.ts'))
  t.strictSame(files.sort(), Object.keys(modules).sort())
})
