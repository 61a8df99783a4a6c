/** Puts new assets into the domains that the connections of OpenLineage give them; what exists already is left alone. Domain rules are in apply-domain-rules.ts. */
import type { Tx } from '../../db/database.ts'
import type { Change } from '../../model/changes.ts'
import { findAssociations } from '../../store/domains.ts'
import { findEntities } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'

/**
 * The changes that put those of the assets into a domain that the catalog does not have yet. An asset that exists, or that somebody has put into a domain or taken out
 * of one, is left out, and so is a domain that does not exist. To be called before the assets are created, in the transaction that creates them.
 */
export async function domainsOfNewAssets(
  tx: Tx,
  wanted: ReadonlyMap<Urn, Urn>
): Promise<Extract<Change, { kind: 'setDomain' }>[]> {
  if (wanted.size === 0) return []
  const rows = await findEntities(tx, [...new Set([...wanted.keys(), ...wanted.values()])])
  const byUrn = new Map(rows.map((row) => [row.urn, row]))
  const chosen = new Set(
    (
      await findAssociations(
        tx,
        [...wanted.keys()].flatMap((urn) => byUrn.get(urn)?.id ?? [])
      )
    ).map(({ entityId }) => entityId)
  )
  return [...wanted].flatMap(([entityUrn, domainUrn]) => {
    const asset = byUrn.get(entityUrn)
    const isNew = !asset || (!asset.isPresent && !chosen.has(asset.id))
    return isNew && byUrn.get(domainUrn)?.isPresent
      ? [{ kind: 'setDomain' as const, entityUrn, domainUrn }]
      : []
  })
}
