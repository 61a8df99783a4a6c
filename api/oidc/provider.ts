/**
 * The OpenID Connect provider: sends browsers to it to sign in, and checks its answers.
 *
 * Its description and keys are fetched when they are first needed, and then kept, so that the API starts
 * while the provider is down.
 *
 * Protocol: OpenID Connect Core 1.0 with the authorization code flow and PKCE (RFC 7636), by openid-client;
 * JSON Web Tokens (RFC 7519, RFC 8725), by jose.
 */
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload, type RemoteJWKSet } from 'jose'
import * as client from 'openid-client'
import type { VerifyJsonWebToken } from '../../shared/catalog/access/admit-bearer.ts'
import { clockToleranceMs, type Identity } from '../../shared/catalog/access/admit-person.ts'
import { unauthenticated } from '../../shared/catalog/access/unauthenticated.ts'
import { CatalogError } from '../../shared/errors.ts'
import type { Roles } from '../../shared/model/roles.ts'
import type { Config } from '../../shared/platform/config.ts'
import type { Log } from '../../shared/platform/log.ts'
import { checkDescription, checkOidcConfig, isThisMachine } from './check-config.ts'
import { groupsIn, identityOf, isSubject } from './claims.ts'
import { createUnavailable, isAboutToken, isOutage, reasonOf, retryAfterMs } from './outage.ts'

/** What the browser must bring back to finish a sign-in. */
export type Attempt = { state: string; nonce: string; verifier: string; next: string }

export type Provider = {
  roles: Roles
  verifyJsonWebToken: VerifyJsonWebToken
  /** Null if browsers cannot sign in: OIDC_CLIENT_ID or PUBLIC_URL is not set. */
  browsers: {
    isHttps: boolean
    sessionHours: number
    /** Where to send the browser. Throws UNAVAILABLE. */
    begin: (next: string) => Promise<{ url: string; attempt: Attempt }>
    /**
     * The user who has come back. `query` is the query of the callback's URL. Throws UNAUTHENTICATED,
     * UNAVAILABLE.
     */
    finish: (query: string, attempt: Attempt) => Promise<Identity>
  } | null
}

/**
 * Only algorithms that sign with the provider's own keys: with a shared secret, or without a signature,
 * others could sign.
 */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519'
]
const clockToleranceSeconds = clockToleranceMs / 1_000
const requestMaxSeconds = 5
/**
 * How long fetched keys are used. Tokens are accepted for this time while the provider is down, and so is a
 * key that it withdraws.
 */
const keysMaxAgeMs = 3_600_000

/** The end of the year 9999: a later time cannot be stored. */
const latestMs = 253_402_300_799_000

/** Tokens of other kinds, such as logout tokens, do not authenticate anybody (RFC 8725, 3.11). */
const acceptedTypes: readonly unknown[] = [
  undefined,
  'jwt',
  'at+jwt',
  'application/jwt',
  'application/at+jwt'
]

