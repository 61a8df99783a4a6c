/** Authorization: the life of a token, scopes, and no route that skips the check. */
import t from 'tap'
import { limits } from '../shared/limits.ts'
import { createAuthenticate } from '../shared/catalog/access/authenticate.ts'
import { bootstrapToken } from '../shared/catalog/access/bootstrap-token.ts'
import { createToken } from '../shared/catalog/access/create-token.ts'
import { revokeToken } from '../shared/catalog/access/revoke-token.ts'
import { isTokenText, newTokenText } from '../shared/model/token-text.ts'
import { toUrn } from '../shared/urn/urn.ts'
import {
  applyAsChunk,
  createDomain,
  domain,
  openLoad,
  record,
  setDomain,
  somebody
} from './support/changes.ts'
import { connectTestDatabase, withDatabase } from './support/database.ts'
import { sendBytes } from './support/raw-request.ts'
import { withServer } from './support/server.ts'

/** The connection of a request. */
const connection = {}
const ping = '{ entityExists(urn: "urn:li:domain:none") }'

t.test('the text of a token', async (t) => {
  t.test('is prefixed, alphanumeric, and different each time', async (t) => {
    const texts = new Set(Array.from({ length: 500 }, newTokenText))
    t.equal(texts.size, 500)
    for (const text of texts) t.match(text, /^trib_[0-9A-Za-z]{49}$/)
  })

  t.test('is refused when any character behind the prefix is mistyped', async (t) => {
    const text = newTokenText()
    t.ok(isTokenText(text))
    for (let index = 'trib_'.length; index < text.length; index += 1) {
      const wrong = text[index] === 'x' ? 'y' : 'x'
      t.notOk(isTokenText(text.slice(0, index) + wrong + text.slice(index + 1)), `character ${index}`)
    }
  })

  t.test('an operator may choose another', async (t) => {
    t.ok(isTokenText('a-token-of-my-own-choice'))
    t.notOk(isTokenText('short'))
    t.notOk(isTokenText('with a blank in it, which no header carries'))
  })
})

