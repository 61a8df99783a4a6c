/**
 * Aspects as folds of their changes: a change is inserted at its place in the order, and the newer ones are
 * replayed over it.
 *
 * A draft contains the rows of an aspect that one transaction touches. This file decides whether a change
 * altered the current value, and which rows must be written.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { aspectTemplate, prepareAspect } from '../../model/aspect-registry.ts'
import type { JsonObject, JsonValue, PatchDocument, WriteHeaders } from '../../model/changes.ts'
import { equalJson } from '../../model/equal-json.ts'
import { applyPatch } from '../../model/json-patch.ts'
import { isObject } from '../../model/json-values.ts'
import { isLineageAspect } from '../../model/lineage-fields.ts'
import { patchLineageRest } from '../../model/lineage-rest.ts'
import { beginning, compareOrder, type Order } from '../../model/order.ts'
import { countPatchValues, TooMuchPatching, type PatchBudget } from '../../model/patch-work.ts'
import { checkConditions } from '../../model/write-conditions.ts'
import type { Tx } from '../../db/database.ts'
import {
  findAspectHistory,
  findAspects,
  trimAspectHistory,
  writeAspectHistory,
  writeAspects,
  type AspectKey,
  type AspectRow
} from '../../store/aspects.ts'
import type { UnitOfWork } from './unit-of-work.ts'

export type AspectChange =
  /** `restores`: the value is written by an undo; the change with this seq had set it, 0 for no change. */
  | { kind: 'put'; value: JsonObject; restores?: number }
  | { kind: 'patch'; patch: PatchDocument }
  /** The fields to set; null removes a field. */
  | { kind: 'merge'; fields: JsonObject }
  | { kind: 'delete'; restores?: number }
  /** Several changes of the aspect by one record. */
  | { kind: 'several'; changes: AspectChange[] }

export type AspectDraft = AspectKey & {
  entityType: string
  /**
   * The rows of the aspect, oldest first, one for each record; the last is current. A row is replaced, never
   * changed in place.
   */
  rows: AspectRow[]
  storedCurrent: AspectRow | null
  storedHistory: Set<AspectRow>
  /** Whether the changes of edges have been counted as a version. */
  isVersionCounted: boolean
}

export type AspectDrafts = Map<string, AspectDraft>

export const aspectDraftKey = (entityId: number, aspectName: string): string => `${entityId} ${aspectName}`

export const currentRow = (draft: AspectDraft | undefined): AspectRow | null => draft?.rows.at(-1) ?? null
export const currentValue = (draft: AspectDraft | undefined): JsonObject | null =>
  currentRow(draft)?.value ?? null

/**
 * Reads the aspects, and the history of those for which a change is older than the current row. The aspects
 * in `absent` are known not to exist.
 */
export async function readAspectDrafts(
  tx: Tx,
  work: UnitOfWork,
  wanted: readonly (AspectKey & { oldest: Order })[],
  absent: readonly AspectKey[] = []
): Promise<AspectDrafts> {
  const drafts: AspectDrafts = new Map()
  const add = ({ entityId, aspectName }: AspectKey): void => {
    const key = aspectDraftKey(entityId, aspectName)
    const entityType = work.byId.get(entityId)?.entityType ?? ''
    if (!drafts.has(key))
      drafts.set(key, {
        entityId,
        aspectName,
        entityType,
        rows: [],
        storedCurrent: null,
        storedHistory: new Set(),
        isVersionCounted: false
      })
  }
  const oldest = new Map<string, Order>()
  for (const { entityId, aspectName, oldest: order } of wanted) {
    const key = aspectDraftKey(entityId, aspectName)
    const known = oldest.get(key)
    if (!known || compareOrder(order, known) < 0) oldest.set(key, order)
    add({ entityId, aspectName })
  }
  const late: AspectKey[] = []
  for (const row of await findAspects(tx, [...drafts.values()])) {
    const key = aspectDraftKey(row.entityId, row.aspectName)
    const draft = drafts.get(key)
    if (!draft) continue
    draft.rows = [row]
    draft.storedCurrent = row
    if (compareOrder(oldest.get(key) ?? row, row) < 0) late.push(row)
  }
  for (const row of await findAspectHistory(tx, late)) {
    const draft = drafts.get(aspectDraftKey(row.entityId, row.aspectName))
    draft?.rows.splice(-1, 0, row)
    draft?.storedHistory.add(row)
  }
  for (const key of absent) add(key)
  return drafts
}

export type AspectAuthor = { systemMetadata: JsonObject | null }

