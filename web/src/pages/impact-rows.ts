/** Rows of the impact table, and counts over them. */
import { cardOf, type Card } from '../api/entity.ts'
import type { RawImpactRow } from '../api/queries.ts'

export type ImpactRow = {
  degree: number
  card: Card
  /** The URNs of the owners. */
  owners: readonly string[]
  /** The URN of the asset, if the row is a column. */
  parent: string | null
}

export const toImpactRow = ({ degree, entity }: RawImpactRow): ImpactRow => ({
  degree,
  card: cardOf(entity),
  owners: [...new Set((entity.ownership?.owners ?? []).map(({ owner }) => owner.urn))],
  parent: entity.parent?.urn ?? null
})

/** The owners of rows with the number of rows each owns, most first. */
export function countOwners(rows: readonly ImpactRow[]): { urn: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { owners } of rows) for (const urn of owners) counts.set(urn, (counts.get(urn) ?? 0) + 1)
  return [...counts]
    .map(([urn, count]) => ({ urn, count }))
    .sort((a, b) => b.count - a.count || (a.urn < b.urn ? -1 : 1))
}
