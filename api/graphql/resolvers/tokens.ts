/**
 * Access tokens over GraphQL, with DataHub's names. Only for administrators: resolver-map.ts checks the
 * scope.
 */
import type { FacetFilterInput } from '../../../shared/catalog/lineage/lineage-filters.ts'
import { createToken, type TokenView } from '../../../shared/catalog/access/create-token.ts'
import { lifeOf } from '../../../shared/catalog/access/token-makers.ts'
import { listTokens } from '../../../shared/catalog/access/list-tokens.ts'
import { revokeToken } from '../../../shared/catalog/access/revoke-token.ts'
import { CatalogError } from '../../../shared/errors.ts'
import type { Scope } from '../../../shared/model/changes.ts'
import type { GraphqlContext } from '../context.ts'

const dayMs = 24 * 60 * 60 * 1_000
const lifetimesMs: Readonly<Record<string, number | null>> = {
  ONE_HOUR: dayMs / 24,
  ONE_DAY: dayMs,
  ONE_WEEK: 7 * dayMs,
  ONE_MONTH: 30 * dayMs,
  THREE_MONTHS: 90 * dayMs,
  SIX_MONTHS: 180 * dayMs,
  ONE_YEAR: 365 * dayMs,
  NO_EXPIRY: null
}
const allScopes: readonly Scope[] = ['read', 'write', 'admin']
const defaultScopes: readonly Scope[] = ['read', 'write']

type CreateInput = {
  name: string
  actorUrn: string
  duration: string
  scopes?: readonly string[] | null
  domainUrns?: readonly string[] | null
  domainUrn?: string | null
}

type ListInput = {
  start?: number | null
  count?: number | null
  filters?: readonly FacetFilterInput[] | null
}

export const tokenResolvers = {
  Query: {
    async listAccessTokens(_: unknown, { input }: { input: ListInput }, context: GraphqlContext) {
      const { start, total, tokens } = await listTokens(context.db, {
        ...input,
        ...actorsOf(input.filters ?? [])
      })
      return { start, count: tokens.length, total, tokens: tokens.map(metadataOf) }
    }
  },
  Mutation: {
    async createAccessToken(_: unknown, { input }: { input: CreateInput }, context: GraphqlContext) {
      const lifetimeMs = lifetimesMs[input.duration] ?? null
      const { token, record } = await createToken(
        context.db,
        {
          name: input.name,
          scopes: input.scopes ? input.scopes.map(toScope) : defaultScopes,
          actorUrn: input.actorUrn,
          domainUrns: input.domainUrns ?? null,
          domainUrn: input.domainUrn ?? null,
          lifetimeMs
        },
        context
      )
      return {
        accessToken: token,
        metadata: metadataOf(record),
        note: lifeOf(record, context.config.oidcAbsentDays)
      }
    },
    async revokeAccessToken(_: unknown, { tokenId }: { tokenId: string }, context: GraphqlContext) {
      await revokeToken(context.db, tokenId, context)
      return true
    }
  }
}

const actorFields = ['actorUrn', 'ownerUrn']

/** The actors and the owners that match all filters, or null for all. Throws BAD_REQUEST. */
function actorsOf(filters: readonly FacetFilterInput[]) {
  const wanted = filters.map(({ field, values, negated, condition }) => {
    if (!actorFields.includes(field))
      throw new CatalogError('BAD_REQUEST', `Tokens cannot be filtered by ${field}`, {
        field: 'input.filters',
        allowed: actorFields
      })
    if (negated || !['EQUAL', 'IN', null, undefined].includes(condition))
      throw new CatalogError('BAD_REQUEST', `A filter on ${field} must have the condition EQUAL`, {
        field: 'input.filters'
      })
    return { field, urns: values ?? [] }
  })
  const ofField = (name: string): string[] | null => {
    const [first, ...others] = wanted.filter(({ field }) => field === name)
    return first?.urns.filter((urn) => others.every(({ urns }) => urns.includes(urn))) ?? null
  }
  return { actorUrns: ofField('actorUrn'), ownerUrns: ofField('ownerUrn') }
}

function toScope(text: string): Scope {
  const found = allScopes.find((scope) => scope === text)
  if (!found)
    throw new CatalogError('BAD_REQUEST', `Unknown scope ${text}`, {
      field: 'input.scopes',
      allowed: allScopes
    })
  return found
}

const metadataOf = (token: TokenView) => ({
  urn: `urn:li:dataHubAccessToken:${token.id}`,
  type: 'ACCESS_TOKEN',
  id: token.id,
  name: token.name,
  actorUrn: token.actorUrn,
  ownerUrn: token.makerUrn ?? token.actorUrn,
  makerUrn: token.makerUrn,
  makerHasRole: token.makerState?.hasRole ?? null,
  makerAbsentDays: token.makerState?.absentDays ?? null,
  createdAt: token.createdAt.getTime(),
  expiresAt: token.expiresAt?.getTime() ?? null,
  revokedAt: token.revokedAt?.getTime() ?? null,
  scopes: token.scopes,
  domainUrns: token.domainUrns,
  domainUrn: token.domainUrns?.[0] ?? null
})
