/**
 * Resolves the edges of a chunk that are given by their two ends to columns of ids. Edges whose existence
 * must be checked one by one become ordinary records.
 */
import type { Tx } from '../../db/database.ts'
import type { ChangeRecord, MissingReferences } from '../../model/changes.ts'
import { placeOfTypes } from '../../model/lineage-fields.ts'
import type { EdgeColumns } from '../../statements/columns.ts'
import { insertEntities } from '../../store/entities.ts'
import type { Urn } from '../../urn/urn.ts'
import { endsWithAssets, type EdgeEnds } from './edge-ends.ts'
import { idsAmong, idsOf, type EdgeBatch } from './edge-payload.ts'
import type { EntityIds } from './entity-ids.ts'
import { urnsOfIds } from './urns-of-ids.ts'
import { rememberEntity, type UnitOfWork } from './unit-of-work.ts'

/** The ids of the assets of both ends, in the order of the columns. */
export type EdgeAssets = { upstreams: Int32Array; downstreams: Int32Array }

/** `idle`: the number of removals from owners without an id, which change nothing. */
export type ResolvedEdges = {
  columns: EdgeColumns
  assets: EdgeAssets
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
  const { isRemoval, upstreams, downstreams, lines } = batch
  const mustExist = missingReferences === 'reject'
  const ends = endsWithAssets(batch.urns)
  const { ids: idAt, deletedOrAbsent } = await ids.find(
    tx,
    ends.urns,
    idsOf(upstreams, downstreams),
    mustExist
  )
  // Ids of a dry run, and ends that a limited token may not change, are handled record by record.
  const isMaking = !work.trialIds && !work.limit && (!isRemoval || (!mustExist && work.older.isUnfinished))
  if (isMaking) await giveIds(tx, work, ends, idAt, deletedOrAbsent, !mustExist)
  const placeOf = placesByType(ends)
  const idOf = (end: number): number => (end < 0 ? -end : (idAt[end] ?? 0))
  const assetIdOf = (end: number): number => (end < 0 ? -end : (idAt[ends.assetAt[end] ?? 0] ?? 0))
  const isThere = (id: number): boolean => id !== 0 && !deletedOrAbsent.has(id)
  const isUsable = (end: number): boolean => isThere(idOf(end)) && isThere(assetIdOf(end))

  const count = lines.length
  const columns = emptyColumns(isRemoval, count)
  const assets: EdgeAssets = { upstreams: new Int32Array(count), downstreams: new Int32Array(count) }
  const leftPlaces: number[] = []
  const idle: ResolvedEdges['idle'] = { lines: [], owners: new Set() }
  let at = 0
  for (let place = 0; place < count; place += 1) {
    const [upstream, downstream] = [upstreams[place] ?? 0, downstreams[place] ?? 0]
    const { owner, fieldCode } = placeOf(upstream, downstream)
    const stating = owner === 'upstream' ? upstream : downstream
    const ownerId = assetIdOf(stating)
    // Another writer may be about to add the edge to the owner. Such edges are handled record by record, and
    // so wait for its lock.
    if (ownerId === 0 && isRemoval && !mustExist && !isMaking && !work.limit) {
      idle.lines.push(lines[place] ?? 0)
      idle.owners.add(ends.urns.at(ends.assetAt[stating] ?? 0))
      continue
    }
    // Limited tokens, and deleted or missing ends, need a check of each edge.
    if (work.limit || !isUsable(upstream) || !isUsable(downstream)) {
      leftPlaces.push(place)
      continue
    }
    columns.lines[at] = lines[place] ?? 0
    columns.upstreamIds[at] = idOf(upstream)
    columns.downstreamIds[at] = idOf(downstream)
    columns.ownerIds[at] = ownerId
    columns.fields[at] = fieldCode
    assets.upstreams[at] = assetIdOf(upstream)
    assets.downstreams[at] = assetIdOf(downstream)
    at += 1
  }
  return {
    columns: at === count ? columns : firstOf(columns, at),
    assets: {
      upstreams: assets.upstreams.subarray(0, at),
      downstreams: assets.downstreams.subarray(0, at)
    },
    records: await recordsAt(tx, batch, leftPlaces),
    idle
  }
}

type Place = NonNullable<ReturnType<typeof placeOfTypes>>

/** Where an edge between two ends is stored. An end given as an id is a dataset. */
function placesByType({ names, typeOf, assetAt }: EdgeEnds): (upstream: number, downstream: number) => Place {
  const dataset = names.includes('dataset') ? names.indexOf('dataset') : names.push('dataset') - 1
  const known = new Map<number, Place>()
  const typeAt = (end: number): number => (end < 0 ? dataset : (typeOf[end] ?? 0))
  return (upstream, downstream) => {
    const types = [
      typeAt(upstream),
      typeAt(downstream),
      typeAt(downstream < 0 ? downstream : (assetAt[downstream] ?? 0))
    ] as const
    const key = (types[0] * names.length + types[1]) * names.length + types[2]
    const found = known.get(key)
    if (found) return found
    const place = placeOfTypes(names[types[0]] ?? '', names[types[1]] ?? '', names[types[2]] ?? '')
    if (!place) throw new Error('an edge without lineage was packed')
    known.set(key, place)
    return place
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
 * Gives ids to URNs without one: to assets only if missing ones are made, and then to columns of assets that
 * exist. An entity that another transaction created and deleted meanwhile is added to `deletedOrAbsent`.
 */
async function giveIds(
  tx: Tx,
  work: UnitOfWork,
  { urns, assetAt }: EdgeEnds,
  idAt: Int32Array,
  deletedOrAbsent: Set<number>,
  isMakingAssets: boolean
): Promise<void> {
  const isColumn = (place: number): boolean => (assetAt[place] ?? place) !== place
  const idOfAsset = (place: number): number => idAt[assetAt[place] ?? place] ?? 0
  const absent = [...idAt.keys()].filter((place) => idAt[place] === 0)
  const make = async (places: readonly number[]): Promise<void> => {
    const wanted = places.map((place) => ({
      urn: urns.at(place),
      parentId: isColumn(place) ? idOfAsset(place) : null
    }))
    const { inserted, known } = await insertEntities(tx, wanted)
    for (const row of [...inserted, ...known]) rememberEntity(work, row)
    for (const row of inserted) work.inserted.add(row.id)
    for (const { id, deletedSeq } of known) if (deletedSeq !== null) deletedOrAbsent.add(id)
    for (const place of places) idAt[place] = work.entities.get(urns.at(place))?.id ?? 0
  }
  if (isMakingAssets) await make(absent.filter((place) => !isColumn(place)))
  await make(
    absent.filter(
      (place) => isColumn(place) && idOfAsset(place) !== 0 && !deletedOrAbsent.has(idOfAsset(place))
    )
  )
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
