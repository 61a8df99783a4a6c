/** Reads the URN of an entity that may be in a domain. */
import { CatalogError } from '../errors.ts'
import { parseUrn, type Urn } from '../urn/urn.ts'
import { isAsset } from './entity-types.ts'

/**
 * `field` names the input in errors. Throws INVALID_URN, LIMIT_EXCEEDED, INVALID_CHARACTER, and BAD_REQUEST
 * for an entity that cannot be in a domain.
 */
export function assetUrnOf(text: unknown, field: string): Urn {
  const { urn, entityType } = parseUrn(text, field)
  if (!isAsset(entityType))
    throw new CatalogError('BAD_REQUEST', `A ${entityType} cannot be in a domain: ${urn}`, { field, urn })
  return urn
}
