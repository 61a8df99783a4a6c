/** The GraphQL documents of the page of tokens. */
import { define } from './queries.ts'

export type Token = {
  id: string
  name: string
  actorUrn: string
  makerUrn: string | null
  /** Null unless the maker signs in with the identity provider. */
  makerHasRole: boolean | null
  makerAbsentDays: number | null
  createdAt: number
  expiresAt: number | null
  revokedAt: number | null
  scopes: string[]
  /** Null for the whole catalog. */
  domainUrns: string[] | null
}

export const durations = [
  'ONE_DAY',
  'ONE_WEEK',
  'ONE_MONTH',
  'THREE_MONTHS',
  'SIX_MONTHS',
  'ONE_YEAR',
  'NO_EXPIRY'
] as const
export type Duration = (typeof durations)[number]

export const listTokens = define<
  { listAccessTokens: { total: number; tokens: Token[] } },
  { start: number; count: number }
>(`
query listTokens($start: Int, $count: Int) {
  listAccessTokens(input: { start: $start, count: $count }) {
    total
    tokens { id name actorUrn makerUrn makerHasRole makerAbsentDays createdAt expiresAt revokedAt scopes domainUrns }
  }
}`)

export const createToken = define<
  { createAccessToken: { accessToken: string; note: string | null } },
  {
    input: {
      type: 'PERSONAL' | 'SERVICE_ACCOUNT'
      actorUrn: string
      duration: Duration
      name: string
      scopes: readonly string[]
      domainUrns?: readonly string[]
    }
  }
>(`
mutation createToken($input: CreateAccessTokenInput!) {
  createAccessToken(input: $input) { accessToken note }
}`)

export const revokeToken = define<{ revokeAccessToken: boolean }, { id: string }>(
  `mutation revokeToken($id: String!) { revokeAccessToken(tokenId: $id) }`
)
