/**
 * Splits an aspect that states lineage into edges and the rest, and assembles it again as it was written.
 *
 * The rest keeps an empty list for each list that was given, so that absent and empty lists remain distinct.
 * It also keeps the documents of column records and input fields. Their pairs are edges too, and decide which
 * documents are shown.
 */
import { schemaFieldParts, schemaFieldUrn } from '../urn/kinds.ts'
import { entityTypeOf, toUrn, type Urn } from '../urn/urn.ts'
import type { JsonObject, JsonValue } from './changes.ts'
import { isObject, listOf } from './json-values.ts'
import { assembleColumnRecords } from './column-records.ts'
import { patchedAttributes, type EdgePatch } from './edge-patches.ts'
import { equalJson } from './equal-json.ts'
import {
  isRecord,
  linkKeyOf,
  lineageFieldByCode,
  lineageFieldsOf,
  type LineageField
} from './lineage-fields.ts'
import { compareAppearance } from './list-order.ts'
import { compareOrder } from './order.ts'
import { bareRecordKey, columnGroupKey, singleRecordKey } from './record-keys.ts'

/** One edge that an entry of a list states. `position` is its place in the list as written. */
export type EdgeEntry = {
  fieldCode: number
  downstreamUrn: Urn
  upstreamUrn: Urn
  /**
   * Distinguishes statements of the same pair in one list. For an entry as written, the number of its
   * occurrence, from 0; for a column record, its number, from 1. Negative for a statement made apart from a
   * list (record-keys.ts).
   */
  recordKey: number
  position: number
  attributes: JsonObject | null
  /**
   * For a column record as written: its group in map-keyed paths. Null for several downstreams, which no path
   * can name.
   */
  group?: number | null
}

/** A stored edge, with the order in which it was stated. */
export type ListedEdge = EdgeEntry & { seq: number; line: number }

const unknownStamp = { time: 0, actor: 'urn:li:corpuser:unknown' }
/**
 * The upstream record that names nothing but its dataset. It is stored as null, because most records are like
 * this.
 */
const plainUpstream: JsonObject = { auditStamp: unknownStamp, type: 'TRANSFORMED' }

/** The URN of the other end in an entry of a simple list. Throws INVALID_URN. */
export function entryUrn(field: LineageField, entry: JsonValue): Urn {
  if (isObject(entry))
    return toUrn(
      field.shape === 'union' ? entry.string : entry[linkKeyOf(field)],
      `aspect.${field.listName}`,
      field.entryTypes[0]
    )
  return toUrn(entry, `aspect.${field.listName}`, field.entryTypes[0])
}

/** The attributes of an entry, without its link; null for a bare link and for the plain upstream record. */
export function entryAttributes(field: LineageField, entry: JsonValue): JsonObject | null {
  if (!isRecord(field) || !isObject(entry)) return null
  const { [linkKeyOf(field)]: _link, ...attributes } = entry
  if (field.shape === 'upstream') return equalJson(attributes, plainUpstream) ? null : attributes
  return Object.keys(attributes).length === 0 ? null : attributes
}

/** The attributes of a stored entry, with defaults. */
export const explicitAttributes = (fieldCode: number, attributes: JsonObject | null): JsonObject =>
  attributes ?? (lineageFieldByCode(fieldCode).shape === 'upstream' ? plainUpstream : {})

/** The edge between an owner and the other end of an entry. */
export const endsOf = (
  field: LineageField,
  ownerUrn: Urn,
  other: Urn
): { downstreamUrn: Urn; upstreamUrn: Urn } =>
  field.entryIs === 'upstream'
    ? { downstreamUrn: ownerUrn, upstreamUrn: other }
    : { downstreamUrn: other, upstreamUrn: ownerUrn }

export type SplitDocument = { rest: JsonObject; entries: readonly EdgeEntry[] }

/**
 * A document is needed in split form when its references are checked and when it is applied, but split only
 * once.
 */
const splits = new WeakMap<JsonObject, SplitDocument>()

/** Splits a lineage aspect. The value must have passed prepareAspect and must not be changed afterwards. */
export function splitLineageDocument(ownerUrn: Urn, aspectName: string, value: JsonObject): SplitDocument {
  const known = splits.get(value)
  if (known) return known
  const split = splitAnew(ownerUrn, aspectName, value)
  splits.set(value, split)
  return split
}

