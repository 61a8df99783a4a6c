/** Rows of the impact table, and counts over them. */
import { cardOf, type Card } from '../api/entity.ts'
import type { RawImpactRow } from '../api/queries.ts'

export type ImpactRow = {
  degree: number
  card: Card
  /** The URNs of the owners; of a column, those of its asset. */
  owners: readonly string[]
  /** The asset, if the row is a column. */
  parent: Card | null
}

/** A column is on the platform, in the environment and in the domain of its asset, and has its owners. */
export function toImpactRow({ degree, entity }: RawImpactRow): ImpactRow {
  const { ownership } = entity.parent ?? entity
  const parent = entity.parent ? cardOf(entity.parent) : null
  const card = cardOf(entity)
  return {
    degree,
    card: parent ? { ...parent, urn: card.urn, type: card.type, name: card.name } : card,
    owners: [...new Set((ownership?.owners ?? []).map(({ owner }) => owner.urn))],
    parent
  }
}

/** The owners of rows with the number of rows each owns, most first. */
export function countOwners(rows: readonly ImpactRow[]): { urn: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { owners } of rows) for (const urn of owners) counts.set(urn, (counts.get(urn) ?? 0) + 1)
  return [...counts]
    .map(([urn, count]) => ({ urn, count }))
    .sort((a, b) => b.count - a.count || (a.urn < b.urn ? -1 : 1))
}
