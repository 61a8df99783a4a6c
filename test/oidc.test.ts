/** Signing in with an OpenID Connect provider, a real one: browsers, bearer tokens, and what each role may do through each door. */
import { SignJWT, UnsecuredJWT } from 'jose'
import t from 'tap'
import { listTokens } from '../shared/catalog/access/list-tokens.ts'
import { openProvider } from '../api/oidc/provider.ts'
import { inTransaction } from '../shared/db/transaction.ts'
import { limits } from '../shared/limits.ts'
import { parseRoles, rightsFor } from '../shared/model/roles.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { hasNoToken } from '../shared/store/tokens.ts'
import { runCommand } from './support/run-command.ts'
import { withServer, type RestAnswer, type RestRequest } from './support/server.ts'
import {
  begin,
  comeBack,
  cookiesOf,
  finance,
  roles,
  sales,
  sessionOf,
  signIn,
  someGroups,
  withBoth
} from './support/sign-in.ts'

const groups = someGroups()

t.test('roles', async (t) => {
  const map = parseRoles(JSON.stringify(roles))
  const cases: [string, string[], ReturnType<typeof rightsFor>][] = [
    ['x', [], null],
    ['x', ['strangers'], null],
    ['x', ['everybody'], { scopes: ['read'], domainUrns: null }],
    ['guest-7', [], { scopes: ['read'], domainUrns: null }],
    ['x', ['sub:guest-7'], null],
    ['x', ['finance'], { scopes: ['write'], domainUrns: [finance as never] }],
    ['x', ['sales'], { scopes: ['write'], domainUrns: [sales as never] }],
    ['x', ['sales', 'finance'], { scopes: ['write'], domainUrns: [finance as never, sales as never] }],
    ['x', ['all-owners', 'sales'], { scopes: ['write'], domainUrns: [finance as never, sales as never] }],
    ['x', ['everybody', 'sales', 'finance', 'data'], { scopes: ['write'], domainUrns: null }],
    ['x', ['everybody', 'finance'], { scopes: ['write'], domainUrns: [finance as never] }],
    ['x', ['finance', 'data'], { scopes: ['write'], domainUrns: null }],
    ['x', ['platform', 'data'], { scopes: ['admin'], domainUrns: null }]
  ]
  for (const [subject, groups, expected] of cases)
    t.strictSame(rightsFor(map, { subject, groups }), expected, `${subject} of ${groups.join()}`)
  t.strictSame(
    rightsFor(parseRoles('{"reader":["*"]}'), { subject: 'x', groups: [] }),
    { scopes: ['read'], domainUrns: null },
    'everybody who can sign in'
  )
  const many = Array.from({ length: limits.tokenDomainsMaxCount + 1 }, (_, at) => `urn:li:domain:d${at}`)
  t.strictSame(
    rightsFor(parseRoles(JSON.stringify({ owner: Object.fromEntries(many.map((urn) => [urn, ['all']])) })), {
      subject: 'x',
      groups: ['all']
    })?.domainUrns,
    many.slice(0, -1),
    'the first ones up to the limit'
  )
  const wrong: [string, RegExp][] = [
    ['admin', /^JSON$/],
    ['[]', /JSON object/],
    ['{"root":["x"]}', /root is not one of admin, editor, owner, reader/],
    ['{"admin":"x"}', /lists of texts; admin is not/],
    ['{"admin":[1]}', /lists of texts; admin is not/],
    ['{"owner":["x"]}', /owner is an object/],
    ['{"owner":{"finance":["x"]}}', /urn/i],
    [`{"owner":{"${finance}":"x"}}`, new RegExp(`owner.${finance} is not`)]
  ]
  for (const [text, message] of wrong) t.throws(() => parseRoles(text), { message }, text)
})

