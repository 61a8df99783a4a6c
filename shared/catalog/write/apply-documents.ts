/**
 * The lean way of applying lineage documents that are the first of their dataset: what emitters send of a catalog that is
 * filled, or of tables that are new.
 *
 * The same rules as apply-records.ts keeps, for the one case without anything to compare: all that is named exists, and
 * nothing is known of the aspect. Every other document is left to the general way, in the same transaction. `npm run bench
 * -- loading` has the figures of both.
 */
import { entityTypeInfo } from '../../model/entity-types.ts'
import { packStatedEdges } from '../../model/graph-delta.ts'
import { lineageFieldsOf } from '../../model/lineage-fields.ts'
import type { Tx } from '../../db/database.ts'
import { preferIndexes, preferNothing } from '../../db/prefer-indexes.ts'
import { appendPackedGraphChange } from '../../store/graph-changes.ts'
import { lockAsWriter, olderWork } from '../../store/order-of-changes.ts'
import { insertStatements, stampedStatements, type StatementColumns } from '../../store/new-statements.ts'
import {
  findOccupied,
  insertFirstDocuments,
  rememberReplaced,
  type DocumentPlace
} from '../../store/plain-documents.ts'
import { lockOwners } from '../../store/plain-edges.ts'
import { sourceId } from '../../store/statements.ts'
import { keyOf } from '../../urn/kinds.ts'
import type { Urn } from '../../urn/urn.ts'
import { auditLean, giveIds, type EdgesApplied } from './apply-edges.ts'
import { auditedUrnsMaxCount, type ApplyContext } from './apply-records.ts'
import { urnsOfIds } from './urns-of-ids.ts'
import type { DocumentBatch } from './document-payload.ts'
import { distinct } from './edge-columns.ts'
import { idsOf } from './edge-payload.ts'
import type { EntityIds } from './entity-ids.ts'
import { createJournal } from './journal.ts'
import { allGuards } from './guards.ts'

/** What applies a chunk of documents: made by createDocumentApplier, or absent where a test wants the general way only. `rest` are places of documents. */
export type ApplyDocuments = (
  tx: Tx,
  documents: DocumentBatch,
  context: ApplyContext
) => Promise<EdgesApplied>

export const createDocumentApplier =
  (ids: EntityIds): ApplyDocuments =>
  (tx, documents, context) =>
    applyDocuments(tx, documents, context, ids)

const aspectName = 'upstreamLineage'
const [upstreams] = lineageFieldsOf(aspectName)
if (!upstreams) throw new Error('upstreamLineage has no list')
const place: DocumentPlace = { aspectName, aspectCode: upstreams.code >> 4, field: upstreams.code }
/** The document without its entries. */
const rest = { [upstreams.listName]: [] }
const { keyAspect } = entityTypeInfo('dataset')
/** The key of an entry that is written once in its list. */
const firstOccurrence = 0

async function applyDocuments(
  tx: Tx,
  documents: DocumentBatch,
  context: ApplyContext,
  ids: EntityIds
): Promise<EdgesApplied> {
  const { chunk, guards = allGuards, actor } = context
  const { lines } = documents
  // A snapshot replaces what its own source stated, a rehearsal has ids of its own, and who is limited to a domain is judged asset by asset.
  if (!chunk || context.stated || context.isDryRun || actor.domainUrn !== null)
    return {
      records: 0,
      applied: 0,
      unchanged: 0,
      urns: [],
      urnCount: 0,
      insertedIds: [],
      rest: [...lines.keys()]
    }
  await preferIndexes(tx)
  if (guards.excludesDeletes) await lockAsWriter(tx)
  // Before existence is read, as in apply-records.ts.
  const older = await olderWork(tx, chunk.seq, chunk.loadId)
  const source = await sourceId(tx, context.source)

  const { ids: idOfUrn, unfit } = await ids.find(
    tx,
    documents.urns,
    idsOf(documents.owners, documents.upstreams)
  )
  const insertedIds = await giveIds(tx, documents.urns, idOfUrn, unfit, context)
  unfit.add(0)
  const idOf = (end: number): number => (end < 0 ? -end : (idOfUrn[end] ?? 0))
  const [ownerIds, upstreamIds] = [documents.owners.map(idOf), documents.upstreams.map(idOf)]
  // All owners at once, also those that the general way will change: two writers meet in one order.
  const owners = distinct(ownerIds)
  if (guards.locksOwners) await lockOwners(tx, owners)
  const writesKeys = context.missingReferences === 'create'
  const lineOf = new Map([...ownerIds].map((ownerId, at) => [ownerId, lines[at] ?? 0]))
  const occupied = new Set(
    await findOccupied(
      tx,
      place,
      owners,
      owners.map((id) => lineOf.get(id) ?? 0),
      {
        aspectNames: writesKeys ? [aspectName, keyAspect] : [aspectName],
        seq: chunk.seq,
        keepsOrder: guards.keepsOrder
      }
    )
  )

  // What was made just now does not exist yet.
  const made = new Set(insertedIds)
  const left: number[] = []
  const taken: Taken[] = []
  const repeated = repeatedOf(ownerIds)
  let begin = 0
  for (const [at, ownerId] of ownerIds.entries()) {
    const end = begin + (documents.counts[at] ?? 0)
    const isPlain =
      !unfit.has(ownerId) &&
      !made.has(ownerId) &&
      !occupied.has(ownerId) &&
      !repeated.has(ownerId) &&
      areEachOnce(upstreamIds, begin, end) &&
      !upstreamIds.subarray(begin, end).some((id) => unfit.has(id))
    if (isPlain) taken.push({ at, ownerId, begin, end })
    else left.push(at)
    begin = end
  }
  taken.sort((a, b) => a.ownerId - b.ownerId)
  if (taken.length > 0)
    await write(
      tx,
      { documents, taken, upstreamIds },
      { context, chunk, source, writesKeys, leavesOrder: guards.keepsOrder && older.isUnfinished }
    )
  // For the audit trail: who has the documents, by name the first of them, or all where there are others to be told from.
  const urns = await ownersOf(tx, documents, left.length > 0 ? taken : taken.slice(0, auditedUrnsMaxCount))
  const applied = {
    records: taken.length,
    applied: taken.length,
    unchanged: 0,
    urns,
    urnCount: taken.length,
    insertedIds,
    rest: left
  }
  await (left.length === 0 ? auditLean(tx, applied, context) : preferNothing(tx))
  return applied
}

