/** GET /loads/{id}/events: follows a load for everyone who may see it, until it no longer changes. */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { cancelLoad } from '../shared/catalog/loads/cancel-load.ts'
import { createLoadWatch } from '../shared/catalog/loads/watch-loads.ts'
import type { LoadView } from '../shared/catalog/loads/read-load.ts'
import type { Db } from '../shared/db/database.ts'
import { limits } from '../shared/limits.ts'
import { admin, edge, entity, withLoadBench } from './support/load-bench.ts'
import { withServer, type TestServer } from './support/server.ts'

type Event = { event: string; id: string; load: LoadView }

/** Reads the events of a response as they arrive. */
async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let text = ''
  for await (const part of response.body ?? []) {
    text += Buffer.from(part).toString('utf8')
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = Object.fromEntries(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
      )
      text = text.slice(end + 2)
      if (fields.data !== undefined)
        yield { event: fields.event ?? '', id: fields.id ?? '', load: JSON.parse(fields.data) }
    }
  }
}

async function all(events: AsyncIterable<Event>): Promise<Event[]> {
  const seen: Event[] = []
  for await (const event of events) seen.push(event)
  return seen
}

const open = (
  server: TestServer,
  id: string,
  {
    token = server.token,
    headers = {},
    signal = null
  }: { token?: string; headers?: { [name: string]: string }; signal?: AbortSignal | null } = {}
): Promise<Response> =>
  fetch(`${server.url}/loads/${id}/events`, {
    headers: { authorization: `Bearer ${token}`, connection: 'close', ...headers },
    signal
  })

async function submit(server: TestServer, token = server.token): Promise<string> {
  const { body } = await server.rest({
    method: 'POST',
    url: '/loads',
    body: [entity('a'), edge('a', 'a')].map((record) => JSON.stringify(record)).join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
    token
  })
  return body.id
}

t.test('the events of a load', async (t) => {
  const server = await withServer(t)

  t.test('are what it is now and each change, and end with its end', async (t) => {
    const id = await submit(server)
    const response = await open(server, id)
    t.match(response.headers.get('content-type'), /^text\/event-stream/)
    t.equal(response.headers.get('cache-control'), 'no-store')
    const events: Event[] = []
    for await (const event of eventsOf(response)) {
      events.push(event)
      // Each change waits until the one before has been told, for two may become one event.
      if (events.length === 1)
        await server.db.raw("update load set state = 'applying', applied = 1 where id = ?", [id])
      if (events.length === 2) await server.rest({ method: 'POST', url: `/loads/${id}/cancel` })
    }
    t.match(
      events.map(({ event, load }) => ({ event, state: load.state })),
      [
        { event: 'load', state: 'accepted' },
        { event: 'load', state: 'applying' },
        { event: 'load', state: 'cancelled' }
      ]
    )
    t.strictSame(
      events.at(-1)?.load,
      (await server.rest({ url: `/loads/${id}` })).body,
      'the same JSON as GET'
    )
  })

  t.test('are only the last one after the end, and none for a client that has seen it', async (t) => {
    const id = await submit(server)
    await server.rest({ method: 'POST', url: `/loads/${id}/cancel` })
    const [last, ...others] = await all(eventsOf(await open(server, id)))
    t.match(last, { load: { state: 'cancelled' } })
    t.strictSame(others, [])
    t.equal((await open(server, id, { headers: { 'last-event-id': last?.id ?? '' } })).status, 204)
    t.equal((await open(server, id, { headers: { 'last-event-id': 'another' } })).status, 200)
  })

  t.test('are only for tokens that may see the load', async (t) => {
    const mine = await server.tokenWith(['write'])
    const id = await submit(server, mine)
    t.equal((await open(server, id, { token: await server.tokenWith(['read', 'write']) })).status, 404)
    t.equal((await open(server, id, { token: 'nonsense' })).status, 401)
    t.equal((await open(server, 'nonsense')).status, 404)
    const stop = new AbortController()
    t.equal((await open(server, id, { token: mine, signal: stop.signal })).status, 200)
    stop.abort()
    t.match(await server.rest({ url: `/loads/${id}/events?after=1` }), {
      status: 400,
      body: { field: 'after' }
    })
  })

  t.test('are streamed to a limited number at once; a client that leaves makes room', async (t) => {
    const id = await submit(server)
    const stops = Array.from({ length: limits.loadEventStreamsMaxCount }, () => new AbortController())
    const other = await server.tokenWith(['admin'])
    const own = limits.loadEventStreamsPerTokenMaxCount
    const begin =
      (token: string) =>
      async ({ signal }: AbortController) =>
        (await open(server, id, { signal, token })).body?.getReader().read()
    await Promise.all(stops.slice(0, own).map(begin(server.token)))
    const ownRefused = await open(server, id)
    t.equal(ownRefused.status, 429)
    t.match(await ownRefused.json(), { code: 'RATE_LIMITED', limit: 'loadEventStreamsPerTokenMaxCount' })
    await Promise.all(stops.slice(own).map(begin(other)))
    const refused = await open(server, id)
    t.equal(refused.status, 429)
    t.match(await refused.json(), { code: 'RATE_LIMITED', limit: 'loadEventStreamsMaxCount' })
    stops[0]?.abort()
    let status = 429
    for (let waited = 0; waited < 5_000 && status === 429; waited += 50) {
      await sleep(50)
      const again = await open(server, id, { signal: stops[1]?.signal ?? null })
      status = again.status
    }
    t.equal(status, 200)
    for (const stop of stops) stop.abort()
  })

  t.test('are not held for clients that left before the stream began', async (t) => {
    const own = await withServer(t, { memory: false })
    const id = await submit(own)
    const count = limits.loadEventStreamsPerTokenMaxCount
    let arrived = 0
    let closed = 0
    own.app.server.on('request', (_, response) => {
      arrived += 1
      response.once('close', () => {
        closed += 1
      })
    })
    const lock = await own.db.transaction()
    // The read of the load waits for the lock, and meanwhile the clients leave.
    await lock.raw('lock table load in access exclusive mode')
    const stop = new AbortController()
    const opened = Promise.allSettled(
      Array.from({ length: count }, () => open(own, id, { signal: stop.signal }))
    )
    for (let waited = 0; waited < 10_000 && arrived < count; waited += 20) await sleep(20)
    stop.abort()
    await opened
    for (let waited = 0; waited < 10_000 && closed < count; waited += 20) await sleep(20)
    t.same([arrived, closed], [count, count])
    await lock.commit()
    // Connections to the database are given in order, so this request is answered after all those.
    t.equal((await own.rest({ url: `/loads/${id}` })).status, 200)
    const last = new AbortController()
    t.equal((await open(own, id, { signal: last.signal })).status, 200)
    last.abort()
  })

  t.test('end when the process stops, so that it can', async (t) => {
    const other = await withServer(t)
    const reading = all(eventsOf(await open(other, await submit(other))))
    await sleep(100)
    // Nothing applies the load, so without the end of the stream this would wait for minutes.
    await other.app.close()
    t.match(await reading, [{ load: { state: 'accepted' } }])
  })
})

