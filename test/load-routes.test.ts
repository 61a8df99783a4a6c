/** The HTTP routes of loads: refusals, answers, and who may see what. */
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import * as zlib from 'node:zlib'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { readBody, uploadPace, type UploadPace } from '../api/loads/read-body.ts'
import { CatalogError } from '../shared/errors.ts'
import { openRecords } from '../shared/formats/read-records.ts'
import { watchLiveMemory } from './support/live-memory.ts'
import { dataset, edge, entity } from './support/load-bench.ts'
import { withServer, type TestServer } from './support/server.ts'

const lines = (...records: unknown[]): string =>
  records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record))).join('\n')
const ndjson = { 'content-type': 'application/x-ndjson' }

const withLoadServer = (t: Test): Promise<TestServer> => withServer(t, { withWorker: true })

t.test('POST /loads', async (t) => {
  const server = await withLoadServer(t)
  const post = (url: string, body: string | Buffer, headers: { [name: string]: string } = ndjson) =>
    server.rest({ method: 'POST', url, body, headers })

  t.test('answers 202 at once, and 200 with wait when the load has ended', async (t) => {
    const { status, body, headers } = await post('/loads', lines(entity('a')))
    t.equal(status, 202)
    t.equal(headers.location, `/loads/${body.id}`)
    t.match(body, {
      state: /accepted|applying|done/,
      format: 'ndjson',
      mode: 'merge',
      source: 'load',
      counts: { received: 1 },
      error: null,
      createdAt: Number
    })
    const waited = await post('/loads?wait=20&source=dbt', lines(entity('a'), edge('a', 'a')))
    t.equal(waited.status, 200)
    t.match(waited.body, {
      state: 'done',
      source: 'dbt',
      counts: { received: 2, applied: 1, unchanged: 1, rejected: 0 },
      finishedAt: Number
    })
    t.match((await server.rest({ url: `/loads/${body.id}?wait=20` })).body, { id: body.id, state: 'done' })
  })

  t.test('reads gzip, and proposals as an array or in lines', async (t) => {
    t.match(
      (await post('/loads?wait=20', gzipSync(lines(entity('z'))), { ...ndjson, 'content-encoding': 'gzip' }))
        .body,
      { counts: { applied: 1 } }
    )
    const proposal = {
      entityType: 'dataset',
      entityUrn: dataset('m'),
      changeType: 'UPSERT',
      aspectName: 'datasetProperties',
      aspect: { value: '{"name":"m"}', contentType: 'application/json' }
    }
    const pretty = JSON.stringify([proposal, { ...proposal, entityUrn: dataset('n') }], null, 2)
    t.match((await post('/loads?wait=20', pretty, { 'content-type': 'application/json' })).body, {
      format: 'mcp',
      state: 'done',
      counts: { received: 2, applied: 2 }
    })
    t.match((await post('/loads?wait=20&format=mcp', lines(proposal), ndjson)).body, {
      counts: { received: 1, unchanged: 1 }
    })
    const cutOff = await post('/loads', pretty.slice(0, -2), { 'content-type': 'application/json' })
    t.equal(cutOff.status, 400)
  })

  t.test('makes placeholders when asked to, by parameter or header', async (t) => {
    const url = (name: string, more = ''): string => `/loads?wait=20&source=${name}${more}`
    t.match((await post(url('a'), lines(edge('gone1', 'gone2')))).body, { counts: { rejected: 1 } })
    t.match((await post(url('b', '&missingReferences=create'), lines(edge('gone1', 'gone2')))).body, {
      counts: { applied: 1 }
    })
    t.match(
      (await post(url('c'), lines(edge('gone3', 'gone4')), { ...ndjson, 'x-missing-references': 'create' }))
        .body,
      { counts: { applied: 1 } }
    )
  })

  t.test('refuses what it does not have, by name', async (t) => {
    for (const [query, code, field] of [
      ['mode=replace', 'UNSUPPORTED', 'mode'],
      ['mode=snapshot', 'BAD_REQUEST', 'source'],
      ['mode=snapshot&source=manual', 'BAD_REQUEST', 'source'],
      ['mode=snapshot&source=proposal', 'BAD_REQUEST', 'source'],
      ['force=true&source=x', 'BAD_REQUEST', 'force'],
      ['mode=snapshot&source=x&force=yes', 'BAD_REQUEST', 'force'],
      ['format=avro', 'UNSUPPORTED', 'format'],
      ['wait=x', 'BAD_REQUEST', 'wait'],
      ['wait=26', 'LIMIT_EXCEEDED', 'wait'],
      ['missingReferences=maybe', 'BAD_REQUEST', 'missingReferences'],
      ['sorce=x', 'BAD_REQUEST', 'sorce'],
      ['source=a&source=b', 'BAD_REQUEST', 'source'],
      ['source=%20', 'BAD_REQUEST', 'source'],
      [`source=${'s'.repeat(256)}`, 'LIMIT_EXCEEDED', 'source']
    ] as const) {
      const { status, body } = await post(`/loads?${query}`, lines(entity('a')))
      t.equal(status, 400, query)
      t.match(body, { code, field }, query)
    }
    t.equal((await post('/loads', lines(entity('a')), { 'content-type': 'application/xml' })).status, 415)
    t.equal((await post('/loads', lines(entity('a')), { ...ndjson, 'content-encoding': 'br' })).status, 415)
    t.match((await post('/loads', '')).body, { code: 'BAD_REQUEST' })
  })

  t.test('refuses a load while too much waits, and stores nothing', async (t) => {
    await server.db.raw(
      `insert into load (id, state, format, mode, source, missing_references, actor, scopes, seq) values ('00000000-0000-4000-8000-000000000009', 'accepted', 'ndjson', 'merge', 's', 'reject', 'a', '{}', 1)`
    )
    await server.db.raw(
      `insert into chunk (load_id, pass, first_line, record_count, next_at) values ('00000000-0000-4000-8000-000000000009', 1, 1, 30000000, now() + interval '1 hour')`
    )
    const before = await server.db.raw('select count(*) as loads from load')
    const { status, body, headers } = await post('/loads', lines(entity('a')))
    t.equal(status, 503)
    t.match(body, { code: 'OVERLOADED', limit: 'waitingRecordsMaxCount' })
    t.ok(Number(headers['retry-after']) > 0)
    t.same((await server.db.raw('select count(*) as loads from load')).rows, before.rows)
    await server.db.raw(`delete from load where id = '00000000-0000-4000-8000-000000000009'`)
  })
})