/** A document by its place; its upstreams are from `begin` on and before `end`. */
type Taken = { at: number; ownerId: number; begin: number; end: number }

/** Of two documents of one dataset the newer holds; which it is, is the general way's to say. */
function repeatedOf(ownerIds: Int32Array): Set<number> {
  const sorted = ownerIds.toSorted()
  return new Set(sorted.filter((id, at) => id === sorted[at - 1]))
}

const areEachOnce = (ids: Int32Array, begin: number, end: number): boolean =>
  end - begin === 1 || new Set(ids.subarray(begin, end)).size === end - begin

async function ownersOf(tx: Tx, { owners, urns }: DocumentBatch, taken: readonly Taken[]): Promise<Urn[]> {
  const isNumbered = ({ at }: Taken): boolean => (owners[at] ?? 0) < 0
  const urnOf = await urnsOfIds(
    tx,
    taken.filter(isNumbered).map(({ ownerId }) => ownerId)
  )
  return taken.map((each) => (isNumbered(each) ? urnOf(each.ownerId) : urns.at(owners[each.at] ?? 0)))
}

type Written = { documents: DocumentBatch; taken: readonly Taken[]; upstreamIds: Int32Array }
type Writing = {
  context: ApplyContext
  chunk: NonNullable<ApplyContext['chunk']>
  source: number
  writesKeys: boolean
  leavesOrder: boolean
}

async function write(
  tx: Tx,
  written: Written,
  { context, chunk, source, writesKeys, leavesOrder }: Writing
): Promise<void> {
  const { seq } = chunk
  const { documents, taken } = written
  const rows = rowsOf(written)
  const aspects = {
    ownerIds: Int32Array.from(taken, ({ ownerId }) => ownerId),
    lines: Int32Array.from(taken, ({ at }) => documents.lines[at] ?? 0),
    systemMetadata: taken.map(({ at }) => documents.texts[(documents.metadata[at] ?? 0) - 1] ?? null),
    values: taken.map(() => rest)
  }
  const stamp = { actor: context.actor.urn, seq }
  await insertFirstDocuments(tx, aspectName, aspects, stamp)
  // As apply-change.ts does where placeholders are asked for.
  if (writesKeys)
    await insertFirstDocuments(
      tx,
      keyAspect,
      {
        ...aspects,
        systemMetadata: taken.map(() => null),
        values: (await ownersOf(tx, documents, taken)).map(keyOf)
      },
      stamp
    )
  await insertStatements(tx, stampedStatements(rows, { sourceId: source, recordKey: firstOccurrence, seq }))
  if (leavesOrder) await rememberReplaced(tx, place, aspects, seq)
  const journal = createJournal()
  for (const { ownerId } of taken) {
    journal.note({ kind: 'aspect', entityId: ownerId, aspectName, was: 'none' })
    if (writesKeys) journal.note({ kind: 'aspect', entityId: ownerId, aspectName: keyAspect, was: 'none' })
  }
  journal.addedColumns({ ...rows, sourceId: source, recordKey: firstOccurrence })
  await journal.write(tx, chunk)
  await appendPackedGraphChange(tx, packStatedEdges(rows))
}

/** In key order, since the documents come by their owners. */
function rowsOf({ documents, taken, upstreamIds }: Written): StatementColumns {
  const count = taken.reduce((sum, { begin, end }) => sum + end - begin, 0)
  const rows = {
    downstreamIds: new Int32Array(count),
    upstreamIds: new Int32Array(count),
    positions: new Int32Array(count),
    lines: new Int32Array(count),
    attributes: new Int32Array(count)
  }
  let row = 0
  for (const { at, ownerId, begin, end } of taken) {
    const order = Array.from({ length: end - begin }, (_, index) => begin + index).sort(
      (a, b) => (upstreamIds[a] ?? 0) - (upstreamIds[b] ?? 0)
    )
    for (const from of order) {
      rows.downstreamIds[row] = ownerId
      rows.upstreamIds[row] = upstreamIds[from] ?? 0
      rows.positions[row] = from - begin
      rows.lines[row] = documents.lines[at] ?? 0
      rows.attributes[row] = documents.attributes[from] ?? 0
      row += 1
    }
  }
  return {
    ...rows,
    ownerIds: rows.downstreamIds,
    fields: new Int32Array(count).fill(place.field),
    texts: documents.texts
  }
}