t.test('authentication', async (t) => {
  const server = await withServer(t)
  const { db, graphql, rest, tokenWith } = server

  t.test('every reason to refuse a token has the same answer', async (t) => {
    const expired = await tokenWith(['admin'], { expiresAt: new Date(Date.now() + 60_000) })
    await db.raw(
      `update access_token set expires_at = now() - interval '1 second' where expires_at is not null`
    )
    const revoked = await createToken(db, { name: 'revoked', scopes: ['admin'] })
    await revokeToken(db, revoked.record.id)
    const right = newTokenText()
    const answers = await Promise.all(
      [null, '', expired, revoked.token, newTokenText(), `${right.slice(0, -1)}-`, 'x'.repeat(10_000)].map(
        (token) => graphql(ping, {}, { token })
      )
    )
    for (const { status, body, headers } of answers) {
      t.equal(status, 401)
      t.match(headers['www-authenticate'], /^Bearer/)
      t.same({ ...body, requestId: null }, { ...answers[0]?.body, requestId: null })
      t.equal(body.code, 'UNAUTHENTICATED')
    }
  })

  t.test('another scheme and two Authorization headers are refused', async (t) => {
    for (const authorization of [`Basic ${server.token}`, server.token, `Bearer ${server.token} x`]) {
      t.equal((await rest({ url: '/api/limits', token: null, headers: { authorization } })).status, 401)
    }
    t.match(
      await sendBytes(
        server.url,
        `GET /api/limits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nAuthorization: Bearer ${server.token}\r\nConnection: close\r\n\r\n`,
        'head'
      ),
      /^HTTP\/1.1 401 /
    )
  })

  t.test('a mistyped token costs no query', async (t) => {
    let queries = 0
    const count = () => {
      queries += 1
    }
    db.on('query', count)
    const text = newTokenText()
    await graphql(ping, {}, { token: text.slice(0, -1) + (text.endsWith('0') ? '1' : '0') })
    t.equal(queries, 0)
    db.off('query', count)
  })

  t.test('requests that come at once read their token from the database once', async (t) => {
    const token = await tokenWith(['read'])
    const authenticate = createAuthenticate(db)
    let queries = 0
    const count = () => {
      queries += 1
    }
    db.on('query', count)
    await Promise.all(Array.from({ length: 20 }, () => authenticate(token, connection)))
    t.equal(queries, 1)
    db.off('query', count)
  })

  t.test('a verdict is remembered for a second at most', async (t) => {
    let nowMs = 0
    const authenticate = createAuthenticate(db, { nowMs: () => nowMs })
    const { token, record } = await createToken(db, { name: 'short lived', scopes: ['read'] })
    t.equal((await authenticate(token, connection)).tokenId, record.id)
    await revokeToken(db, record.id)
    nowMs = 999
    t.equal((await authenticate(token, connection)).tokenId, record.id)
    nowMs = 1_000
    await t.rejects(authenticate(token, connection), { code: 'UNAUTHENTICATED' })
  })

  t.test('each token on a connection is judged by itself, whichever came before it', async (t) => {
    const authenticate = createAuthenticate(db)
    const [one, other] = [
      await createToken(db, { name: 'one', scopes: ['read'] }),
      await createToken(db, { name: 'other', scopes: ['write'] })
    ]
    for (const { token, record } of [one, other, one])
      t.equal((await authenticate(token, connection)).tokenId, record.id)
    for (const wrong of [
      null,
      newTokenText(),
      'short',
      `${one.token.slice(0, -1)}${one.token.endsWith('0') ? '1' : '0'}`
    ])
      await t.rejects(authenticate(wrong, connection), { code: 'UNAUTHENTICATED' })
    t.equal((await authenticate(one.token, connection)).tokenId, one.record.id)
  })

  t.test('no way of writing a path reaches a route without a token', async (t) => {
    const paths = [
      '/api/graphql',
      '/api/graphql;x',
      '/api//graphql',
      '//api/graphql',
      '/api/%67raphql',
      '/health/../api/graphql',
      '/health/%2e%2e/api/graphql',
      '/API/GRAPHQL',
      '/api/graphql/',
      '/aspects',
      '/aspects/x',
      '/loads',
      '/api/limits',
      '/no/such/path',
      '/health/live/x',
      '/health%2flive'
    ]
    for (const url of paths) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
        t.equal((await rest({ method, url, token: null })).status, 401, `${method} ${url}`)
      }
    }
  })

  t.test('a bad token is refused before the body is read', async (t) => {
    const head =
      'POST /api/graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{'
    const answer = await sendBytes(server.url, head, 'head')
    t.match(answer, /^HTTP\/1.1 401 /)
    t.match(answer, /connection: close/i)
  })

  t.test('open paths need no token', async (t) => {
    for (const url of ['/health', '/health/live', '/health/ready', '/version', '/metrics', '/config'])
      t.equal((await rest({ url, token: null })).status, 200, url)
  })

  t.test('only the token decides who acts', async (t) => {
    const token = await tokenWith(['write'], { actorUrn: 'urn:li:corpuser:etl' })
    const forged = {
      'x-datahub-actor': 'urn:li:corpuser:root',
      'x-actor': 'root',
      'x-forwarded-user': 'root'
    }
    const { body } = await graphql(
      'mutation { createDomain(input: { id: "acted", name: "Acted" }) }',
      {},
      { token, headers: forged }
    )
    t.same(body.data, { createDomain: 'urn:li:domain:acted' })
    const { rows } = await db.raw(`select actor from audit where operation = 'createDomain'`)
    t.same(rows, [{ actor: 'urn:li:corpuser:etl' }])
  })

  t.test('the catalog keeps no token', async (t) => {
    const { rows } = await db.raw(
      'select access_token::text as row from access_token union all select audit::text from audit'
    )
    t.notMatch(JSON.stringify(rows), /trib_[0-9A-Za-z]{20}/)
    t.notMatch(JSON.stringify(rows), server.token)
  })
})

