/**
 * The lean way of applying lineage documents that are the first of their dataset: what emitters send of a catalog that is
 * filled, or of tables that are new.
 *
 * The same rules as apply-records.ts keeps, for the one case without anything to compare: all that is named exists, and
 * nothing is known of the aspect. Every other document is left to the general way, in the same transaction. `npm run bench
 * -- loading` has the figures of both.
 */
import type { PlainDocument } from '../formats/plain-documents.ts'
import { entityTypeInfo } from '../model/entity-types.ts'
import { packStatedEdges } from '../model/graph-delta.ts'
import { lineageFieldsOf } from '../model/lineage-fields.ts'
import type { Tx } from '../db/database.ts'
import { appendPackedGraphChange } from '../store/graph-changes.ts'
import { lockAsWriter, olderWork } from '../store/order-of-changes.ts'
import { insertNewStatements, type NewStatements } from '../store/new-statements.ts'
import { findOccupied, insertFirstDocuments, rememberReplaced, type DocumentPlace } from '../store/plain-documents.ts'
import { lockOwners } from '../store/plain-edges.ts'
import { sourceId } from '../store/statements.ts'
import { keyOf } from '../urn/kinds.ts'
import { UrnPacker, type PackedUrns } from '../urn/packed-urns.ts'
import type { Urn } from '../urn/urn.ts'
import { auditLean, giveIds, type EdgesApplied } from './apply-edges.ts'
import { auditedUrnsMaxCount, type ApplyContext } from './apply-records.ts'
import { distinct } from './edge-columns.ts'
import type { EntityIds } from './entity-ids.ts'
import { createJournal } from './apply/journal.ts'
import { allGuards } from './guards.ts'

/** What applies a chunk of documents: made by createDocumentApplier, or absent where a test wants the general way only. `rest` are places of documents. */
export type ApplyDocuments = (tx: Tx, documents: readonly PlainDocument[], context: ApplyContext) => Promise<EdgesApplied>

export const createDocumentApplier = (ids: EntityIds): ApplyDocuments => (tx, documents, context) => applyDocuments(tx, documents, context, ids)

const aspectName = 'upstreamLineage'
const [upstreams] = lineageFieldsOf(aspectName)
if (!upstreams) throw new Error('upstreamLineage has no list')
const place: DocumentPlace = { aspectName, aspectCode: upstreams.code >> 4, field: upstreams.code }
/** The document without its entries. */
const rest = { [upstreams.listName]: [] }
const { keyAspect } = entityTypeInfo('dataset')
/** The key of an entry that is written once in its list. */
const firstOccurrence = 0

async function applyDocuments(tx: Tx, documents: readonly PlainDocument[], context: ApplyContext, ids: EntityIds): Promise<EdgesApplied> {
  const { chunk, guards = allGuards, actor } = context
  // A snapshot replaces what its own source stated, a rehearsal has ids of its own, and who is limited to a domain is judged asset by asset.
  if (!chunk || context.stated || context.isDryRun || actor.domainUrn !== null) return allLeft(documents)
  if (guards.excludesDeletes) await lockAsWriter(tx)
  // Before existence is read, as in apply-records.ts.
  const older = await olderWork(tx, chunk.seq, chunk.loadId)
  const source = await sourceId(tx, context.source)

  const named = namesOf(documents)
  const { ids: idOfUrn, unfit } = await ids.find(tx, named.urns)
  const insertedIds = await giveIds(tx, named.urns, idOfUrn, unfit, context)
  unfit.add(0)
  const ownerIds = Int32Array.from(named.owners, (at) => idOfUrn[at] ?? 0)
  // All owners at once, also those that the general way will change: two writers meet in one order.
  const owners = distinct(ownerIds)
  if (guards.locksOwners) await lockOwners(tx, owners)
  const writesKeys = context.missingReferences === 'create'
  const lineOf = new Map(documents.map(({ line }, at) => [ownerIds[at] ?? 0, line]))
  const occupied = new Set(await findOccupied(tx, place, owners, owners.map((id) => lineOf.get(id) ?? 0), { aspectNames: writesKeys ? [aspectName, keyAspect] : [aspectName], seq: chunk.seq, keepsOrder: guards.keepsOrder }))

  // What was made just now does not exist yet.
  const made = new Set(insertedIds)
  const left: number[] = []
  const taken: Taken[] = []
  const repeated = repeatedOf(ownerIds)
  documents.forEach((document, at) => {
    const ownerId = ownerIds[at] ?? 0
    const upstreamIds = (named.upstreams[at] ?? []).map((urnAt) => idOfUrn[urnAt] ?? 0)
    const isPlain = !unfit.has(ownerId) && !made.has(ownerId) && !occupied.has(ownerId) && !repeated.has(ownerId) && !upstreamIds.some((id) => unfit.has(id)) && new Set(upstreamIds).size === upstreamIds.length
    if (isPlain) taken.push({ document, ownerId, upstreamIds })
    else left.push(at)
  })
  taken.sort((a, b) => a.ownerId - b.ownerId)
  if (taken.length > 0) await write(tx, taken, { context, chunk, source, writesKeys, leavesOrder: guards.keepsOrder && older.isUnfinished })
  const applied = { records: taken.length, applied: taken.length, unchanged: 0, ...subjectsOf(taken, left.length > 0), insertedIds, rest: left }
  if (left.length === 0) await auditLean(tx, applied, context)
  return applied
}