t.test('a configuration that cannot work is an error at start that names the key', async (t) => {
  const issuer = { OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'x', OIDC_ROLES: '{}' }
  const open = (env: { [key: string]: string }): unknown => {
    const config = readConfig({ LOG_LEVEL: 'silent', ...env })
    return openProvider(config, createLog(config))
  }
  t.equal(open({}), null)
  t.match(open(issuer), { browsers: null }, 'without PUBLIC_URL only bearer tokens')
  const wrong: [{ [key: string]: string }, RegExp][] = [
    [{ ...issuer, OIDC_ROLES: '' }, /OIDC_ISSUER needs OIDC_ROLES/],
    [{ ...issuer, OIDC_ROLES: '{"root":[]}' }, /OIDC_ROLES must be roles with known names/],
    [{ ...issuer, OIDC_CLIENT_ID: '' }, /OIDC_CLIENT_ID, OIDC_AUDIENCE or both/],
    [{ ...issuer, OIDC_ISSUER: 'http://id.example' }, /OIDC_ISSUER must begin with https/],
    [{ ...issuer, OIDC_SCOPES: 'profile email' }, /OIDC_SCOPES must contain openid/],
    ...['{tenantid}', 'common', 'organizations', 'consumers'].map(
      (tenant): [{ [key: string]: string }, RegExp] => [
        { ...issuer, OIDC_ISSUER: `https://login.microsoftonline.com/${tenant}/v2.0` },
        /OIDC_ISSUER must be one tenant: https:\/\/login\.microsoftonline\.com\/ID\/v2\.0/
      ]
    )
  ]
  for (const [env, message] of wrong) t.throws(() => open(env), { message }, JSON.stringify(env))
  t.ok(
    open({
      ...issuer,
      OIDC_ISSUER: 'https://login.microsoftonline.com/9f3c0d3e-1f5b-4f0e-9c59-0a4f0a6d2c11/v2.0'
    })
  )
})