t.test('scopes', async (t) => {
  const server = await withServer(t)
  const { graphql, rest, tokenWith } = server
  const tokens = {
    read: await tokenWith(['read']),
    write: await tokenWith(['write']),
    admin: await tokenWith(['admin'])
  }
  type Scope = keyof typeof tokens

  const operations: { name: string; needs: Scope; isAllowed: (token: string) => Promise<boolean> }[] = [
    ...[
      'entityExists(urn: "urn:li:domain:x")',
      'loads { nextCursor }',
      'listDomains(input: {}) { total }'
    ].map((field) => graphqlOperation(`{ ${field} }`, 'read')),
    graphqlOperation('{ listAccessTokens(input: {}) { total } }', 'admin'),
    ...[
      'createDomain(input: { name: "" })',
      'deleteDomain(urn: "x")',
      'moveDomain(input: { resourceUrn: "x" })',
      'setDomain(entityUrn: "x", domainUrn: "x")',
      'unsetDomain(entityUrn: "x")',
      'batchSetDomain(input: { resources: [] })',
      'updateName(input: { urn: "x", name: "x" })',
      'updateDescription(input: { resourceUrn: "x", description: "x" })',
      'updateLineage(input: {})',
      'submitChanges(input: {}) { id }',
      'retryLoad(id: "x") { id }',
      'cancelLoad(id: "x") { id }'
    ].map((field) => graphqlOperation(`mutation { ${field} }`, 'write')),
    graphqlOperation(
      'mutation { createAccessToken(input: { type: PERSONAL, actorUrn: "x", duration: ONE_DAY, name: "x" }) { accessToken } }',
      'admin'
    ),
    graphqlOperation('mutation { revokeAccessToken(tokenId: "x") }', 'admin'),
    restOperation('GET', '/api/limits', 'read'),
    restOperation('GET', '/aspects/urn:li:domain:x?aspect=domainKey', 'read'),
    restOperation('POST', '/aspects?action=ingestProposal', 'write'),
    restOperation('GET', '/loads', 'read'),
    restOperation('POST', '/loads?format=ndjson', 'write')
  ]

  function graphqlOperation(query: string, needs: Scope) {
    const isAllowed = async (token: string) => {
      const { status, body } = await graphql(query, {}, { token })
      t.equal(status, 200)
      return body.errors?.[0]?.extensions.reason !== 'FORBIDDEN'
    }
    return { name: query, needs, isAllowed }
  }

  function restOperation(method: 'GET' | 'POST', url: string, needs: Scope) {
    const isAllowed = async (token: string) =>
      (await rest({ method, url, token, ...(method === 'POST' ? { body: {} } : {}) })).status !== 403
    return { name: `${method} ${url}`, needs, isAllowed }
  }

  const covers: Record<Scope, Scope[]> = {
    read: ['read'],
    write: ['read', 'write'],
    admin: ['read', 'write', 'admin']
  }
  for (const { name, needs, isAllowed } of operations) {
    for (const scope of ['read', 'write', 'admin'] as const) {
      const expected = covers[scope].includes(needs)
      t.equal(
        await isAllowed(tokens[scope]),
        expected,
        `${scope} ${expected ? 'may' : 'may not'}: ${name.slice(0, 60)}`
      )
    }
  }
})

