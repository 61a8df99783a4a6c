/**
 * Checks the keys of the identity provider together: a combination that cannot work is an error at start that
 * names the key.
 */
import { parseRoles, type Roles } from '../../shared/model/roles.ts'
import type { Config } from '../../shared/platform/config.ts'

export type OidcConfig = {
  issuer: string
  clientId: string | null
  /** The audience that a JSON Web Token must name. */
  audience: string
  roles: Roles
}

/** Null without OIDC_ISSUER. Throws an Error that names the key at fault. */
export function checkOidcConfig(config: Config): OidcConfig | null {
  const { oidcIssuer: issuer, oidcClientId: clientId } = config
  if (issuer === null) return null
  const audience = config.oidcAudience ?? clientId
  if (audience === null) throw new Error('OIDC_ISSUER needs OIDC_CLIENT_ID, OIDC_AUDIENCE or both')
  if (!issuer.startsWith('https://') && !isThisMachine(issuer))
    throw new Error('OIDC_ISSUER must begin with https://')
  if (isForEveryTenant(issuer)) throw new Error(`OIDC_ISSUER must be one tenant: ${oneTenant}`)
  if (!config.oidcScopes.split(/\s+/).includes('openid'))
    throw new Error('OIDC_SCOPES must contain openid: without it the provider does not say who signs in')
  return { issuer, clientId, audience, roles: readRoles(config.oidcRoles) }
}

export const isThisMachine = (url: string): boolean =>
  ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)

const oneTenant =
  'https://login.microsoftonline.com/ID/v2.0 with the directory (tenant) ID of your organization'

/**
 * Microsoft's issuers for everybody: with such an issuer, users of every organization could sign in, and
 * subjects are not unique.
 */
function isForEveryTenant(issuer: string): boolean {
  const { hostname, pathname } = new URL(issuer)
  return (
    hasPlaceholder(issuer) ||
    (hostname.startsWith('login.microsoftonline.') &&
      /^\/(?:common|organizations|consumers)(?:\/|$)/i.test(pathname))
  )
}

/**
 * Throws an Error if the provider's description of itself cannot be trusted. `issuer` is the configured one.
 */
export function checkDescription(issuer: string, said: { issuer: string; jwks_uri?: string }): void {
  if (hasPlaceholder(said.issuer))
    throw new Error(`the issuer ${said.issuer} is for every tenant; OIDC_ISSUER must be one: ${oneTenant}`)
  if (said.jwks_uri === undefined) throw new Error('the provider does not say where its keys are')
  const mayBePlain = isThisMachine(issuer) && isThisMachine(said.jwks_uri)
  if (!said.jwks_uri.startsWith('https://') && !mayBePlain)
    throw new Error('the jwks_uri of the provider must begin with https://')
}

const hasPlaceholder = (issuer: string): boolean => /\{|%7b/i.test(issuer)

function readRoles(text: string | null): Roles {
  if (text === null) throw new Error('OIDC_ISSUER needs OIDC_ROLES: without roles nobody may do anything')
  try {
    return parseRoles(text)
  } catch (error) {
    throw new Error(`OIDC_ROLES must be ${error instanceof Error ? error.message : ''}`, { cause: error })
  }
}
