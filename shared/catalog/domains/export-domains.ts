/** Exports which asset is in which domain, for all domains or one, from one snapshot, a slice at a time. */
import type { Db } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { CatalogError } from '../../errors.ts'
import { findEntities } from '../../store/entities.ts'
import { domainsBelow, pageOfAssociations, type AssociatedUrns } from '../../store/domain-reads.ts'
import { urnOfType } from '../../urn/kinds.ts'

const domainsPerSlice = 2_000

/**
 * Passes slices of associations to `use`, in the order in which their assets were created. The snapshot is
 * held until it resolves. `domain` limits the export to that domain and its descendants. Throws INVALID_URN,
 * NOT_FOUND for a domain that does not exist, and what `use` throws.
 */
export async function exportDomains(
  db: Db,
  domain: string | null,
  use: (slices: AsyncGenerator<AssociatedUrns[]>) => Promise<void>
): Promise<void> {
  const urn = domain === null ? null : urnOfType(domain, 'domain', 'domain')
  await inTransaction(
    db,
    async (tx) => {
      let ids: number[] | null = null
      if (urn !== null) {
        const [found] = await findEntities(tx, [urn])
        if (!found?.isPresent)
          throw new CatalogError('NOT_FOUND', `No domain with the URN ${urn}`, { field: 'domain', urn })
        ids = [found.id, ...(await domainsBelow(tx, [found.id]))]
      }
      await use(slices())

      async function* slices(): AsyncGenerator<AssociatedUrns[]> {
        for (let after = 0; ;) {
          const rows = await pageOfAssociations(tx, ids, after, domainsPerSlice)
          if (rows.length > 0) yield rows
          if (rows.length < domainsPerSlice) return
          after = rows.at(-1)?.id ?? after
        }
      }
    },
    { readOnly: true, isolation: 'repeatable read' }
  )
}