/**
 * Applies one change at its place in the order, and returns whether the current value is different now.
 * Throws BAD_REQUEST, VALIDATION_FAILED or PRECONDITION_FAILED if a patch does not fit the value before it.
 */
export function applyAspectChange(
  work: UnitOfWork,
  draft: AspectDraft,
  change: AspectChange,
  order: Order,
  author: AspectAuthor
): boolean {
  restoreOnRefusal(work, draft)
  const before = currentRow(draft)
  const place =
    work.guards.keepsOrder && work.guards.replaysHistory ? indexInOrder(draft, order) : draft.rows.length
  const last = draft.rows[place - 1]
  // All changes of one record are one step of the history, and one version.
  const isSameRecord = last !== undefined && compareOrder(last, order) === 0
  const older = draft.rows.slice(0, isSameRecord ? place - 1 : place)
  const previous = older.at(-1) ?? null
  const inStep = isSameRecord ? combineChanges(changeOfRow(last), change, last.value) : change
  const value = valueAfter(draft, change, last?.value ?? null, work.patchBudget)
  const row = {
    entityId: draft.entityId,
    aspectName: draft.aspectName,
    version: 0,
    ...order,
    ...columnsOfChange(inStep),
    value,
    systemMetadata: author.systemMetadata,
    actor: work.actor.urn,
    createdAt: work.now
  }
  const newer = draft.rows.slice(place)
  draft.rows = replay(work, draft, [...older, { ...row, version: versionAfter(previous, value, 0) }], newer)
  const hasChanged = !equalJson(before?.value ?? null, currentValue(draft))
  advanceVersion(draft)
  return hasChanged
}

/**
 * An unchanged value keeps the version before it. A changed value gets a higher version than any that readers
 * have seen.
 */
const versionAfter = (previous: AspectRow | null, value: JsonObject | null, shown: number): number =>
  equalJson(value, previous?.value ?? null)
    ? (previous?.version ?? 0)
    : Math.max(shown, (previous?.version ?? 0) + 1)

/**
 * The rows with the newer ones applied again after them. A newer change that no longer fits the value before
 * it has no effect: it was accepted long ago and cannot be refused. Once a row comes out as it was, so do all
 * that follow.
 */
function replay(
  work: UnitOfWork,
  draft: AspectDraft,
  rows: AspectRow[],
  newer: readonly AspectRow[]
): AspectRow[] {
  for (const [index, later] of newer.entries()) {
    countPatchValues(work.patchBudget, 1)
    const previous = rows.at(-1) ?? null
    const value = replayedValue(draft, changeOfRow(later), previous?.value ?? null, work.patchBudget)
    const version = versionAfter(previous, value, later.version)
    if (version === later.version && equalJson(value, later.value)) return rows.concat(newer.slice(index))
    rows.push({ ...later, value, version })
  }
  return rows
}

/**
 * Two values must never be shown under one version. Nor does a version go back: edges may have raised that of
 * a row without effect.
 */
function advanceVersion(draft: AspectDraft): void {
  const current = currentRow(draft)
  const shown = draft.storedCurrent
  if (!current || !shown) return
  const least = equalJson(current.value, shown.value) ? shown.version : shown.version + 1
  if (current.version < least) draft.rows = [...draft.rows.slice(0, -1), { ...current, version: least }]
}

/** The index after all rows that are older or of the same record. */
function indexInOrder(draft: AspectDraft, order: Order): number {
  let place = draft.rows.length
  while (place > 0 && compareOrder(draft.rows[place - 1] ?? beginning, order) > 0) place -= 1
  return place
}

/**
 * The value after a change. Throws BAD_REQUEST, VALIDATION_FAILED, LIMIT_EXCEEDED or PRECONDITION_FAILED if a
 * patch does not fit the value before it, and TooMuchPatching.
 */
function valueAfter(
  draft: Pick<AspectDraft, 'aspectName' | 'entityType'>,
  change: AspectChange,
  previous: JsonObject | null,
  budget: PatchBudget | null
): JsonObject | null {
  const { aspectName, entityType } = draft
  if (change.kind === 'put') return change.value
  if (change.kind === 'delete') return null
  if (change.kind === 'several')
    return change.changes.reduce((value, each) => valueAfter(draft, each, value, budget), previous)
  if (change.kind === 'patch') {
    if (isLineageAspect(aspectName))
      return patchLineageRest(entityType, aspectName, previous, change.patch, budget)
    return prepareAspect(entityType, aspectName, applyPatch(aspectName, previous, change.patch, budget))
  }
  const merged: JsonObject = { ...(previous ?? aspectTemplate(aspectName)) }
  for (const [name, value] of Object.entries(change.fields)) {
    if (value === null) delete merged[name]
    else merged[name] = value
  }
  return merged
}

