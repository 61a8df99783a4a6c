/** OpenLineage over HTTP: events of real producers, one by one, in batches, packed, twice and in any order, give the same graph. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { query } from '../shared/db/query.ts'
import { packageRoot } from '../shared/platform/paths.ts'
import { skipUnless } from './support/skip.ts'
import { contentFrom } from './support/openlineage.ts'
import { withServer, type TestServer } from './support/server.ts'

const names = ['CLL', 'simple_run_event', 'spark_dataproc_bigquery_shakespare'] as const

const eventsOf = (folder: string, name: string): unknown[] =>
  readdirSync(join(folder, 'openlineage', name))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, 'openlineage', name, file), 'utf8')))

type Counts = { datasets: number; jobs: number; jobEdges: number; columnEdges: number }

/** The counts of the scenarios' own description. */
const expected: { [name in (typeof names)[number]]: Counts } = {
  CLL: { datasets: 3, jobs: 4, jobEdges: 5, columnEdges: 10 },
  simple_run_event: { datasets: 2, jobs: 1, jobEdges: 2, columnEdges: 0 },
  spark_dataproc_bigquery_shakespare: { datasets: 2, jobs: 3, jobEdges: 3, columnEdges: 4 }
}

async function countsOf({ db }: TestServer): Promise<Counts> {
  const [counts] = await query<Counts>(
    db,
    `
    select
      (select count(*)::int from entity where entity_type = 'dataset' and is_present) as datasets,
      (select count(*)::int from entity where entity_type = 'dataJob' and is_present) as jobs,
      (select count(distinct (upstream_id, downstream_id))::int from statement where field in (33, 35)) as "jobEdges",
      (select count(distinct (upstream_id, downstream_id))::int from statement where field = 38) as "columnEdges"`
  )
  if (!counts) throw new Error('no counts')
  return counts
}

const post = (server: TestServer, body: unknown, path = '/api/v1/lineage') =>
  server.rest({ method: 'POST', url: path, body })

async function sendEach(t: Test, server: TestServer, events: readonly unknown[]): Promise<void> {
  for (const event of events) {
    const { status, text } = await post(server, event)
    t.equal(status, 201, text)
  }
}

t.test('real events', async (t) => {
  const folder = process.env.TRIBUTARY_TEST_DATA ?? join(packageRoot, '..', 'shared', 'data')
  if (skipUnless(t, existsSync(folder), 'no folder of real data: set TRIBUTARY_TEST_DATA')) return
  for (const name of names) {
    await t.test(name, async (t) => {
      const events = eventsOf(folder, name)
      const one = await withServer(t)
      await sendEach(t, one, events)
      t.strictSame(await countsOf(one), expected[name])
      const content = await contentFrom(one.db)
      await sendEach(t, one, events)
      t.strictSame(await contentFrom(one.db), content, 'sent again they change nothing')

      const batch = await withServer(t)
      const answer = await post(batch, [...events].reverse(), '/api/v1/lineage/batch')
      t.match(answer, {
        status: 200,
        body: { status: 'success', summary: { received: events.length, failed: 0 }, failed_events: [] }
      })
      t.strictSame(await contentFrom(batch.db), content, 'a batch in reverse says the same')

      const single = await withServer(t)
      for (const event of [...events].reverse()) {
        const { statusCode } = await single.app.inject({
          method: 'POST',
          url: '/openapi/openlineage/api/v1/lineage',
          headers: {
            authorization: `Bearer ${single.token}`,
            'content-type': 'application/json',
            'content-encoding': 'gzip'
          },
          payload: gzipSync(JSON.stringify(event))
        })
        t.equal(statusCode, 201)
      }
      t.strictSame(await contentFrom(single.db), content, 'packed, and the newest first')
    })
  }
})
