/** Finds entities by URN for reading: those that have been written, and placeholders that something refers to. */
import { CatalogError } from '../../errors.ts'
import { urnOfType } from '../../urn/kinds.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'
import { findKnown, type EntitySources } from './known-entities.ts'

/** An entity to be shown. `exists` is false for a placeholder, and absent if it has not been looked up. */
export type EntityReference = { urn: Urn; exists?: boolean }

/** Throws NOT_FOUND naming the URN. */
export const entityNotFound = (urn: Urn, field: string): CatalogError =>
  new CatalogError('NOT_FOUND', `${urn} does not exist`, { urn, field })

/**
 * The entity of a URN, of the given type if there is one. Throws INVALID_URN (also for another type),
 * LIMIT_EXCEEDED, INVALID_CHARACTER, NOT_FOUND.
 */
export async function readEntity(
  sources: EntitySources,
  text: string,
  entityType: string | null = null,
  field = 'urn'
): Promise<EntityReference> {
  const urn = entityType === null ? toUrn(text, field) : urnOfType(text, entityType, field)
  const known = (await findKnown(sources, [urn])).get(urn)
  if (!known) throw entityNotFound(urn, field)
  return { urn: known.urn, exists: known.exists }
}

/** The entities of URNs, in their order; null for unknown ones. Throws as toUrn does, naming the index. */
export async function readEntities(
  sources: EntitySources,
  texts: readonly string[],
  field = 'urns'
): Promise<{ urn: Urn; entity: EntityReference | null }[]> {
  const urns = texts.map((text, index) => toUrn(text, `${field}[${index}]`))
  const known = await findKnown(sources, urns)
  return urns.map((urn) => {
    const found = known.get(urn)
    return { urn, entity: found ? { urn, exists: found.exists } : null }
  })
}

/** Whether each URN is an entity that has been described and not deleted. */
export async function readExistence(sources: EntitySources, urns: readonly Urn[]): Promise<boolean[]> {
  const known = await findKnown(sources, urns)
  return urns.map((urn) => known.get(urn)?.exists ?? false)
}