/** Applies a change that was accepted before. If it does not fit the value before it, nothing changes. */
export function replayedValue(
  draft: Pick<AspectDraft, 'aspectName' | 'entityType'>,
  change: AspectChange,
  previous: JsonObject | null,
  budget: PatchBudget | null
): JsonObject | null {
  try {
    return valueAfter(draft, change, previous, budget)
  } catch (error) {
    if (error instanceof CatalogError && !(error instanceof TooMuchPatching)) return previous
    throw error
  }
}

/**
 * Combines two changes of one record. The first is dropped if the second gives the same value whatever came
 * before.
 */
function combineChanges(first: AspectChange, second: AspectChange, between: JsonObject | null): AspectChange {
  if (second.kind === 'put') return second
  // Whatever happens to the aspect, the first change has created its entity.
  if (second.kind === 'delete')
    return makesEntity(first) && second.restores === undefined
      ? { kind: 'several', changes: [{ kind: 'put', value: {} }, second] }
      : second
  if (first.kind === 'put' && between)
    return { kind: 'several', changes: [{ kind: 'put', value: between }, second] }
  return { kind: 'several', changes: [...(first.kind === 'several' ? first.changes : [first]), second] }
}

function columnsOfChange(change: AspectChange): { kind: AspectRow['kind']; change: JsonValue } {
  if (change.kind === 'patch') return { kind: 'patch', change: change.patch as unknown as JsonObject }
  if (change.kind === 'merge') return { kind: 'merge', change: change.fields }
  if (change.kind === 'several') return { kind: 'several', change: change.changes as unknown as JsonValue }
  return { kind: change.kind, change: change.restores === undefined ? null : { restores: change.restores } }
}

export function changeOfRow(row: AspectRow): AspectChange {
  if (row.kind === 'patch') return { kind: 'patch', patch: row.change as unknown as PatchDocument }
  if (row.kind === 'merge') return { kind: 'merge', fields: row.change as JsonObject }
  if (row.kind === 'several') return { kind: 'several', changes: row.change as unknown as AspectChange[] }
  const restores = restoresOf(row)
  const mark = restores === null ? {} : { restores }
  return row.kind === 'put' && row.value
    ? { kind: 'put', value: row.value, ...mark }
    : { kind: 'delete', ...mark }
}

/** The seq of the change that an undo restored with this row; null for any other row. */
function restoresOf({ kind, change }: AspectRow): number | null {
  return (kind === 'put' || kind === 'delete') && isObject(change) && typeof change.restores === 'number'
    ? change.restores
    : null
}

/**
 * For each row, the seq of the change that set its value. A load that leaves a value as it was before the
 * load did not set it, whatever its records did in between. An undo restores the value of another change.
 */
export function seqsOfChanges(rows: readonly AspectRow[]): number[] {
  const seqs: number[] = []
  let begin = 0
  for (const [index, row] of rows.entries()) {
    if (rows[begin]?.seq !== row.seq) begin = index
    const isAsFound = begin === 0 ? row.value === null : equalJson(row.value, rows[begin - 1]?.value ?? null)
    seqs.push(restoresOf(row) ?? (isAsFound ? (seqs[begin - 1] ?? 0) : row.seq))
  }
  return seqs
}

/**
 * Whether a row has the value of the previous row. The value before the first stored row is unknown; but
 * deleting nothing changes nothing.
 */
const isNoChange = (rows: readonly AspectRow[], index: number): boolean =>
  index === 0
    ? rows[0]?.value === null
    : equalJson(rows[index]?.value ?? null, rows[index - 1]?.value ?? null)

/** The indexes of the rows that the load with these seqs has changed. */
export const changesOfLoad = (rows: readonly AspectRow[], seqs: readonly number[]): number[] =>
  rows.flatMap((row, index) =>
    seqs.includes(row.seq) && (restoresOf(row) !== null || !isNoChange(rows, index)) ? [index] : []
  )

/** Counts a change of the edges of an aspect as a version. */
export function countEdgeChange(work: UnitOfWork, draft: AspectDraft): void {
  const current = currentRow(draft)
  if (!current?.value || draft.isVersionCounted) return
  restoreOnRefusal(work, draft)
  draft.isVersionCounted = true
  draft.rows = [
    ...draft.rows.slice(0, -1),
    { ...current, version: current.version + 1, actor: work.actor.urn, createdAt: work.now }
  ]
}

