/**
 * The one merge of lineage: what one owner asserts in one aspect. Additions, removals and replacements are
 * applied if they are newer than what is stored.
 *
 * Pure: it reads and writes no rows. Rows are replaced, never altered, so that a record can be reverted and
 * the writer sees what has changed.
 */
import type { JsonObject } from '../model/changes.ts'
import { patchesIt } from '../model/edge-patches.ts'
import { lineageFieldByCode } from '../model/lineage-fields.ts'
import { isNewer, type Order } from '../model/order.ts'
import { bareRecordKey, columnGroupKey, removalCode } from '../model/record-keys.ts'
import {
  addStoredRow,
  dropRow,
  emptyEdge,
  hasSameContent,
  isHiddenByNewer,
  noRows,
  rowAt,
  setRow,
  type EdgeRows,
  type RowKey
} from './edge-rows.ts'
import type { EdgePatchRow, OwnerAspect, StatementRow, TombstoneRow, WatermarkRow } from './rows.ts'

/** The removals and replacements of an owner: all that are known, and the new ones, which must be written. */
type RememberedOrder = {
  /**
   * Removals by code (of the aspect, of one list, of a group of column records) and edge; upstream 0 means
   * every upstream of a column.
   */
  tombstones: Map<string, Order>
  /** Replacements by code (of the aspect, or of one list) and source; source 0 means all sources. */
  watermarks: Map<string, Order>
  newTombstones: Map<string, TombstoneRow>
  newWatermarks: Map<string, WatermarkRow>
}

export type OwnerStatements = OwnerAspect & {
  /** Edges by downstream, then by upstream. */
  edges: Map<number, Map<number, EdgeRows>>
  /** Null if there are none. */
  order: RememberedOrder | null
  patches: readonly EdgePatchRow[]
  storedPatches: readonly EdgePatchRow[]
}

/** The facts about its transaction that the merge needs. */
export type MergeContext = {
  /** The source of the edges that records add. */
  sourceId: number
  /** False only in tests, which show that the order is needed. */
  keepsOrder: boolean
  /** Whether something newer has deleted the entity. */
  isDeletedAfter: (id: number, order: Order) => boolean
  /** Throws FORBIDDEN if the actor may not change the downstream. */
  checkDownstream: (downstreamId: number) => void
  /** Gathers what the records of a snapshot assert; null for any other load or call. */
  asserted: {
    add(key: Omit<StatementRow, 'sourceId' | 'seq' | 'line' | 'position' | 'attributes'>): void
  } | null
  /** Steps that revert the current record, to be run backwards; null if nothing can be refused. */
  undo: (() => void)[] | null
}

/** An entry of a list with resolved ends. `group` is the group of a column record of the document. */
export type ResolvedEntry = {
  fieldCode: number
  downstreamId: number
  upstreamId: number
  recordKey: number
  position: number
  attributes: JsonObject | null
  group?: number | null
}

export type EdgeEnds = { downstreamId: number; upstreamId: number }

export const emptyOwner = ({ ownerId, aspectCode }: OwnerAspect): OwnerStatements => ({
  ownerId,
  aspectCode,
  edges: new Map(),
  order: null,
  patches: [],
  storedPatches: []
})

/** Adds a stored row, unless it has been added. Call it before anything is merged. */
export function addStored(owner: OwnerStatements, row: StatementRow): void {
  addStoredRow(edgeAt(owner, row), row)
}

export function addTombstone(
  owner: OwnerStatements,
  { code, downstreamId, upstreamId, seq, line }: TombstoneRow
): void {
  orderOfOwner(owner).tombstones.set(tombstoneKey(code, downstreamId, upstreamId), { seq, line })
}

export function addWatermark(owner: OwnerStatements, { code, sourceId, seq, line }: WatermarkRow): void {
  orderOfOwner(owner).watermarks.set(watermarkKey(code, sourceId), { seq, line })
}

const tombstoneKey = (code: number, downstreamId: number, upstreamId: number): string =>
  `${code} ${downstreamId} ${upstreamId}`
const watermarkKey = (code: number, sourceId: number): string => `${code} ${sourceId}`

const orderOfOwner = (owner: OwnerStatements): RememberedOrder =>
  (owner.order ??= {
    tombstones: new Map(),
    watermarks: new Map(),
    newTombstones: new Map(),
    newWatermarks: new Map()
  })

function edgeAt({ edges }: OwnerStatements, { downstreamId, upstreamId }: EdgeEnds): EdgeRows {
  let byUpstream = edges.get(downstreamId)
  if (!byUpstream) edges.set(downstreamId, (byUpstream = new Map<number, EdgeRows>()))
  let edge = byUpstream.get(upstreamId)
  if (!edge) byUpstream.set(upstreamId, (edge = emptyEdge()))
  return edge
}

