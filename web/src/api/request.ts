/** Sends requests to the API as the signed-in person: GraphQL documents and REST calls. */
import { ApiError, errorOfGraphql, errorOfProblem } from './errors.ts'
import type { Document } from './queries.ts'
import { hasEnded, isAnothers, restoreSession, session } from './session.ts'

/** Answers with whatever the server says. Throws ApiError OFFLINE, AbortError if the signal ended it. */
export async function send(path: string, init: RequestInit, isRetry = false): Promise<Response> {
  let response: Response
  try {
    response = await fetch(path, {
      ...init,
      headers: {
        ...(init.headers as { [name: string]: string } | undefined),
        ...(session.value ? { 'x-csrf-token': session.value.csrfToken } : {})
      }
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError('OFFLINE', 'The server cannot be reached.')
  }
  if (session.value && (response.status === 401 || (await lacksCsrfToken(response)))) {
    // Another tab may have signed in: all tabs share its cookie, and the session before it has ended.
    const before = session.value.actor
    await restoreSession()
    // The token was revoked or the session has ended: the shell then shows the sign-in page.
    if (!session.value) hasEnded.value = true
    else if (session.value.actor !== before) isAnothers.value = true
    else if (!isRetry) return send(path, init, true)
  }
  return response
}

/** Whether the request was refused for its CSRF token, not for missing permissions. */
const lacksCsrfToken = async (response: Response): Promise<boolean> =>
  response.status === 403 && (await response.clone().text()).includes('x-csrf-token')

/** The answer's data. Throws ApiError for the first error, AbortError if the signal ended it. */
export async function graphql<Result, Variables extends object>(
  document: Document<Result, Variables>,
  variables: Variables,
  signal?: AbortSignal
): Promise<Result> {
  const response = await send('../api/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: document.text, variables }),
    ...(signal ? { signal } : {})
  })
  const body = (await response.json().catch(() => null)) as {
    data?: Result
    errors?: readonly unknown[]
  } | null
  if (body?.errors?.length) throw errorOfGraphql(body.errors, response.status)
  if (!response.ok || !body?.data) throw errorOfProblem(response.status, body)
  return body.data
}

/** `path` is relative to the root of the API: `loads?format=csv`. Throws ApiError. */
export async function rest<Result>(path: string, init: RequestInit = {}): Promise<Result> {
  const response = await send(`../${path}`, init)
  const body: unknown = response.status === 204 ? null : await response.json().catch(() => null)
  if (!response.ok) throw errorOfProblem(response.status, body)
  return body as Result
}

/** As `rest`, for an answer that is not JSON. */
export async function restText(path: string, init: RequestInit = {}): Promise<string> {
  const response = await send(`../${path}`, init)
  if (!response.ok) throw errorOfProblem(response.status, await response.json().catch(() => null))
  return response.text()
}
