/** Which OpenLineage events are refused, and how the answer names the mistake. */
import t from 'tap'
import { query } from '../shared/db/query.ts'
import type { JsonObject } from '../shared/model/changes.ts'
import { valueAt } from './support/json-answer.ts'
import { eventAt, facet } from './support/openlineage.ts'
import { withServer } from './support/server.ts'

const data = (name: string, facets: JsonObject = {}): JsonObject => ({
  namespace: 'postgres://db:5432',
  name,
  facets
})
const jobOf = (facets: JsonObject = {}): JsonObject => ({ namespace: 'nightly', name: 'etl.load', facets })
const run = (): JsonObject => ({ runId: '11111111-1111-1111-1111-111111111111', facets: {} })

t.test('an invalid event is refused with the place of the mistake, and changes nothing', async (t) => {
  const server = await withServer(t)
  const good = eventAt(0, { job: jobOf() })
  const long = 'x'.repeat(2_000)
  const wrong: readonly (readonly [body: unknown, field: string | undefined])[] = [
    [[], undefined],
    ['text', undefined],
    [{}, 'eventTime'],
    [{ ...good, eventTime: 'yesterday' }, 'eventTime'],
    [{ ...good, eventTime: 7 }, 'eventTime'],
    [{ ...good, job: undefined }, 'job'],
    [{ ...good, job: 'x' }, 'job'],
    [{ ...good, job: { namespace: 'a' } }, 'job.name'],
    [{ ...good, job: { namespace: ' ', name: 'a' } }, 'job.namespace'],
    [{ ...good, run: {} }, 'run.runId'],
    [{ ...good, job: undefined, run: run() }, 'job'],
    [{ ...good, eventTime: '2026-02-30T00:00:00Z' }, 'eventTime'],
    [{ ...good, job: { namespace: 'a', name: long } }, 'job'],
    [{ ...good, run: { runId: long } }, 'run.runId'],
    [{ ...good, job: { namespace: 'a', name: 'x\u0000' } }, 'job.name'],
    [{ ...good, run: { runId: '\ud800' } }, 'run.runId'],
    [{ eventTime: good.eventTime ?? null, dataset: data(long) }, 'dataset'],
    [{ eventTime: good.eventTime ?? null, dataset: { name: 'x' } }, 'dataset.namespace']
  ]
  for (const [body, field] of wrong) {
    const answer = await server.rest({ method: 'POST', url: '/api/v1/lineage', body })
    t.match(
      answer,
      { status: 400, body: field === undefined ? {} : { field } },
      JSON.stringify(body).slice(0, 80)
    )
  }
  const { body: list } = await server.rest({ method: 'POST', url: '/api/v1/lineage', body: [good] })
  t.match(list, { message: 'The event must be an object, not a list of events' })
  t.notOk(valueAt(list, 'field'), 'there is no field to name')
  const [left] = await query<{ count: number }>(
    server.db,
    'select (select count(*)::int from openlineage_event) + (select count(*)::int from openlineage_state) + (select count(*)::int from entity where is_present) as count'
  )
  t.equal(left?.count, 0)

  await t.test('in a batch the others are applied', async (t) => {
    const body = [good, { eventTime: 'no' }, eventAt(1, { job: { namespace: 'nightly', name: 'second' } })]
    t.match(await server.rest({ method: 'POST', url: '/api/v1/lineage/batch', body }), {
      status: 200,
      body: {
        status: 'partial_success',
        summary: { received: 3, successful: 2, failed: 1, retriable: 0, non_retriable: 1 },
        failed_events: [{ index: 1, retriable: false, reason: /events\[1\]\.eventTime/ }]
      }
    })
    t.match(await server.rest({ method: 'POST', url: '/api/v1/lineage/batch', body: good }), { status: 400 })
    t.match((await server.rest({ method: 'POST', url: '/api/v1/lineage/batch', body: [] })).body, {
      status: 'success',
      summary: { received: 0 }
    })
  })

  await t.test('events without a token that may write are refused', async (t) => {
    const send = async (token: string | null) =>
      (await server.rest({ method: 'POST', url: '/api/v1/lineage', body: good, token })).status
    t.strictSame([await send(null), await send(await server.tokenWith(['read']))], [401, 403])
  })

  await t.test('an event that is too large is refused', async (t) => {
    const body = { ...good, job: jobOf({ sql: facet({ query: 'x'.repeat(17 * 1024 * 1024) }) }) }
    t.match(await server.rest({ method: 'POST', url: '/api/v1/lineage', body }), {
      status: 413,
      body: { limit: 'openLineageEventMaxBytes' }
    })
  })
})
