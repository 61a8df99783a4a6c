/**
 * How uploads affect other requests, and the refusals when there are too many or no space: nothing is half
 * stored.
 */
import { request as httpRequest, type ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { limits } from '../shared/limits.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { startApi } from '../api/start.ts'
import { createToken } from '../shared/catalog/access/create-token.ts'
import { revokeToken } from '../shared/catalog/access/revoke-token.ts'
import { withDatabase } from './support/database.ts'
import { acceptReceivedLoad } from '../shared/catalog/loads/accept-load.ts'
import { sweep } from '../shared/catalog/loads/sweep.ts'
import { entity, pretend, withLoadBench } from './support/load-bench.ts'
import { withServer } from './support/server.ts'

const line = (name: string): string => `${JSON.stringify(entity(name))}\n`

/** Begins an upload and leaves it open. */
function begin(
  url: string,
  token: string,
  name: string
): {
  upload: ClientRequest
  answer: Promise<{ status: number | undefined; text: string; retryAfter: string | undefined }>
} {
  const upload = httpRequest(`${url}/loads?source=${name}`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
  })
  const answer = new Promise<{ status: number | undefined; text: string; retryAfter: string | undefined }>(
    (resolve, reject) => {
      upload.on('error', reject)
      upload.on('response', (response) => {
        let text = ''
        response
          .setEncoding('utf8')
          .on('data', (part: string) => {
            text += part
          })
          .on('end', () =>
            resolve({ status: response.statusCode, text, retryAfter: response.headers['retry-after'] })
          )
      })
    }
  )
  answer.catch(() => {})
  upload.write(line(name))
  return { upload, answer }
}

t.test('uploads', async (t) => {
  const server = await withServer(t)
  const receiving = async (): Promise<number> =>
    Number(
      (await server.db.raw("select count(*) as loads from load where state = 'receiving'")).rows[0].loads
    )

  t.test(
    'are received up to a limit at once; one more is refused before its body is read, and stores nothing',
    async (t) => {
      const other = await server.tokenWith(['write'])
      const open = Array.from({ length: limits.uploadsAtOnceMaxCount }, (_, index) =>
        begin(server.url, index < 10 ? server.token : other, `open${index}`)
      )
      for (let waited = 0; waited < 20_000 && (await receiving()) < open.length; waited += 50) await sleep(50)
      t.equal(await receiving(), limits.uploadsAtOnceMaxCount)
      const extra = begin(server.url, server.token, 'extra')
      const { status, text, retryAfter } = await extra.answer
      t.equal(status, 503)
      t.match(JSON.parse(text), {
        code: 'OVERLOADED',
        limit: 'uploadsAtOnceMaxCount',
        maximum: limits.uploadsAtOnceMaxCount
      })
      t.ok(Number(retryAfter) > 0)
      extra.upload.destroy()
      t.strictSame((await server.db.raw("select id from load where source = 'extra'")).rows, [])
      open[0]?.upload.end()
      t.equal((await open[0]?.answer)?.status, 202)
      const next = begin(server.url, server.token, 'next')
      next.upload.end()
      t.equal((await next.answer).status, 202, 'the next one has a place')
      for (const { upload } of open.slice(1)) upload.end()
      for (const { answer } of open) t.equal((await answer).status, 202)
    }
  )

  t.test('of one token leave places for others', async (t) => {
    const maximum = limits.uploadsPerTokenMaxCount
    const open = Array.from({ length: maximum }, (_, index) => begin(server.url, server.token, `own${index}`))
    for (let waited = 0; waited < 20_000 && (await receiving()) < maximum; waited += 50) await sleep(50)
    const extra = begin(server.url, server.token, 'extra')
    const { status, text } = await extra.answer
    t.equal(status, 503)
    t.match(JSON.parse(text), { code: 'OVERLOADED', limit: 'uploadsPerTokenMaxCount', maximum })
    extra.upload.destroy()
    const others = begin(server.url, await server.tokenWith(['write']), 'others')
    others.upload.end()
    t.equal((await others.answer).status, 202)
    for (const { upload } of open) upload.end()
    for (const { answer } of open) t.equal((await answer).status, 202)
    const next = begin(server.url, server.token, 'next')
    next.upload.end()
    t.equal((await next.answer).status, 202)
  })

  t.test('whose token expires meanwhile are received', async (t) => {
    const { token, record } = await createToken(server.db, { name: 'expires', scopes: ['write'] })
    const { upload, answer } = begin(server.url, token, 'expires')
    for (let waited = 0; waited < 20_000 && (await receiving()) < 1; waited += 50) await sleep(50)
    await server.db.raw("update access_token set expires_at = now() - interval '1 second' where id = ?", [
      record.id
    ])
    upload.end()
    t.equal((await answer).status, 202)
  })

  t.test('whose token is revoked meanwhile are refused, and nothing of them is applied', async (t) => {
    const { token, record } = await createToken(server.db, { name: 'leaked', scopes: ['write'] })
    const { upload, answer } = begin(server.url, token, 'leaked')
    for (let waited = 0; waited < 20_000 && (await receiving()) < 1; waited += 50) await sleep(50)
    await revokeToken(server.db, record.id)
    upload.end()
    const { status, text } = await answer
    t.equal(status, 401)
    t.match(JSON.parse(text), { code: 'UNAUTHENTICATED' })
    t.strictSame((await server.db.raw("select state from load where source = 'leaked'")).rows, [
      { state: 'aborted' }
    ])
  })
})