const allLeft = (documents: readonly PlainDocument[]): EdgesApplied => ({ records: 0, applied: 0, unchanged: 0, urns: [], urnCount: 0, insertedIds: [], rest: [...documents.keys()] })

type Taken = { document: PlainDocument, ownerId: number, upstreamIds: readonly number[] }

type Names = { urns: PackedUrns, owners: Int32Array, upstreams: number[][] }

/** Each URN once; owners and upstreams of each document are places in them. */
function namesOf(documents: readonly PlainDocument[]): Names {
  const packer = new UrnPacker()
  const owners = Int32Array.from(documents, ({ ownerUrn }) => packer.placeOf(ownerUrn))
  return { owners, upstreams: documents.map(({ upstreamUrns }) => upstreamUrns.map((urn) => packer.placeOf(urn))), urns: packer.packed() }
}

/** Of two documents of one dataset the newer holds; which it is, is the general way's to say. */
function repeatedOf(ownerIds: Int32Array): Set<number> {
  const sorted = ownerIds.toSorted()
  return new Set(sorted.filter((id, at) => id === sorted[at - 1]))
}

type Writing = { context: ApplyContext, chunk: NonNullable<ApplyContext['chunk']>, source: number, writesKeys: boolean, leavesOrder: boolean }

async function write(tx: Tx, taken: readonly Taken[], { context, chunk, source, writesKeys, leavesOrder }: Writing): Promise<void> {
  const { seq } = chunk
  const rows = rowsOf(taken)
  const documents = { ownerIds: Int32Array.from(taken, ({ ownerId }) => ownerId), lines: Int32Array.from(taken, ({ document }) => document.line), systemMetadata: taken.map(({ document }) => document.systemMetadata), values: taken.map(() => rest) }
  const stamp = { actor: context.actor.urn, seq }
  await insertFirstDocuments(tx, aspectName, documents, stamp)
  // As apply-change.ts does where placeholders are asked for.
  if (writesKeys) await insertFirstDocuments(tx, keyAspect, { ...documents, systemMetadata: taken.map(() => null), values: taken.map(({ document }) => keyOf(document.ownerUrn)) }, stamp)
  await insertNewStatements(tx, rows, { sourceId: source, recordKey: firstOccurrence, seq })
  if (leavesOrder) await rememberReplaced(tx, place, documents, seq)
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
function rowsOf(taken: readonly Taken[]): NewStatements {
  const count = taken.reduce((sum, { upstreamIds }) => sum + upstreamIds.length, 0)
  const rows = { downstreamIds: new Int32Array(count), upstreamIds: new Int32Array(count), positions: new Int32Array(count), lines: new Int32Array(count), attributes: new Int32Array(count) }
  const texts = new Map<string, number>()
  let at = 0
  for (const { document, ownerId, upstreamIds } of taken) {
    const order = upstreamIds.length === 1 ? [0] : [...upstreamIds.keys()].sort((a, b) => (upstreamIds[a] ?? 0) - (upstreamIds[b] ?? 0))
    for (const position of order) {
      rows.downstreamIds[at] = ownerId
      rows.upstreamIds[at] = upstreamIds[position] ?? 0
      rows.positions[at] = position
      rows.lines[at] = document.line
      rows.attributes[at] = placeOfText(texts, document.attributes[position] ?? null)
      at += 1
    }
  }
  return { ...rows, ownerIds: rows.downstreamIds, fields: new Int32Array(count).fill(place.field), texts: [...texts.keys()] }
}

function placeOfText(texts: Map<string, number>, attributes: object | null): number {
  if (attributes === null) return 0
  const text = JSON.stringify(attributes)
  const known = texts.get(text) ?? texts.size + 1
  texts.set(text, known)
  return known
}

/** For the audit trail: who has the documents, by name the first of them, or all where there are others to be told from. */
function subjectsOf(taken: readonly Taken[], isWhole: boolean): { urns: Urn[], urnCount: number } {
  const named = isWhole ? taken : taken.slice(0, auditedUrnsMaxCount)
  return { urns: named.map(({ document }) => document.ownerUrn), urnCount: taken.length }
}
