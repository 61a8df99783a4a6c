/**
 * Reports what a dry run would change, and what is downstream of it.
 *
 * The changes are read from the transaction's own change log. So the report covers everything that happened
 * in the transaction before changesOfTransaction is called, whether records or a snapshot's sweep did it.
 */
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { isAsset } from '../../model/entity-types.ts'
import { unpackGraphChanges } from '../../statements/graph-delta.ts'
import { findAssociations } from '../../store/domains.ts'
import { findEntities, findEntitiesById, type EntityRow } from '../../store/entities.ts'
import { countStatements, ownGraphChanges } from '../../store/trial-changes.ts'
import { schemaFieldParts } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'
import type { LineageReader } from '../lineage/lineage-reader.ts'
import { sqlLineageReader } from '../lineage/sql-lineage-reader.ts'

type EdgeCounts = { added: number; removed: number }
type Listed = { count: number; urns: Urn[] }

/**
 * `deleted`: entities that exist and would not exist. An undo of their creation makes them placeholders.
 * `affected`: assets that would be new or deleted, or whose lineage or domain would change, everything
 * downstream of them, and their domains.
 */
export type DryRunReport = {
  edges: EdgeCounts
  columnEdges: EdgeCounts
  domains: { created: number; deleted: number; set: number; unset: number }
  entities: {
    created: number
    deleted: number
    placeholders: number
    byType: { type: string; created: number }[]
  }
  affected: { assets: Listed; domains: Listed; complete: boolean }
}

/**
 * The changes by URN, because after the rollback an entity that the transaction created has another id or
 * none.
 */
export type TrialChanges = {
  edges: EdgeCounts
  columnEdges: EdgeCounts
  /** Downstream ends of changed edges, assets whose domain changes, and assets that are new or deleted. */
  startUrns: Urn[]
  /** The new domain of each asset whose domain changes, null for none. */
  newDomains: Map<Urn, Urn | null>
  presentUrns: { urn: Urn; entityType: string }[]
  /** Entities that the transaction changed and that do not exist at its end. */
  absentUrns: { urn: Urn; entityType: string }[]
  insertedCount: number
}

/** Call it last in the transaction, before the rollback. */
export async function changesOfTransaction(tx: Tx): Promise<TrialChanges> {
  const balance = new Map<string, { downstreamId: number; upstreamId: number; net: number }>()
  const add = (downstreamId: number, upstreamId: number, count: number): void => {
    const key = `${downstreamId} ${upstreamId}`
    const pair = balance.get(key) ?? { downstreamId, upstreamId, net: 0 }
    pair.net += count
    balance.set(key, pair)
  }
  const domains = new Map<number, number | null>()
  const exists = new Map<number, boolean>()
  const inserted = new Set<number>()
  for (const packed of await ownGraphChanges(tx)) {
    const { stated, deltas } = unpackGraphChanges(packed)
    for (const [at, downstreamId] of stated.downstreamIds.entries())
      add(downstreamId, stated.upstreamIds[at] ?? 0, 1)
    for (const delta of deltas) {
      if (delta.kind === 'unstated') add(delta.downstreamId, delta.upstreamId, -1)
      else if (delta.kind === 'domain') domains.set(delta.id, delta.domainId)
      else if (delta.kind === 'entity') exists.set(delta.id, delta.isPresent)
      else if (delta.kind === 'created') inserted.add(delta.id)
    }
  }
  const pairs = [...balance.values()].filter((pair) => pair.net !== 0)
  const counts = await countStatements(
    tx,
    pairs.map((pair) => pair.downstreamId),
    pairs.map((pair) => pair.upstreamId)
  )
  const ids = [
    ...new Set([
      ...pairs.map((pair) => pair.downstreamId),
      ...domains.keys(),
      ...[...domains.values()].flatMap((id) => id ?? []),
      ...exists.keys()
    ])
  ]
  const rows = new Map((await findEntitiesById(tx, ids)).map((row) => [row.id, row]))
  const named = (isPresent: boolean) =>
    [...exists]
      .flatMap(([id, is]) => (is === isPresent ? (rows.get(id) ?? []) : []))
      .map(({ urn, entityType }) => ({ urn, entityType }))
  const changes: TrialChanges = {
    edges: { added: 0, removed: 0 },
    columnEdges: { added: 0, removed: 0 },
    startUrns: [],
    newDomains: new Map(),
    presentUrns: named(true),
    absentUrns: named(false),
    insertedCount: inserted.size
  }
  const starts = new Set<Urn>(
    [...changes.presentUrns, ...changes.absentUrns]
      .filter(({ entityType }) => isAsset(entityType))
      .map(({ urn }) => urn)
  )
  for (const [index, { downstreamId, net }] of pairs.entries()) {
    const row = rows.get(downstreamId)
    const after = counts[index] ?? 0
    const change = after > 0 && after - net <= 0 ? 'added' : after <= 0 && after - net > 0 ? 'removed' : null
    if (!row || !change) continue
    changes[row.entityType === 'schemaField' ? 'columnEdges' : 'edges'][change] += 1
    starts.add(row.urn)
  }
  for (const [id, domainId] of domains) {
    const row = rows.get(id)
    if (!row) continue
    changes.newDomains.set(row.urn, domainId === null ? null : (rows.get(domainId)?.urn ?? null))
    starts.add(row.urn)
  }
  changes.startUrns = [...starts]
  return changes
}

/**
 * Call it after the rollback. Walks downstream as far as walks may go; `complete` says whether that was
 * everything.
 */