/** The rows of an edge, by all sources and in all lists. */
export const rowsOfEdge = (
  { edges }: OwnerStatements,
  downstreamId: number,
  upstreamId: number
): readonly StatementRow[] => edges.get(downstreamId)?.get(upstreamId)?.rows ?? noRows

export function rowOfKey({ edges }: OwnerStatements, key: EdgeEnds & RowKey): StatementRow | undefined {
  const edge = edges.get(key.downstreamId)?.get(key.upstreamId)
  return edge && rowAt(edge, key)
}

export function* edgesOfOwner({ edges }: OwnerStatements): Generator<EdgeRows> {
  for (const byUpstream of edges.values()) yield* byUpstream.values()
}

export const rowsOfOwner = (owner: OwnerStatements): StatementRow[] =>
  [...edgesOfOwner(owner)].flatMap(({ rows }) => rows)

/**
 * Adds a row, or replaces the row with its key. Throws FORBIDDEN (checkDownstream) if that changes its
 * content.
 */
export function putRow(context: MergeContext, owner: OwnerStatements, row: StatementRow): void {
  const edge = edgeAt(owner, row)
  const known = rowAt(edge, row)
  if (!known || !hasSameContent(known, row)) context.checkDownstream(row.downstreamId)
  setRow(edge, row)
  context.undo?.push(() => {
    if (known) setRow(edge, known)
    else dropRow(edge, row)
  })
}

/** Deletes a row. Throws FORBIDDEN (checkDownstream). */
export function deleteRow(context: MergeContext, owner: OwnerStatements, row: StatementRow): void {
  context.checkDownstream(row.downstreamId)
  const edge = edgeAt(owner, row)
  dropRow(edge, row)
  context.undo?.push(() => {
    setRow(edge, row)
  })
}

const isNewerThan = ({ keepsOrder }: MergeContext, row: Order, order: Order): boolean =>
  keepsOrder && isNewer(row, order)

/**
 * Whether something newer has removed the edge, replaced its list, or deleted one of its ends. `group` is the
 * group of a column record, and undefined for any other entry.
 */
export function isOvertaken(
  context: MergeContext,
  owner: OwnerStatements,
  fieldCode: number,
  { downstreamId, upstreamId }: EdgeEnds,
  order: Order,
  sourceId: number,
  group?: number | null
): boolean {
  if (!context.keepsOrder) return false
  return (
    (owner.order !== null &&
      (isRemovedAfter(owner, fieldCode, group, { downstreamId, upstreamId }, order) ||
        [
          watermarkKey(owner.aspectCode, 0),
          watermarkKey(owner.aspectCode, sourceId),
          watermarkKey(fieldCode, 0)
        ].some((key) => isNewer(owner.order?.watermarks.get(key), order)))) ||
    context.isDeletedAfter(downstreamId, order) ||
    context.isDeletedAfter(upstreamId, order) ||
    context.isDeletedAfter(owner.ownerId, order)
  )
}

function isRemovedAfter(
  { aspectCode, order: remembered }: OwnerStatements,
  fieldCode: number,
  group: number | null | undefined,
  { downstreamId, upstreamId }: EdgeEnds,
  order: Order
): boolean {
  if (!remembered || remembered.tombstones.size === 0) return false
  const keys = [tombstoneKey(aspectCode, downstreamId, upstreamId), tombstoneKey(aspectCode, downstreamId, 0)]
  // A path of a patch cannot name a record with several downstreams.
  if (group !== null) keys.push(tombstoneKey(removalCode(fieldCode, group ?? null), downstreamId, upstreamId))
  return keys.some((key) => isNewer(remembered.tombstones.get(key), order))
}

/**
 * The group of the column record that a statement is part of; undefined for all other statements. `written`
 * returns the group of a record of the document.
 */
function groupOf(
  { fieldCode, recordKey }: { fieldCode: number; recordKey: number },
  written: (recordKey: number) => number | null
): number | null | undefined {
  if (lineageFieldByCode(fieldCode).shape !== 'columns') return undefined
  if (recordKey === bareRecordKey) return columnGroupKey({})
  return recordKey > 0 ? written(recordKey) : recordKey
}

/** Whether something newer has replaced or deleted the whole aspect. */
export const isReplacedAfter = (context: MergeContext, owner: OwnerStatements, order: Order): boolean =>
  context.keepsOrder && isNewer(owner.order?.watermarks.get(watermarkKey(owner.aspectCode, 0)), order)

/**
 * Asserts an entry as written, and returns whether anything but the order changed. The order is always
 * raised; the writer decides whether that must be stored. Throws FORBIDDEN (checkDownstream).
 */