t.test('tokens over GraphQL', async (t) => {
  const { graphql, rest, tokenWith, db } = await withServer(t)
  const create =
    'mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { accessToken metadata { id name actorUrn expiresAt scopes domainUrn domainUrns } } }'

  t.test('a token that is made works, is listed without its text, and ends when it is revoked', async (t) => {
    const made = await graphql(create, {
      input: { type: 'PERSONAL', actorUrn: 'urn:li:corpuser:jdoe', duration: 'ONE_HOUR', name: 'laptop' }
    })
    const { accessToken, metadata } = made.body.data.createAccessToken
    t.match(metadata, {
      name: 'laptop',
      actorUrn: 'urn:li:corpuser:jdoe',
      scopes: ['read', 'write'],
      domainUrn: null,
      domainUrns: null
    })
    t.ok(Math.abs(metadata.expiresAt - Date.now() - 3_600_000) < 60_000)
    t.same((await graphql(ping, {}, { token: accessToken })).body.data, { entityExists: false })

    const listed = await graphql('{ listAccessTokens(input: { count: 50 }) { total tokens { id name } } }')
    t.equal(listed.body.data.listAccessTokens.total, 2)
    t.ok(listed.body.data.listAccessTokens.tokens.some((token: { id: string }) => token.id === metadata.id))
    t.notMatch(listed.text, accessToken)

    t.same((await graphql(`mutation { revokeAccessToken(tokenId: "${metadata.id}") }`)).body.data, {
      revokeAccessToken: true
    })
    await t.rejects(createAuthenticate(db)(accessToken, connection), { code: 'UNAUTHENTICATED' })
    const after = await graphql('{ listAccessTokens(input: {}) { tokens { id revokedAt } } }')
    for (const { id, revokedAt } of after.body.data.listAccessTokens.tokens)
      t.equal(typeof revokedAt, id === metadata.id ? 'number' : 'object', 'when, or null')
    t.match((await graphql('mutation { revokeAccessToken(tokenId: "nobody") }')).body.errors[0].extensions, {
      reason: 'NOT_FOUND'
    })
  })

  t.test('a wrong scope, actor or domain is refused by name', async (t) => {
    const input = { type: 'PERSONAL', actorUrn: 'urn:li:corpuser:jdoe', duration: 'NO_EXPIRY', name: 'x' }
    const refused = async (more: { [field: string]: string | string[] }) =>
      (await graphql(create, { input: { ...input, ...more } })).body.errors[0].extensions
    t.match(await refused({ scopes: ['root'] }), {
      reason: 'BAD_REQUEST',
      field: 'input.scopes',
      allowed: ['read', 'write', 'admin']
    })
    t.match(await refused({ scopes: [] }), { reason: 'BAD_REQUEST' })
    t.match(await refused({ actorUrn: 'urn:li:domain:x' }), { reason: 'INVALID_URN' })
    t.match(await refused({ domainUrn: 'urn:li:domain:nowhere' }), {
      reason: 'BAD_REQUEST',
      urn: 'urn:li:domain:nowhere'
    })
    t.match(await refused({ name: ' ' }), { reason: 'BAD_REQUEST' })
    t.match(await refused({ domainUrn: '' }), { reason: 'INVALID_URN', field: 'domainUrn' })
    t.match(await refused({ domainUrns: [] }), { reason: 'BAD_REQUEST', field: 'domainUrns' })
    t.match(await refused({ domainUrns: [''] }), { reason: 'INVALID_URN', field: 'domainUrns[0]' })
    t.match(await refused({ domainUrns: ['urn:li:domain:x'], domainUrn: 'urn:li:domain:x' }), {
      reason: 'BAD_REQUEST',
      field: 'domainUrn'
    })
    const maximum = limits.tokenDomainsMaxCount
    t.match(
      await refused({ domainUrns: Array.from({ length: maximum + 1 }, (_, at) => `urn:li:domain:d${at}`) }),
      { reason: 'LIMIT_EXCEEDED', limit: 'tokenDomainsMaxCount', maximum, actual: maximum + 1 }
    )
    t.equal((await graphql('{ listAccessTokens(input: {}) { total } }')).body.data.listAccessTokens.total, 2)
  })

  t.test('a token may be limited to several domains, each named once, by URN or by name', async (t) => {
    await graphql(
      'mutation { a: createDomain(input: { id: "east", name: "East" }) b: createDomain(input: { id: "west", name: "West side" }) }'
    )
    const [east, west] = ['urn:li:domain:east', 'urn:li:domain:west']
    const input = { type: 'PERSONAL', actorUrn: 'urn:li:corpuser:jdoe', duration: 'ONE_DAY', name: 'sides' }
    const made = await graphql(create, { input: { ...input, domainUrns: ['West side', east, west] } })
    const { accessToken, metadata } = made.body.data.createAccessToken
    t.match(metadata, { domainUrns: [west, east], domainUrn: west })
    t.strictSame(
      (await graphql('{ me { domainUrns } }', {}, { token: accessToken })).body.data.me.domainUrns,
      [west, east]
    )
    t.strictSame((await graphql('{ me { domainUrns } }')).body.data.me.domainUrns, null)
    const absent = await graphql(create, { input: { ...input, domainUrns: [east, 'urn:li:domain:nowhere'] } })
    t.match(absent.body.errors[0].extensions, {
      reason: 'BAD_REQUEST',
      field: 'domainUrns[1]',
      urn: 'urn:li:domain:nowhere'
    })
    const outside = await graphql(
      'mutation { createDomain(input: { name: "x" }) }',
      {},
      { token: accessToken }
    )
    t.equal(
      outside.body.errors[0].message,
      `The token is limited to ${west}, ${east}; the top level is not in any of them.`
    )
  })

  t.test('a token limited to a domain manages what is in it, and nothing else', async (t) => {
    await graphql(
      'mutation { a: createDomain(input: { id: "mine", name: "Mine" }) b: createDomain(input: { id: "theirs", name: "Theirs" }) }'
    )
    const token = await tokenWith(['admin'], { domainUrn: 'urn:li:domain:mine' })
    const reasonOf = async (mutation: string) =>
      (await graphql(`mutation { ${mutation} }`, {}, { token })).body.errors?.[0].extensions.reason ?? null
    t.equal(
      await reasonOf('createDomain(input: { name: "Below", parentDomain: "urn:li:domain:mine" })'),
      null
    )
    t.equal(
      await reasonOf('createDomain(input: { name: "Below", parentDomain: "urn:li:domain:theirs" })'),
      'FORBIDDEN'
    )
    t.equal(await reasonOf('createDomain(input: { name: "Top" })'), 'FORBIDDEN')
    t.equal(await reasonOf('updateName(input: { urn: "urn:li:domain:theirs", name: "Ours" })'), 'FORBIDDEN')
    t.equal(
      await reasonOf(
        'createAccessToken(input: { type: PERSONAL, actorUrn: "urn:li:corpuser:x", duration: ONE_DAY, name: "x" }) { accessToken }'
      ),
      'FORBIDDEN'
    )
  })

  t.test(
    'a token limited to a domain moves nothing out of it and nothing into it, through any interface',
    async (t) => {
      const domains = { org: null, own: 'org', team: 'own', other: null }
      for (const [id, parent] of Object.entries(domains))
        await graphql(
          `mutation { createDomain(input: { id: "${id}", name: "${id}"${parent ? `, parentDomain: "urn:li:domain:${parent}"` : ''} }) }`
        )
      const asset = 'urn:li:dataset:(urn:li:dataPlatform:hive,limited,PROD)'
      const propose = async (
        entityUrn: string,
        changeType: string,
        aspectName: string,
        aspect: unknown,
        token?: string
      ) =>
        (
          await rest({
            method: 'POST',
            url: '/aspects?action=ingestProposal',
            body: {
              proposal: {
                entityType: entityUrn.split(':')[2],
                entityUrn,
                changeType,
                aspectName,
                aspect: { json: aspect }
              }
            },
            ...(token ? { token } : {})
          })
        ).status
      await propose(asset, 'UPSERT', 'status', { removed: false })
      await propose(asset, 'UPSERT', 'domains', { domains: ['urn:li:domain:team'] })
      const token = await tokenWith(['write'], { domainUrn: 'urn:li:domain:own' })
      const reasonOf = async (mutation: string) =>
        (await graphql(`mutation { ${mutation} }`, {}, { token })).body.errors?.[0].extensions.reason ?? null

      t.equal(
        await reasonOf('moveDomain(input: { resourceUrn: "urn:li:domain:team" })'),
        'FORBIDDEN',
        'not to the top'
      )
      t.equal(
        await reasonOf('moveDomain(input: { resourceUrn: "urn:li:domain:own" })'),
        'FORBIDDEN',
        'not its own domain'
      )
      t.equal(await propose('urn:li:domain:own', 'UPSERT', 'domainProperties', { name: 'own' }, token), 403)
      t.equal(
        await propose(
          'urn:li:domain:team',
          'UPSERT',
          'domainProperties',
          { name: 'team', parentDomain: 'urn:li:domain:other' },
          token
        ),
        403
      )
      t.equal(
        await propose(
          'urn:li:domain:team',
          'PATCH',
          'domainProperties',
          [{ op: 'add', path: '/parentDomain', value: 'urn:li:domain:other' }],
          token
        ),
        403
      )
      t.equal(
        await propose(
          'urn:li:domain:team',
          'PATCH',
          'domainProperties',
          [{ op: 'remove', path: '/parentDomain' }],
          token
        ),
        403
      )
      t.equal(
        await propose(
          asset,
          'PATCH',
          'domains',
          [{ op: 'add', path: '/domains', value: ['urn:li:domain:other'] }],
          token
        ),
        403
      )
      t.equal(await propose('urn:li:domain:top', 'UPSERT', 'domainProperties', { name: 'top' }, token), 403)
      const limited = { actor: { ...somebody, domainUrns: [domain('own')] } }
      const verdicts = await applyAsChunk(
        db,
        await openLoad(db),
        [
          record(1, createDomain(domain('other'), 'taken', domain('own'))),
          record(2, createDomain(domain('new'), 'new', domain('own'))),
          record(3, createDomain(domain('newer'), 'newer', domain('new'))),
          record(4, setDomain(toUrn(asset), domain('newer')))
        ],
        limited
      )
      t.match(
        verdicts,
        [
          { outcome: 'rejected', code: 'FORBIDDEN' },
          { outcome: 'applied' },
          { outcome: 'applied' },
          { outcome: 'applied' }
        ],
        'a load takes no domain over by creating it again'
      )
      const { body } = await graphql(
        '{ domain(urn: "urn:li:domain:team") { parentDomains { domains { urn } } } }'
      )
      t.same(body.data.domain, {
        parentDomains: { domains: [{ urn: 'urn:li:domain:own' }, { urn: 'urn:li:domain:org' }] }
      })

      t.equal(
        await propose(
          'urn:li:domain:own',
          'UPSERT',
          'domainProperties',
          { name: 'own', description: 'Described', parentDomain: 'urn:li:domain:org' },
          token
        ),
        200,
        'describing is not moving'
      )
      t.equal(
        await propose(
          'urn:li:domain:below',
          'UPSERT',
          'domainProperties',
          { name: 'below', parentDomain: 'urn:li:domain:team' },
          token
        ),
        200
      )
      t.equal(
        await reasonOf(
          'moveDomain(input: { resourceUrn: "urn:li:domain:below", parentDomain: "urn:li:domain:own" })'
        ),
        null
      )
      t.equal(
        await propose(
          asset,
          'PATCH',
          'domains',
          [{ op: 'add', path: '/domains', value: ['urn:li:domain:below'] }],
          token
        ),
        200
      )
    }
  )
})

