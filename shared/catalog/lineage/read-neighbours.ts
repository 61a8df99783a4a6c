/**
 * Reads the entities one hop away, for many entities at once, with each relationship, and when it was created
 * and updated.
 */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { stampsOf, type EdgeStamps } from '../../model/edge-stamps.ts'
import { relationshipOf } from '../../model/relationships.ts'
import { findEntities } from '../../store/entities.ts'
import type { LineageDirection, LineageLevel, TimeWindow } from '../../model/walk.ts'
import { stepsInWindow, type Step } from '../../store/edges-in-window.ts'
import type { EdgeEnds } from '../../store/edge-owners.ts'
import {
  neighboursOf,
  statementsBetween,
  statementsIntoRows,
  type NeighbourRow,
  type StatedByRow
} from '../../store/neighbours.ts'
import { isRowsUrn } from '../../urn/rows-urn.ts'
import { entityTypeOf, type Urn } from '../../urn/urn.ts'
import type { LineageReader } from './lineage-reader.ts'
import { reportedWindow, type ReportedWindow } from './lineage-report.ts'
import { pageCount, pageStart } from '../entities/page-count.ts'
import type { EntityReference } from './read-entity.ts'
import { checkWindow } from './scroll-question.ts'
import { withLineage, type LineageSources } from './with-lineage.ts'

/** The input as clients send it. */
export type NeighboursInput = {
  direction: LineageDirection
  start?: number | null
  count?: number | null
  includeGhostEntities?: boolean | null
  startTimeMillis?: number | null
  endTimeMillis?: number | null
}

type Neighbour = EdgeStamps & { type: string; entity: EntityReference }

/** `filtered` counts the neighbours that were left out: soft-deleted ones and placeholders. */
export type Neighbours = {
  start: number
  count: number
  total: number
  filtered: number
  /** The time to which the answer is limited; null for all times. */
  timeWindow: ReportedWindow | null
  neighbours: Neighbour[]
}

const neighboursDefaultCount = 100

/**
 * In the order of the URNs, each sorted by id. A column has columns as neighbours, any other entity assets.
 * With a window, only edges that count in it. Throws BAD_REQUEST, LIMIT_EXCEEDED.
 */
export async function readNeighbours(
  sources: LineageSources,
  urns: readonly Urn[],
  input: NeighboursInput
): Promise<Neighbours[]> {
  const page = {
    start: pageStart(input.start, 'input.start'),
    count: pageCount(input.count, 'input.count', neighboursDefaultCount, 0)
  }
  const window = checkWindow(input)
  const isSure =
    window === null &&
    sources.memory !== null &&
    !urns.some((urn) => typesRelatedTwice.has(entityTypeOf(urn)))
  const found = isSure
    ? await withLineage(sources, async (reader) =>
        reader.engine === 'memory' ? neighboursByReader(reader, sources.db, urns, input, page) : null
      )
    : null
  return (
    found ??
    inTransaction(sources.db, (tx) => neighboursInSql(tx, urns, input, page, window), {
      readOnly: true,
      isolation: 'repeatable read'
    })
  )
}

type Page = { start: number; count: number }

/**
 * Types whose entities can have two relationships with one neighbour, so that neighbours and relationships
 * differ in number.
 */
const typesRelatedTwice: ReadonlySet<string> = new Set(['mlModel', 'mlModelGroup', 'dataProcessInstance'])

const looksBetweenPauses = 5_000

/**
 * Counts and pages with the reader, and reads statements only for the page. Null if the statements have
 * changed in the meantime.
 */
async function neighboursByReader(
  reader: LineageReader,
  db: Db,
  urns: readonly Urn[],
  { direction, includeGhostEntities }: NeighboursInput,
  { start, count }: Page
): Promise<Neighbours[] | null> {
  const known = await reader.find(urns)
  const pages: (Omit<Neighbours, 'neighbours'> & { edges: Step[] })[] = []
  for (const urn of urns) {
    const nearId = known.get(urn)?.id ?? null
    const all =
      nearId === null
        ? []
        : (
            await reader.neighbours(
              [nearId],
              direction,
              entityTypeOf(urn) === 'schemaField' ? 'column' : 'asset'
            )
          )(nearId)
    const classOf = await reader.classes(all)
    const shown: number[] = []
    for (const [at, farId] of all.entries()) {
      const found = classOf(farId)
      if (found && (includeGhostEntities === true || (found.exists && !found.isRemoved))) shown.push(farId)
      if (at % looksBetweenPauses === 0) await reader.pause()
    }
    const edges = shown.slice(start, start + count).map((farId) => ({ nearId: nearId ?? 0, farId }))
    pages.push({
      start,
      count: edges.length,
      total: shown.length,
      filtered: all.length - shown.length,
      timeWindow: null,
      edges
    })
  }
  const edges = pages.flatMap((page) => page.edges)
  const statements = await readStatements(db, edges, direction, edgeKey)
  if (
    edges.some(
      (edge) => new Set(statements.get(edgeKey(edge))?.map(({ field }) => relationshipOf(field))).size !== 1
    )
  )
    return null
  const farIds = edges.map((edge) => edge.farId)
  const [urnOf, classOf] = [await reader.urns(farIds), await reader.classes(farIds)]
  return pages.map(({ edges: own, ...page }) => ({
    ...page,
    neighbours: own.flatMap((edge) => {
      const [urn, stated] = [urnOf(edge.farId), statements.get(edgeKey(edge)) ?? []]
      return urn === null
        ? []
        : [
            {
              type: relationshipOf(stated[0]?.field ?? 0),
              entity: { urn, exists: classOf(edge.farId)?.exists ?? false },
              ...stampsOf(stated)
            }
          ]
    })
  }))
}

