/** A signed-in browser, as a server sees it: its cookie, and the headers that its pages send. */
import type { RestAnswer, RestRequest, TestServer } from './server.ts'

export type BrowserSession = {
  cookie: string
  csrfToken: string
  /** Sends a request as our pages do: with the cookie, and for writes with x-csrf-token. */
  send: (request: Omit<RestRequest, 'token'>) => Promise<RestAnswer>
}

/** The name and value of the session cookie in an answer; null if it sets none. */
export function cookieOf({ headers }: RestAnswer): string | null {
  const set = [headers['set-cookie']].flat().find((text) => text?.startsWith('tributary_session='))
  return set?.split(';', 1)[0] ?? null
}

/** Signs in with a token. Throws if the server refuses. */
export async function signInWith(server: TestServer, token: string): Promise<BrowserSession> {
  const answer = await server.rest({ method: 'POST', url: '/session', body: { token }, token: null })
  const cookie = cookieOf(answer)
  if (cookie === null) throw new Error(`not signed in: ${answer.status} ${answer.text}`)
  const csrfToken = String(answer.body.csrfToken)
  const send: BrowserSession['send'] = ({ method = 'GET', headers = {}, ...request }) =>
    server.rest({
      ...request,
      method,
      token: null,
      headers: {
        cookie,
        ...(method === 'GET' || method === 'HEAD' ? {} : { 'x-csrf-token': csrfToken }),
        ...headers
      }
    })
  return { cookie, csrfToken, send }
}
