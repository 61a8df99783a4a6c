/** The rows of one edge of one owner, found by their keys in constant time however many there are. */
import type { JsonObject } from '../model/changes.ts'
import { equalJson } from '../model/equal-json.ts'
import { appendedPosition } from '../model/list-order.ts'
import { isNewer, type Order } from '../model/order.ts'
import { bareRecordKey, singleRecordKey } from '../model/record-keys.ts'
import type { StatementRow } from './rows.ts'

/**
 * The rows of an edge after the merges so far (`rows`), and as they are stored. Both are the same array until
 * a row changes. `index` is kept once there are many rows: a list may name one upstream thousands of times.
 */
export type EdgeRows = {
  rows: readonly StatementRow[]
  stored: readonly StatementRow[]
  index: RowIndex | null
}

type RowIndex = {
  /** The place in `rows` of each row, by its key. */
  places: Map<string, number>
  /**
   * For each source, its newest assertion, and its newest assertion with other attributes. Rows that are gone
   * may still count.
   */
  newest: Map<number, NewestOfSource>
  /** The newest assertion under a single key, by field, and the newest entry of a written list. */
  newestSingle: Map<number, Order>
  newestListed: Map<number, Order>
}

type Assertion = Order & { attributes: JsonObject | null }
type NewestOfSource = { first: Assertion; second: Assertion | null }

/** The fields that distinguish the rows of one edge of one owner. */
export type RowKey = Pick<StatementRow, 'field' | 'sourceId' | 'recordKey'>

export const noRows: readonly StatementRow[] = []

export const emptyEdge = (): EdgeRows => ({ rows: noRows, stored: noRows, index: null })

const isSameKey = (a: RowKey, b: RowKey): boolean =>
  a.field === b.field && a.sourceId === b.sourceId && a.recordKey === b.recordKey

/** Up to this many rows of one edge are searched one by one; more are indexed. */
const searchedMaxCount = 8

const keyText = ({ field, sourceId, recordKey }: RowKey): string => `${field} ${sourceId} ${recordKey}`

/** Returns a look-up of rows by the key of another row. */
export function rowFinder(rows: readonly StatementRow[]): (key: RowKey) => StatementRow | undefined {
  if (rows.length <= searchedMaxCount) return (key) => rows.find((row) => isSameKey(row, key))
  const byKey = new Map(rows.map((row) => [keyText(row), row]))
  return (key) => byKey.get(keyText(key))
}

export const rowAt = (edge: EdgeRows, key: RowKey): StatementRow | undefined =>
  edge.rows[placeOfKey(edge, key)]

/** Adds a stored row, unless a row with its key is present. Call it before anything else changes the edge. */
export function addStoredRow(edge: EdgeRows, row: StatementRow): void {
  if (placeOfKey(edge, row) >= 0) return
  const rows = edge.stored === noRows ? [] : (edge.stored as StatementRow[])
  rows.push(row)
  edge.rows = edge.stored = rows
  if (edge.index) addToIndex(edge.index, row, rows.length - 1)
}

/** Adds a row, or replaces the one with its key. */
export function setRow(edge: EdgeRows, row: StatementRow): void {
  const place = placeOfKey(edge, row)
  const rows = ownRows(edge)
  if (place < 0) rows.push(row)
  else rows[place] = row
  if (edge.index) addToIndex(edge.index, row, place < 0 ? rows.length - 1 : place)
}

/** The last row fills the gap: the rows of an edge have no order. */
export function dropRow(edge: EdgeRows, key: RowKey): void {
  const place = placeOfKey(edge, key)
  if (place < 0) return
  const rows = ownRows(edge)
  const last = rows.pop()
  edge.index?.places.delete(keyText(key))
  if (!last || place === rows.length) return
  rows[place] = last
  edge.index?.places.set(keyText(last), place)
}

/** The place of the row with a key; -1 for none. */
function placeOfKey(edge: EdgeRows, key: RowKey): number {
  if (edge.rows.length <= searchedMaxCount) return edge.rows.findIndex((row) => isSameKey(row, key))
  return indexOf(edge).places.get(keyText(key)) ?? -1
}

/** The rows as an array that may be changed. */
function ownRows(edge: EdgeRows): StatementRow[] {
  if (edge.rows === edge.stored) edge.rows = [...edge.stored]
  return edge.rows as StatementRow[]
}

function indexOf(edge: EdgeRows): RowIndex {
  if (edge.index) return edge.index
  const index: RowIndex = {
    places: new Map(),
    newest: new Map(),
    newestSingle: new Map(),
    newestListed: new Map()
  }
  for (const [place, row] of edge.rows.entries()) addToIndex(index, row, place)
  return (edge.index = index)
}

function addToIndex(index: RowIndex, row: StatementRow, place: number): void {
  index.places.set(keyText(row), place)
  if (row.recordKey === bareRecordKey) return
  const ofKind = isSingle(row) ? index.newestSingle : index.newestListed
  const known = ofKind.get(row.field)
  if (!known || isNewer(row, known)) ofKind.set(row.field, row)
  index.newest.set(row.sourceId, withNewest(index.newest.get(row.sourceId), row))
}

function withNewest(known: NewestOfSource | undefined, row: StatementRow): NewestOfSource {
  if (!known) return { first: row, second: null }
  const { first, second } = known
  if (equalJson(row.attributes, first.attributes)) return isNewer(row, first) ? { first: row, second } : known
  if (isNewer(row, first)) return { first: row, second: first }
  return !second || isNewer(row, second) ? { first, second: row } : known
}

/**
 * Whether a newer assertion decides what the list shows for the edge, instead of this row: an assertion of
 * another source with other attributes, or the list's own entry if the row has a single key, and the reverse.
 * Repeating the row then changes what is shown. An edge given only by its ends shows nothing, so it never
 * counts.
 */
export function isHiddenByNewer(edge: EdgeRows, row: StatementRow): boolean {
  if (row.recordKey === bareRecordKey) return false
  if (edge.rows.length > searchedMaxCount && !mayBeHidden(indexOf(edge), row)) return false
  return edge.rows.some(
    (other) =>
      other.recordKey !== bareRecordKey &&
      isNewer(other, row) &&
      ((other.sourceId !== row.sourceId && !equalJson(other.attributes, row.attributes)) ||
        (other.field === row.field && isSingle(other) !== isSingle(row)))
  )
}

/**
 * False only if no row hides this one. Rows that are gone still count in the index, so true must be checked.
 */
function mayBeHidden({ newest, newestSingle, newestListed }: RowIndex, row: StatementRow): boolean {
  if (isNewer((isSingle(row) ? newestListed : newestSingle).get(row.field), row)) return true
  for (const [sourceId, { first, second }] of newest) {
    if (sourceId === row.sourceId) continue
    const other = equalJson(first.attributes, row.attributes) ? second : first
    if (isNewer(other, row)) return true
  }
  return false
}

const isSingle = ({ recordKey }: StatementRow): boolean => recordKey === singleRecordKey

/**
 * Whether two rows are equal except for their order. An entry that is added again keeps its place among the
 * added entries.
 */
export const hasSameContent = (a: StatementRow, b: StatementRow): boolean =>
  placeInList(a) === placeInList(b) && equalJson(a.attributes, b.attributes)

const placeInList = (row: StatementRow): number => Math.min(row.position, appendedPosition)
