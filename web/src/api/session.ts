/**
 * Who is signed in. Scripts cannot read the session cookie, so the server says whose it is and gives the CSRF
 * token.
 */
import { signal } from '@preact/signals'
import { forgetRecent } from '../parts/recent.ts'
import { ApiError, errorOfProblem } from './errors.ts'

export type Session = {
  actor: string
  scopes: readonly string[]
  /** The domains that the token is limited to; null for the whole catalog. */
  domainUrns: readonly string[] | null
  csrfToken: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

/** `null` while nobody is signed in, `undefined` before the server has answered. */
export const session = signal<Session | null | undefined>(undefined)

/**
 * Whether another person has signed in in this browser since then; the page still shows the data of the first
 * person.
 */
export const isAnothers = signal(false)

/** Whether the server has ended the session of this page: it expired, or was revoked. */
export const hasEnded = signal(false)

export const canWrite = (): boolean => session.value?.scopes.some((scope) => scope !== 'read') ?? false
/** Whether the token may change what is in the domain that these lead to. */
export const canWriteIn = (domainUrns: readonly string[]): boolean =>
  canWrite() && (session.value?.domainUrns?.some((urn) => domainUrns.includes(urn)) ?? true)
export const isAdmin = (): boolean => session.value?.scopes.includes('admin') ?? false

async function ask(method: string, path: string, body?: object): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      headers: {
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(session.value ? { 'x-csrf-token': session.value.csrfToken } : {})
      },
      ...(body ? { body: JSON.stringify(body) } : {})
    })
  } catch {
    throw new ApiError('OFFLINE', 'The server cannot be reached.')
  }
}

async function takeOver(response: Response): Promise<void> {
  const body: unknown = await response.json().catch(() => null)
  if (!response.ok) throw errorOfProblem(response.status, body)
  session.value = body as Session
  hasEnded.value = false
}

/** Reads who is signed in. Throws ApiError if the server cannot say. */
export async function restoreSession(): Promise<void> {
  const before = session.value
  const response = await ask('GET', '../session')
  if (response.status !== 401) await takeOver(response)
  // Keeps a session that was started in the meantime.
  else if (session.value === before) session.value = null
}

/** Whether people can sign in with an identity provider. False if the server cannot say. */
export async function hasIdentityProvider(): Promise<boolean> {
  const response = await ask('GET', '../session/methods').catch(() => null)
  const body = response?.ok ? ((await response.json().catch(() => null)) as Methods | null) : null
  return body?.identityProvider === true
}
type Methods = { identityProvider?: boolean }

/** Throws ApiError: UNAUTHENTICATED for a wrong or used code or token. */
export async function signIn(by: { token: string } | { code: string }): Promise<void> {
  await takeOver(await ask('POST', '../session', by))
}

export async function signOut({ everywhere }: { everywhere: boolean }): Promise<void> {
  const response = await ask('DELETE', everywhere ? '../session/all' : '../session')
  if (!response.ok && response.status !== 401)
    throw errorOfProblem(response.status, await response.json().catch(() => null))
  // The next person at this machine should not see the recently opened assets.
  forgetRecent()
  session.value = null
}
