/**
 * The lean way of applying the edges of a chunk that are given by their two ends alone and find nothing in their way.
 *
 * The same rules as apply-records.ts keeps, for the one case that makes up nearly all of every large load: both ends
 * exist, and the owner remembers nothing but what is stated. Every other edge is left to the general way, in the same
 * transaction. 3 us of the worker's own time an edge, against 106 us there (`npm run bench -- loading`).
 */
import { aspectTemplate } from '../model/aspect-registry.ts'
import { packStatedEdges } from '../model/graph-delta.ts'
import { fewValuesOf } from '../model/few-values.ts'
import { edgePairOf, lineageFieldByCode } from '../model/lineage-fields.ts'
import { appendedPosition } from '../model/list-order.ts'
import { bareRecordKey } from '../model/record-keys.ts'
import type { Tx } from '../db/database.ts'
import { appendAudit } from '../store/audit.ts'
import { insertEntities } from '../store/entities.ts'
import { appendPackedGraphChange } from '../store/graph-changes.ts'
import { lockAsWriter, olderWork } from '../store/order-of-changes.ts'
import { countVersions, findRemembering, insertPlainEdges, lockOwners } from '../store/plain-edges.ts'
import { sourceId } from '../store/statements.ts'
import type { PackedUrns } from '../urn/packed-urns.ts'
import type { Urn } from '../urn/urn.ts'
import { auditedUrnsMaxCount, type ApplyContext, type AppliedBefore } from './apply-records.ts'
import { urnsOfIds } from './chunk-records.ts'
import { distinct, emptyColumns, inKeyOrder, pick, pickOfRepeats, placesWhere, without, type EdgeColumns } from './edge-columns.ts'
import { idsOf, type EdgeBatch } from './edge-payload.ts'
import type { EntityIds } from './entity-ids.ts'
import { findStated } from './find-stated.ts'
import { createJournal } from './apply/journal.ts'
import { allGuards } from './guards.ts'
import type { StatedKeys } from './stated-keys.ts'

/** `rest` are places in the batch: edges that the general way must apply. */
export type EdgesApplied = AppliedBefore & { rest: number[] }

/** What applies the edges of a chunk: made by createEdgeApplier, or absent where a test wants the general way only. */
export type ApplyEdges = (tx: Tx, edges: EdgeBatch, context: ApplyContext) => Promise<EdgesApplied>

export const createEdgeApplier = (ids: EntityIds): ApplyEdges => (tx, edges, context) => applyEdges(tx, edges, context, ids)