t.test('a load', async (t) => {
  const server = await withLoadServer(t)
  const submit = async (body: string, token = server.token, more = ''): Promise<string> =>
    (await server.rest({ method: 'POST', url: `/loads?wait=20${more}`, body, headers: ndjson, token })).body
      .id

  t.test('shows its rejects in line order, a page at a time', async (t) => {
    const id = await submit(lines(...Array.from({ length: 450 }, (_, index) => `bad ${index}`), entity('a')))
    const read = async (query: string): Promise<{ line: number }[]> =>
      (await server.rest({ url: `/loads/${id}/rejects${query}` })).text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    const all = await read('')
    t.same(
      all.map((reject) => reject.line),
      Array.from({ length: 450 }, (_, index) => index + 1)
    )
    t.match(all[0], { line: 1, code: 'BAD_REQUEST', message: String, field: null, record: 'bad 0' })
    t.same(
      (await read('?after=10&limit=2')).map((reject) => reject.line),
      [11, 12]
    )
    t.equal((await server.rest({ url: `/loads/${id}/rejects?limit=0` })).status, 400)
    t.match((await server.rest({ url: `/loads/${id}/rejects?limit=10001` })).body, {
      code: 'LIMIT_EXCEEDED',
      limit: 'pageMaxCount'
    })
    const { headers } = await server.rest({ url: `/loads/${id}/rejects` })
    t.match(headers['content-type'], /^application\/x-ndjson/)
  })

  t.test(
    'is visible to and controlled by the token that sent it and administrators; for others it does not exist',
    async (t) => {
      const mine = await server.tokenWith(['write'])
      const other = await server.tokenWith(['write'])
      const reader = await server.tokenWith(['read'])
      const id = await submit(lines(entity('a'), 'x'), mine)
      for (const token of [mine, server.token])
        t.equal((await server.rest({ url: `/loads/${id}`, token })).status, 200)
      for (const url of [`/loads/${id}`, `/loads/${id}/rejects`, '/loads/nonsense'])
        t.match((await server.rest({ url, token: other })).body, { code: 'NOT_FOUND' })
      for (const verb of ['retry', 'cancel']) {
        t.equal(
          (await server.rest({ method: 'POST', url: `/loads/${id}/${verb}`, token: other })).status,
          404
        )
        t.equal((await server.rest({ method: 'POST', url: `/loads/${id}/${verb}`, token: mine })).status, 409)
        t.equal(
          (await server.rest({ method: 'POST', url: `/loads/${id}/${verb}`, token: reader })).status,
          403
        )
      }
      t.same((await server.rest({ url: '/loads', token: other })).body, { loads: [], nextCursor: null })
      t.match((await server.rest({ url: '/loads', token: mine })).body.loads, [{ id }])
      t.equal(
        (
          await server.rest({
            method: 'POST',
            url: '/loads',
            body: lines(entity('a')),
            headers: ndjson,
            token: reader
          })
        ).status,
        403
      )
    }
  )

  t.test('names the assets that it changed, in their order, as many as are asked for', async (t) => {
    const server = await withLoadServer(t)
    const send = async (records: readonly object[], parameters = ''): Promise<string> => {
      const { body } = await server.rest({
        method: 'POST',
        url: `/loads?wait=20${parameters}`,
        body: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
        headers: { 'content-type': 'application/x-ndjson' }
      })
      t.equal(body.state, 'done')
      return body.id
    }
    const urn = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
    const put = (name: string): object => ({ op: 'upsertEntity', urn: urn(name) })
    const changed = async (id: string, count = 100): Promise<unknown> => {
      const { body } = await server.graphql(
        'query ($id: String!, $count: Int) { load(id: $id) { changed(count: $count) { isComplete assets { urn } } } }',
        { id, count }
      )
      return body.data.load.changed
    }
    const all = (...names: string[]) => names.map((name) => ({ urn: urn(name) }))
    const first = await send([put('a'), put('b'), put('c')])
    t.strictSame(await changed(first), { isComplete: true, assets: all('a', 'b', 'c') })
    t.strictSame(await changed(first, 2), { isComplete: false, assets: all('a', 'b') })
    t.strictSame(await changed(first, 3), { isComplete: true, assets: all('a', 'b', 'c') })
    const edges = await send([
      put('a'),
      { upstreamUrn: urn('a'), downstreamUrn: urn('c') },
      { upstreamUrn: urn('b'), downstreamUrn: urn('c') }
    ])
    t.strictSame(await changed(edges), { isComplete: true, assets: all('c') }, 'not what was as sent')
    t.equal(await changed(await send([put('d')], '&dryRun=true')), null)
    t.strictSame(await changed(await send([put('a')])), { isComplete: true, assets: [] })
    const retry = `/loads/${edges}/retry`
    t.match((await server.rest({ method: 'POST', url: `${retry}?missingReferences=perhaps` })).body, {
      code: 'BAD_REQUEST',
      field: 'missingReferences'
    })
  })

  t.test('is listed newest first, page after page, each once', async (t) => {
    const sent: string[] = []
    for (let index = 0; index < 7; index += 1) sent.unshift(await submit(lines(entity(`l${index}`))))
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null && seen.length < 50;) {
      const page: { loads: { id: string }[]; nextCursor: string | null } = (
        await server.rest({ url: `/loads?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}` })
      ).body
      seen.push(...page.loads.map((load) => load.id))
      cursor = page.nextCursor
    }
    t.same(seen.slice(0, 7), sent)
    t.equal(new Set(seen).size, seen.length)
    for (const cursor of ['x', Buffer.from('["2026-01-01; drop table load","x"]').toString('base64url')])
      t.match((await server.rest({ url: `/loads?cursor=${cursor}` })).body, {
        code: 'BAD_REQUEST',
        field: 'cursor'
      })
  })

  t.test('is listed by its state, source, mode and time, and by how its id begins', async (t) => {
    const first = await submit(lines(entity('f1')), server.token, '&source=filtered')
    const { createdAt }: { createdAt: number } = (await server.rest({ url: `/loads/${first}` })).body
    const second = await submit(lines(entity('f2')), server.token, '&source=filtered&mode=snapshot')
    const listed = async (query: string): Promise<string[]> =>
      (await server.rest({ url: `/loads?${query}` })).body.loads.map((load: { id: string }) => load.id)
    t.same(await listed('source=filtered'), [second, first])
    t.same(await listed('source=filtered&state=done,failed'), [second, first])
    t.same(await listed('source=filtered&state=cancelled'), [])
    t.same(await listed('source=filtered&mode=snapshot'), [second])
    t.same(await listed(`source=filtered&since=${new Date(createdAt + 1).toISOString()}`), [second])
    t.same(await listed(`source=filtered&since=${createdAt}`), [second, first])
    t.same(await listed(`idPrefix=${first}`), [first])
    t.ok(
      (await listed(`idPrefix=${first.slice(0, 1).toUpperCase()}&limit=100`)).every((id) =>
        id.startsWith(first.slice(0, 1))
      )
    )
    t.ok((await listed(`idPrefix=${first.slice(0, 9)}`)).includes(first))
    t.match((await server.rest({ url: '/loads?source=filtered&limit=1' })).body, {
      loads: [{ id: second }],
      nextCursor: String
    })
    for (const [query, field] of [
      ['state=gone', 'state'],
      ['mode=x', 'mode'],
      ['since=yesterday', 'since'],
      ['since=999999999999999', 'since'],
      ['idPrefix=xyz', 'idPrefix'],
      ['idPrefix=', 'idPrefix'],
      [`idPrefix=${first}0`, 'idPrefix']
    ]) {
      t.match(
        (await server.rest({ url: `/loads?${query}` })).body,
        { code: 'BAD_REQUEST', field },
        String(query)
      )
    }
  })

  t.test('can be retried when its rejects have become right', async (t) => {
    const id = await submit(lines(edge('r1', 'r2')))
    await submit(lines(entity('r1'), entity('r2')))
    const { status, body } = await server.rest({ method: 'POST', url: `/loads/${id}/retry?wait=20` })
    t.equal(status, 200)
    t.match(body, { state: 'done', counts: { received: 1, applied: 1, rejected: 0 } })
  })
})