/** Counts the queries to Postgres. */
function counted(t: Test, db: Db): { questions: () => number } {
  let count = 0
  const listen = (): void => {
    count += 1
  }
  db.on('query', listen)
  t.teardown(() => {
    db.removeListener('query', listen)
  })
  return { questions: () => count }
}

t.test('who follows a load', async (t) => {
  const bench = await withLoadBench(t)
  const pace = { pollMs: 20, heartbeatMs: 150, longestMs: 60_000 }

  t.test('shares one query with all other streams, and there is none after all have left', async (t) => {
    const watch = createLoadWatch(bench.db, pace)
    const load = await bench.load(await bench.submit([entity('a')]))
    const stops = Array.from({ length: 20 }, () => new AbortController())
    const following = stops.map(async ({ signal }) => {
      for await (const state of watch.follow(load, signal)) void state
    })
    await sleep(50)
    const { questions } = counted(t, bench.db)
    const begun = Date.now()
    while (questions() < 3) await sleep(5)
    // Polls are at least pollMs apart, so a query for each follower would be twenty times this many.
    const polls = (Date.now() - begun) / pace.pollMs + 1
    t.ok(questions() <= polls + 1, `${questions()} queries in ${polls} polls for 20 followers`)
    for (const stop of stops) stop.abort()
    await Promise.all(following)
    await sleep(60)
    const afterwards = questions()
    await sleep(150)
    t.equal(questions(), afterwards)
  })

  t.test('is shown a sign of life while nothing changes, and is let go after a time', async (t) => {
    const load = await bench.load(await bench.submit([entity('b')]))
    const states: (string | null)[] = []
    for await (const state of createLoadWatch(bench.db, pace).follow(load, new AbortController().signal)) {
      states.push(state?.state ?? null)
      if (states.length === 3) break
    }
    t.strictSame(states, ['accepted', null, null])
    const brief = createLoadWatch(bench.db, { ...pace, longestMs: 200 })
    // This comes to its end although the load does not.
    for await (const state of brief.follow(load, new AbortController().signal)) void state
  })

  t.test('sees the end even if the database was away meanwhile', async (t) => {
    let isAway = false
    const flaky = new Proxy(bench.db, {
      get: (db, name, receiver) => {
        if (isAway) throw new Error('away')
        return Reflect.get(db, name, receiver)
      }
    })
    const watch = createLoadWatch(flaky, pace)
    const id = await bench.submit([entity('c')])
    const load = await bench.load(id)
    const states: (string | undefined)[] = []
    const following = (async () => {
      for await (const state of watch.follow(load, new AbortController().signal))
        if (state) states.push(state.state)
    })()
    await sleep(50)
    isAway = true
    await sleep(100)
    await cancelLoad(bench.db, admin, id)
    await sleep(100)
    isAway = false
    await following
    t.strictSame(states, ['accepted', 'cancelled'])
  })
})