t.test(
  'an upload whose first byte comes after twelve seconds is received: a streaming client sends no header before it',
  async (t) => {
    const server = await withServer(t)
    async function* slowly(): AsyncGenerator<Buffer> {
      await sleep(12_000)
      yield Buffer.from(line('late'))
    }
    const body = ReadableStream.from(slowly())
    const answer = await fetch(`${server.url}/loads`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/x-ndjson' },
      body,
      duplex: 'half'
    } as RequestInit)
    t.equal(answer.status, 202, await answer.clone().text())
  }
)

t.test(
  'uploads that wait for the database hold up no other call: they have connections of their own',
  async (t) => {
    const { db, url } = await withDatabase(t)
    const { token } = await createToken(db, { name: 'test', scopes: ['admin'] })
    const config = readConfig({
      DATABASE_URL: url,
      LOG_LEVEL: 'silent',
      PORT: '0',
      HOST: '127.0.0.1',
      LINEAGE_MEMORY_MB: '0',
      DATABASE_POOL_API: '3'
    })
    const api = startApi(config, createLog(config))
    await api.start()
    t.teardown(() => api.stop())
    const address = api.url() ?? ''
    const blocker = await db.transaction()
    await blocker.raw('lock table load in exclusive mode')
    const blocked = Array.from({ length: 8 }, (_, index) => begin(address, token, `blocked${index}`))
    for (const { upload } of blocked) upload.end()
    let answeredCount = 0
    for (const { answer } of blocked)
      void answer.then(
        () => {
          answeredCount += 1
        },
        () => {}
      )
    await sleep(500)
    for (let call = 0; call < 20; call += 1) {
      const answer = await fetch(`${address}/api/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ listDomains(input: { start: 0, count: 1 }) { total } }' })
      })
      t.equal(answer.status, 200)
      t.notMatch(await answer.text(), /errors/)
    }
    t.equal(answeredCount, 0, 'all uploads have waited meanwhile')
    await blocker.rollback()
    for (const { answer } of blocked) t.equal((await answer).status, 202)
  }
)

t.test(
  'twenty small loads are done while a huge one that came before them has hardly moved on',
  async (t) => {
    const bench = await withLoadBench(t, { apply: pretend })
    const huge = await bench.submit([entity('huge')])
    bench.told.length = 0
    await bench.rows(
      'insert into chunk (load_id, pass, first_line, record_count, payload) select load_id, pass, first_line, record_count, payload from chunk, generate_series(1, 299) where load_id = ?::uuid',
      [huge]
    )
    await bench.rows("update load set state = 'receiving', seq = null where id = ?::uuid", [huge])
    await bench.rows('update chunk set nudged_at = null, nudges = 0')
    await acceptReceivedLoad(bench.db, bench.queue, huge)
    const settled = async (): Promise<number> =>
      (await bench.chunks(huge)).filter((chunk) => chunk.state === 'settled').length
    const lookAtNext = async (): Promise<void> => {
      await bench.look(bench.told.shift() ?? 0)
    }
    for (let look = 0; look < 20; look += 1) await lookAtNext()
    t.equal(await settled(), 20, 'it is under way, with one worker')
    await sweep(bench.db, bench.queue)
    const small: string[] = []
    for (let index = 0; index < 20; index += 1) small.push(await bench.submit([entity(`small${index}`)]))
    await sweep(bench.db, bench.queue)
    const before = await settled()
    for (
      let looks = 0;
      looks < 300 &&
      (await Promise.all(small.map((id) => bench.load(id)))).some(({ state }) => state !== 'done');
      looks += 1
    )
      await lookAtNext()
    for (const id of small) t.equal((await bench.load(id)).state, 'done')
    const between = (await settled()) - before
    t.ok(between <= 12, `${between} of its chunks came between`)
    t.match(await bench.load(huge), { state: 'applying' })
    while (bench.told.length > 0) await lookAtNext()
    t.match(
      await bench.load(huge),
      { state: 'done', counts: { applied: 300 } },
      'and it comes to its end without a sweeper'
    )
  }
)
