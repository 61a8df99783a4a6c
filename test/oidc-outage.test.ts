/** An identity provider that is down, slow, broken, or that says what cannot be trusted. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openProvider, type Provider } from '../api/oidc/provider.ts'
import { limits } from '../shared/limits.ts'
import { readConfig } from '../shared/platform/config.ts'
import { createLog } from '../shared/platform/log.ts'
import { withIdentityProvider } from './support/identity-provider.ts'
import { withServer } from './support/server.ts'
import {
  begin,
  comeBack,
  cookiesOf,
  roles,
  sessionOf,
  signIn,
  someGroups,
  withBoth
} from './support/sign-in.ts'

const groups = someGroups()

/** The provider as the API sees it, without a server, and the lines that it logs. */
function opened(env: { [key: string]: string }): { provider: Provider; lines: string[] } {
  const lines: string[] = []
  const config = readConfig({ OIDC_ROLES: '{"reader":["*"]}', ...env })
  const log = createLog(config, {
    write(line) {
      lines.push(line)
    }
  })
  const provider = openProvider(config, log)
  if (!provider) throw new Error('OIDC_ISSUER is not set')
  return { provider, lines }
}

const beginWith = async ({ browsers }: Provider): Promise<void> => {
  await browsers?.begin('')
}

t.test('a browser that comes back', async (t) => {
  const both = await withBoth(t, { groups, thin: true })
  const { provider, server } = both
  const problem = (name: string): string => `ui/sign-in?problem=${name}`

  await t.test('gets a message when the provider does not answer, and may try again', async (t) => {
    for (const path of ['/token', '/me'])
      for (const how of ['close', 'fail'] as const) {
        const { location, cookie } = await begin(server)
        const back = await provider.signIn(location, 'eve')
        provider.disturb(path, how)
        const { headers } = await comeBack(server, back, cookie)
        t.equal(headers.location, problem('unavailable'), `${path}: ${how}`)
        provider.disturb(path, null)
      }
    t.equal((await signIn(both, 'eve')).answer.headers.location, 'ui/')
    const { location, cookie } = await begin(server)
    const back = await provider.signIn(location, 'eve')
    provider.setUp(false)
    t.equal((await comeBack(server, back, cookie)).headers.location, problem('unavailable'))
    provider.setUp(true)
  })

  await t.test(
    'is refused with a reason while too many others sign in, and may continue the same attempt',
    async (t) => {
      provider.disturb('/token', 'hold')
      const others = await Promise.all(
        Array.from({ length: limits.signInsAtOnceMaxCount }, async () => {
          const { location, cookie } = await begin(server)
          const state = new URL(location).searchParams.get('state') ?? ''
          const back = new URL(`https://x/?code=x&state=${state}`)
          back.searchParams.set('iss', provider.issuer)
          return { back: back.href, cookie }
        })
      )
      const { location, cookie } = await begin(server)
      const back = await provider.signIn(location, 'eve')
      const waiting = others.map((other) => comeBack(server, other.back, other.cookie))
      while (provider.heldCount() < others.length) await sleep(5)
      const early = await comeBack(server, back, cookie)
      t.equal(early.headers.location, problem('busy'))
      t.notOk(cookiesOf(early).has('tributary_sign_in'), 'the attempt is kept')
      provider.disturb('/token', null)
      for (const { headers } of await Promise.all(waiting)) t.equal(headers.location, problem('failed'))
      const answer = await comeBack(server, back, cookie)
      t.equal(answer.headers.location, 'ui/')
      t.equal(cookiesOf(answer).get('tributary_sign_in'), '')
    }
  )
})

t.test('while the provider is down', async (t) => {
  const provider = await withIdentityProvider(t, { groups })
  const env = { ...provider.env, OIDC_ROLES: JSON.stringify(roles) }
  const eve = { sub: 'eve', groups: ['data'] }

  await t.test('unknown bearer tokens wait; our own tokens and sessions do not', async (t) => {
    const server = await withServer(t, { env })
    const { session } = await signIn({ provider, server }, 'eve')
    const other = await withServer(t, { env })
    provider.setUp(false)
    t.teardown(() => {
      provider.setUp(true)
    })
    t.match(await other.rest({ url: '/lineage/export?urn=x', token: await provider.sign(eve) }), {
      status: 503,
      headers: { 'retry-after': '5' }
    })
    t.equal((await other.graphql('{ __typename }')).status, 200)
    t.equal((await sessionOf(server, session)).status, 200)
  })

  await t.test('it is reported once in a while, not with every request', async (t) => {
    const { provider: seen, lines } = opened(env)
    provider.setUp(false)
    t.teardown(() => {
      provider.setUp(true)
    })
    for (let count = 0; count < 5; count += 1) {
      await t.rejects(beginWith(seen), { code: 'UNAVAILABLE' })
      await t.rejects(seen.verifyJsonWebToken(await provider.sign(eve)), { code: 'UNAVAILABLE' })
    }
    t.equal(lines.length, 1)
    t.match(JSON.parse(lines[0] ?? ''), { level: 'warn', reason: /fetch failed/ })
  })

  await t.test('bearer tokens are accepted for an hour with the keys that are known', async (t) => {
    const { provider: seen } = opened(env)
    const token = await provider.sign(eve)
    await seen.verifyJsonWebToken(token)
    provider.setUp(false)
    const now = Date.now
    t.teardown(() => {
      Date.now = now
      provider.setUp(true)
    })
    Date.now = () => now() + 59 * 60_000
    t.match(await seen.verifyJsonWebToken(token), { subject: 'eve' })
    Date.now = () => now() + 61 * 60_000
    await t.rejects(seen.verifyJsonWebToken(token), { code: 'UNAVAILABLE' })
  })
})

t.test('a provider that describes itself in a way that cannot be trusted is not used', async (t) => {
  const describedAs = async (t: Test, more: (issuer: string) => object): Promise<string> => {
    const server = createServer((request, response) => {
      const issuer = `http://${request.headers.host}`
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ['code'],
          ...more(issuer)
        })
      )
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    t.teardown(() => server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  for (const [name, more, reason] of [
    [
      'keys without TLS',
      () => ({ jwks_uri: 'http://keys.example/jwks' }),
      /jwks_uri of the provider must begin with https/
    ],
    ['no keys', () => ({ jwks_uri: undefined }), /does not say where its keys are/],
    ['another issuer', () => ({ issuer: 'https://evil.example' }), /issuer/]
  ] as const)
    await t.test(name, async (t) => {
      const issuer = await describedAs(t, more)
      const { provider, lines } = opened({
        OIDC_ISSUER: issuer,
        OIDC_CLIENT_ID: 'x',
        PUBLIC_URL: 'https://catalog.example'
      })
      await t.rejects(beginWith(provider), { code: 'UNAVAILABLE' })
      t.match(JSON.parse(lines[0] ?? '{}'), { reason })
    })
})
