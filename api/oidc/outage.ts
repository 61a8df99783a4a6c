/** Tells an identity provider that does not answer from one that refuses, and says so in the log. */
import { errors } from 'jose'
import * as client from 'openid-client'
import { CatalogError } from '../../shared/errors.ts'
import type { Log } from '../../shared/platform/log.ts'

/** How long a provider that did not answer is not asked again for what it described, and not reported again. */
export const retryAfterMs = 2_000

/** The error for what could not be asked. Logs the reason, but once in retryAfterMs: every request would. */
export function createUnavailable(log: Log): (error: unknown) => CatalogError {
  let reportedAtMs = 0
  return (error) => {
    const now = Date.now()
    if (now >= reportedAtMs + retryAfterMs) {
      reportedAtMs = now
      log.warn({ reason: reasonOf(error) }, 'the identity provider does not answer, or not as it should')
    }
    return new CatalogError(
      'UNAVAILABLE',
      'The identity provider does not answer; try again',
      { retryAfterSeconds: 5 },
      { cause: error }
    )
  }
}

/** Whether the way to the provider failed, or the provider itself; not what it was asked for. */
export function isOutage(error: unknown): boolean {
  if (error instanceof client.ResponseBodyError) return isBroken(error.status)
  if (error instanceof client.ClientError)
    return error.code === 'OAUTH_TIMEOUT' || (error.cause instanceof Response && isBroken(error.cause.status))
  // What fetch throws; those of the library for wrong arguments have a code.
  return error instanceof TypeError && !('code' in error)
}

const isBroken = (status: number): boolean => status >= 500 || status === 429

/** Whether the token is at fault, rather than the way to the provider's keys. */
export const isAboutToken = (error: unknown): error is errors.JOSEError =>
  error instanceof errors.JOSEError &&
  !(error instanceof errors.JWKSTimeout) &&
  !(error instanceof errors.JWKSInvalid) &&
  error.code !== 'ERR_JOSE_GENERIC'

/** Of an error and its causes, what helps an operator; bodies and codes may contain secrets. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const detail =
    error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError
      ? ` (${error.error})`
      : ''
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.message}${detail}${cause}`
}
