/**
 * Turns a JSON Patch of a lineage aspect into operations on edges, and leaves the operations on the rest of
 * the aspect.
 *
 * Map-keyed paths (`/upstreams/<urn>`, `/fineGrainedLineages/<operation>/<downstream>/<query>/<upstream>`)
 * add and remove single edges. So two writers that patch the same list cannot lose each other's edges.
 */
import { CatalogError } from '../errors.ts'
import { entityTypeOf, toUrn, type Urn } from '../urn/urn.ts'
import { aspectTemplate, prepareAspect } from './aspect-registry.ts'
import type { JsonObject, JsonValue, PatchOperation } from './changes.ts'
import { isObject } from './json-values.ts'
import { parsePointer } from './json-patch.ts'
import { endsOf, entriesOf, entryAttributes, entryUrn, type EdgeEntry } from './lineage-document.ts'
import { isRecord, linkKeyOf, lineageFieldsOf, type LineageField } from './lineage-fields.ts'
import { appendedPosition } from './list-order.ts'
import { columnGroupKey, singleRecordKey } from './record-keys.ts'

export type EdgeOperation =
  | { op: 'add'; entry: EdgeEntry }
  /**
   * Removes the edge from one list, from all sources. In a list of column records, only from those of the
   * group (columnGroupKey).
   */
  | { op: 'remove'; fieldCode: number; group: number | null; downstreamUrn: Urn; upstreamUrn: Urn }
  /** Removes every pair that ends in a column. */
  | { op: 'removeInto'; fieldCode: number; downstreamUrn: Urn }
  | { op: 'replaceList'; fieldCode: number; entries: EdgeEntry[] }
  /** Changes the attributes of an edge. `path` is a JSON Pointer into them. */
  | { op: 'patchAttributes'; fieldCode: number; downstreamUrn: Urn; upstreamUrn: Urn; patch: PatchOperation }

/** patchLineageRest applies the operations in `rest`. */
export type LineagePatch = { edges: EdgeOperation[]; rest: PatchOperation[] }

/** A patch is planned when its references are checked and when it is applied, but computed only once. */
const plans = new WeakMap<readonly PatchOperation[], LineagePatch>()

/**
 * Throws BAD_REQUEST for an operation that is not possible on edges, INVALID_URN for a key that is not a URN,
 * and VALIDATION_FAILED for an entry that its list cannot contain. The operations must not be changed
 * afterwards.
 */
export function planLineagePatch(
  ownerUrn: Urn,
  aspectName: string,
  operations: readonly PatchOperation[]
): LineagePatch {
  const known = plans.get(operations)
  if (known) return known
  const plan: LineagePatch = { edges: [], rest: [] }
  for (const operation of operations) {
    const path = parsePointer(operation.path)
    const field = fieldAt(aspectName, path)
    if (path.length === 0 || isFromList(aspectName, operation)) refuse(operation)
    if (!field) plan.rest.push(operation)
    else if (path.length === 1) planList(plan, field, ownerUrn, operation)
    else if (field.shape === 'columns') planColumns(plan, field, ownerUrn, path, operation)
    else if (field.shape === 'inputField') refuse(operation)
    else planEntry(plan, field, ownerUrn, path, operation)
  }
  plans.set(operations, plan)
  return plan
}

/** The list of edges that a path points into. */
export const fieldAt = (aspectName: string, [listName]: readonly string[]): LineageField | undefined =>
  lineageFieldsOf(aspectName).find((field) => field.listName === listName)

const isFromList = (aspectName: string, { from }: PatchOperation): boolean =>
  from !== undefined && (from === '' || fieldAt(aspectName, parsePointer(from)) !== undefined)

function refuse(operation: PatchOperation): never {
  throw new CatalogError(
    'BAD_REQUEST',
    `Patch operation "${operation.op}" at "${operation.path}" has no meaning on a list of edges.`,
    { field: operation.path }
  )
}

/** The entries in the form that their list has, with defaults filled in. */
function prepareEntries(field: LineageField, ownerUrn: Urn, entries: JsonValue[]): JsonValue[] {
  const document = prepareAspect(entityTypeOf(ownerUrn), field.aspectName, {
    ...aspectTemplate(field.aspectName),
    [field.listName]: entries
  })
  const prepared = document[field.listName]
  return Array.isArray(prepared) ? prepared : entries
}

function planList(plan: LineagePatch, field: LineageField, ownerUrn: Urn, operation: PatchOperation): void {
  if (operation.op !== 'add' && operation.op !== 'replace' && operation.op !== 'remove') refuse(operation)
  if (field.shape === 'link') return planLink(plan, field, ownerUrn, operation)
  const sent = operation.op === 'remove' ? [] : operation.value
  if (!Array.isArray(sent)) refuse(operation)
  const list = prepareEntries(field, ownerUrn, sent)
  plan.edges.push({ op: 'replaceList', fieldCode: field.code, entries: entriesOf(field, ownerUrn, list) })
  const keepsDocuments = field.shape === 'columns' || field.shape === 'inputField'
  const isDropped =
    operation.op === 'remove' && !Object.hasOwn(aspectTemplate(field.aspectName), field.listName)
  plan.rest.push(
    isDropped
      ? { op: 'remove', path: `/${field.listName}` }
      : { op: 'add', path: `/${field.listName}`, value: keepsDocuments ? list : [] }
  )
}

