/** Distinguishes an identity provider that does not answer from one that refuses, and logs the reason. */
import { errors } from 'jose'
import * as client from 'openid-client'
import { CatalogError } from '../../shared/errors.ts'
import type { Log } from '../../shared/platform/log.ts'

/**
 * For this time after a failure, the provider's description is not fetched again, and no other failure is
 * logged.
 */
export const retryAfterMs = 2_000

/**
 * Makes the error of a failed request to the provider, and logs its reason at most once in retryAfterMs,
 * because every request fails meanwhile.
 */
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

/** Whether the connection or the provider failed; false if the provider refused the request. */
export function isOutage(error: unknown): boolean {
  if (error instanceof client.ResponseBodyError) return isBroken(error.status)
  if (error instanceof client.ClientError)
    return error.code === 'OAUTH_TIMEOUT' || (error.cause instanceof Response && isBroken(error.cause.status))
  // fetch throws a TypeError without a code; a TypeError by the library for wrong arguments has one.
  return error instanceof TypeError && !('code' in error)
}

const isBroken = (status: number): boolean => status >= 500 || status === 429

/** Whether the token is invalid; false if the provider's keys could not be fetched. */
export const isAboutToken = (error: unknown): error is errors.JOSEError =>
  error instanceof errors.JOSEError &&
  !(error instanceof errors.JWKSTimeout) &&
  !(error instanceof errors.JWKSInvalid) &&
  error.code !== 'ERR_JOSE_GENERIC'

/**
 * The parts of an error and its causes that help an operator. Bodies and codes may contain secrets, so they
 * are left out.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const detail =
    error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError
      ? ` (${error.error})`
      : ''
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.message}${detail}${cause}`
}