function splitAnew(ownerUrn: Urn, aspectName: string, value: JsonObject): SplitDocument {
  const rest: JsonObject = { ...value }
  const entries: EdgeEntry[] = []
  for (const field of lineageFieldsOf(aspectName)) {
    const stated = value[field.listName]
    if (field.shape === 'link' && typeof stated === 'string') {
      entries.push(...entriesOf(field, ownerUrn, [stated]))
      delete rest[field.listName]
    }
    if (!Array.isArray(stated)) continue
    entries.push(...entriesOf(field, ownerUrn, stated))
    if (field.shape !== 'columns' && field.shape !== 'inputField') rest[field.listName] = []
  }
  return { rest, entries }
}

/** The edges that one list states. */
export function entriesOf(field: LineageField, ownerUrn: Urn, list: JsonValue | undefined): EdgeEntry[] {
  if (field.shape === 'columns')
    return listOf(list).flatMap((record, index) => columnPairs(field, record, index))
  if (field.shape === 'inputField')
    return listOf(list).flatMap((entry, index) => inputFieldEntry(field, ownerUrn, entry, index))
  const occurrences = new Map<Urn, number>()
  return listOf(list).map((entry, position) => {
    const other = entryUrn(field, entry)
    const recordKey = occurrences.get(other) ?? 0
    occurrences.set(other, recordKey + 1)
    return {
      fieldCode: field.code,
      ...endsOf(field, ownerUrn, other),
      recordKey,
      position,
      attributes: entryAttributes(field, entry)
    }
  })
}

const isColumn = (urn: JsonValue): urn is Urn =>
  typeof urn === 'string' && urn.startsWith('urn:li:schemaField:')

function columnPairs(field: LineageField, record: JsonValue, index: number): EdgeEntry[] {
  if (!isObject(record)) return []
  const downstreams = [...new Set(listOf(record.downstreams).filter(isColumn))]
  const upstreams = [...new Set(listOf(record.upstreams).filter(isColumn))]
  const group = groupOfRecord(record)
  return downstreams.flatMap((downstreamUrn) =>
    upstreams.map((upstreamUrn) => ({
      fieldCode: field.code,
      downstreamUrn,
      upstreamUrn,
      recordKey: index + 1,
      position: index,
      attributes: null,
      group
    }))
  )
}

/** The group of a column record as written; null if it does not have exactly one downstream. */
export const groupOfRecord = (record: JsonValue): number | null =>
  isObject(record) && listOf(record.downstreams).length === 1 ? columnGroupKey(record) : null

/**
 * The edge of an input field: its downstream is the column of the chart or dashboard. The path is escaped as
 * clients' URN builders do it.
 */
function inputFieldEntry(field: LineageField, ownerUrn: Urn, entry: JsonValue, index: number): EdgeEntry[] {
  if (!isObject(entry)) return []
  const upstreamUrn = toUrn(entry.schemaFieldUrn, `aspect.fields[${index}].schemaFieldUrn`)
  if (entityTypeOf(upstreamUrn) !== 'schemaField') return []
  const path =
    isObject(entry.schemaField) && typeof entry.schemaField.fieldPath === 'string'
      ? entry.schemaField.fieldPath
      : null
  const escaped = path?.replaceAll('(', '%28').replaceAll(')', '%29').replaceAll(',', '%2C')
  const downstreamUrn = schemaFieldUrn(ownerUrn, escaped || schemaFieldParts(upstreamUrn).fieldPath)
  return [
    {
      fieldCode: field.code,
      downstreamUrn,
      upstreamUrn,
      recordKey: index + 1,
      position: index,
      attributes: null
    }
  ]
}

/** The patches of an edge in one list. */
export type PatchesOf = (edge: ListedEdge) => readonly EdgePatch[]