t.test('the body of an upload', async (t) => {
  /** A body in memory that is read like a request. */
  const bodyOf = (
    parts: Iterable<Buffer> | AsyncIterable<Buffer>,
    encoding?: string,
    pace: UploadPace = uploadPace
  ) => {
    const stream = Readable.from(parts, { objectMode: false })
    return readBody(
      {
        headers: encoding === undefined ? {} : { 'content-encoding': encoding },
        iterator: stream.iterator.bind(stream)
      },
      pace
    )
  }
  async function sizeOf(body: AsyncIterable<Buffer>): Promise<number> {
    let bytes = 0
    for await (const part of body) bytes += part.length
    return bytes
  }
  async function* drip(everyMs: number, part: Buffer): AsyncGenerator<Buffer> {
    for (let index = 0; index < 200; index += 1) {
      yield part
      await sleep(everyMs, undefined, { ref: false })
    }
  }
  const quick: UploadPace = { idleMaxMs: 200, windowMs: 300, minBytesPerSecond: 1_000 }

  t.test('is unpacked as it comes', async (t) => {
    t.equal(await sizeOf(bodyOf([Buffer.alloc(3_000_000, 'x')])), 3_000_000)
    const packed = gzipSync(Buffer.from(Array.from({ length: 100_000 }, () => Math.random()).join('\n')))
    t.ok((await sizeOf(bodyOf([packed.subarray(0, 1_000), packed.subarray(1_000)], 'gzip'))) > packed.length)
  })

  t.test('that is a bomb stops at the limit, before it is unpacked', async (t) => {
    const bomb = gzipSync(Buffer.alloc(100_000_000))
    let bytes = 0
    const reading = (async () => {
      for await (const part of bodyOf([bomb], 'gzip')) bytes += part.length
    })()
    await t.rejects(reading, { code: 'BODY_TOO_LARGE', details: { limit: 'loadMaxCompressionRatio' } })
    t.ok(bytes < 60_000_000, `${bytes} bytes came out`)
  })

  t.test('that is no gzip, or half of one, is refused', async (t) => {
    await t.rejects(sizeOf(bodyOf([Buffer.from('plain')], 'gzip')), { code: 'BAD_REQUEST' })
    const packed = gzipSync(Buffer.from('x'.repeat(10_000)))
    await t.rejects(sizeOf(bodyOf([packed.subarray(0, packed.length - 9)], 'gzip')), { code: 'BAD_REQUEST' })
    for (const encoding of ['br', 'deflate', 'gzip, gzip', 'gzip,identity'])
      t.throws(
        () => bodyOf([], encoding),
        { code: 'UNSUPPORTED_MEDIA_TYPE', details: { allowed: /identity/ } },
        encoding
      )
    t.throws(() => bodyOf([], 'gzip, gzip'), { message: /compressed only once/ })
  })

  t.test('of several gzip members is read to the last, wherever it is cut', async (t) => {
    const members = Buffer.concat(['one\n', 'two\n', '', 'three'].map((text) => gzipSync(text)))
    for (const size of [1, 7, 20, 1_000]) {
      const parts = Array.from({ length: Math.ceil(members.length / size) }, (_, index) =>
        members.subarray(index * size, (index + 1) * size)
      )
      let text = ''
      for await (const part of bodyOf(parts, 'gzip')) text += part.toString()
      t.equal(text, 'one\ntwo\nthree', `${size} bytes at a time`)
    }
  })

  t.test('with bytes after its gzip is refused, not cut there', async (t) => {
    const packed = gzipSync('one\n')
    for (const tail of ['garbage', '\0\0\0\0', `\0${packed.toString('latin1')}`]) {
      const whole = Buffer.concat([packed, Buffer.from(tail, 'latin1')])
      await t.rejects(
        sizeOf(bodyOf([whole], 'gzip')),
        { code: 'BAD_REQUEST' },
        JSON.stringify(tail.slice(0, 8))
      )
      await t.rejects(
        sizeOf(
          bodyOf(
            Array.from(whole, (_, at) => whole.subarray(at, at + 1)),
            'gzip'
          )
        ),
        { code: 'BAD_REQUEST' },
        'byte by byte too'
      )
    }
  })

  t.test(
    'compressed with zstd is unpacked by the same rules, or refused if this version of Node does not notice a truncated body',
    async (t) => {
      const compress: unknown = Reflect.get(zlib, 'zstdCompressSync')
      const isCompress = (value: unknown): value is (bytes: Buffer) => Buffer => typeof value === 'function'
      if (!isCompress(compress) || Number(process.versions.node.split('.')[0]) < 24) {
        t.match(
          t.throws(() => bodyOf([], 'zstd'), { code: 'UNSUPPORTED_MEDIA_TYPE' }),
          { details: { allowed: ['identity', 'gzip'] } }
        )
        return
      }
      t.equal(await sizeOf(bodyOf([compress(Buffer.alloc(100_000, 'x'))], 'zstd')), 100_000)
      await t.rejects(sizeOf(bodyOf([compress(Buffer.alloc(100_000, 'x')).subarray(0, -2)], 'zstd')), {
        code: 'BAD_REQUEST'
      })
      await t.rejects(sizeOf(bodyOf([compress(Buffer.alloc(100_000_000))], 'zstd')), {
        code: 'BODY_TOO_LARGE'
      })
    }
  )

  t.test(
    'that is a bomb of 10 GB is stopped early and in little memory, whatever its bytes are',
    async (t) => {
      const memory = watchLiveMemory()
      for (const [about, piece, format] of [
        ['one endless record', '\0', 'ndjson'],
        ['blank lines', '\n', 'ndjson'],
        ['small records', `{}${' '.repeat(5_000)}\n`, 'ndjson'],
        ['an endless cell', '"', 'csv'],
        ['small rows', `a,b${' '.repeat(5_000)}\n`, 'csv'],
        ['nested arrays', '[', 'mcp']
      ] as const) {
        const begin = gzipSync(format === 'csv' ? 'upstream,downstream\n' : format === 'mcp' ? '[' : '')
        // Repeated members of 10 MB: the compressed file has 10 MB for 10 GB.
        const member = gzipSync(Buffer.alloc(10_000_000, piece))
        let sent = 0
        async function* bomb(): AsyncGenerator<Buffer> {
          yield begin
          for (; sent < 1_000; sent += 1) yield member
        }
        // Measured while it arrives: data that is decompressed ahead of the reader would show.
        const body = async function* (): AsyncGenerator<Buffer> {
          let pieces = 0
          for await (const piece of bodyOf(bomb(), 'gzip')) {
            if (pieces++ % 16 === 0) memory.look()
            yield piece
          }
        }
        const reading = (async () => {
          for await (const entries of (await openRecords(format, body())).records) void entries.length
        })()
        await t.rejects(
          reading,
          { code: 'BODY_TOO_LARGE', details: { limit: 'loadMaxCompressionRatio' } },
          about
        )
        t.ok(sent < 30, `${about}: ${sent} of 1000 members were taken`)
      }
      t.ok(memory.peakBytes() < 16 * 1024 * 1024)
    }
  )

  t.test('that stalls or drips is timed out', async (t) => {
    await t.rejects(sizeOf(bodyOf(drip(10_000, Buffer.alloc(100_000)), undefined, quick)), {
      code: 'REQUEST_TIMEOUT',
      message: /nothing for/
    })
    await t.rejects(sizeOf(bodyOf(drip(20, Buffer.from('x')), undefined, quick)), {
      code: 'REQUEST_TIMEOUT',
      message: /bytes a second/
    })
  })

  t.test('that the server reads slowly is not timed out: only the client is timed', async (t) => {
    let bytes = 0
    for await (const part of bodyOf(
      Array.from({ length: 4 }, () => Buffer.alloc(70_000)),
      undefined,
      quick
    )) {
      bytes += part.length
      await sleep(250)
    }
    t.equal(bytes, 280_000)
  })

  t.test('is cut off when its client leaves', async (t) => {
    const outcome = new Promise<unknown>((resolve) => {
      const server = createServer((request: IncomingMessage) => {
        sizeOf(readBody(request)).then(resolve, resolve)
      })
      t.teardown(() => {
        server.close()
      })
      server.listen(0, '127.0.0.1', () => {
        const address = server.address()
        const client = httpRequest({ port: typeof address === 'object' ? address?.port : 0, method: 'POST' })
        client.on('error', () => {})
        client.write('half')
        setTimeout(() => client.destroy(), 50)
      })
    })
    const error = await outcome
    t.ok(error instanceof CatalogError && error.code === 'BAD_REQUEST')
  })
})

