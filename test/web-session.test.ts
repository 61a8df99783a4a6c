/** Sessions of the web UI: signing in and out, what a session may do and for how long, and that no other page can use it. */
import t from 'tap'
import { buildServer } from '../api/server.ts'
import { createSignInCode } from '../shared/catalog/access/create-sign-in-code.ts'
import { createToken } from '../shared/catalog/access/create-token.ts'
import { revokeToken } from '../shared/catalog/access/revoke-token.ts'
import { prune } from '../shared/catalog/loads/prune.ts'
import { limits } from '../shared/limits.ts'
import { newSessionId, newSignInCode } from '../shared/model/session-text.ts'
import { newTokenText } from '../shared/model/token-text.ts'
import { cookieOf, signInWith } from './support/browser-session.ts'
import { withServer, type RestRequest, type TestServer } from './support/server.ts'

const me = '{ me { corpUser { urn } } }'
const createDomain = (name: string) => ({ query: `mutation { createDomain(input: { name: "${name}" }) }` })

const signIn = (
  { rest }: TestServer,
  body: unknown,
  headers: { [name: string]: string } = {}
): ReturnType<TestServer['rest']> => rest({ method: 'POST', url: '/session', body, token: null, headers })

t.test('signing in', async (t) => {
  const server = await withServer(t)
  const { db, rest, tokenWith } = server

  t.test('with a token gives a cookie, and says who is signed in with which rights', async (t) => {
    const token = await tokenWith(['write'], { actorUrn: 'urn:li:corpuser:ada' })
    const answer = await signIn(server, { token })
    t.equal(answer.status, 200)
    t.match(answer.body, {
      actor: 'urn:li:corpuser:ada',
      scopes: ['write'],
      domainUrns: null,
      domainUrn: null,
      csrfToken: /^[\w-]{20,}$/
    })
    t.ok(Math.abs(answer.body.expiresAt - Date.now() - limits.sessionIdleMaxSeconds * 1_000) < 60_000)
    t.strictSame(Object.keys(answer.body), [
      'actor',
      'scopes',
      'domainUrns',
      'domainUrn',
      'csrfToken',
      'expiresAt'
    ])
    const read = await rest({
      url: '/session',
      token: null,
      headers: { cookie: cookieOf(answer) ?? '' }
    })
    t.equal(read.status, 200)
    t.strictSame(
      { ...read.body, csrfToken: '', expiresAt: 0 },
      { ...answer.body, csrfToken: '', expiresAt: 0 }
    )
    t.equal(read.headers['cache-control'], 'no-store')
  })

  const https = { secure: true }
  const http = { secure: false }
  const attributes: [string, { [name: string]: string }, { secure: boolean }][] = [
    ['a plain request', {}, http],
    [
      'a page that was loaded over https',
      { origin: 'https://catalog.example', host: 'catalog.example' },
      https
    ],
    ['a page that was loaded over http', { origin: 'http://catalog.example', host: 'catalog.example' }, http],
    ['a proxy that ends TLS', { 'x-forwarded-proto': 'https' }, https],
    ['two proxies, the first of which ends TLS', { 'x-forwarded-proto': 'https, http' }, https]
  ]
  for (const [name, headers, { secure }] of attributes) {
    t.test(`the cookie is for this host and no script: ${name}`, async (t) => {
      const [set = ''] = [
        (await signIn(server, { token: server.token }, headers)).headers['set-cookie']
      ].flat()
      const [pair, ...rest] = set.split('; ')
      t.match(pair, /^tributary_session=[\w-]{43}$/)
      t.strictSame(rest.toSorted(), [
        'HttpOnly',
        `Max-Age=${limits.sessionMaxSeconds}`,
        'SameSite=Strict',
        ...(secure ? ['Secure'] : [])
      ])
    })
  }

  t.test('gives a new id each time, and ends the session that the browser had', async (t) => {
    const planted = `tributary_session=${newSessionId()}`
    const first = cookieOf(await signIn(server, { token: server.token }, { cookie: planted })) ?? ''
    t.not(first, planted, 'an id that somebody planted is not taken over')
    const second = cookieOf(await signIn(server, { token: server.token }, { cookie: first })) ?? ''
    t.not(second, first)
    for (const [cookie, status] of [
      [planted, 401],
      [first, 401],
      [second, 200]
    ] as const)
      t.equal((await rest({ url: '/session', token: null, headers: { cookie } })).status, status, cookie)
  })

  t.test('with the code of a link works once', async (t) => {
    const token = await tokenWith(['read'], { actorUrn: 'urn:li:corpuser:grace' })
    const { code } = await createSignInCode(db, { token })
    t.match(await signIn(server, { code }), { status: 200, body: { actor: 'urn:li:corpuser:grace' } })
    t.match(await signIn(server, { code }), { status: 401, body: { code: 'UNAUTHENTICATED', field: 'code' } })
  })

  t.test('of two browsers that open a link at once, one gets in', async (t) => {
    const { code } = await createSignInCode(db, { token: server.token })
    const answers = await Promise.all(Array.from({ length: 5 }, () => signIn(server, { code })))
    t.strictSame(
      answers.map(({ status }) => status).sort((a, b) => a - b),
      [200, 401, 401, 401, 401]
    )
  })

  t.test('with a code ends after five minutes, and when its token is revoked', async (t) => {
    const old = await createSignInCode(db, { token: server.token })
    await db.raw(`update sign_in_code set expires_at = now() - interval '1 second'`)
    t.equal((await signIn(server, { code: old.code })).status, 401)
    const { record } = await createToken(db, { name: 'short', scopes: ['read'] })
    const { code } = await createSignInCode(db, { tokenId: record.id })
    const { rows } = await db.raw(
      `select round(extract(epoch from expires_at - now())) as seconds from sign_in_code`
    )
    t.match(rows, [{ seconds: String(limits.signInCodeMaxSeconds) }], 'expired codes are gone')
    await revokeToken(db, record.id)
    t.equal((await signIn(server, { code })).status, 401)
    await t.rejects(createSignInCode(db, { tokenId: record.id }), { code: 'NOT_FOUND' })
    await t.rejects(createSignInCode(db, { token: newTokenText() }), { code: 'NOT_FOUND' })
  })

  const refused: [string, unknown, { [name: string]: string }, { status: number; code: string }][] = [
    ['no body', undefined, {}, { status: 400, code: 'BAD_REQUEST' }],
    ['an empty object', {}, {}, { status: 400, code: 'BAD_REQUEST' }],
    ['a list', [], {}, { status: 400, code: 'BAD_REQUEST' }],
    ['both', { token: 'x', code: 'x' }, {}, { status: 400, code: 'BAD_REQUEST' }],
    ['a number', { token: 7 }, {}, { status: 400, code: 'BAD_REQUEST' }],
    ['an unknown field', { password: 'x' }, {}, { status: 400, code: 'BAD_REQUEST' }],
    ['an unknown token', { token: newTokenText() }, {}, { status: 401, code: 'UNAUTHENTICATED' }],
    ['a mistyped token', { token: 'trib_x' }, {}, { status: 401, code: 'UNAUTHENTICATED' }],
    ['an unknown code', { code: newSignInCode() }, {}, { status: 401, code: 'UNAUTHENTICATED' }],
    ['a code that is none', { code: '../x' }, {}, { status: 401, code: 'UNAUTHENTICATED' }],
    [
      'a body that is too large',
      { token: 'x'.repeat(limits.signInBodyMaxBytes) },
      {},
      { status: 413, code: 'BODY_TOO_LARGE' }
    ],
    [
      'a form',
      'token=x',
      { 'content-type': 'application/x-www-form-urlencoded' },
      { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' }
    ],
    [
      'JSON as text, which a form can send',
      '{"token":"x"}',
      { 'content-type': 'text/plain' },
      { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' }
    ],
    [
      'a multipart form',
      '--x--',
      { 'content-type': 'multipart/form-data; boundary=x' },
      { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' }
    ]
  ]
  for (const [name, body, headers, { status, code }] of refused)
    t.test(`is refused, without a cookie: ${name}`, async (t) => {
      const answer = await signIn(server, body, headers)
      t.match(answer, { status, body: { code } })
      t.equal(cookieOf(answer), null)
    })

  t.test('is refused from a page of another site', async (t) => {
    for (const headers of foreign) {
      const answer = await signIn(server, { token: server.token }, headers)
      t.match(answer, { status: 403, body: { code: 'FORBIDDEN' } }, JSON.stringify(headers))
      t.equal(cookieOf(answer), null)
    }
  })

  t.test('checks a limited number of sign-ins at once', async (t) => {
    const lock = await db.transaction()
    await lock.raw('lock table access_token in access exclusive mode')
    const token = newTokenText()
    const waiting = Array.from({ length: limits.signInsAtOnceMaxCount }, () => signIn(server, { token }))
    await new Promise((resolve) => {
      setTimeout(resolve, 200)
    })
    t.match(await signIn(server, { token }), {
      status: 429,
      body: { code: 'RATE_LIMITED', limit: 'signInsAtOnceMaxCount' }
    })
    await lock.rollback()
    for (const { status } of await Promise.all(waiting)) t.equal(status, 401)
    t.equal((await signIn(server, { token: server.token })).status, 200)
  })

  t.test(
    'is in the audit trail; neither it nor the database contains anything a browser could use',
    async (t) => {
      const { code } = await createSignInCode(db, { token: server.token })
      const cookie = cookieOf(await signIn(server, { code })) ?? ''
      const { rows } = await db.raw(`
      select web_session::text as row from web_session
      union all select sign_in_code::text from sign_in_code
      union all select audit::text from audit`)
      const text = JSON.stringify(rows)
      t.match(text, /createSignInCode/)
      t.match(text, /signIn.*by.*code/)
      for (const secret of [code, cookie.split('=')[1] ?? 'none', server.token]) t.notMatch(text, secret)
    }
  )
})

/** What browsers say of a request that a page of another site makes. */
const foreign: { [name: string]: string }[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  { origin: 'https://evil.example' },
  { origin: 'http://localhost:81' },
  { origin: 'null' }
]

t.test('a session', async (t) => {
  const server = await withServer(t)
  const { db, rest, tokenWith, token } = server

  const doors: { name: string; request: Omit<RestRequest, 'token'>; status: number }[] = [
    { name: 'GraphQL', request: { method: 'POST', url: '/api/graphql', body: { query: me } }, status: 200 },
    { name: 'REST', request: { url: '/api/limits' }, status: 200 },
    { name: 'the list of loads', request: { url: '/loads' }, status: 200 },
    {
      name: 'proposals',
      request: {
        method: 'POST',
        url: '/aspects?action=ingestProposal',
        body: {
          proposal: {
            entityType: 'domain',
            entityUrn: 'urn:li:domain:door',
            changeType: 'UPSERT',
            aspectName: 'domainProperties',
            aspect: { json: { name: 'Door' } }
          }
        }
      },
      status: 200
    },
    {
      name: 'uploads',
      request: {
        method: 'POST',
        url: '/loads',
        body: '{"op":"upsertEntity","urn":"urn:li:dataset:(urn:li:dataPlatform:hive,door,PROD)"}\n',
        headers: { 'content-type': 'application/x-ndjson' }
      },
      status: 202
    },
    {
      name: 'OpenAPI v3',
      request: { method: 'POST', url: '/openapi/v3/entity/dataset/batchGet', body: [] },
      status: 200
    },
    { name: 'exports', request: { url: '/domains/export' }, status: 200 },
    {
      name: 'OpenLineage',
      request: { method: 'POST', url: '/api/v1/lineage', body: {} },
      status: 400
    }
  ]
  const session = await signInWith(server, token)
  for (const { name, request, status } of doors) {
    const isRead = (request.method ?? 'GET') === 'GET'
    t.test(`opens every door: ${name}`, async (t) => {
      const answer = await session.send(request)
      t.equal(answer.status, status, answer.text.slice(0, 200))
      t.equal((await rest({ ...request, token: null })).status, 401, 'which is closed without the cookie')
    })
    if (!isRead)
      t.test(`opens no door for a write without its own x-csrf-token: ${name}`, async (t) => {
        const { csrfToken: others } = await signInWith(server, token)
        for (const sent of [
          null,
          '',
          'x',
          others,
          `${session.csrfToken}x`,
          session.cookie.split('=')[1] ?? ''
        ]) {
          const { 'x-csrf-token': _, ...headers } = {
            'x-csrf-token': '',
            ...request.headers,
            cookie: session.cookie
          }
          const answer = await rest({
            ...request,
            token: null,
            headers: { ...headers, ...(sent === null ? {} : { 'x-csrf-token': sent }) }
          })
          t.equal(answer.status, 403, `${sent}: ${answer.text.slice(0, 200)}`)
        }
      })
    t.test(`opens no door for a page of another site: ${name}`, async (t) => {
      for (const headers of foreign) {
        const isLink = isRead && headers['sec-fetch-mode'] === 'navigate'
        const answer = await session.send({ ...request, headers: { ...request.headers, ...headers } })
        t.equal(answer.status, isLink ? status : 403, JSON.stringify(headers))
      }
    })
  }

  t.test('opens the events of a load', async (t) => {
    const load = await session.send({
      method: 'POST',
      url: '/loads',
      body: '{"op":"upsertEntity","urn":"urn:li:dataset:(urn:li:dataPlatform:hive,events,PROD)"}\n',
      headers: { 'content-type': 'application/x-ndjson' }
    })
    await session.send({ method: 'POST', url: `/loads/${load.body.id}/cancel` })
    const url = `${server.url}/loads/${load.body.id}/events`
    // what EventSource sends: the cookie, and no header of ours
    const browser = {
      accept: 'text/event-stream',
      'cache-control': 'no-cache',
      'sec-fetch-site': 'same-origin'
    }
    const answer = await fetch(url, { headers: { ...browser, cookie: session.cookie } })
    t.equal(answer.status, 200)
    t.match(answer.headers.get('content-type'), /^text\/event-stream/)
    t.match(await answer.text(), /event: load\nid: \S+\ndata: \{.*"state":"cancelled"/)
    t.equal((await fetch(url, { headers: browser })).status, 401)
  })

  t.test('is ignored if the request has a header Authorization', async (t) => {
    const other = await tokenWith(['read'], { actorUrn: 'urn:li:corpuser:other' })
    const asked = { method: 'POST', url: '/api/graphql', body: { query: me } } as const
    t.match(await rest({ ...asked, token: other, headers: { cookie: session.cookie } }), {
      status: 200,
      body: { data: { me: { corpUser: { urn: 'urn:li:corpuser:other' } } } }
    })
    for (const authorization of ['Bearer wrong', 'Basic eDp4', ''])
      t.equal(
        (await rest({ ...asked, token: null, headers: { cookie: session.cookie, authorization } })).status,
        401,
        authorization
      )
    t.match(await rest({ url: '/session', token: other, headers: { cookie: session.cookie } }), {
      status: 404,
      body: { code: 'NOT_FOUND' }
    })
  })

  t.test('has the rights of its token, and no more', async (t) => {
    await session.send({
      method: 'POST',
      url: '/api/graphql',
      body: { query: 'mutation { createDomain(input: { id: "mine", name: "Mine" }) }' }
    })
    const limited = await signInWith(server, await tokenWith(['admin'], { domainUrn: 'urn:li:domain:mine' }))
    const reader = await signInWith(server, await tokenWith(['read']))
    t.match((await limited.send({ url: '/session' })).body, { domainUrn: 'urn:li:domain:mine' })
    const reasonOf = async ({ send }: typeof reader, body: { query: string }) =>
      (await send({ method: 'POST', url: '/api/graphql', body })).body.errors?.[0].extensions.reason ?? null
    t.equal(await reasonOf(reader, createDomain('No')), 'FORBIDDEN')
    t.equal(await reasonOf(limited, createDomain('No')), 'FORBIDDEN')
    t.equal(
      await reasonOf(limited, {
        query: 'mutation { createDomain(input: { name: "Below", parentDomain: "urn:li:domain:mine" }) }'
      }),
      null
    )
    t.equal((await reader.send({ method: 'POST', url: '/loads?format=ndjson', body: '{}\n' })).status, 403)
    t.equal((await reader.send({ method: 'PUT', url: '/domain-rules', body: { rules: [] } })).status, 403)
    t.equal((await limited.send({ method: 'PUT', url: '/domain-rules', body: { rules: [] } })).status, 403)
    t.equal((await reader.send({ method: 'DELETE', url: '/session' })).status, 204, 'but may leave')
  })

  t.test('acts as the actor of its token, whose id is in the audit trail', async (t) => {
    const made = await createToken(db, { name: 'x', scopes: ['write'], actorUrn: 'urn:li:corpuser:who' })
    const { send } = await signInWith(server, made.token)
    await send({ method: 'POST', url: '/api/graphql', body: createDomain('Recorded') })
    const { rows } = await db.raw(
      `select actor, token_id from audit where operation = 'createDomain' order by id desc limit 1`
    )
    t.same(rows, [{ actor: 'urn:li:corpuser:who', token_id: made.record.id }])
  })

  t.test('is refused for an invalid cookie, whatever it contains', async (t) => {
    for (const value of ['', 'x', newSessionId(), "' or 1=1 --", '%00', 'x'.repeat(5_000), session.csrfToken])
      t.match(
        await rest({ url: '/loads', token: null, headers: { cookie: `tributary_session=${value}` } }),
        { status: 401, body: { code: 'UNAUTHENTICATED' } },
        value.slice(0, 50)
      )
    t.equal((await rest({ url: '/loads', token: null, headers: { cookie: 'other=1' } })).status, 401)
    const both = `a=b; ${session.cookie}; tributary_session=${newSessionId()}`
    t.equal((await rest({ url: '/loads', token: null, headers: { cookie: both } })).status, 200)
  })
})

t.test('a session ends', async (t) => {
  const server = await withServer(t)
  const { db, tokenWith } = server
  const age = (column: 'used_at' | 'created_at', seconds: number) =>
    db.raw(`update web_session set ${column} = now() - ? * interval '1 second'`, [seconds])

  const ends: [string, (tokenId: string) => Promise<unknown>][] = [
    ['when its token is revoked', (id) => revokeToken(db, id)],
    [
      'when its token expires',
      (id) => db.raw(`update access_token set expires_at = now() - interval '1 second' where id = ?`, [id])
    ],
    ['when its token is deleted', (id) => db.raw('delete from access_token where id = ?', [id])],
    ['when nobody has used it for long', () => age('used_at', limits.sessionIdleMaxSeconds + 1)],
    ['when it is old, however much it is used', () => age('created_at', limits.sessionMaxSeconds + 1)]
  ]
  for (const [name, end] of ends)
    t.test(`${name}, at once`, async (t) => {
      const made = await createToken(db, { name: 'ending', scopes: ['read'] })
      const { send } = await signInWith(server, made.token)
      t.equal((await send({ url: '/session' })).status, 200)
      await end(made.record.id)
      t.match(await send({ url: '/session' }), {
        status: 401,
        body: { code: 'UNAUTHENTICATED', message: 'The session is over; sign in again' }
      })
    })

  t.test('later, each time it is used', async (t) => {
    const { send } = await signInWith(server, server.token)
    await age('used_at', limits.sessionIdleMaxSeconds - 10)
    const before = (await send({ url: '/session' })).body.expiresAt
    const after = (await send({ url: '/session' })).body.expiresAt
    t.ok(before - Date.now() < 60_000)
    t.ok(after - Date.now() > (limits.sessionIdleMaxSeconds - 60) * 1_000)
  })

  t.test('no later than its token, and no later than its maximum age', async (t) => {
    const expiresAt = new Date(Date.now() + 60_000)
    const { send } = await signInWith(server, await tokenWith(['read'], { expiresAt }))
    t.equal((await send({ url: '/session' })).body.expiresAt, expiresAt.getTime())
    const other = await signInWith(server, server.token)
    await age('created_at', limits.sessionMaxSeconds - 100)
    const left = (await other.send({ url: '/session' })).body.expiresAt - Date.now()
    t.ok(left > 0 && left <= 100_000, `${left} ms`)
  })

  t.test('when its browser signs out, on every process at once', async (t) => {
    const otherProcess = await buildServer(server.context)
    t.teardown(() => otherProcess.close())
    const statusThere = async (cookie: string) =>
      (await otherProcess.inject({ url: '/loads', headers: { cookie } })).statusCode
    const [one, other] = [await signInWith(server, server.token), await signInWith(server, server.token)]
    t.equal((await one.send({ url: '/loads' })).status, 200)
    t.equal(await statusThere(one.cookie), 200)
    const answer = await one.send({ method: 'DELETE', url: '/session' })
    t.equal(answer.status, 204)
    const [cleared = ''] = [answer.headers['set-cookie']].flat()
    t.match(cleared, /^tributary_session=; Max-Age=0; Expires=Thu, 01 Jan 1970/)
    t.equal((await one.send({ url: '/loads' })).status, 401)
    t.equal(await statusThere(one.cookie), 401)
    t.equal((await one.send({ method: 'DELETE', url: '/session' })).status, 401)
    t.equal((await other.send({ url: '/loads' })).status, 200, 'the other browser stays')
  })

  t.test('with all others of the same person, while those of other people stay', async (t) => {
    const [laptop, phone, stranger] = [
      await signInWith(server, await tokenWith(['read'], { actorUrn: 'urn:li:corpuser:one' })),
      await signInWith(server, await tokenWith(['write'], { actorUrn: 'urn:li:corpuser:one' })),
      await signInWith(server, await tokenWith(['read'], { actorUrn: 'urn:li:corpuser:two' }))
    ]
    const answer = await laptop.send({ method: 'DELETE', url: '/session/all' })
    t.match(answer, { status: 200, body: { sessions: 2 } })
    const statuses = await Promise.all(
      [laptop, phone, stranger].map(async ({ send }) => (await send({ url: '/loads' })).status)
    )
    t.strictSame(statuses, [401, 401, 200])
    const { rows } = await db.raw(`select actor, details from audit where operation = 'signOutEverywhere'`)
    t.same(rows, [{ actor: 'urn:li:corpuser:one', details: { sessions: 2 } }])
  })

  t.test('when its token exceeds its maximum of sessions: the least recently used one', async (t) => {
    const made = await createToken(db, { name: 'busy', scopes: ['read'] })
    const [first, second] = [await signInWith(server, made.token), await signInWith(server, made.token)]
    await db.raw(`update web_session set used_at = now() - interval '10 minutes' where token_id = ?`, [
      made.record.id
    ])
    await first.send({ url: '/loads' })
    for (let count = 2; count < limits.sessionsPerTokenMaxCount + 1; count += 1)
      await signInWith(server, made.token)
    t.equal((await first.send({ url: '/loads' })).status, 200)
    t.equal((await second.send({ url: '/loads' })).status, 401)
    const { rows } = await db.raw('select count(*)::int from web_session where token_id = ?', [
      made.record.id
    ])
    t.same(rows, [{ count: limits.sessionsPerTokenMaxCount }])
  })

  t.test('and is deleted after its end', async (t) => {
    const kept = await signInWith(server, server.token)
    await signInWith(server, server.token)
    await age('used_at', limits.sessionIdleMaxSeconds + 1)
    await db.raw(
      `update web_session set used_at = now() where session_hash = sha256(convert_to(?, 'UTF8'))`,
      [kept.cookie.split('=')[1] ?? '']
    )
    t.ok((await prune(db)).sessions >= 1)
    const { rows } = await db.raw('select count(*)::int from web_session')
    t.same(rows, [{ count: 1 }])
  })
})