t.test('PUBLIC_URL is one address, however it is written', (t) => {
  const read = (url: string): string | null => readConfig({ PUBLIC_URL: url }).publicUrl
  for (const [url, expected] of [
    ['https://catalog.example', 'https://catalog.example'],
    ['https://catalog.example/', 'https://catalog.example'],
    ['https://Catalog.Example:443/below//', 'https://catalog.example/below'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080']
  ] as const)
    t.equal(read(url), expected)
  for (const url of [
    'https://x/?',
    'https://x/?a=b',
    'https://x/#',
    'https://u:p@x',
    'catalog.example',
    'https://'
  ])
    t.throws(() => read(url), { message: /PUBLIC_URL must be a URL .* without a user, \? and #$/ }, url)
  t.end()
})

t.test('a browser', async (t) => {
  const both = await withBoth(t, { groups })
  const { provider, server } = both
  const { rest, graphql, db } = server

  await t.test('learns that there is an identity provider', async (t) => {
    t.match(await rest({ url: '/session/methods', token: null }), {
      status: 200,
      body: { token: true, identityProvider: true }
    })
    const { server: alone } = { server: await withServer(t) }
    t.match(await alone.rest({ url: '/session/methods', token: null }), { body: { identityProvider: false } })
    t.equal((await alone.rest({ url: '/sign-in' })).status, 404)
  })

  await t.test('is sent to the provider with PKCE, a state and a nonce of its own', async (t) => {
    const [one, other] = [await begin(server), await begin(server)]
    t.equal(one.answer.status, 302)
    const query = new URL(one.location).searchParams
    t.match(Object.fromEntries(query), {
      client_id: 'tributary',
      redirect_uri: 'https://catalog.example/below/sign-in-callback',
      response_type: 'code',
      scope: 'openid profile email',
      code_challenge_method: 'S256',
      code_challenge: /^[\w-]{43}$/
    })
    for (const name of ['state', 'nonce', 'code_challenge'])
      t.not(query.get(name), new URL(other.location).searchParams.get(name), name)
    t.match(String(one.answer.headers['set-cookie']), /; Max-Age=600; HttpOnly; Secure; SameSite=Lax$/)
    t.notMatch(one.location, /code_verifier/)
  })

  await t.test('comes back as the person, with the rights of the role', async (t) => {
    for (const [person, expected] of [
      ['ada', { actor: 'urn:li:corpuser:ada', scopes: ['admin'], domainUrns: null, domainUrn: null }],
      ['eve', { actor: 'urn:li:corpuser:eve', scopes: ['write'], domainUrns: null, domainUrn: null }],
      ['roy', { actor: 'urn:li:corpuser:roy', scopes: ['read'], domainUrns: null, domainUrn: null }],
      ['guest-7', { actor: 'urn:li:corpuser:guest-7', scopes: ['read'], domainUrns: null, domainUrn: null }]
    ] as const) {
      const { answer, session } = await signIn(both, person)
      t.strictSame([answer.status, answer.headers.location], [302, 'ui/'])
      t.match(
        [answer.headers['set-cookie']].flat().at(-1),
        /^tributary_session=[\w-]{40,}; Max-Age=43200; HttpOnly; Secure; SameSite=Strict$/
      )
      const { body, status } = await rest({ url: '/session', token: null, headers: { cookie: session } })
      t.equal(status, 200)
      t.match(body, expected)
      t.ok(Math.abs(body.expiresAt - Date.now() - 12 * 3_600_000) < 60_000, 'for OIDC_SESSION_HOURS')
    }
    const { total } = await listTokens(db, { actorUrns: ['urn:li:corpuser:ada'] })
    await signIn(both, 'ada')
    t.equal((await listTokens(db, { actorUrns: ['urn:li:corpuser:ada'] })).total, total, 'one row a person')
    const { body } = await graphql('query { listAccessTokens(input: {}) { tokens { name actorUrn } } }')
    t.ok(
      body.data.listAccessTokens.tokens.some(
        (each: { name: string; actorUrn: string }) =>
          each.name === 'eve (signed in)' && each.actorUrn === 'urn:li:corpuser:eve'
      ),
      'an administrator sees who has signed in'
    )
  })

  await t.test('comes back to the page it wanted, and to no other site', async (t) => {
    for (const [page, expected] of [
      ['./lineage?urn=urn%3Ali%3Adataset%3Ax&depth=3', 'ui/lineage?urn=urn%3Ali%3Adataset%3Ax&depth=3'],
      ['asset?urn=x', 'ui/asset?urn=x'],
      ['./explorer.html', 'ui/explorer.html'],
      ['//evil.example', 'ui/'],
      ['https://evil.example', 'ui/'],
      ['/\\evil.example', 'ui/'],
      ['../../evil', 'ui/'],
      ['javascript:alert(1)', 'ui/'],
      ['asset?urn=ü', 'ui/'],
      ['asset?urn=\u0085', 'ui/'],
      ['asset?urn=x y', 'ui/'],
      ['asset?urn=x#y', 'ui/'],
      ['asset?urn=!"$%&[]~', 'ui/asset?urn=!"$%&[]~'],
      [`asset?urn=${'x'.repeat(3_000)}`, 'ui/']
    ] as const)
      t.equal((await signIn(both, 'roy', page)).answer.headers.location, expected, page)
    const { location } = await begin(server)
    const { state, nonce } = Object.fromEntries(new URL(location).searchParams)
    const planted = Buffer.from(
      JSON.stringify({ state, nonce, verifier: 'x'.repeat(43), next: '//evil.example' })
    ).toString('base64url')
    const answer = await comeBack(server, 'https://x/?error=no', `tributary_sign_in=${planted}`)
    t.equal(answer.headers.location, 'ui/sign-in?problem=failed', 'a planted cookie')
  })

  await t.test('without a role is refused, with the reason', async (t) => {
    const { answer, session } = await signIn(both, 'nik', 'asset?urn=x')
    t.match(answer, {
      status: 302,
      headers: { location: 'ui/sign-in?problem=no-role&next=.%2Fasset%3Furn%3Dx' }
    })
    t.equal(session, '')
  })

  await t.test('is let in only with what it began itself, once', async (t) => {
    const { location, cookie } = await begin(server)
    const back = await provider.signIn(location, 'eve')
    const other = await begin(server)
    for (const [name, address, sent, problem] of [
      ['no cookie', back, '', 'expired'],
      ['a broken cookie', back, 'tributary_sign_in=x', 'expired'],
      ["another browser's cookie", back, other.cookie, 'failed'],
      ['another state', back.replace(/state=[^&]*/, 'state=x'), cookie, 'failed'],
      ['another issuer', back.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fevil.example'), cookie, 'failed'],
      ['a code that nobody gave', back.replace(/code=[^&]*/, 'code=x'), cookie, 'failed']
    ] as const) {
      const answer = await comeBack(server, address, sent)
      t.equal(answer.headers.location, `ui/sign-in?problem=${problem}`, name)
      t.equal(cookiesOf(answer).get('tributary_session'), undefined, name)
    }
    t.equal((await comeBack(server, back, cookie)).headers.location, 'ui/')
    t.equal((await comeBack(server, back, cookie)).headers.location, 'ui/sign-in?problem=failed', 'twice')
    const denied = await begin(server)
    const refused = await provider.signIn(denied.location, 'eve', { refuses: true })
    t.equal(
      (await comeBack(server, refused, denied.cookie)).headers.location,
      'ui/sign-in?problem=failed',
      'a person who refuses'
    )
  })

  await t.test('gets its new rights when it signs in again', async (t) => {
    const { session } = await signIn(both, 'roy')
    const before = groups.roy
    groups.roy = ['platform']
    t.teardown(() => {
      groups.roy = before
    })
    const scopesOf = async (cookie: string): Promise<unknown> =>
      (await rest({ url: '/session', token: null, headers: { cookie } })).body.scopes
    t.strictSame(await scopesOf(session), ['read'])
    t.strictSame(await scopesOf((await signIn(both, 'roy')).session), ['admin'])
  })
})

t.test(
  'groups that only the userinfo endpoint gives count, also if they are at the end of a path',
  async (t) => {
    for (const { thin, env } of [
      { thin: true, env: {} },
      { thin: false, env: { OIDC_GROUPS_CLAIM: 'realm_access.roles' } }
    ]) {
      const both = await withBoth(t, { groups, thin, env })
      const { session } = await signIn(both, 'eve')
      t.match((await sessionOf(both.server, session)).body, {
        actor: 'urn:li:corpuser:eve',
        scopes: ['write']
      })
    }
  }
)

t.test('a bearer token of the provider', async (t) => {
  const { provider, server } = await withBoth(t, { groups })
  const { rest } = server
  const now = Math.floor(Date.now() / 1_000)
  const eve = { sub: 'eve', preferred_username: 'eve', groups: ['data'] }
  const ask = (token: string): Promise<RestAnswer> =>
    rest({ method: 'POST', url: '/api/graphql', token, body: { query: '{ me { corpUser { urn } } }' } })

  await t.test('is accepted, and names the person', async (t) => {
    const { status, body } = await ask(await provider.sign(eve))
    t.equal(status, 200)
    t.equal(body.data.me.corpUser.urn, 'urn:li:corpuser:eve')
    for (const header of [{ typ: 'at+jwt' }, { typ: 'application/at+jwt' }, { typ: undefined }])
      t.equal((await ask(await provider.sign(eve, header))).status, 200, String(header.typ))
  })

  await t.test(
    'may be an ID token for this client, or an access token that another client got',
    async (t) => {
      for (const more of [
        { typ: 'ID', azp: 'tributary' },
        { at_hash: 'x', azp: 'tributary' },
        { typ: 'ID' },
        { typ: 'Bearer', azp: 'another' },
        { azp: 'another' }
      ])
        t.equal((await ask(await provider.sign({ ...eve, ...more }))).status, 200, JSON.stringify(more))
    }
  )

  await t.test('may be a minute off, as clocks are', async (t) => {
    for (const claims of [{ exp: now - 30 }, { nbf: now + 30 }, { iat: now + 30 }])
      t.equal((await ask(await provider.sign({ ...eve, ...claims }))).status, 200, JSON.stringify(claims))
  })

  const valid = await provider.sign(eve)
  const [head = '', payload = '', signature = ''] = valid.split('.')
  const claims = { ...eve, iss: provider.issuer, aud: 'tributary' }
  const changed = Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), groups: ['platform'] })
  ).toString('base64url')
  const refused: [string, string | Promise<string>][] = [
    ['expired', provider.sign({ ...eve, exp: now - 120 })],
    ['not valid yet', provider.sign({ ...eve, nbf: now + 120 })],
    ['issued in the future', provider.sign({ ...eve, iat: now + 120 })],
    ['with a subject of a thousand characters', provider.sign({ ...eve, sub: 'x'.repeat(1_000) })],
    ['with a subject that cannot be stored', provider.sign({ ...eve, sub: 'x\0' })],
    ['for another audience', provider.sign({ ...eve, aud: 'another-service' })],
    ['for no audience', provider.sign({ ...eve, aud: undefined as never })],
    ['of another issuer', provider.sign({ ...eve, iss: 'https://evil.example' })],
    ['that never ends', provider.sign({ ...eve, exp: undefined as never })],
    ['without a subject', provider.sign({ ...eve, sub: undefined as never })],
    ['of another kind', provider.sign(eve, { typ: 'logout+jwt' })],
    ['as the ID token of another client', provider.sign({ ...eve, typ: 'ID', azp: 'another' })],
    ['as such with the hash of an access token', provider.sign({ ...eve, at_hash: 'x', azp: 'another' })],
    ['as such with the hash of a code', provider.sign({ ...eve, c_hash: 'x', azp: 'another' })],
    ['as such with a strange azp', provider.sign({ ...eve, typ: 'ID', azp: ['tributary'] as never })],
    ['bound to a key (DPoP)', provider.sign({ ...eve, cnf: { jkt: 'x' } })],
    ['bound to a certificate', provider.sign({ ...eve, cnf: { 'x5t#S256': 'x' } })],
    ['bound to nothing that is known', provider.sign({ ...eve, cnf: {} })],
    ['bound to null', provider.sign({ ...eve, cnf: null })],
    ['of a key that the provider does not have', provider.sign(eve, { kid: 'unknown' })],
    [
      'without a signature (alg none)',
      new UnsecuredJWT(claims).setIssuedAt().setExpirationTime('5m').encode()
    ],
    ['whose signature is cut off', `${head}.${payload}.`],
    ['with other claims under the signature', `${head}.${changed}.${signature}`],
    [
      'signed with the public key as a secret',
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(Buffer.from(JSON.stringify(provider.publicKey())))
    ]
  ]
  for (const [name, token] of refused)
    await t.test(`is refused ${name}`, async (t) => {
      const { status, text } = await ask(await token)
      t.equal(status, 401)
      t.notMatch(text, /jwt|signature|audience|issuer/i, 'without saying why')
    })

  await t.test('is accepted with any name and end, except characters that cannot be shown', async (t) => {
    const actorOf = async (claims: { [name: string]: unknown }): Promise<unknown> =>
      (await ask(await provider.sign({ sub: 'named', groups: ['data'], ...claims }))).body.data?.me.corpUser
        .urn
    t.equal(await actorOf({ exp: 1e15 }), 'urn:li:corpuser:named', 'an end far away')
    for (const name of ['x'.repeat(5_000), 'a\0b', 'a\u202eb', 7])
      t.equal(
        await actorOf({ preferred_username: name, email: 'n@example.com' }),
        'urn:li:corpuser:n@example.com',
        JSON.stringify(name).slice(0, 20)
      )
  })

  await t.test('is for OIDC_AUDIENCE if it is set, with groups at the end of a path', async (t) => {
    const env = { OIDC_AUDIENCE: 'an-api', OIDC_GROUPS_CLAIM: 'realm_access.roles' }
    const other = await withServer(t, { env: { ...provider.env, OIDC_ROLES: JSON.stringify(roles), ...env } })
    const statusOf = async (claims: { [name: string]: unknown }): Promise<number> =>
      (await other.rest({ url: '/session', token: await provider.sign({ sub: 'api', ...claims }) })).status
    const groups = { realm_access: { roles: ['data'] } }
    // 404: let in, and without a session
    t.equal(await statusOf({ ...groups, aud: 'an-api' }), 404)
    t.equal(await statusOf({ 'realm_access.roles': ['data'], aud: ['x', 'an-api'] }), 404)
    t.equal(await statusOf({ groups: ['data'], aud: 'an-api' }), 403)
    t.equal(await statusOf(groups), 401, 'for OIDC_CLIENT_ID')
  })

  await t.test('without the claim has no groups, even if the claim is named constructor', async (t) => {
    const env = { OIDC_GROUPS_CLAIM: 'constructor' }
    const other = await withServer(t, { env: { ...provider.env, OIDC_ROLES: JSON.stringify(roles), ...env } })
    const statusOf = async (claims: { [name: string]: unknown }): Promise<number> =>
      (await other.rest({ url: '/session', token: await provider.sign({ sub: 'cons', ...claims }) })).status
    t.equal(await statusOf({ groups: ['data'] }), 403)
    t.equal(await statusOf({ constructor: ['data'] }), 404)
  })

  await t.test('of a person without a role is forbidden', async (t) => {
    const answer = await ask(await provider.sign({ sub: 'nik', groups: ['strangers'] }))
    t.equal(answer.status, 403)
    t.equal((await ask(await provider.sign({ sub: 'x', groups: 7, constructor: ['platform'] }))).status, 403)
  })

  await t.test(
    'is accepted after the provider has changed its keys, and one of the old keys is not',
    async (t) => {
      const before = await provider.sign({ ...eve, jti: 'before' })
      await provider.rotateKeys()
      t.equal((await ask(await provider.sign({ ...eve, jti: 'after' }))).status, 200)
      t.equal((await ask(before)).status, 401)
    }
  )
})

