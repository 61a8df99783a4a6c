/**
 * The committed schema is the result of the migrations, so that a review sees what a migration really
 * changes.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { packagePath } from '../../shared/platform/paths.ts'
import { withDatabase } from '../support/database.ts'
import { dumpSchema } from '../support/schema-dump.ts'

const schemaFile = packagePath('migrations/schema.sql')
const head = `-- The schema that the migrations make: for reading, and compared by a test. Written by
-- WRITE_SCHEMA=1 npm test -- test/rules/schema-dump.test.ts

`

t.test('the migrations make the schema of migrations/schema.sql', async (t) => {
  const { db } = await withDatabase(t)
  const schema = head + (await dumpSchema(db))
  if (process.env.WRITE_SCHEMA === '1') writeFileSync(schemaFile, schema)
  t.equal(readFileSync(schemaFile, 'utf8'), schema)
})

t.test('every constraint and index is named after its table, columns and kind', async (t) => {
  const names = [
    ...readFileSync(schemaFile, 'utf8').matchAll(/^(?:  constraint|CREATE (?:UNIQUE )?INDEX) (\w+)/gm)
  ].map(([, name = '']) => name)
  t.ok(names.length > 20)
  t.same(
    names.filter((name) => !/_(pkey|key|idx|fkey|check)$/.test(name)),
    []
  )
})