t.test('the first token', async (t) => {
  t.test('is made once, however many processes start together', async (t) => {
    const { db, url } = await withDatabase(t)
    const others = [1, 2, 3].map(() => connectTestDatabase(url, 2))
    const made = await Promise.all([db, ...others].map((one) => bootstrapToken(one)))
    await Promise.all(others.map((one) => one.destroy()))
    const created = made.filter((one) => one.created)
    t.equal(created.length, 1)
    t.same((await createAuthenticate(db)(created[0]?.token ?? '', connection)).scopes, ['admin'])
    t.same(await bootstrapToken(db), { token: '', created: false })
  })

  t.test('is the one that the operator chose', async (t) => {
    const { db } = await withDatabase(t)
    t.same(await bootstrapToken(db, 'chosen-by-the-operator'), {
      token: 'chosen-by-the-operator',
      created: true
    })
    t.equal((await createAuthenticate(db)('chosen-by-the-operator', connection)).urn, 'urn:li:corpuser:admin')
    t.equal((await bootstrapToken(db, 'another-that-comes-too-late')).created, false)
    await t.rejects(createAuthenticate(db)('another-that-comes-too-late', connection), {
      code: 'UNAUTHENTICATED'
    })
    await t.rejects(bootstrapToken(db, `${newTokenText()}x`), { code: 'BAD_REQUEST' })
  })
})

t.test('requests are refused while the database does not answer', async (t) => {
  // The graph has a connection of its own, which stays open.
  const { rest, graphql, db, tokenWith } = await withServer(t, { memory: false })
  const unseen = await tokenWith(['admin'])
  await graphql(ping)
  await db.destroy()
  const remembered = await graphql(ping)
  t.equal(remembered.status, 503, 'nothing could be served')
  t.match(remembered.body, {
    data: { entityExists: null },
    errors: [{ extensions: { code: 503, type: 'UNAVAILABLE', reason: 'UNAVAILABLE' } }]
  })
  const { status, body, headers } = await rest({ url: '/api/limits', token: unseen })
  t.equal(status, 503)
  t.equal(body.code, 'UNAVAILABLE')
  t.ok(headers['retry-after'])
  t.equal((await rest({ url: '/health/ready', token: null })).status, 503)
  t.equal((await rest({ url: '/health/live', token: null })).status, 200)
})
