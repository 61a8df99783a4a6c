/** Reads the entities one hop away, for many entities at once, with the relationship and its stamps. */
import type { Db, Tx } from '../db/database.ts'
import { inTransaction } from '../db/transaction.ts'
import { stampsOf, type EdgeStamps } from '../model/edge-stamps.ts'
import { relationshipOf } from '../model/relationships.ts'
import { findEntities } from '../store/entities.ts'
import type { LineageDirection, LineageLevel, TimeWindow } from '../model/walk.ts'
import { stepsInWindow } from '../store/edges-in-window.ts'
import { neighboursOf, statementsBetween, type NeighbourRow, type StatedByRow } from '../store/neighbours.ts'
import { entityTypeOf, type Urn } from '../urn/urn.ts'
import { pageCount, pageStart } from './page-count.ts'
import type { EntityReference } from './read-entity.ts'
import { checkWindow } from './scroll-question.ts'

/** As clients send it. */
export type NeighboursInput = { direction: LineageDirection, start?: number | null, count?: number | null, includeGhostEntities?: boolean | null, startTimeMillis?: number | null, endTimeMillis?: number | null }

export type Neighbour = EdgeStamps & { type: string, entity: EntityReference }

/** `filtered` counts the neighbours left out because they are soft-deleted or nothing has described them. */
export type Neighbours = { start: number, count: number, total: number, filtered: number, neighbours: Neighbour[] }

const neighboursDefaultCount = 100

/** In the order of the URNs, each by id. From a column columns, else assets. Throws BAD_REQUEST, LIMIT_EXCEEDED. With a window, only edges that count in it. */
export async function readNeighbours(db: Db, urns: readonly Urn[], input: NeighboursInput): Promise<Neighbours[]> {
  const start = pageStart(input.start, 'input.start')
  const count = pageCount(input.count, 'input.count', neighboursDefaultCount)
  const window = checkWindow(input)
  return inTransaction(db, async (tx) => {
    const rows = await findEntities(tx, urns)
    const idOf = new Map(rows.map((row) => [row.urn, row.id]))
    const linksOf = new Map<number, Link[]>()
    for (const level of ['asset', 'column'] as const) {
      const ids = rows.filter((row) => (entityTypeOf(row.urn) === 'schemaField') === (level === 'column')).map((row) => row.id)
      for (const link of linksFrom(ids.length > 0 ? await neighboursWithin(tx, ids, input.direction, level, window) : [])) {
        const own = linksOf.get(link.nearId)
        if (own) own.push(link)
        else linksOf.set(link.nearId, [link])
      }
    }
    const pages = urns.map((urn) => {
      const all = linksOf.get(idOf.get(urn) ?? 0) ?? []
      const shown = input.includeGhostEntities === true ? all : all.filter((link) => link.exists && !link.isRemoved)
      return { total: shown.length, filtered: all.length - shown.length, links: shown.slice(start, start + count) }
    })
    const statements = await readStatements(tx, pages.flatMap((page) => page.links), input.direction)
    return pages.map(({ total, filtered, links }) => ({ start, count: links.length, total, filtered, neighbours: links.map((link) => neighbourOf(link, statements.get(keyOf(link)) ?? [])) }))
  }, { readOnly: true, isolation: 'repeatable read' })
}

async function neighboursWithin(tx: Tx, ids: readonly number[], direction: LineageDirection, level: LineageLevel, window: TimeWindow | null): Promise<NeighbourRow[]> {
  const rows = await neighboursOf(tx, ids, direction, level)
  if (window === null) return rows
  const counting = new Set((await stepsInWindow(tx, ids, direction, level, window)).map((step) => `${step.nearId} ${step.farId}`))
  return rows.filter((row) => counting.has(`${row.nearId} ${row.farId}`))
}

/** A neighbour by one relationship, however many lists state it. */
type Link = Omit<NeighbourRow, 'field'> & { type: string }

const keyOf = ({ nearId, farId, type }: Pick<Link, 'nearId' | 'farId' | 'type'>): string => `${nearId} ${farId} ${type}`

function linksFrom(rows: readonly NeighbourRow[]): Link[] {
  const links = new Map<string, Link>()
  for (const { field, ...row } of rows) {
    const link = { ...row, type: relationshipOf(field) }
    links.set(keyOf(link), link)
  }
  return [...links.values()]
}

async function readStatements(tx: Tx, links: readonly Link[], direction: LineageDirection): Promise<Map<string, StatedByRow[]>> {
  const statements = new Map<string, StatedByRow[]>()
  for (const row of await statementsBetween(tx, links, direction)) {
    const key = keyOf({ ...row, type: relationshipOf(row.field) })
    statements.set(key, [...statements.get(key) ?? [], row])
  }
  return statements
}

const neighbourOf = ({ type, urn, exists }: Link, statements: readonly StatedByRow[]): Neighbour => ({ type, entity: { urn, exists }, ...stampsOf(statements) })
