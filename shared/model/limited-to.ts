/** Says in messages which domains a token is limited to. */
import type { Urn } from '../urn/urn.ts'

const namedMaxCount = 3

/** The beginning of a message: `The token is limited to …`. */
export function limitedTo(domainUrns: readonly Urn[]): string {
  if (domainUrns.length === 0) return 'The token is limited to domains that no longer exist'
  const named = domainUrns.slice(0, namedMaxCount).join(', ')
  const more = domainUrns.length - namedMaxCount
  return `The token is limited to ${named}${more > 0 ? ` and ${more} more` : ''}`
}

/** The message about something outside of the domains. */
export const isOutside = (domainUrns: readonly Urn[], what: string): string =>
  `${limitedTo(domainUrns)}; ${what} is not in ${domainUrns.length === 1 ? 'it' : 'any of them'}.`