const edgeKey = ({ nearId, farId }: Step): string => `${nearId} ${farId}`

async function neighboursInSql(
  tx: Tx,
  urns: readonly Urn[],
  input: NeighboursInput,
  { start, count }: Page,
  window: TimeWindow | null
): Promise<Neighbours[]> {
  const rows = await findEntities(tx, urns)
  const idOf = new Map(rows.map((row) => [row.urn, row.id]))
  const linksOf = new Map<number, Link[]>()
  for (const level of ['asset', 'column'] as const) {
    const ids = rows
      .filter((row) => (entityTypeOf(row.urn) === 'schemaField') === (level === 'column'))
      .map((row) => row.id)
    const near = ids.length > 0 ? await neighboursWithin(tx, ids, input.direction, level, window) : []
    for (const link of linksFrom(await leadThroughRows(tx, near, input.direction, window))) {
      const own = linksOf.get(link.nearId)
      if (own) own.push(link)
      else linksOf.set(link.nearId, [link])
    }
  }
  const pages = urns.map((urn) => {
    const all = linksOf.get(idOf.get(urn) ?? 0) ?? []
    const shown =
      input.includeGhostEntities === true ? all : all.filter((link) => link.exists && !link.isRemoved)
    return {
      total: shown.length,
      filtered: all.length - shown.length,
      links: shown.slice(start, start + count)
    }
  })
  const statements = await readStatements(
    tx,
    pages.flatMap((page) => page.links),
    input.direction,
    (row) => linkKey({ ...row, type: relationshipOf(row.field) })
  )
  return pages.map(({ total, filtered, links }) => ({
    start,
    count: links.length,
    total,
    filtered,
    timeWindow: reportedWindow(window),
    neighbours: links.map((link) => neighbourOf(link, statements.get(linkKey(link)) ?? []))
  }))
}

async function neighboursWithin(
  tx: Tx,
  ids: readonly number[],
  direction: LineageDirection,
  level: LineageLevel,
  window: TimeWindow | null
): Promise<NeighbourRow[]> {
  const rows = await neighboursOf(tx, ids, direction, level)
  if (window === null) return rows
  const counting = new Set(
    (await stepsInWindow(tx, ids, direction, level, window)).map((step) => `${step.nearId} ${step.farId}`)
  )
  return rows.filter((row) => counting.has(`${row.nearId} ${row.farId}`))
}

/** The neighbours, with the columns behind rows instead of the rows. */
async function leadThroughRows(
  tx: Tx,
  near: readonly NeighbourRow[],
  direction: LineageDirection,
  window: TimeWindow | null
): Promise<readonly NeighbourRow[]> {
  const rows = near.filter(({ urn }) => isRowsUrn(urn))
  if (rows.length === 0) return near
  const ids = [...new Set(rows.map(({ farId }) => farId))]
  const behindOf = new Map<number, NeighbourRow[]>()
  for (const row of await neighboursWithin(tx, ids, direction, 'column', window)) {
    const own = behindOf.get(row.nearId)
    if (own) own.push(row)
    else behindOf.set(row.nearId, [row])
  }
  return near
    .flatMap((row) =>
      isRowsUrn(row.urn)
        ? (behindOf.get(row.farId) ?? []).map((behind) => ({ ...behind, nearId: row.nearId }))
        : [row]
    )
    .filter(({ nearId, farId }) => nearId !== farId)
    .sort((a, b) => a.farId - b.farId)
}

/** A neighbour and one relationship with it, however many lists assert the relationship. */
type Link = Omit<NeighbourRow, 'field'> & { type: string }

const linkKey = ({ nearId, farId, type }: Pick<Link, 'nearId' | 'farId' | 'type'>): string =>
  `${nearId} ${farId} ${type}`

function linksFrom(rows: readonly NeighbourRow[]): Link[] {
  const links = new Map<string, Link>()
  for (const { field, ...row } of rows) {
    const link = { ...row, type: relationshipOf(field) }
    links.set(linkKey(link), link)
  }
  return [...links.values()]
}

async function readStatements(
  db: Db | Tx,
  edges: readonly Step[],
  direction: LineageDirection,
  keyOfRow: (row: StatedByRow) => string
): Promise<Map<string, StatedByRow[]>> {
  const statements = new Map<string, StatedByRow[]>()
  const endsOf = ({ nearId, farId }: Step): EdgeEnds =>
    direction === 'DOWNSTREAM'
      ? { upstreamId: nearId, downstreamId: farId }
      : { upstreamId: farId, downstreamId: nearId }
  const ofRows = await statementsIntoRows(db, edges.map(endsOf), direction)
  for (const row of [...(await statementsBetween(db, edges, direction)), ...ofRows]) {
    const own = statements.get(keyOfRow(row))
    if (own) own.push(row)
    else statements.set(keyOfRow(row), [row])
  }
  return statements
}

const neighbourOf = ({ type, urn, exists }: Link, statements: readonly StatedByRow[]): Neighbour => ({
  type,
  entity: { urn, exists },
  ...stampsOf(statements)
})