/** A field with one URN is a list of at most one. The rest keeps nothing of it. */
function planLink(
  plan: LineagePatch,
  field: LineageField,
  ownerUrn: Urn,
  { op, value = null }: PatchOperation
): void {
  const { [field.listName]: link } = prepareAspect(entityTypeOf(ownerUrn), field.aspectName, {
    ...aspectTemplate(field.aspectName),
    [field.listName]: value
  })
  plan.edges.push({
    op: 'replaceList',
    fieldCode: field.code,
    entries: op === 'remove' || link === undefined ? [] : entriesOf(field, ownerUrn, [link])
  })
}

function planEntry(
  plan: LineagePatch,
  field: LineageField,
  ownerUrn: Urn,
  path: string[],
  operation: PatchOperation
): void {
  const other =
    path[1] === '-'
      ? entryUrn(field, operation.value ?? null)
      : toUrn(path[1], operation.path, field.entryTypes[0])
  const ends = endsOf(field, ownerUrn, other)
  if (operation.op !== 'add' && operation.op !== 'replace' && operation.op !== 'remove') refuse(operation)
  if (field.shape === 'link' && (path.length > 2 || operation.op !== 'remove')) refuse(operation)
  if (path.length > 2) {
    if (path[1] === '-' || !isRecord(field) || path[2] === linkKeyOf(field)) refuse(operation)
    plan.edges.push({
      op: 'patchAttributes',
      fieldCode: field.code,
      ...ends,
      patch: { ...operation, path: `/${path.slice(2).map(escapePointer).join('/')}` }
    })
  } else if (operation.op === 'remove') {
    plan.edges.push({ op: 'remove', fieldCode: field.code, group: null, ...ends })
  } else {
    const [entry = null] = prepareEntries(field, ownerUrn, [entryOf(field, other, operation.value)])
    plan.edges.push({
      op: 'add',
      entry: {
        fieldCode: field.code,
        ...ends,
        recordKey: singleRecordKey,
        position: nextPosition(plan),
        attributes: entryAttributes(field, entry)
      }
    })
  }
}

/** Entries that a patch adds keep the order of its operations. */
const nextPosition = (plan: LineagePatch): number => appendedPosition + plan.edges.length

/** The entry made from a key and a value. The key is the URN that the entry links to. */
function entryOf(field: LineageField, other: Urn, value: JsonValue | undefined): JsonValue {
  if (field.shape === 'urn' || field.shape === 'link') return other
  if (field.shape === 'union') return { string: other }
  return { ...(isObject(value) ? value : {}), [linkKeyOf(field)]: other }
}

/** Throws VALIDATION_FAILED if the list cannot contain these attributes of an edge. */
export function checkEdgeAttributes(
  field: LineageField,
  ownerUrn: Urn,
  other: Urn,
  attributes: JsonObject
): void {
  prepareEntries(field, ownerUrn, [entryOf(field, other, attributes)])
}

const escapePointer = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1')

/**
 * `/fineGrainedLineages/<operation>/<downstream>/<query>/<upstream>`. A removal with a shorter path removes
 * everything below it.
 */
function planColumns(
  plan: LineagePatch,
  field: LineageField,
  ownerUrn: Urn,
  path: string[],
  operation: PatchOperation
): void {
  const [, transformOperation = '', downstream, query, upstream, ...deeper] = path
  if (downstream === undefined || deeper.length > 0) refuse(operation)
  const downstreamUrn = toUrn(downstream, operation.path, 'schemaField')
  if (upstream === undefined) {
    if (operation.op !== 'remove') refuse(operation)
    plan.edges.push({ op: 'removeInto', fieldCode: field.code, downstreamUrn })
    plan.rest.push(operation)
    return
  }
  const upstreamUrn = toUrn(upstream, operation.path, 'schemaField')
  const isPair = isColumn(upstreamUrn) && isColumn(downstreamUrn)
  if (operation.op === 'remove') {
    // A whole dataset as the source of a column makes no edge between columns, so the record is kept as a
    // document.
    if (isPair)
      plan.edges.push({
        op: 'remove',
        fieldCode: field.code,
        group: columnGroupKey({ transformOperation, query: query ?? 'NONE' }),
        downstreamUrn,
        upstreamUrn
      })
    else plan.rest.push(operation)
    return
  }
  if (operation.op !== 'add' && operation.op !== 'replace') refuse(operation)
  const record = recordOf({ transformOperation, downstreamUrn, query, upstreamUrn }, operation.value)
  const [prepared] = prepareEntries(field, ownerUrn, [record])
  if (!isPair || !isObject(prepared)) {
    plan.rest.push({ ...operation, value: prepared ?? record })
    return
  }
  const { upstreams: _upstreams, downstreams: _downstreams, ...attributes } = prepared
  plan.edges.push({
    op: 'add',
    entry: {
      fieldCode: field.code,
      downstreamUrn,
      upstreamUrn,
      recordKey: columnGroupKey(attributes),
      position: nextPosition(plan),
      attributes
    }
  })
}

const isColumn = (urn: Urn): boolean => entityTypeOf(urn) === 'schemaField'

type ColumnKeys = {
  transformOperation: string
  downstreamUrn: Urn
  query: string | undefined
  upstreamUrn: Urn
}

/** The record made from a path and its value. */
function recordOf(
  { transformOperation, downstreamUrn, query, upstreamUrn }: ColumnKeys,
  value: JsonValue | undefined
): JsonObject {
  return {
    upstreamType: isColumn(upstreamUrn) ? 'FIELD_SET' : 'DATASET',
    downstreamType: 'FIELD',
    confidenceScore: 1,
    ...(isObject(value) ? value : {}),
    upstreams: [upstreamUrn],
    downstreams: [downstreamUrn],
    transformOperation,
    ...(query === undefined || query === 'NONE' ? {} : { query })
  }
}
