/**
 * The aspect `domains` names the domain of an asset twice, in `domains` and in `domainAssociations`. This
 * file merges the two into one domain and its attributes.
 */
import { toUrn, type Urn } from '../urn/urn.ts'
import type { JsonObject, JsonValue } from './changes.ts'
import { shapeFault } from './shape.ts'
import { isObject, listOf } from './json-values.ts'

/**
 * The domain of an asset. `attributes` are the rest of the aspect, with associations only if they contain
 * more than the domain.
 */
export type DomainMembership = { domainUrn: Urn | null; attributes: JsonObject | null }

/** The aspect as clients read it: both lists. The associations are derived if none were written. */
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
 * Merges a sent document into the stored one. The sent document must have passed prepareAspect, so each list
 * names at most one domain.
 *
 * If the two lists name different domains, each is compared with the stored list, as in DataHub: the list
 * that changed counts. So a client can read the aspect, edit one list and write both back. If both changed,
 * an empty `domains` is ignored, because DataHub's model does not let a client omit it; other differences
 * throw VALIDATION_FAILED. If only `domains` is sent, the domain keeps its attributes.
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
  const associationsOf = (entries: JsonValue | undefined): JsonValue[] =>
    listOf(entries).filter((entry) => isObject(entry) && entry.domain === domainUrn)
  const sentAssociations = associationsOf(domainAssociations)
  const associations =
    sentAssociations.length > 0 ? sentAssociations : associationsOf(stored.attributes?.domainAssociations)
  const attributes: JsonObject = {
    ...others,
    ...(associations.some(hasDetails) ? { domainAssociations: associations } : {})
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

const hasDetails = (association: JsonValue): boolean =>
  isObject(association) && Object.keys(association).length > 1