async function applyEdges(tx: Tx, edges: EdgeBatch, context: ApplyContext, ids: EntityIds): Promise<EdgesApplied> {
  const { chunk, guards = allGuards, actor } = context
  // Who is limited to a domain is judged asset by asset.
  if (!chunk || actor.domainUrn !== null) return { records: 0, applied: 0, unchanged: 0, urns: [], urnCount: 0, insertedIds: [], rest: [...edges.lines.keys()] }
  if (guards.excludesDeletes) await lockAsWriter(tx)
  // Before existence is read, as in apply-records.ts.
  const older = await olderWork(tx, chunk.seq, chunk.loadId)
  const source = await sourceId(tx, context.source)

  const { ids: idOfUrn, unfit } = await ids.find(tx, edges.urns, idsOf(edges.upstreams, edges.downstreams))
  const insertedIds = await giveIds(tx, edges.urns, idOfUrn, unfit, context)
  const resolved = resolve(edges, idOfUrn)
  unfit.add(0)
  // All owners at once, also those that the general way will change: two writers meet in one order.
  const owners = distinct(resolved.ownerIds)
  if (guards.locksOwners) await lockOwners(tx, owners)
  const remembering = guards.keepsOrder ? await findRemembering(tx, owners, aspectNamesOf(resolved.fields)) : []
  const { downstreamIds, upstreamIds, ownerIds } = resolved
  const isUnfit = (at: number): boolean => unfit.has(downstreamIds[at] ?? 0) || unfit.has(upstreamIds[at] ?? 0)
  // All edges of an owner go one way: what the general way makes of one, and in which order, counts for the others.
  const leftOwners = new Set(remembering)
  if (unfit.size > 1 || idOfUrn.includes(0)) ownerIds.forEach((ownerId, at) => { if (isUnfit(at)) leftOwners.add(ownerId) })
  const sorted = inKeyOrder(leftOwners.size === 0 ? resolved : pick(resolved, (at) => !leftOwners.has(ownerIds[at] ?? 0)))

  // Of an edge that is given more than once the last line counts, as it does in the general way.
  const last = pickOfRepeats(sorted, 1)
  const stamp = { sourceId: source, recordKey: bareRecordKey, position: appendedPosition, seq: chunk.seq }
  const { bySource, byOthers } = await findStated(tx, last, stamp)
  const inserted = without(last, bySource)
  if (inserted.places.length > 0) await insertPlainEdges(tx, inserted, stamp)
  const fresh = without(last === sorted ? last : pickOfRepeats(sorted, -1), bySource, byOthers)
  const journal = createJournal()
  journal.addedColumns({ ...inserted, sourceId: source, recordKey: bareRecordKey })
  for (const made of await countChanged(tx, fresh, { actor: actor.urn, seq: chunk.seq })) journal.note({ kind: 'aspect', ...made, was: 'none' })
  if (context.stated) tellStated(context.stated, sorted, inserted.places.length)
  await journal.write(tx, chunk)
  if (inserted.places.length > 0) await appendPackedGraphChange(tx, packStatedEdges(inserted))

  // An edge that is there already must raise its order where something older may still take it away.
  const left = new Uint8Array(edges.lines.length).fill(1)
  for (let at = 0; at < sorted.places.length; at += 1) left[sorted.places[at] ?? 0] = 0
  if (guards.raisesOrder && older.isDestructive) for (const at of bySource) left[last.places[at] ?? 0] = 1
  const rest = [...placesWhere(left.length, (place) => left[place] === 1)]
  const records = edges.lines.length - rest.length
  const applied = { records, applied: fresh.places.length, unchanged: records - fresh.places.length, ...await subjectsOf(tx, edges, sorted, rest.length > 0), insertedIds, rest }
  if (rest.length === 0) await auditLean(tx, applied, context)
  return applied
}

/**
 * Gives ids to what has none, where that is asked for, and says which: as placeholders they are left to the general way.
 * Before owners are locked, as there: who waits for an entity that another has made must not hold an owner the other waits for.
 */
export async function giveIds(tx: Tx, urns: PackedUrns, idOfUrn: Int32Array, unfit: Set<number>, { missingReferences, isDryRun }: ApplyContext): Promise<number[]> {
  // The ids of a dry run are the general way's own.
  if (isDryRun || missingReferences !== 'create' || !idOfUrn.includes(0)) return []
  const absent = [...idOfUrn.keys()].filter((place) => idOfUrn[place] === 0).map((place) => ({ place, urn: urns.at(place) }))
  const { inserted, known } = await insertEntities(tx, absent.map(({ urn }) => ({ urn, parentId: null })))
  const madeMeanwhile = new Map(known.map((row) => [row.urn, row.id]))
  for (const { place, urn } of absent) idOfUrn[place] = madeMeanwhile.get(urn) ?? 0
  for (const { id, isPresent, deletedSeq } of known) if (!isPresent || deletedSeq !== null) unfit.add(id)
  return inserted.map((row) => row.id)
}

/** Ids are 0 where there are none. */
function resolve({ urns, upstreams, downstreams, lines }: EdgeBatch, idOf: Int32Array): EdgeColumns {
  const { names, typeOf } = urns.types()
  // Who is given by an id is a dataset.
  const dataset = names.includes('dataset') ? names.indexOf('dataset') : names.push('dataset') - 1
  const pairs = names.map((upstream) => names.map((downstream) => edgePairOf(upstream, downstream)))
  const columns = { lines, ...emptyColumns(lines.length) }
  for (let index = 0; index < lines.length; index += 1) {
    const [upstream, downstream] = [upstreams[index] ?? 0, downstreams[index] ?? 0]
    const pair = pairs[upstream < 0 ? dataset : typeOf[upstream] ?? 0]?.[downstream < 0 ? dataset : typeOf[downstream] ?? 0]
    if (!pair) throw new Error('an edge without lineage was packed')
    const [upstreamId, downstreamId] = [upstream < 0 ? -upstream : idOf[upstream] ?? 0, downstream < 0 ? -downstream : idOf[downstream] ?? 0]
    columns.places[index] = index
    columns.upstreamIds[index] = upstreamId
    columns.downstreamIds[index] = downstreamId
    columns.ownerIds[index] = pair.owner === 'upstream' ? upstreamId : downstreamId
    columns.fields[index] = pair.fieldCode
  }
  return columns
}