/** Creates an aspect that only states edges; returns false if it already exists. */
export function createForEdges(work: UnitOfWork, draft: AspectDraft, order: Order): boolean {
  if (
    currentValue(draft) ||
    !applyAspectChange(work, draft, { kind: 'merge', fields: {} }, order, { systemMetadata: null })
  )
    return false
  // The edges that create the aspect are not a second version.
  draft.isVersionCounted = true
  return true
}

/**
 * Whether a change creates its entity. A deletion does not, nor does an aspect that only exists for edges
 * given by their ends.
 */
export function makesEntity(change: AspectChange): boolean {
  if (change.kind === 'several') return change.changes.some(makesEntity)
  return change.kind === 'merge' ? Object.keys(change.fields).length > 0 : change.kind !== 'delete'
}

function restoreOnRefusal(work: UnitOfWork, draft: AspectDraft): void {
  const { rows, isVersionCounted: isTouched } = draft
  work.undo.push(() => {
    draft.rows = rows
    draft.isVersionCounted = isTouched
  })
}

/**
 * Throws VALIDATION_FAILED or PRECONDITION_FAILED if the stored aspect does not meet the conditions of the
 * change.
 */
export function checkAspectCondition(
  draft: AspectDraft,
  changeType: string,
  headers: WriteHeaders | undefined
): void {
  const current = currentRow(draft)
  if (changeType === 'CREATE' && current?.value) {
    throw new CatalogError('VALIDATION_FAILED', 'Cannot perform CREATE since the aspect already exists.', {
      field: 'changeType'
    })
  }
  if (headers)
    checkConditions(
      headers,
      current?.value ? { version: current.version, modifiedAt: current.createdAt } : null
    )
}

/**
 * Writes what has changed: the current rows, and the past rows that are new or that a late change altered.
 */
export async function writeAspectDrafts(tx: Tx, work: UnitOfWork, drafts: AspectDrafts): Promise<void> {
  const current: AspectRow[] = []
  const history: AspectRow[] = []
  const kept: (AspectKey & { version: number })[] = []
  for (const draft of drafts.values()) {
    const rows = rowsToWrite(work, draft)
    const last = rows.at(-1)
    const past = rows.slice(0, -1).filter((row) => !draft.storedHistory.has(row))
    // A late change may leave the current row as it was, and still belongs to the history.
    const isCurrentNew = last !== draft.storedCurrent
    if (!last || (!isCurrentNew && past.length === 0)) continue
    if (isCurrentNew) {
      current.push(last)
      noteChange(work, draft, last)
    }
    history.push(...past)
    const oldest = last.version - limits.aspectVersionsKept + 1
    if (oldest > 1) kept.push({ entityId: draft.entityId, aspectName: draft.aspectName, version: oldest })
  }
  await writeAspects(tx, current)
  for (const row of current)
    if (row.aspectName === 'domainProperties') work.graph.push({ kind: 'described', id: row.entityId })
  await writeAspectHistory(tx, history)
  await trimAspectHistory(tx, kept, work.older.horizonSeq)
}

/** The creation of a domain is undone as a whole. */
function noteChange(
  { journal, seq }: UnitOfWork,
  { entityId, aspectName, storedCurrent }: AspectDraft,
  { value }: AspectRow
): void {
  if (equalJson(value, storedCurrent?.value ?? null)) return
  if (aspectName === 'domainProperties' && !storedCurrent?.value)
    journal?.note({ kind: 'madeDomain', entityId })
  else
    journal?.note({
      kind: 'aspect',
      entityId,
      aspectName,
      was: !storedCurrent?.value ? 'none' : storedCurrent.seq === seq ? 'own' : 'kept'
    })
}

/** A change without effect gets a row only while something older may still be applied before it. */
function rowsToWrite(work: UnitOfWork, draft: AspectDraft): readonly AspectRow[] {
  if (work.guards.raisesOrder && work.older.isDestructive) return draft.rows
  const place = ({ seq, line }: Order): string => `${seq} ${line}`
  const stored = new Set(
    [...draft.storedHistory, ...(draft.storedCurrent ? [draft.storedCurrent] : [])].map(place)
  )
  return draft.rows.filter((row, index) => {
    const previous = draft.rows[index - 1] ?? null
    return (
      row.version !== (previous?.version ?? 0) ||
      !equalJson(row.value, previous?.value ?? null) ||
      restoresOf(row) !== null ||
      stored.has(place(row))
    )
  })
}
