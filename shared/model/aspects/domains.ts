/**
 * domains: the one domain that an asset is in. `domainAssociations` repeats it with an attribution; each of
 * the two may be sent alone.
 */
import { isObject, listOf } from '../json-values.ts'
import { anything, list, optional, record, required, shapeFault, urn } from '../shape.ts'
import type { Shape } from '../shape.ts'
import type { AspectModel } from './aspect-model.ts'

const lists = record({
  domains: optional(list(urn('domain'))),
  domainAssociations: optional(
    list(
      record({
        domain: required(urn('domain')),
        context: optional(anything),
        attribution: optional(anything)
      })
    )
  )
})

/**
 * If the two lists differ, the stored document decides which counts: mergeDomains does that when the document
 * is applied.
 */
const oneDomain: Shape = (value, place) => {
  const prepared = lists(value, place)
  if (!isObject(prepared)) return prepared
  if (!prepared.domains && !prepared.domainAssociations)
    throw shapeFault(`${place}.domains`, 'field is required but not found and has no default value')
  const associated = listOf(prepared.domainAssociations).map((entry) =>
    isObject(entry) ? (entry.domain ?? null) : null
  )
  for (const [name, domains] of [
    ['domains', listOf(prepared.domains)],
    ['domainAssociations', associated]
  ] as const) {
    const count = new Set(domains).size
    if (count > 1)
      throw shapeFault(`${place}.${name}`, `an asset is in at most one domain, but ${count} are given`)
  }
  return prepared
}

export const domains: AspectModel = {
  name: 'domains',
  requiresEntity: true,
  isKeptOn: 'unknownTypes',
  template: () => ({ domains: [] }),
  shape: oneDomain
}