export async function dryRunReport(db: Db, changes: TrialChanges): Promise<DryRunReport> {
  return inTransaction(
    db,
    async (tx) => {
      const known = new Map<Urn, EntityRow>(
        (
          await findEntities(tx, [
            ...changes.startUrns,
            ...[...changes.presentUrns, ...changes.absentUrns].map(({ urn }) => urn)
          ])
        ).map((row) => [row.urn, row])
      )
      const created = changes.presentUrns.filter(({ urn }) => !known.get(urn)?.isPresent)
      const deleted = changes.absentUrns.filter(({ urn }) => known.get(urn)?.isPresent)
      const newDomains = [...changes.newDomains.values()]
      return {
        edges: changes.edges,
        columnEdges: changes.columnEdges,
        domains: {
          created: created.filter(({ entityType }) => entityType === 'domain').length,
          deleted: deleted.filter(({ entityType }) => entityType === 'domain').length,
          set: newDomains.filter((urn) => urn !== null).length,
          unset: newDomains.filter((urn) => urn === null).length
        },
        entities: {
          created: created.length,
          deleted: deleted.length,
          placeholders: Math.max(
            0,
            changes.insertedCount - created.filter(({ urn }) => !known.has(urn)).length
          ),
          byType: countByType(created.map(({ entityType }) => entityType))
        },
        affected: await affectedBy(tx, changes, known)
      }
    },
    { readOnly: true, isolation: 'repeatable read' }
  )
}

function countByType(types: readonly string[]): { type: string; created: number }[] {
  const counts = new Map<string, number>()
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1)
  return [...counts]
    .map(([type, count]) => ({ type, created: count }))
    .sort((a, b) => (a.type < b.type ? -1 : 1))
}

const idsPerRead = 20_000

/**
 * The current graph is enough for the walk: the downstream end of every added and removed edge is itself a
 * start.
 */
async function affectedBy(
  tx: Tx,
  changes: TrialChanges,
  known: ReadonlyMap<Urn, EntityRow>
): Promise<DryRunReport['affected']> {
  const reader = sqlLineageReader(tx, null)
  const assetUrns = new Set<Urn>()
  const domainUrns = new Set<Urn>()
  const newUrns = changes.startUrns.filter((urn) => !known.has(urn))
  const starts = changes.startUrns.flatMap((urn) => known.get(urn) ?? [])
  let count = 0
  let complete = true
  const list = (urn: Urn): void => {
    count += 1
    if (assetUrns.size < limits.dryRunListMaxCount) assetUrns.add(urn)
  }

  // A column counts as its asset. A new column may be of an asset that exists.
  const assets = new Set<number>(
    starts.map((row) => (row.entityType === 'schemaField' ? (row.parentId ?? row.id) : row.id))
  )
  for (const row of await findEntities(tx, [
    ...new Set(
      newUrns.flatMap((urn) =>
        urn.startsWith('urn:li:schemaField:') ? [schemaFieldParts(urn).parentUrn] : []
      )
    )
  ]))
    assets.add(row.id)
  for (const urn of newUrns) if (!urn.startsWith('urn:li:schemaField:')) list(urn)
  try {
    for (const walk of [
      { startIds: [...assets], level: 'asset' },
      {
        startIds: starts.filter((row) => row.entityType === 'schemaField').map((row) => row.id),
        level: 'column'
      }
    ] as const) {
      if (walk.startIds.length === 0) continue
      const found = await reader.walk({
        ...walk,
        direction: 'DOWNSTREAM',
        hopsWanted: Infinity,
        bounds: { maxHops: limits.walkMaxHops, maxEntities: limits.walkMaxEntities }
      })
      complete &&= found.cutBy === null
      await addReached(reader, walk.level, found.ids, assets)
    }
    const domainIds = new Set<number>()
    const ids = [...assets]
    for (let begin = 0; begin < ids.length; begin += idsPerRead) {
      const slice = ids.slice(begin, begin + idsPerRead)
      const classes = await reader.classes(slice)
      const seen = slice.filter((id) => {
        const entity = classes(id)
        if (!entity?.exists || entity.isRemoved || !isAsset(entity.entityType)) return false
        if (entity.domainId !== null) domainIds.add(entity.domainId)
        return true
      })
      const urns = await reader.urns(seen.slice(0, Math.max(0, limits.dryRunListMaxCount - assetUrns.size)))
      for (const id of seen) {
        const urn = urns(id)
        if (urn) list(urn)
        else count += 1
      }
    }
    // Both the current and the new domain of an asset would look different.
    for (const row of await findAssociations(
      tx,
      starts.map((row) => row.id)
    ))
      if (row.domainId !== null) domainIds.add(row.domainId)
    for (const row of await findEntitiesById(tx, [...domainIds])) domainUrns.add(row.urn)
  } catch (error) {
    if (!(error instanceof CatalogError) || error.code !== 'DEADLINE_EXCEEDED') throw error
    complete = false
  }
  for (const urn of changes.newDomains.values()) if (urn !== null) domainUrns.add(urn)
  return {
    assets: { count, urns: [...assetUrns] },
    domains: { count: domainUrns.size, urns: [...domainUrns].sort().slice(0, limits.dryRunListMaxCount) },
    complete
  }
}

/** The assets that a walk has reached, including those of columns. */
async function addReached(
  reader: LineageReader,
  level: 'asset' | 'column',
  ids: Int32Array,
  assets: Set<number>
): Promise<void> {
  if (level === 'asset') {
    for (const id of ids) assets.add(id)
    return
  }
  for (let begin = 0; begin < ids.length; begin += idsPerRead) {
    const slice = ids.subarray(begin, begin + idsPerRead)
    const parents = await reader.parents(slice)
    for (const id of slice) {
      const parent = parents(id)
      if (parent !== null) assets.add(parent)
    }
  }
}
