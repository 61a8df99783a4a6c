/** A browser that is signed in, as far as a server can tell: its cookie, and the headers that its pages send. */
import type { RestAnswer, RestRequest, TestServer } from './server.ts'

export type BrowserSession = {
  cookie: string
  csrfToken: string
  /** Sends a request as a page of ours does: with the cookie, and for writes with x-csrf-token. */
  send: (request: Omit<RestRequest, 'token'>) => Promise<RestAnswer>
}

/** The name and value of the session's cookie in an answer; null where it sets none. */
export function cookieOf({ headers }: RestAnswer): string | null {
  const set = [headers['set-cookie']].flat().find((text) => text?.startsWith('tributary_session='))
  return set?.split(';', 1)[0] ?? null
}

/** Signs in with a token. Throws where the server refuses. */
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