t.test('keys are fetched again when the provider has a new one under an old id', async (t) => {
  const { provider, server } = await withBoth(t, { groups })
  const statusOf = async (token: string): Promise<number> =>
    (await server.rest({ url: '/loads', token })).status
  const eve = { sub: 'eve', groups: ['data'] }
  const before = await provider.sign({ ...eve, jti: 'before' })
  t.equal(await statusOf(before), 200)
  await provider.rotateKeys({ keepsId: true })
  t.equal(await statusOf(await provider.sign({ ...eve, jti: 'after' })), 200)
  t.equal(await statusOf(await provider.sign({ ...eve, jti: 'forged' }, { kid: 'unknown' })), 401)
  const [head, payload, signature = ''] = (await provider.sign({ ...eve, jti: 'cut' })).split('.')
  const forged = `${head}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
  t.equal(await statusOf(forged), 401)
})

t.test('a sign-in ends the session that the browser had, and its cookie ends with the session', async (t) => {
  const both = await withBoth(t, { groups, env: { OIDC_SESSION_HOURS: '2' } })
  const { server, provider } = both
  const first = await signIn(both, 'eve')
  t.match(String(first.answer.headers['set-cookie']), /tributary_session=[^;]+;.*Max-Age=7200/)
  const other = await signIn(both, 'eve')
  const { location, cookie } = await begin(server, '', first.session)
  const answer = await comeBack(server, await provider.signIn(location, 'eve'), cookie)
  const second = `tributary_session=${cookiesOf(answer).get('tributary_session')}`
  const statuses = []
  for (const session of [first.session, other.session, second])
    statuses.push((await sessionOf(server, session)).status)
  t.strictSame(statuses, [401, 200, 200])
  const planted = Buffer.from(
    JSON.stringify({ state: 'x', nonce: 'x', verifier: 'x', next: '', replaces: '../../x' })
  ).toString('base64url')
  t.match(
    (await comeBack(server, 'https://x/?code=x&state=x', `tributary_sign_in=${planted}`)).headers.location,
    /problem=failed/
  )
})

t.test('a person does not count as the first token of a catalog', async (t) => {
  const { provider, server } = await withBoth(t, { groups })
  await server.db.raw('delete from access_token')
  await server.rest({ url: '/domains', token: await provider.sign({ sub: 'roy', groups: ['everybody'] }) })
  t.equal(await inTransaction(server.db, hasNoToken), true)
})

t.test('what each role may do', async (t) => {
  const both = await withBoth(t, { groups, withWorker: true, env: { MISSING_REFERENCES: 'create' } })
  const { provider, server } = both
  const { rest, graphql } = server
  const other = 'urn:li:domain:other'
  const made = await graphql(`
    mutation {
      createDomain(input: { id: "finance", name: "Finance" })
      sales: createDomain(input: { id: "sales", name: "Sales" })
      other: createDomain(input: { id: "other", name: "Other" })
    }
  `)
  t.strictSame(made.body.data, { createDomain: finance, sales, other })
  const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`
  for (const name of ['mine', 'sold', 'moved', 'theirs'])
    await rest({
      method: 'POST',
      url: '/openapi/v3/entity/dataset?async=false',
      body: [{ urn: dataset(name), datasetProperties: { value: { name } } }]
    })
  for (const [name, domainUrn] of [
    ['mine', finance],
    ['sold', sales],
    ['moved', finance],
    ['theirs', other]
  ] as const)
    await graphql(
      'mutation($urn: String!, $domainUrn: String!) { setDomain(entityUrn: $urn, domainUrn: $domainUrn) }',
      {
        urn: dataset(name),
        domainUrn
      }
    )

  /** What else comes is shown whole. */
  type Outcome = 'done' | 'forbidden' | RestAnswer
  type Door = {
    name: string
    request: () => RestRequest
    allowed: string
    outcomeOf: (answer: RestAnswer) => Outcome | Promise<Outcome>
  }
  const isForbiddenError = (error: { extensions?: { reason?: string } }): boolean =>
    error.extensions?.reason === 'FORBIDDEN'
  let names = 0
  const nextName = (): string => `domain ${(names += 1)}`
  const said = (answer: RestAnswer): Outcome =>
    answer.status < 300 ? 'done' : answer.status === 403 ? 'forbidden' : answer
  /** Of a load that was waited for. */
  const loadOutcome = async (answer: RestAnswer): Promise<Outcome> => {
    if (said(answer) !== 'done' || answer.body.state === 'done') return said(answer)
    const rejects = await rest({ url: `/loads/${answer.body.id}/rejects` })
    return /"FORBIDDEN"/.test(rejects.text) ? 'forbidden' : rejects
  }
  const graphqlDoor = (name: string, allowed: string, query: string): Door => ({
    name: `GraphQL ${name}`,
    request: () => ({
      method: 'POST',
      url: '/api/graphql',
      body: { query, variables: { name: nextName() } }
    }),
    allowed,
    outcomeOf(answer) {
      const { data, errors = [] } = answer.body
      if (data && errors.length === 0) return 'done'
      const isForbidden = answer.status === 403 || (errors.length > 0 && errors.every(isForbiddenError))
      return isForbidden ? 'forbidden' : answer
    }
  })
  const describe = (name: string): unknown => [
    { urn: dataset(name), datasetProperties: { value: { name, description: 'by a role' } } }
  ]
  const proposal = (name: string): unknown => ({
    proposal: {
      entityType: 'dataset',
      entityUrn: dataset(name),
      changeType: 'UPSERT',
      aspectName: 'status',
      aspect: { contentType: 'application/json', value: '{"removed":false}' }
    }
  })
  const doors: Door[] = [
    graphqlDoor(
      'lineage',
      'admin editor owner owner-of-two reader',
      `{ entity(urn: "${dataset('mine')}") { urn } }`
    ),
    graphqlDoor(
      'a domain below the domain',
      'admin editor owner owner-of-two',
      `mutation($name: String!) { createDomain(input: { name: $name, parentDomain: "${finance}" }) }`
    ),
    graphqlDoor(
      'a domain below a second domain',
      'admin editor owner-of-two',
      `mutation($name: String!) { createDomain(input: { name: $name, parentDomain: "${sales}" }) }`
    ),
    graphqlDoor(
      'an asset from one domain to a second, and back',
      'admin editor owner-of-two',
      `mutation { to: setDomain(entityUrn: "${dataset('moved')}", domainUrn: "${sales}") back: setDomain(entityUrn: "${dataset('moved')}", domainUrn: "${finance}") }`
    ),
    graphqlDoor(
      'an edge into each of two domains',
      'admin editor owner-of-two',
      `mutation { updateLineage(input: { edgesToAdd: [{ upstreamUrn: "${dataset('theirs')}", downstreamUrn: "${dataset('mine')}" }, { upstreamUrn: "${dataset('theirs')}", downstreamUrn: "${dataset('sold')}" }], edgesToRemove: [] }) }`
    ),
    graphqlDoor(
      'an asset out of its domains',
      'admin editor',
      `mutation { to: setDomain(entityUrn: "${dataset('moved')}", domainUrn: "${other}") back: setDomain(entityUrn: "${dataset('moved')}", domainUrn: "${finance}") }`
    ),
    graphqlDoor(
      'a domain at the root',
      'admin editor',
      'mutation($name: String!) { createDomain(input: { name: $name }) }'
    ),
    graphqlDoor('tokens', 'admin', '{ listAccessTokens(input: {}) { total } }'),
    {
      name: 'OpenAPI read',
      request: () => ({ url: `/openapi/v3/entity/dataset/${encodeURIComponent(dataset('mine'))}` }),
      allowed: 'admin editor owner owner-of-two reader',
      outcomeOf: said
    },
    ...(
      [
        ['mine', 'admin editor owner owner-of-two'],
        ['sold', 'admin editor owner-of-two'],
        ['theirs', 'admin editor']
      ] as const
    ).flatMap(([name, allowed]): Door[] => {
      return [
        {
          name: `OpenAPI write of ${name}`,
          request: () => ({
            method: 'POST',
            url: '/openapi/v3/entity/dataset?async=false',
            body: describe(name)
          }),
          allowed,
          outcomeOf: said
        },
        {
          name: `RestLi write of ${name}`,
          request: () => ({ method: 'POST', url: '/aspects?action=ingestProposal', body: proposal(name) }),
          allowed,
          outcomeOf: said
        }
      ]
    }),
    ...(
      [
        [['mine'], 'admin editor owner owner-of-two'],
        [['mine', 'sold'], 'admin editor owner-of-two'],
        [['mine', 'sold', 'theirs'], 'admin editor']
      ] as const
    ).map(([names, allowed]): Door => ({
      name: `an atomic load that describes ${names.join(' and ')}`,
      request: () => ({
        method: 'POST',
        url: '/loads?format=ndjson&atomic=true&wait=25',
        headers: { 'content-type': 'application/x-ndjson' },
        body: names
          .map(
            (each) =>
              `${JSON.stringify({ op: 'upsertEntity', urn: dataset(each), description: 'by a load' })}\n`
          )
          .join('')
      }),
      allowed,
      outcomeOf: loadOutcome
    })),
    {
      name: 'loads',
      request: () => ({
        method: 'POST',
        url: '/loads?format=ndjson',
        body: `${JSON.stringify({ kind: 'upsertEntity', urn: dataset('loaded') })}\n`
      }),
      allowed: 'admin editor owner owner-of-two',
      outcomeOf: said
    }
  ]
  const people = { admin: 'ada', editor: 'eve', owner: 'fay', 'owner-of-two': 'sam', reader: 'roy' } as const
  for (const [role, person] of Object.entries(people)) {
    const token = await provider.sign({ sub: person, groups: groups[person] })
    const { session } = await signIn(both, person)
    const { csrfToken } = (await rest({ url: '/session', token: null, headers: { cookie: session } })).body
    for (const { name, request, allowed, outcomeOf } of doors) {
      const expected = allowed.split(' ').includes(role) ? 'done' : 'forbidden'
      t.strictSame(await outcomeOf(await rest({ ...request(), token })), expected, `${role}, bearer, ${name}`)
      const headers = { cookie: session, 'x-csrf-token': csrfToken }
      t.strictSame(
        await outcomeOf(await rest({ ...request(), token: null, headers })),
        expected,
        `${role}, browser, ${name}`
      )
    }
    const run = (...args: string[]): ReturnType<typeof runCommand> =>
      runCommand(args, { env: { TRIBUTARY_URL: server.url, TRIBUTARY_TOKEN: token } })
    t.match(await run('search', 'mine'), { code: 0 }, `${role}, command line, search`)
    t.match(
      await run('domain', 'create', nextName()),
      role === 'admin' || role === 'editor' ? { code: 0 } : { code: 1, err: [/FORBIDDEN|scope|limited/] },
      `${role}, command line, a domain at the root`
    )
    const { body } = await rest({
      method: 'POST',
      url: '/api/graphql',
      token,
      body: {
        query:
          '{ me { corpUser { urn } domainUrns platformPrivileges { manageDomains manageTokens generatePersonalAccessTokens } } }'
      }
    })
    t.equal(body.data.me.corpUser.urn, `urn:li:corpuser:${person}`)
    t.strictSame(
      body.data.me.domainUrns,
      role === 'owner' ? [finance] : role === 'owner-of-two' ? [finance, sales] : null
    )
    t.match(body.data.me.platformPrivileges, {
      manageDomains: role === 'admin' || role === 'editor',
      manageTokens: role === 'admin'
    })
  }
})
