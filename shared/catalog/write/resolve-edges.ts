/**
 * Resolves the edges of a chunk that are given by their two ends alone: to columns of ids, or, where existence is to be judged one by
 * one, to records like any other.
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
import { rememberEntity, type WorkingSet } from './working-set.ts'

/** `idle`: the removals from owners that have no id, which change nothing. */
export type ResolvedEdges = {
  columns: EdgeColumns
  records: ChangeRecord[]
  idle: { lines: number[]; owners: Set<Urn> }
}

/** Call it under the lock of writers and before owners are locked: a transaction that waits for an entity another one is making must not hold an owner. */
export async function resolveEdges(
  tx: Tx,
  set: WorkingSet,
  batch: EdgeBatch,
  ids: EntityIds,
  missingReferences: MissingReferences
): Promise<ResolvedEdges> {
  const { urns, isRemoval, upstreams, downstreams, lines } = batch
  const mustExist = missingReferences === 'reject'
  const { ids: idOfUrn, excluded } = await ids.find(tx, urns, idsOf(upstreams, downstreams), mustExist)
  const isMaking = !mustExist && (!isRemoval || set.older.isUnfinished)
  // The ids of a dry run, and of what a limited token may not touch, are given record by record.
  if (isMaking && !set.trialIds && !set.limit) await giveIds(tx, set, batch, idOfUrn, excluded)
  const { names, typeOf } = urns.types()
  // An end given by its id is a dataset.
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
    // An owner that has an id may be about to get the edge from another writer: its lock is waited for, record by record.
    if (ownerId === 0 && isRemoval && !mustExist && !isMaking && !set.limit) {
      idle.lines.push(lines[place] ?? 0)
      idle.owners.add(urns.at(pair.owner === 'upstream' ? upstream : downstream))
      continue
    }
    // Which of the ends a limited token may touch is judged edge by edge, as is what was deleted or does not exist.
    if (
      upstreamId === 0 ||
      downstreamId === 0 ||
      set.limit ||
      excluded.has(upstreamId) ||
      excluded.has(downstreamId)
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

/** Gives ids to what has none, as placeholders. What another transaction made meanwhile and was deleted is excluded. */
async function giveIds(
  tx: Tx,
  set: WorkingSet,
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
  for (const row of [...inserted, ...known]) rememberEntity(set, row)
  for (const row of inserted) set.inserted.add(row.id)
  for (const { id, deletedSeq } of known) if (deletedSeq !== null) excluded.add(id)
  for (const { place, urn } of absent) idOfUrn[place] = set.entities.get(urn)?.id ?? 0
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
