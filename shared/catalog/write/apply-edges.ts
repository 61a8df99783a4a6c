/**
 * The lean way of applying the edges of a chunk that are given by their two ends alone: who they are between, and who of them
 * goes this way. add-edges.ts and remove-edges.ts do the rest.
 *
 * The same rules as apply-records.ts keeps, for what makes up nearly all of every large load: both ends exist, and of the owner
 * no newer replacement, no patched edge and no deleted aspect is remembered. Every other edge is left to the general way, in the
 * same transaction. 1.2 us of the worker's own time an edge that is added and 4 one that is removed, against 106 us there (on a machine half as fast)
 * (`npm run bench -- loading`).
 */
import { edgePairOf } from '../../model/lineage-fields.ts'
import type { Tx } from '../../db/database.ts'
import { preferIndexes, preferNothing } from '../../db/prefer-indexes.ts'
import { appendAudit } from '../../store/audit.ts'
import { insertEntities } from '../../store/entities.ts'
import { lockAsWriter, olderWork } from '../../store/order-of-changes.ts'
import { findRemembered, lockOwners, type Remembered } from '../../store/plain-edges.ts'
import { sourceId } from '../../store/statements.ts'
import type { PackedUrns } from '../../urn/packed-urns.ts'
import type { Urn } from '../../urn/urn.ts'
import { addEdges } from './add-edges.ts'
import { auditedUrnsMaxCount, type ApplyContext, type AppliedBefore } from './apply-records.ts'
import { urnsOfIds } from './urns-of-ids.ts'
import { distinct, emptyColumns, inKeyOrder, pick, placesWhere, type EdgeColumns } from './edge-columns.ts'
import { idsOf, type EdgeBatch } from './edge-payload.ts'
import { aspectNamesOf, type EdgeWork } from './edge-work.ts'
import type { EntityIds } from './entity-ids.ts'
import { allGuards } from './guards.ts'
import { removeEdges } from './remove-edges.ts'

/** `rest` are places in the batch: edges that the general way must apply. */
export type EdgesApplied = AppliedBefore & { rest: number[] }

/** What applies the edges of a chunk: made by createEdgeApplier, or absent where a test wants the general way only. */
export type ApplyEdges = (tx: Tx, edges: EdgeBatch, context: ApplyContext) => Promise<EdgesApplied>

export function createEdgeApplier(ids: EntityIds): ApplyEdges {
  return (tx, edges, context) => applyEdges(tx, edges, context, ids)
}

async function applyEdges(
  tx: Tx,
  edges: EdgeBatch,
  context: ApplyContext,
  ids: EntityIds
): Promise<EdgesApplied> {
  const { chunk, guards = allGuards, actor } = context
  // Who is limited to a domain is judged asset by asset.
  if (!chunk || actor.domainUrn !== null)
    return {
      records: 0,
      applied: 0,
      unchanged: 0,
      urns: [],
      urnCount: 0,
      insertedIds: [],
      rest: [...edges.lines.keys()]
    }
  await preferIndexes(tx)
  if (guards.excludesDeletes) await lockAsWriter(tx)
  // Before existence is read, as in apply-records.ts.
  const older = await olderWork(tx, chunk.seq, chunk.loadId)
  const source = await sourceId(tx, context.source)

  const { ids: idOfUrn, unfit } = await ids.find(tx, edges.urns, idsOf(edges.upstreams, edges.downstreams))
  // Who is only removed from needs no row, but where the removal is to be remembered on it.
  const insertedIds =
    edges.isRemoval && !older.isUnfinished ? [] : await giveIds(tx, edges.urns, idOfUrn, unfit, context)
  const resolved = inKeyOrder(resolve(edges, idOfUrn))
  unfit.add(0)
  const { downstreamIds, upstreamIds, ownerIds } = resolved
  // All edges of an owner go one way: what the general way makes of one, and in which order, counts for the others.
  const leftOwners = new Set<number>()
  const isUnfit = (at: number): boolean =>
    unfit.has(downstreamIds[at] ?? 0) || unfit.has(upstreamIds[at] ?? 0)
  if (unfit.size > 1 || idOfUrn.includes(0))
    ownerIds.forEach((ownerId, at) => {
      if (isUnfit(at)) leftOwners.add(ownerId)
    })

  // All owners at once, also those that the general way will change: two writers meet in one order.
  const owners = distinct(ownerIds)
  if (guards.locksOwners && owners.length > 0) await lockOwners(tx, owners)
  const remembered =
    guards.keepsOrder && owners.length > 0
      ? await findRemembered(tx, owners, aspectNamesOf(resolved.fields), chunk.seq)
      : nothingRemembered
  for (const ownerId of remembered.more) leftOwners.add(ownerId)
  const sorted = withoutOwners(resolved, leftOwners)

  const work: EdgeWork = {
    columns: sorted,
    chunk,
    context,
    guards,
    older,
    sourceId: source,
    ownersWithRemovals: new Set(remembered.removals)
  }
  const { columns, applied } = edges.isRemoval ? await removeEdges(tx, work) : await addEdges(tx, work)
  const records = columns.places.length
  const rest = placesLeft(edges.lines.length, columns.places)
  const done = {
    records,
    applied,
    unchanged: records - applied,
    ...(await subjectsOf(tx, edges, columns, rest.length > 0)),
    insertedIds,
    rest
  }
  await (rest.length === 0 ? auditLean(tx, done, context) : preferNothing(tx))
  return done
}

