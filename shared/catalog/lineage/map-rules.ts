/** Decides which box of a map an asset is in, from the place that the map shows. */
import { entityTypeInfo } from '../../model/entity-types.ts'
import { childWithin, highestApart, noDomain } from './domain-groups.ts'
import { jobTypes } from './graph-question.ts'
import type { DomainTree, EntityClass } from './lineage-reader.ts'

/** The place that a map shows. */
export type MapPlace = {
  /** Null for the whole catalog; `noDomain` for the assets in no domain. */
  domainId: number | null
  /** The key of a system; null for all. Then only assets directly in the domain are inside. */
  system: string | null
  /** Null for all schemas of the system. */
  schema: string | null
}

/** The id of a domain or an asset, or the key of a system or the name of a schema. */
export type BoxName = number | string

/**
 * What becomes of an entity: it takes no part, is looked through, is outside of the place, or is in a box;
 * `bySchema` if its class alone does not decide.
 */
export type Fate = 'none' | 'through' | 'outside' | 'bySchema' | { box: BoxName }

export type MapRules = {
  /** Depends on nothing but the class. */
  ofClass: (entityClass: EntityClass) => Fate
  /** For an entity whose fate is `bySchema`; `itself` means that each asset is a box of its own. */
  ofSchema: (schema: string) => 'outside' | 'itself' | { box: BoxName }
}

/** How assets are counted in boxes: as platform and environment, without those that the URN does not name. */
export function systemOf({ platformUrn, origin }: Pick<EntityClass, 'platformUrn' | 'origin'>): string {
  const platform = platformUrn?.slice('urn:li:dataPlatform:'.length) ?? ''
  return origin === null ? platform : `${platform},${origin}`
}

export function mapRules(tree: DomainTree, { domainId, system, schema }: MapPlace): MapRules {
  const groupOf =
    domainId === null
      ? highestApart(tree, null)
      : domainId === noDomain
        ? () => null
        : childWithin(tree, domainId)
  return {
    ofClass(entityClass) {
      if (entityClass.isRemoved || !isCounted(entityClass.entityType)) return 'none'
      if (entityClass.domainId === null && jobTypes.has(entityClass.entityType)) return 'through'
      const group = entityClass.domainId === null ? noDomain : groupOf(entityClass.domainId)
      if (group !== domainId)
        return group === null || system !== null || (group === noDomain && domainId !== null)
          ? 'outside'
          : { box: group }
      const own = systemOf(entityClass)
      if (system === null) return { box: own }
      return own === system ? 'bySchema' : 'outside'
    },
    ofSchema: (own) => (schema === null ? { box: own } : own === schema ? 'itself' : 'outside')
  }
}

/** Whether entities of the type are assets: they can be in a domain, or have lineage. */
function isCounted(entityType: string): boolean {
  const { isAsset, hasLineage } = entityTypeInfo(entityType)
  return isAsset || (hasLineage && entityType !== 'schemaField')
}
