/** The epoch distinguishes the runs of a database, even if the rows are equal. */
import t from 'tap'
import { ensureEpoch, isWithoutEpoch, readEpoch } from '../shared/store/graph-changes.ts'
import type { Db } from '../shared/db/database.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { query } from '../shared/db/query.ts'
import {
  connectTestDatabase,
  dropDatabase,
  runOnServer,
  urlOfDatabase,
  withDatabase
} from './support/database.ts'

const urlName = (url: string): string => new URL(url).pathname.slice(1)
const epochOf = (db: Db): Promise<string> => inTransaction(db, readEpoch)

t.test('the epoch of a database', async (t) => {
  const { db, url } = await withDatabase(t)
  await ensureEpoch(db)
  const first = await epochOf(db)
  const rows = await query<{ epoch: string }>(db, 'select epoch::text from graph_epoch')

  await t.test('stays while nothing happens to it', async (t) => {
    await ensureEpoch(db)
    t.equal(await epochOf(db), first)
    t.notOk(isWithoutEpoch(first))
  })

  await t.test('is another in a clone, which has the same rows', async (t) => {
    // A database must have no connections while it is cloned.
    await db.destroy()
    const name = urlName(url)
    const clone = `${name}_clone`
    await runOnServer(urlOfDatabase(url, 'postgres'), `create database ${clone} template ${name}`)
    const cloned = connectTestDatabase(urlOfDatabase(url, clone))
    try {
      t.same(await query(cloned, 'select epoch::text from graph_epoch'), rows)
      t.not(await epochOf(cloned), first)
    } finally {
      await cloned.destroy()
      await dropDatabase(urlOfDatabase(url, 'postgres'), clone)
    }
  })

  await t.test('is a different one if the table was restored with its row', async (t) => {
    const restored = connectTestDatabase(url)
    try {
      t.equal(await epochOf(restored), first)
      await restored.transaction(async (tx) => {
        await query(tx, 'create unlogged table restored (like graph_epoch including all)')
        await query(tx, 'insert into restored select * from graph_epoch')
        await query(tx, 'drop table graph_epoch')
        await query(tx, 'alter table restored rename to graph_epoch')
      })
      t.same(await query(restored, 'select epoch::text from graph_epoch'), rows)
      t.not(await epochOf(restored), first)
    } finally {
      await restored.destroy()
    }
  })

  await t.test('is absent if recovery has emptied the table', async (t) => {
    const crashed = connectTestDatabase(url)
    try {
      await query(crashed, 'delete from graph_epoch')
      t.ok(isWithoutEpoch(await epochOf(crashed)))
    } finally {
      await crashed.destroy()
    }
  })
})