const fieldsIn = (fields: Int32Array): number[] => fewValuesOf(fields.length, (at) => fields[at] ?? 0)

const aspectNamesOf = (fields: Int32Array): string[] => [...new Set(fieldsIn(fields).map((field) => lineageFieldByCode(field).aspectName))]

function tellStated(stated: StatedKeys, { downstreamIds, upstreamIds, ownerIds, fields }: EdgeColumns, newCount: number): void {
  downstreamIds.forEach((downstreamId, at) => {
    stated.add({ downstreamId, upstreamId: upstreamIds[at] ?? 0, ownerId: ownerIds[at] ?? 0, field: fields[at] ?? 0, recordKey: bareRecordKey })
  })
  stated.countNew(newCount)
}

/** For the audit trail: who owns the edges, by name the first of them, or all where there are others to be told from. */
async function subjectsOf(tx: Tx, { urns, upstreams, downstreams }: EdgeBatch, { places, ownerIds, downstreamIds }: EdgeColumns, isWhole: boolean): Promise<{ urns: Urn[], urnCount: number }> {
  const ends = new Map<number, number>()
  for (let at = 0; at < places.length && (isWhole || ends.size < auditedUrnsMaxCount); at += 1) {
    const place = places[at] ?? 0
    const ownerId = ownerIds[at] ?? 0
    if (!ends.has(ownerId)) ends.set(ownerId, (ownerId === downstreamIds[at] ? downstreams[place] : upstreams[place]) ?? 0)
  }
  const urnOf = await urnsOfIds(tx, [...ends].flatMap(([id, end]) => end < 0 ? [id] : []))
  return { urns: [...ends].map(([id, end]) => end < 0 ? urnOf(id) : urns.at(end)), urnCount: distinct(ownerIds).length }
}

/** One version for each aspect that has edges it had not; an aspect that is made by them has the order of its first line. Gives those. */
async function countChanged(tx: Tx, fresh: EdgeColumns, stamp: { actor: string, seq: number }): Promise<{ entityId: number, aspectName: string }[]> {
  const firstLines = new Map<string, Map<number, number>>()
  const { fields, ownerIds, lines } = fresh
  for (const aspectName of aspectNamesOf(fields)) firstLines.set(aspectName, new Map())
  const linesOf = new Map(fieldsIn(fields).map((field) => [field, firstLines.get(lineageFieldByCode(field).aspectName)]))
  for (let at = 0; at < fields.length; at += 1) {
    const first = linesOf.get(fields[at] ?? 0)
    const [ownerId, line] = [ownerIds[at] ?? 0, lines[at] ?? 0]
    const known = first?.get(ownerId)
    if (known === undefined || line < known) first?.set(ownerId, line)
  }
  const made: { entityId: number, aspectName: string }[] = []
  for (const [aspectName, first] of firstLines) {
    const changed = Int32Array.from(first.keys()).sort()
    const owners = await countVersions(tx, { aspectName, ownerIds: changed, lines: changed.map((id) => first.get(id) ?? 0), template: aspectTemplate(aspectName) }, stamp)
    for (const entityId of owners) made.push({ entityId, aspectName })
  }
  return made
}

/** One entry for a chunk that was applied in a lean way to its last record. */
export async function auditLean(tx: Tx, { records, applied, unchanged, urns, urnCount }: AppliedBefore, { actor, operation, requestId, chunk }: ApplyContext): Promise<void> {
  await appendAudit(tx, {
    actor: actor.urn,
    tokenId: actor.tokenId,
    operation,
    seq: chunk?.seq ?? null,
    loadId: chunk?.loadId ?? null,
    chunkId: chunk?.chunkId ?? null,
    requestId,
    details: { records, applied, unchanged, rejected: 0, urns, urnCount }
  })
}
