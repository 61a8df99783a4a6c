/**
 * The aspect `domains` names the domain of an asset twice, in `domains` and in `domainAssociations`; here the two become one
 * domain and what is said about it.
 */
import { toUrn, type Urn } from '../urn/urn.ts'
import type { JsonObject, JsonValue } from './changes.ts'
import { shapeFault } from './shape.ts'
import { isObject, listOf } from './json-values.ts'

/** The domain of an asset. `attributes` are the rest of the aspect, with associations only where they say more than the domain. */
export type DomainMembership = { domainUrn: Urn | null; attributes: JsonObject | null }

/** The aspect as clients read it: both lists, the associations derived where none were written. */
export function printDomains({ domainUrn, attributes }: DomainMembership): JsonObject {
  const { domainAssociations, ...others } = attributes ?? {}
  if (domainUrn === null) return { ...others, domains: [], domainAssociations: [] }
  return {
    ...others,
    domains: [domainUrn],
    domainAssociations: domainAssociations ?? [{ domain: domainUrn }]
  }
}

/**
 * What a document means over what is stored. It must have passed prepareAspect, so each list names one domain at most.
 *
 * Lists that name different domains are compared with the stored ones, as DataHub does it: the list that changed counts, so a
 * client can read the aspect, edit one list and write both back. Where both have changed, an empty `domains` gives way, because
 * DataHub's model does not let a client leave it out; anything else throws VALIDATION_FAILED. The domain keeps what was said
 * about it where only `domains` is sent.
 */
export function mergeDomains(sent: JsonObject, stored: DomainMembership): DomainMembership {
  const { domains, domainAssociations, ...others } = sent
  const named = firstOf(listOf(domains))
  const associated = firstOf(
    listOf(domainAssociations).map((entry) => (isObject(entry) ? (entry.domain ?? null) : null))
  )
  const domainUrn = chosen({
    named: Array.isArray(domains) ? named : associated,
    associated: Array.isArray(domainAssociations) ? associated : named,
    stored: stored.domainUrn
  })
  const said = (entries: JsonValue | undefined): JsonValue[] =>
    listOf(entries).filter((entry) => isObject(entry) && entry.domain === domainUrn)
  const sentAssociations = said(domainAssociations)
  const associations =
    sentAssociations.length > 0 ? sentAssociations : said(stored.attributes?.domainAssociations)
  const attributes: JsonObject = {
    ...others,
    ...(associations.some(saysMore) ? { domainAssociations: associations } : {})
  }
  return { domainUrn, attributes: Object.keys(attributes).length === 0 ? null : attributes }
}

function chosen({
  named,
  associated,
  stored
}: {
  named: Urn | null
  associated: Urn | null
  stored: Urn | null
}): Urn | null {
  if (named === associated || associated === stored) return named
  if (named === stored || named === null) return associated
  throw shapeFault(
    'aspect.domainAssociations',
    "Cannot update both 'domains' and 'domainAssociations' to different values"
  )
}

const firstOf = ([first]: readonly JsonValue[]): Urn | null =>
  first === undefined ? null : toUrn(first, 'aspect.domains[0]')

const saysMore = (association: JsonValue): boolean =>
  isObject(association) && Object.keys(association).length > 1