export function assertEntry(
  context: MergeContext,
  owner: OwnerStatements,
  entry: ResolvedEntry,
  order: Order,
  sourceId = context.sourceId
): boolean {
  const { fieldCode: field, downstreamId, upstreamId, recordKey, position, attributes, group = null } = entry
  const row: StatementRow = {
    downstreamId,
    upstreamId,
    ownerId: owner.ownerId,
    field,
    sourceId,
    recordKey,
    position,
    seq: order.seq,
    line: order.line,
    attributes
  }
  if (sourceId === context.sourceId) context.asserted?.add(row)
  const patches = patchesOfEdge(owner, row)
  // The entry replaces the patches of the same record, even if the entry itself is too old to have an effect.
  dropPatches(
    context,
    owner,
    patches.filter((patch) => patch.seq === order.seq && patch.line === order.line)
  )
  if (
    isOvertaken(
      context,
      owner,
      field,
      entry,
      order,
      sourceId,
      owner.order === null ? undefined : groupOf(entry, () => group)
    )
  )
    return false
  const known = rowOfKey(owner, row)
  if (known && isNewerThan(context, known, order)) return false
  const isNews = !known || isHidden(owner, known)
  putRow(context, owner, row)
  return isNews || !hasSameContent(known, row) || patches.some((patch) => patchesIt(known, patch))
}

/**
 * Asserts an edge by its ends alone, and keeps the attributes that the aspect has for it. Returns whether the
 * edge is new in the aspect.
 */
export function assertEdge(
  context: MergeContext,
  owner: OwnerStatements,
  fieldCode: number,
  { downstreamId, upstreamId, position }: EdgeEnds & { position: number },
  order: Order
): boolean {
  const existed = rowsOfEdge(owner, downstreamId, upstreamId).length > 0
  const known = rowOfKey(owner, {
    downstreamId,
    upstreamId,
    field: fieldCode,
    sourceId: context.sourceId,
    recordKey: bareRecordKey
  })
  assertEntry(
    context,
    owner,
    {
      fieldCode,
      downstreamId,
      upstreamId,
      recordKey: bareRecordKey,
      position,
      attributes: known?.attributes ?? null
    },
    order
  )
  return !existed && rowsOfEdge(owner, downstreamId, upstreamId).length > 0
}

/** isHiddenByNewer for a row of this owner, or for a version of the row that has been replaced since. */
export const isHidden = ({ edges }: OwnerStatements, row: StatementRow): boolean => {
  const edge = edges.get(row.downstreamId)?.get(row.upstreamId)
  return edge !== undefined && isHiddenByNewer(edge, row)
}

/**
 * One list, or one group of its column records; `written` returns the group of a record of the document by
 * its record key.
 */
export type RemovedFrom = {
  fieldCode: number
  group: number | null
  written: (recordKey: number) => number | null
}

/**
 * Removes an edge from the aspect, or from one list of it, for all sources. Throws FORBIDDEN
 * (checkDownstream).
 */
export function removeEdge(
  context: MergeContext,
  owner: OwnerStatements,
  { downstreamId, upstreamId }: EdgeEnds,
  order: Order,
  from: RemovedFrom | null = null
): boolean {
  // Checked even if there is nothing to remove yet: the removal applies to older changes that arrive late.
  context.checkDownstream(downstreamId)
  const matches = (row: StatementRow): boolean =>
    from === null ||
    (row.field === from.fieldCode &&
      (from.group === null ||
        groupOf({ fieldCode: row.field, recordKey: row.recordKey }, from.written) === from.group))
  const deleted = rowsOfEdge(owner, downstreamId, upstreamId).filter(
    (row) => matches(row) && !isNewerThan(context, row, order)
  )
  for (const row of deleted) deleteRow(context, owner, row)
  dropPatches(
    context,
    owner,
    owner.patches.filter(
      (patch) =>
        patch.downstreamId === downstreamId &&
        patch.upstreamId === upstreamId &&
        (from === null || patch.field === from.fieldCode) &&
        !isNewerThan(context, patch, order)
    )
  )
  rememberRemoval(
    context,
    owner,
    { downstreamId, upstreamId },
    order,
    from ? removalCode(from.fieldCode, from.group) : owner.aspectCode
  )
  return deleted.length > 0
}

/** Removes every edge that leads into a column. All statements of the owner must have been read. */
export function removeInto(
  context: MergeContext,
  owner: OwnerStatements,
  fieldCode: number,
  downstreamId: number,
  order: Order
): boolean {
  context.checkDownstream(downstreamId)
  const deleted = [...(owner.edges.get(downstreamId)?.values() ?? [])]
    .flatMap(({ rows }) => rows)
    .filter((row) => row.field === fieldCode && !isNewerThan(context, row, order))
  for (const row of deleted) deleteRow(context, owner, row)
  rememberRemoval(context, owner, { downstreamId, upstreamId: 0 }, order, owner.aspectCode)
  return deleted.length > 0
}