/** Null without OIDC_ISSUER. Throws an Error that names the key at fault. `keysCooldownMs` is the minimum time between two fetches of the keys because of an unknown key. */
export function openProvider(config: Config, log: Log, { keysCooldownMs = 30_000 } = {}): Provider | null {
  const checked = checkOidcConfig(config)
  if (!checked) return null
  const { issuer, clientId, audience, roles } = checked
  const unavailable = createUnavailable(log)
  const orUnavailable = <T>(asked: Promise<T>): Promise<T> =>
    asked.catch((error: unknown) => {
      throw unavailable(error)
    })
  const names = { user: config.oidcUserClaim, groups: config.oidcGroupsClaim }
  const discover = remembered(() => describe(config, issuer, clientId ?? audience))
  const keysOf = remembered(async (): Promise<RemoteJWKSet> => {
    const { jwks_uri: address = '' } = (await discover()).serverMetadata()
    return createRemoteJWKSet(new URL(address), {
      cacheMaxAge: keysMaxAgeMs,
      cooldownDuration: keysCooldownMs,
      timeoutDuration: requestMaxSeconds * 1_000
    })
  })

  const verifyJsonWebToken: VerifyJsonWebToken = async (jwt) => {
    const keys = await orUnavailable(keysOf())
    try {
      const { issuer: named } = (await discover()).serverMetadata()
      const verify = () =>
        jwtVerify(jwt, keys, {
          issuer: named,
          audience,
          algorithms,
          clockTolerance: clockToleranceSeconds,
          requiredClaims: ['sub', 'iat', 'exp']
        })
      const { payload, protectedHeader } = await verify().catch(async (error: unknown) => {
        // A provider that was reinstalled may use a new key under an old id.
        if (!(error instanceof errors.JWSSignatureVerificationFailed) || keys.coolingDown) throw error
        await keys.reload()
        return verify()
      })
      const { sub, iat = 0, exp = 0, iss = '' } = payload
      if (!acceptedTypes.includes(protectedHeader.typ?.toLowerCase()) || !isSubject(sub))
        throw new errors.JWTInvalid('a token of another kind')
      // Whoever presents it must prove that a key is theirs (RFC 7800), which nothing here can check.
      if (payload.cnf !== undefined) throw new errors.JWTInvalid('a token that is bound to a key')
      if (isIdToken(payload) && !isFor(payload.azp, [clientId, audience]))
        throw new errors.JWTInvalid('an ID token for another client')
      return {
        ...identityOf({ issuer: iss, subject: sub, issuedAtMs: iat * 1_000 }, [payload], names),
        expiresAtMs: Math.min((exp + clockToleranceSeconds) * 1_000, latestMs)
      }
    } catch (error) {
      if (isAboutToken(error)) {
        log.debug({ reason: error.code }, 'a JSON Web Token was refused')
        throw unauthenticated()
      }
      throw unavailable(error)
    }
  }

  const { publicUrl } = config
  if (clientId === null || publicUrl === null) return { roles, verifyJsonWebToken, browsers: null }
  const callback = `${publicUrl}/sign-in-callback`
  return {
    roles,
    verifyJsonWebToken,
    browsers: {
      isHttps: publicUrl.startsWith('https://'),
      sessionHours: config.oidcSessionHours,
      async begin(next) {
        const configuration = await orUnavailable(discover())
        const attempt = {
          state: client.randomState(),
          nonce: client.randomNonce(),
          verifier: client.randomPKCECodeVerifier(),
          next
        }
        const url = client.buildAuthorizationUrl(configuration, {
          redirect_uri: callback,
          scope: config.oidcScopes,
          state: attempt.state,
          nonce: attempt.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
          code_challenge_method: 'S256'
        })
        return { url: url.href, attempt }
      },
      async finish(query, { state, nonce, verifier }) {
        const configuration = await orUnavailable(discover())
        try {
          const tokens = await client.authorizationCodeGrant(configuration, new URL(`${callback}?${query}`), {
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: verifier,
            idTokenExpected: true
          })
          const claims = tokens.claims()
          if (!claims || !isSubject(claims.sub)) throw new Error('the provider does not say who signs in')
          // Some providers put few claims into their ID tokens, and name the groups only when they are asked.
          const asks =
            groupsIn(claims, names.groups) === null &&
            configuration.serverMetadata().userinfo_endpoint !== undefined
          const more = asks ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub) : {}
          const { iss, sub, iat } = claims
          return identityOf({ issuer: iss, subject: sub, issuedAtMs: iat * 1_000 }, [claims, more], names)
        } catch (error) {
          if (isOutage(error)) throw unavailable(error)
          // Only the operator may see the reason: it says how the provider and this service disagree.
          log.warn({ reason: reasonOf(error) }, 'a sign-in with the identity provider failed')
          throw new CatalogError('UNAUTHENTICATED', 'The sign-in failed; try again', {}, { cause: error })
        }
      }
    }
  }
}

/**
 * Whether it is an ID token: one that says so, as Keycloak's do, or has the hash of what was issued with it
 * (OpenID Connect Core, 3.1.3.6 and 3.3.2.11).
 */
const isIdToken = ({ typ, at_hash: tokenHash, c_hash: codeHash }: JWTPayload): boolean =>
  typ === 'ID' || tokenHash !== undefined || codeHash !== undefined

/** The client for which an ID token was issued must be this one (OpenID Connect Core, 3.1.3.7). */
const isFor = (client: unknown, ours: readonly (string | null)[]): boolean =>
  client === undefined || (typeof client === 'string' && ours.includes(client))

async function describe(config: Config, issuer: string, clientId: string): Promise<client.Configuration> {
  const secret = config.oidcClientSecret
  const found = await client.discovery(new URL(issuer), clientId, undefined, client.None(), {
    timeout: requestMaxSeconds,
    execute: isThisMachine(issuer) ? [client.allowInsecureRequests] : []
  })
  const server = found.serverMetadata()
  checkDescription(issuer, server)
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const auth =
    secret === null
      ? client.None()
      : methods.includes('client_secret_basic')
        ? client.ClientSecretBasic(secret)
        : client.ClientSecretPost(secret)
  const configuration = new client.Configuration(
    server,
    clientId,
    { [client.clockTolerance]: clockToleranceSeconds },
    auth
  )
  configuration.timeout = requestMaxSeconds
  if (isThisMachine(issuer)) client.allowInsecureRequests(configuration)
  // The ID token comes from the provider itself over TLS; its signature is checked nevertheless.
  client.enableNonRepudiationChecks(configuration)
  return configuration
}

/**
 * Makes the value once. A failure is remembered for a moment, so that a provider that is down is not asked by
 * every request.
 */
function remembered<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    if (made) return made
    const now = make()
    made = now
    now.catch(() => {
      setTimeout(() => {
        if (made === now) made = null
      }, retryAfterMs).unref()
    })
    return now
  }
}
