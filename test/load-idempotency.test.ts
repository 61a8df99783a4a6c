/**
 * Sending a load again with its Idempotency-Key: the answer, that nothing is stored, and deaths of processes
 * in between.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { cancelLoad } from '../shared/catalog/loads/cancel-load.ts'
import { readRecords } from '../shared/catalog/loads/chunk-records.ts'
import { receiveLoad } from '../shared/catalog/loads/receive-load.ts'
import { submitChanges } from '../shared/catalog/loads/submit-changes.ts'
import { CatalogError } from '../shared/errors.ts'
import { limits } from '../shared/limits.ts'
import { admin, dataset, edge, entity, withLoadBench, type LoadBench } from './support/load-bench.ts'
import { withServer } from './support/server.ts'
import { changedTables, createTableChecksums } from './support/table-checksums.ts'

const ndjson = { 'content-type': 'application/x-ndjson' }
const linesOf = (...records: unknown[]): string => records.map((record) => JSON.stringify(record)).join('\n')

t.test('a load that is sent again under its key', async (t) => {
  const server = await withServer(t, { withWorker: true })
  const post = (
    key: string | null,
    body: string | Buffer,
    {
      query = '',
      headers = {},
      token
    }: { query?: string; headers?: { [name: string]: string }; token?: string } = {}
  ) =>
    server.rest({
      method: 'POST',
      url: `/loads?wait=20${query}`,
      body,
      headers: { ...ndjson, ...(key === null ? {} : { 'idempotency-key': key }), ...headers },
      ...(token === undefined ? {} : { token })
    })
  const body = linesOf(entity('a'), entity('b'), edge('a', 'b'))
  const first = await post('night-1', body)
  const checksums = await createTableChecksums(server.db)

  t.test('is the same load as it is now, and nothing is stored', async (t) => {
    t.match(first, {
      status: 200,
      body: { state: 'done', idempotencyKey: 'night-1', counts: { applied: 3 } }
    })
    t.equal(first.headers['idempotency-replayed'], undefined)
    const before = await checksums()
    for (const again of [
      await post('night-1', body),
      await post('night-1', gzipSync(body), { headers: { 'content-encoding': 'gzip' } })
    ]) {
      t.strictSame(again.body, first.body)
      t.equal(again.status, 200)
      t.equal(again.headers['idempotency-replayed'], 'true')
    }
    t.strictSame(changedTables(before, await checksums()), [])
  })

  t.test('is refused with another body or other parameters, and nothing is stored', async (t) => {
    const before = await checksums()
    for (const answer of [
      await post('night-1', `${body}\n${JSON.stringify(entity('c'))}`),
      await post('night-1', linesOf(entity('a'))),
      await post('night-1', '')
    ]) {
      t.match(answer, { status: 422, body: { code: 'IDEMPOTENCY_MISMATCH', field: 'Idempotency-Key' } })
    }
    t.match(await post('night-1', body, { query: '&source=other' }), {
      status: 422,
      body: { code: 'IDEMPOTENCY_MISMATCH', field: 'source' }
    })
    t.match(await post('night-1', body, { query: '&missingReferences=create' }), {
      status: 422,
      body: { code: 'IDEMPOTENCY_MISMATCH', field: 'missingReferences' }
    })
    t.match(await post('night-1', body, { query: '&format=mcp' }), {
      status: 422,
      body: { code: 'IDEMPOTENCY_MISMATCH', field: 'format' }
    })
    t.strictSame(changedTables(before, await checksums()), [])
  })

  for (const [name, code, table] of [
    ['a full disk', '53100', 'chunk'],
    ['a quota of the disk', 'XX000', 'chunk'],
    ['no memory', '53200', 'chunk'],
    ['a standby that took over', '25006', 'chunk'],
    ['a full disk at its end', '53100', 'load']
  ] as const)
    t.test(`is taken up at once after a refusal for ${name}, which is 503 with Retry-After`, async (t) => {
      const key = `refused-${code}-${table}`
      await server.db.raw(`
        create function refuse() returns trigger language plpgsql as $$
        begin
          if tg_op = 'INSERT' and tg_table_name = 'load' then return new; end if;
          raise exception 'could not extend file: Disk quota exceeded' using errcode = '${code}';
        end $$`)
      await server.db.raw(
        `create trigger refuse before insert or update on ${table} for each row execute function refuse()`
      )
      await server.db.raw(
        `create trigger refuse_end before update on load for each row when (new.state = 'aborted') execute function refuse()`
      )
      const refused = await post(key, body)
      t.match(refused, { status: 503, body: { code: 'UNAVAILABLE' } })
      t.ok(Number(refused.headers['retry-after']) > 0)
      await server.db.raw('drop function refuse() cascade')
      t.match(await post(key, body), { status: 200, body: { state: 'done', idempotencyKey: key } })
    })

  t.test('is another load without the key, and under the same key of another token', async (t) => {
    const ids = [
      first,
      await post(null, body),
      await post('night-1', body, { token: await server.tokenWith(['write']) })
    ].map((answer) => answer.body.id)
    t.equal(new Set(ids).size, 3)
  })

  t.test('needs a key that is one', async (t) => {
    for (const key of ['', ' ', 'two words', 'ümlaut'])
      t.match(
        await post(key, body),
        { status: 400, body: { code: 'BAD_REQUEST', field: 'Idempotency-Key' } },
        `"${key}"`
      )
    t.equal((await post('k'.repeat(limits.idempotencyKeyMaxChars), body)).status, 200)
    t.match(await post('k'.repeat(limits.idempotencyKeyMaxChars + 1), body), {
      status: 400,
      body: { code: 'LIMIT_EXCEEDED', limit: 'idempotencyKeyMaxChars' }
    })
  })

  t.test('is answered also while new loads are refused: it adds nothing to what waits', async (t) => {
    const waiting = '00000000-0000-4000-8000-000000000009'
    await server.db.raw(
      `insert into load (id, state, format, mode, source, missing_references, actor, scopes, seq) values ('${waiting}', 'accepted', 'ndjson', 'merge', 's', 'reject', 'a', '{}', 1)`
    )
    await server.db.raw(
      `insert into chunk (load_id, pass, first_line, record_count, next_at) values ('${waiting}', 1, 1, ${limits.waitingRecordsMaxCount}, now() + interval '1 hour')`
    )
    t.match(await post('night-2', body), { status: 503, body: { code: 'OVERLOADED' } })
    t.match(await post('night-1', body), { status: 200, body: { id: first.body.id } })
    await server.db.raw(`delete from load where id = '${waiting}'`)
  })

  t.test('also over GraphQL, including domains whose ids are generated', async (t) => {
    const submit = (name: string) =>
      server.graphql(
        'mutation ($input: SubmitChangesInput!) { submitChanges(input: $input) { id idempotencyKey atomic dryRun counts { received } } }',
        { input: { createDomains: [{ name }, { name: 'Other' }], idempotencyKey: 'graphql-1' } }
      )
    const sent = (await submit('Sales')).body.data.submitChanges
    t.match(sent, { idempotencyKey: 'graphql-1', atomic: false, dryRun: false, counts: { received: 2 } })
    t.strictSame((await submit('Sales')).body.data.submitChanges.id, sent.id)
    t.match((await submit('Marketing')).body.errors[0].extensions, { reason: 'IDEMPOTENCY_MISMATCH' })
  })
})

t.test('under a key', async (t) => {
  const bench = await withLoadBench(t)
  const request = (idempotencyKey: string) =>
    ({
      actor: admin,
      requestId: null,
      format: 'ndjson',
      source: 'test',
      missingReferences: 'reject',
      idempotencyKey
    }) as const
  const line = (name: string): Buffer => Buffer.from(`${JSON.stringify(entity(name))}\n`)
  async function* whole(...names: string[]): AsyncGenerator<Buffer> {
    for (const name of names) yield line(name)
  }
  /** Sends one line, and then continues or breaks off on demand. */
  function paused(name: string): { body: AsyncGenerator<Buffer>; goOn: () => void; breakOff: () => void } {
    let goOn = (): void => {}
    let breakOff = (): void => {}
    const told = new Promise<void>((resolve, reject) => {
      goOn = resolve
      breakOff = () => reject(new CatalogError('BAD_REQUEST', 'The upload was cut off'))
    })
    told.catch(() => {})
    async function* body(): AsyncGenerator<Buffer> {
      yield line(name)
      yield line(`${name}2`)
      await told
    }
    return { body: body(), goOn: () => goOn(), breakOff: () => breakOff() }
  }
  const loadsUnder = (key: string) =>
    bench.rows<{ id: string; state: string }>(
      'select id, state from load where idempotency_key = ? order by created_at',
      [key]
    )
  async function untilReceiving(key: string): Promise<void> {
    while ((await loadsUnder(key)).length === 0) await sleep(5)
  }

  t.test('one load is received at a time: the other is told to retry, and then finds it done', async (t) => {
    const { body, goOn } = paused('one')
    const first = receiveLoad(bench.db, bench.queue, request('one'), body)
    await untilReceiving('one')
    await t.rejects(receiveLoad(bench.db, bench.queue, request('one'), whole('one', 'one2')), {
      code: 'CONFLICT',
      details: { retryAfterSeconds: 5 }
    })
    goOn()
    const { id } = await first
    t.strictSame(await receiveLoad(bench.db, bench.queue, request('one'), whole('one', 'one2')), {
      id,
      isReplay: true
    })
  })

  t.test('when ten come at once, exactly one is received', async (t) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => receiveLoad(bench.db, bench.queue, request('ten'), whole('ten')))
    )
    const ids = new Set(
      outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.id] : []))
    )
    t.equal(ids.size, 1)
    t.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled' && !outcome.value.isReplay).length, 1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') t.match(outcome.reason, { code: 'CONFLICT' })
    t.equal((await loadsUnder('ten')).length, 1)
  })

  t.test('an upload that was cut off gives the key back', async (t) => {
    const { body, breakOff } = paused('cut')
    const first = receiveLoad(bench.db, bench.queue, request('cut'), body)
    first.catch(() => {})
    await untilReceiving('cut')
    breakOff()
    await t.rejects(first, { code: 'BAD_REQUEST' })
    t.match(await receiveLoad(bench.db, bench.queue, request('cut'), whole('something', 'else')), {
      isReplay: false
    })
    t.match(await loadsUnder('cut'), [{ state: 'aborted' }, { state: 'accepted' }])
  })

  t.test('and so does one that was cancelled before its end; one that was whole keeps it', async (t) => {
    const { body, goOn } = paused('cancelled')
    const first = receiveLoad(bench.db, bench.queue, request('cancelled'), body)
    first.catch(() => {})
    await untilReceiving('cancelled')
    const [early] = await loadsUnder('cancelled')
    await cancelLoad(bench.db, admin, early?.id ?? '')
    goOn()
    await t.rejects(first, { code: 'CONFLICT', message: /cancelled/ })
    const second = await receiveLoad(bench.db, bench.queue, request('cancelled'), whole('again'))
    await cancelLoad(bench.db, admin, second.id)
    t.strictSame(await receiveLoad(bench.db, bench.queue, request('cancelled'), whole('again')), {
      id: second.id,
      isReplay: true
    })
    t.match(await bench.load(second.id), { state: 'cancelled' })
  })

  /** An upload whose process died: only its row remains. */
  async function leftBehind(bench: LoadBench, key: string, silentSeconds: number): Promise<string> {
    const { id } = await receiveLoad(bench.db, bench.queue, request(key), whole(key))
    bench.told.length = 0
    await bench.rows(
      "update load set state = 'receiving', seq = null, remaining = 0, body_ended_at = null, body_digest = null, touched_at = now() - ?::int * interval '1 second' where id = ?::uuid",
      [silentSeconds, id]
    )
    return id
  }

  t.test(
    'an upload whose process died is waited for as long as it may be silent, and no longer',
    async (t) => {
      const alive = await leftBehind(bench, 'alive', limits.uploadSilentMaxSeconds - 5)
      await t.rejects(receiveLoad(bench.db, bench.queue, request('alive'), whole('alive')), {
        code: 'CONFLICT'
      })
      t.equal((await bench.load(alive)).state, 'receiving')
      const dead = await leftBehind(bench, 'dead', limits.uploadSilentMaxSeconds + 5)
      t.match(await receiveLoad(bench.db, bench.queue, request('dead'), whole('dead')), { isReplay: false })
      t.match(await bench.load(dead), { state: 'aborted' })
      t.strictSame(await bench.chunks(dead), [])
    }
  )

  t.test(
    'a load whose process died between the end of the body and the answer is accepted when it is sent again',
    async (t) => {
      const { id } = await receiveLoad(bench.db, bench.queue, request('unanswered'), whole('unanswered'))
      bench.told.length = 0
      await bench.rows("update load set state = 'receiving', seq = null, remaining = 0 where id = ?::uuid", [
        id
      ])
      t.strictSame(await receiveLoad(bench.db, bench.queue, request('unanswered'), whole('unanswered')), {
        id,
        isReplay: true
      })
      t.equal((await bench.load(id)).state, 'accepted')
      t.equal(bench.told.length, 1, 'and a worker is told')
    }
  )

  t.test('an upload that waits for its client says that it is alive', async (t) => {
    const { body, goOn } = paused('slow')
    const first = receiveLoad(bench.db, bench.queue, request('slow'), body)
    await untilReceiving('slow')
    await bench.rows(
      "update load set touched_at = now() - interval '50 seconds' where idempotency_key = 'slow'"
    )
    const silentFor = async () =>
      (
        await bench.rows<{ seconds: number }>(
          "select extract(epoch from now() - touched_at)::float8 as seconds from load where idempotency_key = 'slow'"
        )
      )[0]?.seconds ?? 0
    for (let waited = 0; waited < 15_000 && (await silentFor()) > 30; waited += 100) await sleep(100)
    t.ok((await silentFor()) < 30)
    goOn()
    await first
  })
})

t.test(
  'domains that a call under a key creates have the same ids each time, and other ids under another key',
  async (t) => {
    const bench = await withLoadBench(t)
    const submit = (idempotencyKey: string) =>
      submitChanges(
        bench.db,
        bench.queue,
        {
          createDomains: [{ name: 'A' }, { name: 'B' }],
          edgesToAdd: [{ upstreamUrn: dataset('x'), downstreamUrn: dataset('y') }],
          idempotencyKey
        },
        { actor: admin, requestId: null, missingReferences: 'reject' }
      )
    const first = await submit('k1')
    t.equal((await submit('k1')).id, first.id)
    await submit('k2')
    const texts = await bench.rows<{ id: number }>('select id from chunk')
    const ids: string[] = []
    for (const { id } of texts)
      ids.push(...((await payloadText(bench, id)).match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? []))
    t.equal(new Set(ids).size, 4)
  }
)

async function payloadText(bench: LoadBench, chunkId: number): Promise<string> {
  return (await readRecords(bench.db, await bench.payload(chunkId))).map((record) => record.text).join('\n')
}
