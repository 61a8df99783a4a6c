/** Pages of other origins: those of CORS_ORIGINS may use the API with a token, others may not. */
import t from 'tap'
import { readConfig } from '../shared/platform/config.ts'
import { withServer, type RestAnswer, type TestServer } from './support/server.ts'

const friend = 'https://app.example'
const stranger = 'https://evil.example'

/** The headers of an answer that tell a browser what a page may do. */
const corsOf = ({ headers }: RestAnswer): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'))

const ask = (
  { rest }: TestServer,
  origin: string,
  more: { token?: string | null } = {}
): Promise<RestAnswer> =>
  rest({
    method: 'POST',
    url: '/api/graphql',
    body: { query: '{ __typename }' },
    headers: { origin },
    ...more
  })

const preflight = (
  { rest }: TestServer,
  origin: string,
  { url = '/api/graphql', method = 'POST' } = {}
): Promise<RestAnswer> =>
  rest({
    method: 'OPTIONS',
    url,
    token: null,
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type'
    }
  })

t.test('without CORS_ORIGINS no page of another origin may use the API', async (t) => {
  const server = await withServer(t, { memory: false })
  t.strictSame(corsOf(await ask(server, friend)), [])
  t.match(await preflight(server, friend), { status: 401 })
})

t.test('with CORS_ORIGINS', async (t) => {
  const server = await withServer(t, {
    memory: false,
    env: { CORS_ORIGINS: `${friend}, http://127.0.0.1:3000` }
  })
  const { rest } = server

  await t.test('a page of a listed origin may ask, and read the answer', async (t) => {
    for (const origin of [friend, 'http://127.0.0.1:3000']) {
      for (const { url, method } of [
        { url: '/api/graphql', method: 'POST' },
        { url: '/loads', method: 'POST' },
        { url: '/openapi/v3/entity/dataset', method: 'POST' }
      ]) {
        const { status, headers } = await preflight(server, origin, { url, method })
        t.equal(status, 204, url)
        t.equal(headers['access-control-allow-origin'], origin)
        t.match(headers['access-control-allow-methods'], method)
        t.match(headers['access-control-allow-headers'], /authorization/)
        t.equal(headers['access-control-max-age'], '600')
      }
      const { status, headers } = await ask(server, origin)
      t.equal(status, 200)
      t.equal(headers['access-control-allow-origin'], origin)
      t.match(headers.vary, /origin/i)
      t.match(headers['access-control-expose-headers'], /x-request-id/)
    }
  })

  await t.test('errors can be read as well', async (t) => {
    const { status, headers } = await ask(server, friend, { token: null })
    t.equal(status, 401)
    t.equal(headers['access-control-allow-origin'], friend)
  })

  await t.test('a page of another origin may not', async (t) => {
    for (const origin of [stranger, `${friend}.evil.example`, 'http://app.example', 'null']) {
      t.equal((await preflight(server, origin)).headers['access-control-allow-origin'], undefined, origin)
      t.equal((await ask(server, origin)).headers['access-control-allow-origin'], undefined, origin)
    }
  })

  await t.test('no page of another origin may use a session', async (t) => {
    t.equal((await ask(server, friend)).headers['access-control-allow-credentials'], undefined)
    const opened = await rest({ method: 'POST', url: '/session', token: null, body: { token: server.token } })
    const [cookie = ''] = String(opened.headers['set-cookie']).split(';')
    for (const site of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, {}])
      t.equal(
        (await rest({ url: '/session', token: null, headers: { cookie, origin: friend, ...site } })).status,
        403
      )
  })

  await t.test('a token is needed as before, and OPTIONS still lists methods', async (t) => {
    t.equal((await rest({ method: 'OPTIONS', url: '/loads', token: null })).status, 401)
    t.match(await rest({ method: 'OPTIONS', url: '/loads' }), {
      status: 204,
      headers: { allow: /GET.*POST/ }
    })
    t.match(await rest({ method: 'OPTIONS', url: '/nowhere' }), { status: 404, body: { code: 'NOT_FOUND' } })
    t.equal(
      (await rest({ method: 'OPTIONS', url: '/nowhere', token: await server.tokenWith(['read']) })).status,
      404
    )
    t.equal((await preflight(server, stranger)).status, 401)
  })
})

t.test('CORS_ORIGINS lists origins, and nothing else', (t) => {
  t.strictSame(readConfig({ CORS_ORIGINS: `${friend} ,${stranger}` }).corsOrigins, [friend, stranger])
  t.equal(readConfig({}).corsOrigins, null)
  for (const text of [
    '*',
    'null',
    'app.example',
    `${friend}/`,
    `${friend}/path`,
    `${friend},`,
    'https://*.example',
    'ftp://x'
  ])
    t.throws(
      () => readConfig({ CORS_ORIGINS: text }),
      { message: /CORS_ORIGINS must be origins such as/ },
      text
    )
  t.end()
})