function rememberRemoval(
  context: MergeContext,
  owner: OwnerStatements,
  { downstreamId, upstreamId }: EdgeEnds,
  order: Order,
  code: number
): void {
  if (!context.keepsOrder) return
  const { tombstones, newTombstones } = orderOfOwner(owner)
  remember(context, tombstones, newTombstones, tombstoneKey(code, downstreamId, upstreamId), {
    ownerId: owner.ownerId,
    aspectCode: owner.aspectCode,
    code,
    downstreamId,
    upstreamId,
    ...order
  })
}

/** Stores the row under its key, unless a newer one is known. */
function remember<Row extends Order>(
  context: MergeContext,
  known: Map<string, Order>,
  added: Map<string, Row>,
  key: string,
  row: Row
): void {
  const before = known.get(key)
  if (isNewer(before, row)) return
  const addedBefore = added.get(key)
  known.set(key, row)
  added.set(key, row)
  context.undo?.push(() => {
    restore(known, key, before)
    restore(added, key, addedBefore)
  })
}

function restore<Value>(map: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

export type Replaced =
  /** Everything that the aspect asserts; with a source, what that source asserts in it. */
  { of: 'aspect'; sourceId: number | null } | { of: 'list'; fieldCode: number }

/**
 * Replaces everything that an aspect, one source of it, or one list of it asserts, by `entries`. All
 * statements of the owner must have been read. Throws FORBIDDEN (checkDownstream).
 */
export function replaceEdges(
  context: MergeContext,
  owner: OwnerStatements,
  replaced: Replaced,
  entries: readonly ResolvedEntry[],
  order: Order
): boolean {
  const sourceId = replaced.of === 'aspect' ? (replaced.sourceId ?? context.sourceId) : context.sourceId
  const isMeant = (row: StatementRow) =>
    replaced.of === 'list'
      ? row.field === replaced.fieldCode
      : replaced.sourceId === null || row.sourceId === replaced.sourceId
  const older = rowsOfOwner(owner).filter((row) => isMeant(row) && !isNewerThan(context, row, order))
  rememberReplacement(context, owner, replaced, order)
  let hasChanged = false
  for (const entry of entries) hasChanged = assertEntry(context, owner, entry, order, sourceId) || hasChanged
  // Compares rows, not keys, because an entry with the same key may have been refused because of a newer
  // removal.
  const deleted = older.filter((row) => rowOfKey(owner, row) === row)
  for (const row of deleted) deleteRow(context, owner, row)
  const isReplaced = (patch: EdgePatchRow) =>
    replaced.of === 'list' ? patch.field === replaced.fieldCode : replaced.sourceId === null
  dropPatches(
    context,
    owner,
    owner.patches.filter((patch) => isReplaced(patch) && !isNewerThan(context, patch, order))
  )
  // Replacing an edge given by its ends with a written entry does not change what is shown.
  return (
    hasChanged ||
    deleted.some(
      (row) =>
        row.recordKey !== bareRecordKey || rowsOfEdge(owner, row.downstreamId, row.upstreamId).length === 0
    )
  )
}

function rememberReplacement(
  context: MergeContext,
  owner: OwnerStatements,
  replaced: Replaced,
  order: Order
): void {
  if (!context.keepsOrder) return
  const { watermarks, newWatermarks } = orderOfOwner(owner)
  const code = replaced.of === 'list' ? replaced.fieldCode : owner.aspectCode
  const sourceId = replaced.of === 'aspect' ? (replaced.sourceId ?? 0) : 0
  remember(context, watermarks, newWatermarks, watermarkKey(code, sourceId), {
    ownerId: owner.ownerId,
    aspectCode: owner.aspectCode,
    code,
    sourceId,
    ...order
  })
}

/** The patches of a statement's edge, in the statement's list. */
export const patchesOfEdge = (
  { patches }: Pick<OwnerStatements, 'patches'>,
  row: EdgeEnds & { field: number }
): readonly EdgePatchRow[] =>
  patches.length === 0
    ? patches
    : patches.filter(
        (patch) =>
          patch.field === row.field &&
          patch.downstreamId === row.downstreamId &&
          patch.upstreamId === row.upstreamId
      )

export function addPatch(context: MergeContext, owner: OwnerStatements, patch: EdgePatchRow): void {
  const before = owner.patches
  owner.patches = [...before, patch]
  context.undo?.push(() => {
    owner.patches = before
  })
}

export function dropPatches(
  context: MergeContext,
  owner: OwnerStatements,
  deleted: readonly EdgePatchRow[]
): void {
  if (deleted.length === 0) return
  const before = owner.patches
  const dropped = new Set(deleted)
  owner.patches = before.filter((patch) => !dropped.has(patch))
  context.undo?.push(() => {
    owner.patches = before
  })
}
