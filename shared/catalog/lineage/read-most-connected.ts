/** Reads the assets with the most neighbours: a place to begin in a lineage that one does not know. */
import { checkCount } from '../../model/count-checks.ts'
import { limits } from '../../limits.ts'
import { pageCount } from '../entities/page-count.ts'
import { referencesOf } from './entity-references.ts'
import type { EntityReference } from './read-entity.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'

/** The input as clients send it. */
export type MostConnectedInput = { count?: number | null }

export type ConnectedAsset = { entity: EntityReference; upstreamCount: number; downstreamCount: number }

const units = 5

/**
 * The assets with the most neighbours first. Throws BAD_REQUEST, LIMIT_EXCEEDED (mostConnectedMaxCount),
 * DEADLINE_EXCEEDED.
 */
export async function readMostConnected(
  sources: LineageSources,
  { count: wanted }: MostConnectedInput
): Promise<ConnectedAsset[]> {
  const field = 'input.count'
  const count = pageCount(wanted, field, limits.pageDefaultCount)
  checkCount(count, 'mostConnectedMaxCount', { field, what: `${field} is ${count}` })
  return withLineage(
    sources,
    async (reader) => {
      const found = await reader.mostConnected(count)
      const referenceOf = await referencesOf(
        reader,
        found.map(({ id }) => id)
      )
      return found.flatMap(({ id, ...counts }) => {
        const entity = referenceOf(id)
        return entity === null ? [] : [{ entity, ...counts }]
      })
    },
    { units }
  )
}
