/** The caller, what the token allows, and facts about the server. */
import type { Actor, Scope } from '../../../shared/model/changes.ts'
import { readPackage } from '../../../shared/platform/package.ts'
import type { GraphqlContext } from '../context.ts'

const { version } = readPackage()

export const sessionResolvers = {
  Query: {
    me: (_: unknown, __: unknown, { actor }: GraphqlContext) => ({
      corpUser: { urn: actor.urn },
      platformPrivileges: privilegesOf(actor),
      domainUrns: actor.domainUrns
    }),
    appConfig: () => ({
      appVersion: version,
      authConfig: { tokenAuthEnabled: true },
      telemetryConfig: { enableThirdPartyLogging: false }
    })
  }
}

function privilegesOf({ scopes, domainUrns }: Actor) {
  const has = (...wanted: Scope[]): boolean =>
    domainUrns === null && scopes.some((scope) => wanted.includes(scope))
  const [managesDomains, managesTokens] = [has('write', 'admin'), has('admin')]
  return {
    createDomains: managesDomains,
    manageDomains: managesDomains,
    generatePersonalAccessTokens: managesTokens,
    manageTokens: managesTokens,
    viewAnalytics: false,
    managePolicies: false,
    manageIdentities: false,
    manageIngestion: false,
    manageSecrets: false,
    manageTests: false,
    manageGlossaries: false,
    manageUserCredentials: false,
    createTags: false,
    manageTags: false,
    manageGlobalViews: false,
    manageOwnershipTypes: false
  }
}
