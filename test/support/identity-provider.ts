/** A real OpenID Connect provider on this machine. The test decides its people, groups and keys. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, importJWK, SignJWT, type JWK, type JWTPayload } from 'jose'
import Provider from 'oidc-provider'
import type { Test } from 'tap'

export type IdentityProvider = {
  issuer: string
  /** The settings that a server needs to trust it. */
  env: { [key: string]: string }
  /** Signs claims as the provider would. `header` and `claims` may be wrong on purpose; a claim that is undefined is left out. */
  sign: (claims?: JWTPayload, header?: { [name: string]: unknown }) => Promise<string>
  publicKey: () => JWK
  /** Replaces its keys by new ones. With `keepsId` they have the old ids. */
  rotateKeys: (options?: { keepsId?: boolean }) => Promise<void>
  /** Makes it answer or not. */
  setUp: (isUp: boolean) => void
  /** What it does with requests to a path instead of answering. `hold` answers once the path is no longer disturbed. */
  disturb: (path: string, how: 'close' | 'fail' | 'hold' | null) => void
  /** How many requests it holds. */
  heldCount: () => number
  /**
   * Signs a person in. Takes the address to which the service redirected the browser, and returns the address
   * to which the provider redirects it back.
   */
  signIn: (url: string, person: string, options?: { refuses?: boolean }) => Promise<string>
  close: () => Promise<void>
}

const clientId = 'tributary'
const clientSecret = 'a-secret-of-the-client-for-this-test'

export async function withIdentityProvider(
  t: Test,
  {
    groups,
    thin = false,
    publicUrl = 'https://catalog.example/below'
  }: { groups: { [person: string]: readonly string[] }; thin?: boolean; publicUrl?: string }
): Promise<IdentityProvider> {
  const callback = `${publicUrl}/sign-in-callback`
  let isUp = true
  let handler: RequestListener = () => {}
  let key: JWK = {}
  const disturbed = new Map<string, 'close' | 'fail' | 'hold'>()
  let held: { path: string; answer: () => void }[] = []
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?')
    const how = isUp ? disturbed.get(path) : 'close'
    if (how === 'close') response.destroy()
    else if (how === 'fail') response.writeHead(503).end('<h1>down</h1>')
    else if (how === 'hold') held.push({ path, answer: () => handler(request, response) })
    else handler(request, response)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function rotateKeys({ keepsId = false } = {}): Promise<void> {
    const id = keepsId ? key.kid : undefined
    const { privateKey } = await generateKeyPair('RS256', { extractable: true })
    key = { ...(await exportJWK(privateKey)), kid: id ?? crypto.randomUUID(), alg: 'RS256', use: 'sig' }
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [callback],
          grant_types: ['authorization_code'],
          response_types: ['code']
        }
      ],
      cookies: { keys: ['a key for cookies'] },
      jwks: { keys: [key] },
      pkce: { required: () => true },
      claims: { openid: ['sub'], profile: ['preferred_username', 'groups', 'realm_access'] },
      conformIdTokenClaims: thin,
      findAccount: (_context, id) => ({
        accountId: id,
        claims: (use) => ({
          sub: id,
          preferred_username: id,
          groups: groups[id] ?? [],
          // As Keycloak can be set up: the claim is in both, its roles only in the answer of the userinfo endpoint.
          realm_access: use === 'userinfo' ? { roles: groups[id] ?? [] } : { verify_caller: true }
        })
      })
    })
    const answer = provider.callback()
    handler = (request, response) => {
      void answer(request, response)
    }
  }
  await rotateKeys()

  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve()
      })
      server.closeAllConnections()
    })
  t.teardown(close)

  return {
    issuer,
    env: {
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: clientId,
      OIDC_CLIENT_SECRET: clientSecret,
      PUBLIC_URL: publicUrl
    },
    async sign(claims = {}, header = {}) {
      const seconds = Math.floor(Date.now() / 1_000)
      const payload = Object.fromEntries(
        Object.entries({ iss: issuer, aud: clientId, iat: seconds, exp: seconds + 300, ...claims }).filter(
          ([, value]) => value !== undefined
        )
      )
      const wanted = { alg: 'RS256', kid: key.kid ?? '', typ: 'JWT', ...header }
      return new SignJWT(payload).setProtectedHeader(wanted).sign(await importJWK(key, 'RS256'))
    },
    publicKey: () => ({ kty: key.kty ?? '', n: key.n ?? '', e: key.e ?? '' }),
    rotateKeys,
    setUp(up) {
      isUp = up
      if (!up) server.closeAllConnections()
    },
    disturb(path, how) {
      if (how === null) disturbed.delete(path)
      else disturbed.set(path, how)
      const released = held.filter((each) => each.path === path && how !== 'hold')
      held = held.filter((each) => !released.includes(each))
      for (const { answer } of released) answer()
    },
    heldCount: () => held.length,
    signIn: (url, person, { refuses = false } = {}) => walkThrough(url, person, { refuses, callback }),
    close
  }
}

/** Acts as a person in a browser: follows redirects, enters a name, agrees. */
async function walkThrough(
  url: string,
  person: string,
  { refuses, callback }: { refuses: boolean; callback: string }
): Promise<string> {
  const cookies = new Map<string, string>()
  const go = async (address: string, form?: { [name: string]: string }): Promise<Response> => {
    const answer = await fetch(address, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {})
    })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    return answer
  }
  let at = url
  for (let step = 0; step < 20; step += 1) {
    let answer = await go(at)
    if (answer.status === 200) {
      const page = await answer.text()
      const form = page.includes('value="login"')
        ? { prompt: 'login', login: person, password: 'any' }
        : { prompt: 'consent' }
      answer = refuses ? await go(`${at}/abort`) : await go(at, form)
    }
    const next = answer.headers.get('location')
    if (next === null) throw new Error(`${answer.status} at ${at}: ${await answer.text()}`)
    at = new URL(next, at).href
    if (at.startsWith(callback)) return at
  }
  throw new Error(`the provider never sends the browser back: ${at}`)
}
