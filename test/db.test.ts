/** The way to Postgres: schema, transactions, lost connections, what errors mean. */
import t from 'tap'
import { migrate } from '../shared/db/migrate.ts'
import { withDatabase } from './support/database.ts'

t.test('a cloned database is migrated', async t => {
  const { db } = await withDatabase(t)
  t.same(await migrate(db), [])
})
