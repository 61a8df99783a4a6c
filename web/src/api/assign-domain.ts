/** Puts assets into domains. */
import { assignDomain } from './domain-queries.ts'
import { graphql } from './request.ts'

/** The most assets in one call, which is the server's limit. */
export const assignMaxCount = 5_000

/** Puts assets into a domain; null takes them out of their domains. */
export const assign = (domain: string | null, urns: readonly string[]): Promise<unknown> =>
  graphql(assignDomain, { domain, resources: urns.map((resourceUrn) => ({ resourceUrn })) })

/** An asset with its present or earlier domain. */
export type InDomain = { urn: string; domain: { urn: string } | null }

/** Puts each asset back into its own domain. */
export async function restoreDomains(assets: readonly InDomain[]): Promise<void> {
  const members = new Map<string | null, string[]>()
  for (const { urn, domain } of assets) {
    const place = domain?.urn ?? null
    members.set(place, [...(members.get(place) ?? []), urn])
  }
  for (const [domain, urns] of members) await assign(domain, urns)
}