const withoutOwners = (columns: EdgeColumns, owners: ReadonlySet<number>): EdgeColumns =>
  owners.size === 0 ? columns : pick(columns, (at) => !owners.has(columns.ownerIds[at] ?? 0))

const nothingRemembered: Remembered = { more: new Int32Array(0), removals: new Int32Array(0) }

function placesLeft(count: number, taken: Int32Array): number[] {
  if (taken.length === count) return []
  const left = new Uint8Array(count).fill(1)
  for (let at = 0; at < taken.length; at += 1) left[taken[at] ?? 0] = 0
  return [...placesWhere(count, (place) => left[place] === 1)]
}

/**
 * Gives ids to what has none, where that is asked for, and says which: as placeholders they are left to the general way.
 * Before owners are locked, as there: who waits for an entity that another has made must not hold an owner the other waits for.
 */
export async function giveIds(
  tx: Tx,
  urns: PackedUrns,
  idOfUrn: Int32Array,
  unfit: Set<number>,
  { missingReferences, isDryRun }: ApplyContext
): Promise<number[]> {
  // The ids of a dry run are the general way's own.
  if (isDryRun || missingReferences !== 'create' || !idOfUrn.includes(0)) return []
  const absent = [...idOfUrn.keys()]
    .filter((place) => idOfUrn[place] === 0)
    .map((place) => ({ place, urn: urns.at(place) }))
  const { inserted, known } = await insertEntities(
    tx,
    absent.map(({ urn }) => ({ urn, parentId: null }))
  )
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
    const pair =
      pairs[upstream < 0 ? dataset : (typeOf[upstream] ?? 0)]?.[
        downstream < 0 ? dataset : (typeOf[downstream] ?? 0)
      ]
    if (!pair) throw new Error('an edge without lineage was packed')
    const [upstreamId, downstreamId] = [
      upstream < 0 ? -upstream : (idOf[upstream] ?? 0),
      downstream < 0 ? -downstream : (idOf[downstream] ?? 0)
    ]
    columns.places[index] = index
    columns.upstreamIds[index] = upstreamId
    columns.downstreamIds[index] = downstreamId
    columns.ownerIds[index] = pair.owner === 'upstream' ? upstreamId : downstreamId
    columns.fields[index] = pair.fieldCode
  }
  return columns
}

/** For the audit trail: who owns the edges, by name the first of them, or all where there are others to be told from. */
async function subjectsOf(
  tx: Tx,
  { urns, upstreams, downstreams }: EdgeBatch,
  { places, ownerIds, downstreamIds }: EdgeColumns,
  isWhole: boolean
): Promise<{ urns: Urn[]; urnCount: number }> {
  const ends = new Map<number, number>()
  for (let at = 0; at < places.length && (isWhole || ends.size < auditedUrnsMaxCount); at += 1) {
    const place = places[at] ?? 0
    const ownerId = ownerIds[at] ?? 0
    if (!ends.has(ownerId))
      ends.set(ownerId, (ownerId === downstreamIds[at] ? downstreams[place] : upstreams[place]) ?? 0)
  }
  const urnOf = await urnsOfIds(
    tx,
    [...ends].flatMap(([id, end]) => (end < 0 ? [id] : []))
  )
  return {
    urns: [...ends].map(([id, end]) => (end < 0 ? urnOf(id) : urns.at(end))),
    urnCount: distinct(ownerIds).length
  }
}

/** One entry for a chunk that was applied in a lean way to its last record. */
export async function auditLean(
  tx: Tx,
  { records, applied, unchanged, urns, urnCount }: AppliedBefore,
  { actor, operation, requestId, chunk }: ApplyContext
): Promise<void> {
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
