/** Rows of the impact table, and counts over them. */
import { cardOf, type Card } from '../api/entity.ts'
import type { RawCard, RawImpactRow } from '../api/queries.ts'

export type Owner = { urn: string; name: string }

export type ImpactRow = {
  degree: number
  card: Card
  /** Of a column, those of its asset. */
  owners: readonly Owner[]
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
    owners: [...new Map((ownership?.owners ?? []).map(({ owner }) => [owner.urn, ownerOf(owner)])).values()],
    parent
  }
}

const ownerOf = (raw: RawCard): Owner => ({ urn: raw.urn, name: cardOf(raw).name })

/** The owners of rows with the number of rows each owns, most first, and the number of rows without an owner. */
export function countOwners(rows: readonly ImpactRow[]): {
  owners: (Owner & { count: number })[]
  withoutCount: number
} {
  const counts = new Map<string, Owner & { count: number }>()
  for (const { owners } of rows)
    for (const owner of owners) {
      const known = counts.get(owner.urn)
      if (known) known.count += 1
      else counts.set(owner.urn, { ...owner, count: 1 })
    }
  return {
    owners: [...counts.values()].sort((a, b) => b.count - a.count || (a.urn < b.urn ? -1 : 1)),
    withoutCount: rows.filter(({ owners }) => owners.length === 0).length
  }
}
