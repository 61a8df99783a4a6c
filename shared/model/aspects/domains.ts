/** domains: the one domain an asset is in. `domainAssociations` says the same with its attribution; either may be sent alone. */
import type { JsonValue } from '../changes.ts'
import { isObject, listOf } from '../json-values.ts'
import { entityTypes } from '../entity-types.ts'
import { anything, list, optional, record, required, shapeFault, urn } from '../shape.ts'
import type { Shape } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'

const lists = record({
  domains: optional(list(urn('domain'))),
  domainAssociations: optional(list(record({ domain: required(urn('domain')), context: optional(anything), attribution: optional(anything) })))
})


const consistent: Shape = (value, place) => {
  const prepared = lists(value, place)
  if (!isObject(prepared)) return prepared
  const associated = [...new Set(listOf(prepared.domainAssociations).map((entry) => isObject(entry) ? entry.domain ?? null : null))]
  const named = [...new Set(listOf(prepared.domains))]
  if (!prepared.domains && !prepared.domainAssociations) throw shapeFault(`${place}.domains`, 'field is required but not found and has no default value')
  if (named.length > 0 && associated.length > 0 && !sameMembers(named, associated)) {
    throw shapeFault(`${place}.domainAssociations`, "Cannot update both 'domains' and 'domainAssociations' to different values")
  }
  const domains = named.length > 0 ? named : associated
  if (domains.length > 1) throw shapeFault(`${place}.domains`, `an asset belongs to one domain at most, and ${domains.length} are given`)
  return { ...prepared, domains }
}

const sameMembers = (a: readonly JsonValue[], b: readonly JsonValue[]): boolean => a.length === b.length && a.every((entry) => b.includes(entry))

const notAssets = new Set(entityTypes.filter((info) => !info.isAsset).map((info) => info.name))

export const domains: AspectModel = {
  name: 'domains',
  className: 'com.linkedin.domain.Domains',
  requiresEntity: true,
  refusedOn: notAssets,
  template: () => ({ domains: [] }),
  shape: consistent
}
