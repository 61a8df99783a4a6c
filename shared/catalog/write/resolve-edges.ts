/**
 * Resolves the edges of a chunk that are given by their two ends to columns of ids. Edges whose existence
 * must be checked one by one become ordinary records.
 */
import type { Tx } from '../../db/database.ts'
import type { ChangeRecord, MissingReferences } from '../../model/changes.ts'
import { edgePairOf } from '../../model/lineage-fields.ts'
import type { EdgeColumns } from '../../statements/columns.ts'
import { insertEntities } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'
import { idsAmong, idsOf, type EdgeBatch } from './edge-payload.ts'
import type { EntityIds } from './entity-ids.ts'
import { urnsOfIds } from './urns-of-ids.ts'
import { rememberEntity, type UnitOfWork } from './unit-of-work.ts'

/** `idle`: the number of removals from owners without an id, which change nothing. */
export type ResolvedEdges = {
  columns: EdgeColumns
  records: ChangeRecord[]
  idle: { lines: number[]; owners: Set<Urn> }
}

/**
 * Call it under the lock of writers and before owners are locked: a transaction that waits for another one to
 * create an entity must not hold a lock on an owner.
 */
export async function resolveEdges(
  tx: Tx,
  work: UnitOfWork,
  batch: EdgeBatch,
  ids: EntityIds,
  missingReferences: MissingReferences
): Promise<ResolvedEdges> {
  const { urns, isRemoval, upstreams, downstreams, lines } = batch
  const mustExist = missingReferences === 'reject'
  const { ids: idOfUrn, deletedOrAbsent } = await ids.find(tx, urns, idsOf(upstreams, downstreams), mustExist)
  const isMaking = !mustExist && (!isRemoval || work.older.isUnfinished)
  // Ids of a dry run, and ends that a limited token may not change, are handled record by record.
  if (isMaking && !work.trialIds && !work.limit) await giveIds(tx, work, batch, idOfUrn, deletedOrAbsent)
  const { names, typeOf } = urns.types()
  // An end given as an id is a dataset.
  const dataset = names.includes('dataset') ? names.indexOf('dataset') : names.push('dataset') - 1
  const pairs = names.map((upstream) => names.map((downstream) => edgePairOf(upstream, downstream)))

  const count = lines.length
  const columns = emptyColumns(isRemoval, count)
  const leftPlaces: number[] = []
  const idle: ResolvedEdges['idle'] = { lines: [], owners: new Set() }
  let at = 0
  for (let place = 0; place < count; place += 1) {
    const [upstream, downstream] = [upstreams[place] ?? 0, downstreams[place] ?? 0]
    const upstreamId = upstream < 0 ? -upstream : (idOfUrn[upstream] ?? 0)
    const downstreamId = downstream < 0 ? -downstream : (idOfUrn[downstream] ?? 0)
    const pair =
      pairs[upstream < 0 ? dataset : (typeOf[upstream] ?? 0)]?.[
        downstream < 0 ? dataset : (typeOf[downstream] ?? 0)
      ]
    if (!pair) throw new Error('an edge without lineage was packed')
    const ownerId = pair.owner === 'upstream' ? upstreamId : downstreamId
    // Another writer may be about to add the edge to the owner. Such edges are handled record by record, and
    // so wait for its lock.
    if (ownerId === 0 && isRemoval && !mustExist && !isMaking && !work.limit) {
      idle.lines.push(lines[place] ?? 0)
      idle.owners.add(urns.at(pair.owner === 'upstream' ? upstream : downstream))
      continue
    }
    // Limited tokens, and deleted or missing ends, need a check of each edge.
    if (
      upstreamId === 0 ||
      downstreamId === 0 ||
      work.limit ||
      deletedOrAbsent.has(upstreamId) ||
      deletedOrAbsent.has(downstreamId)
    ) {
      leftPlaces.push(place)
      continue
    }
    columns.lines[at] = lines[place] ?? 0
    columns.upstreamIds[at] = upstreamId
    columns.downstreamIds[at] = downstreamId
    columns.ownerIds[at] = ownerId
    columns.fields[at] = pair.fieldCode
    at += 1
  }
  return {
    columns: at === count ? columns : firstOf(columns, at),
    records: await recordsAt(tx, batch, leftPlaces),
    idle
  }
}

const emptyColumns = (isRemoval: boolean, length: number): EdgeColumns => ({
  isRemoval,
  lines: new Int32Array(length),
  downstreamIds: new Int32Array(length),
  upstreamIds: new Int32Array(length),
  ownerIds: new Int32Array(length),
  fields: new Int32Array(length)
})

const firstOf = (columns: EdgeColumns, count: number): EdgeColumns => ({
  isRemoval: columns.isRemoval,
  lines: columns.lines.subarray(0, count),
  downstreamIds: columns.downstreamIds.subarray(0, count),
  upstreamIds: columns.upstreamIds.subarray(0, count),
  ownerIds: columns.ownerIds.subarray(0, count),
  fields: columns.fields.subarray(0, count)
})

/**
 * Creates placeholders for URNs without an id. An entity that another transaction created and deleted
 * meanwhile is added to `deletedOrAbsent`.
 */
async function giveIds(
  tx: Tx,
  work: UnitOfWork,
  { urns }: EdgeBatch,
  idOfUrn: Int32Array,
  excluded: Set<number>
): Promise<void> {
  const absent: { place: number; urn: Urn }[] = []
  for (let place = 0; place < idOfUrn.length; place += 1)
    if (idOfUrn[place] === 0) absent.push({ place, urn: urns.at(place) })
  if (absent.length === 0) return
  const { inserted, known } = await insertEntities(
    tx,
    absent.map(({ urn }) => ({ urn, parentId: null }))
  )
  for (const row of [...inserted, ...known]) rememberEntity(work, row)
  for (const row of inserted) work.inserted.add(row.id)
  for (const { id, deletedSeq } of known) if (deletedSeq !== null) excluded.add(id)
  for (const { place, urn } of absent) idOfUrn[place] = work.entities.get(urn)?.id ?? 0
}

/** Throws UnreadableChunk. */
async function recordsAt(tx: Tx, batch: EdgeBatch, places: readonly number[]): Promise<ChangeRecord[]> {
  const urnOf = await urnsOfIds(tx, idsAmong(batch, places))
  const urnOfEnd = (end: number): Urn => (end < 0 ? urnOf(-end) : batch.urns.at(end))
  return places.map((place) => ({
    line: batch.lines[place] ?? 0,
    changes: [
      {
        kind: batch.isRemoval ? 'removeEdge' : 'addEdge',
        upstreamUrn: urnOfEnd(batch.upstreams[place] ?? 0),
        downstreamUrn: urnOfEnd(batch.downstreams[place] ?? 0)
      }
    ]
  }))
}