/** Assembles a lineage aspect from its other fields, its current edges, and the later patches of edges. */
export function assembleLineageDocument(
  aspectName: string,
  rest: JsonObject,
  edges: readonly ListedEdge[],
  patchesOf: PatchesOf = () => []
): JsonObject {
  const document: JsonObject = { ...rest }
  const shown = withoutRepeated(edges)
  for (const field of lineageFieldsOf(aspectName)) {
    const own = shown.filter((edge) => edge.fieldCode === field.code)
    const written = rest[field.listName]
    if (field.shape === 'columns') {
      const records = assembleColumnRecords(listOf(written), own)
      if (records.length > 0 || written !== undefined) document[field.listName] = records
    } else if (field.shape === 'inputField') {
      const entries = assembleInputFields(listOf(written), own)
      if (entries.length > 0 || written !== undefined) document[field.listName] = entries
    } else if (field.shape === 'link') {
      const [latest] = own.toSorted((a, b) => compareOrder(b, a))
      if (latest) document[field.listName] = otherEnd(field, latest)
    } else if (own.length > 0) {
      document[field.listName] = inListOrder(field, own).map((edge) =>
        printEntry(
          field,
          edge,
          patchedAttributes(edge, explicitAttributes(field.code, edge.attributes), patchesOf(edge))
        )
      )
    }
  }
  return document
}

/**
 * Leaves out an edge that was stated only by its ends if any list of the aspect also has the edge with
 * attributes.
 */
function withoutRepeated(edges: readonly ListedEdge[]): readonly ListedEdge[] {
  const edgeKey = (edge: ListedEdge): string => `${edge.downstreamUrn} ${edge.upstreamUrn}`
  if (!edges.some((edge) => edge.recordKey === bareRecordKey)) return edges
  const listed = new Set(edges.filter((edge) => edge.recordKey !== bareRecordKey).map(edgeKey))
  return edges.filter((edge) => edge.recordKey !== bareRecordKey || !listed.has(edgeKey(edge)))
}

const otherEnd = (field: LineageField, edge: EdgeEntry): Urn =>
  field.entryIs === 'upstream' ? edge.upstreamUrn : edge.downstreamUrn

/** Written entries first, then added ones. */
function inListOrder(field: LineageField, edges: readonly ListedEdge[]): ListedEdge[] {
  const byEnd = new Map<Urn, ListedEdge[]>()
  for (const edge of edges) {
    const known = byEnd.get(otherEnd(field, edge))
    if (known) known.push(edge)
    else byEnd.set(otherEnd(field, edge), [edge])
  }
  return [...byEnd.values()]
    .flatMap(shownOf)
    .sort((a, b) => compareAppearance(a, b) || (otherEnd(field, a) < otherEnd(field, b) ? -1 : 1))
}

/**
 * The entries that a list shows for the statements of one edge. For each occurrence, the newest statement of
 * any source counts. If the edge was later stated under its own key, only that statement is shown, at the old
 * position.
 */
function shownOf(statements: readonly ListedEdge[]): ListedEdge[] {
  const latest = new Map<number, ListedEdge>()
  for (const edge of statements) {
    const known = latest.get(edge.recordKey)
    if (!known || compareOrder(edge, known) > 0) latest.set(edge.recordKey, edge)
  }
  const single = latest.get(singleRecordKey)
  const written = [...latest.values()].filter((edge) => edge.recordKey >= 0)
  if (single && written.every((edge) => compareOrder(single, edge) >= 0)) {
    return [{ ...single, position: Math.min(single.position, ...written.map((edge) => edge.position)) }]
  }
  return written.length > 0 ? written : [...latest.values()]
}

function printEntry(field: LineageField, edge: ListedEdge, attributes: JsonObject): JsonValue {
  const urn = otherEnd(field, edge)
  if (field.shape === 'urn') return urn
  if (field.shape === 'union') return { string: urn }
  return { ...attributes, [linkKeyOf(field)]: urn }
}

/** The written documents whose edges exist, then documents for edges that were added without one. */
function assembleInputFields(written: JsonValue[], edges: readonly ListedEdge[]): JsonValue[] {
  const live = new Set(edges.map((edge) => edge.recordKey))
  const added = edges
    .filter((edge) => edge.recordKey <= 0)
    .sort((a, b) => compareAppearance(a, b) || (a.downstreamUrn < b.downstreamUrn ? -1 : 1))
  const addedByEnds = new Map(added.map((edge) => [`${edge.downstreamUrn} ${edge.upstreamUrn}`, edge]))
  return [
    ...written.filter(
      (entry, index) => live.has(index + 1) || !isObject(entry) || !isColumn(entry.schemaFieldUrn ?? null)
    ),
    ...[...addedByEnds.values()].map((edge) => ({
      schemaFieldUrn: edge.upstreamUrn,
      schemaField: { fieldPath: schemaFieldParts(edge.downstreamUrn).fieldPath }
    }))
  ]
}
