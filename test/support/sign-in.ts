/** A server with a real identity provider, and browsers that sign in. */
import type { Test } from 'tap'
import { withIdentityProvider, type IdentityProvider } from './identity-provider.ts'
import { withServer, type RestAnswer, type TestServer } from './server.ts'

export const finance = 'urn:li:domain:finance'
export const sales = 'urn:li:domain:sales'

export const roles = {
  admin: ['platform'],
  editor: ['data'],
  owner: { [finance]: ['finance', 'data', 'all-owners'], [sales]: ['sales', 'all-owners'] },
  reader: ['everybody', 'sub:guest-7']
}

export type Groups = { [person: string]: readonly string[] }

/** The groups of each person; a test changes its own copy. */
export const someGroups = () => ({
  ada: ['platform', 'data'],
  eve: ['data'],
  fay: ['finance'],
  sam: ['finance', 'sales', 'everybody'],
  roy: ['everybody'],
  nik: ['strangers'],
  'guest-7': []
})

export type Both = { provider: IdentityProvider; server: TestServer }

export async function withBoth(
  t: Test,
  {
    groups = someGroups(),
    thin = false,
    withWorker = false,
    env = {}
  }: { groups?: Groups; thin?: boolean; withWorker?: boolean; env?: { [key: string]: string } } = {}
): Promise<Both> {
  const provider = await withIdentityProvider(t, { groups, thin })
  const server = await withServer(t, {
    withWorker,
    env: { ...provider.env, OIDC_ROLES: JSON.stringify(roles), ...env }
  })
  return { provider, server }
}

/** The cookies that an answer sets, by name. */
export const cookiesOf = ({ headers }: RestAnswer): Map<string, string> =>
  new Map(
    [headers['set-cookie'] ?? []].flat().map((set) => {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      return [name, value]
    })
  )

/** Redirects a browser to the provider. `session` is the cookie of the session that it has; `cookie` is the cookie with which it must return. */
export async function begin(
  { rest }: TestServer,
  page = '',
  session = ''
): Promise<{ location: string; cookie: string; answer: RestAnswer }> {
  const answer = await rest({
    url: `/sign-in?next=${encodeURIComponent(page)}`,
    token: null,
    headers: session === '' ? {} : { cookie: session }
  })
  const cookie = cookiesOf(answer).get('tributary_sign_in') ?? ''
  return { location: String(answer.headers.location), cookie: `tributary_sign_in=${cookie}`, answer }
}

export function comeBack({ rest }: TestServer, address: string, cookie: string): Promise<RestAnswer> {
  const { search } = new URL(address)
  return rest({ url: `/sign-in-callback${search}`, token: null, headers: cookie === '' ? {} : { cookie } })
}

/** Signs a person in as a browser does. `session` is its cookie; empty if it got none. */
export async function signIn(
  { provider, server }: Both,
  person: string,
  page = ''
): Promise<{ answer: RestAnswer; session: string }> {
  const { location, cookie } = await begin(server, page)
  const answer = await comeBack(server, await provider.signIn(location, person), cookie)
  const session = cookiesOf(answer).get('tributary_session')
  return { answer, session: session === undefined ? '' : `tributary_session=${session}` }
}

/** The answer of the server about a session, by its cookie. */
export const sessionOf = ({ rest }: TestServer, cookie: string): Promise<RestAnswer> =>
  rest({ url: '/session', token: null, headers: { cookie } })