t.test('a client that is still sending gets the answer of a refusal', async (t) => {
  const server = await withLoadServer(t)
  const url = new URL(server.url)
  const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const client = httpRequest(
      {
        port: url.port,
        host: '127.0.0.1',
        path: '/loads',
        method: 'POST',
        headers: { authorization: `Bearer ${server.token}`, ...ndjson, 'content-encoding': 'gzip' }
      },
      (response) => {
        let text = ''
        response
          .setEncoding('utf8')
          .on('data', (part: string) => {
            text += part
          })
          .on('end', () => {
            resolve({ status: response.statusCode, text })
            client.destroy()
          })
      }
    )
    client.on('error', reject)
    const bomb = gzipSync(Buffer.alloc(8_000_000, '\n'))
    client.write(bomb.subarray(0, bomb.length - 100))
    // The client has more to send and does not end the body.
  })
  t.equal(answer.status, 413)
  t.match(JSON.parse(answer.text), { code: 'BODY_TOO_LARGE', limit: 'loadMaxCompressionRatio', maximum: 200 })
})

t.test('a load is undone over REST and over GraphQL, by tokens that may control it', async (t) => {
  const server = await withLoadServer(t)
  const post = (url: string, body = '', token = server.token) =>
    server.rest({ method: 'POST', url, token, ...(body === '' ? {} : { body, headers: ndjson }) })
  const { body: load } = await post(
    '/loads?wait=20&source=nightly',
    lines(entity('a'), entity('b'), edge('a', 'b'))
  )
  t.equal((await post(`/loads/${load.id}/undo`, '', await server.tokenWith(['read']))).status, 403)
  t.equal((await post(`/loads/${load.id}/undo`, '', await server.tokenWith(['write']))).status, 404)
  t.match((await post(`/loads/${load.id}/undo?wat=1`)).body, { code: 'BAD_REQUEST' })

  const { status: triedStatus, body: tried } = await post(`/loads/${load.id}/undo?wait=20&dryRun=true`)
  t.equal(triedStatus, 200)
  t.match(tried, { state: 'done', mode: 'undo', dryRun: true, undoes: load.id, report: { wouldFail: false } })
  t.match((await post(`/loads/${load.id}/undo?dryRun=1`)).body, { code: 'BAD_REQUEST', field: 'dryRun' })
  t.equal((await server.rest({ url: `/loads/${load.id}` })).body.undoneBy, undefined)
  const { status, body: undo, headers } = await post(`/loads/${load.id}/undo?wait=20`)
  t.equal(status, 200)
  t.equal(headers.location, `/loads/${undo.id}`)
  t.match(undo, {
    state: 'done',
    mode: 'undo',
    source: 'nightly',
    undoes: load.id,
    counts: { unchanged: 0, rejected: 0 }
  })
  t.equal(undo.counts.received, undo.counts.applied)
  t.match((await server.rest({ url: `/loads/${load.id}` })).body, { undoneBy: undo.id })
  const again = await post(`/loads/${load.id}/undo`)
  t.equal(again.status, 409)
  t.match(again.body, { code: 'CONFLICT', message: new RegExp(undo.id) })

  const { data } = (
    await server.graphql('mutation ($id: String!) { undoLoad(id: $id) { id undoes mode } }', { id: undo.id })
  ).body
  t.match(data, { undoLoad: { undoes: undo.id, mode: 'undo' } })
  t.match((await server.rest({ url: `/loads/${data.undoLoad.id}?wait=20` })).body, {
    state: 'done',
    counts: { rejected: 0 }
  })
  t.match(
    (await server.graphql('query ($id: String!) { load(id: $id) { undoneBy } }', { id: undo.id })).body.data,
    { load: { undoneBy: data.undoLoad.id } }
  )
})
