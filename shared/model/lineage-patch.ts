/**
 * Turns a JSON Patch of a lineage aspect into edge operations, and leaves over what patches the rest of the aspect.
 *
 * Map-keyed paths (`/upstreams/<urn>`, `/fineGrainedLineages/<operation>/<downstream>/<query>/<upstream>`) are adds and
 * removes of single edges: two writers who patch the same list cannot lose each other's edges.
 */
import { CatalogError } from '../errors.ts'
import { entityTypeOf, toUrn, type Urn } from '../urn/urn.ts'
import type { JsonObject, JsonValue, PatchOperation } from './changes.ts'
import { parsePointer } from './json-patch.ts'
import { appendedPosition, endsOf, entriesOf, entryAttributes, entryUrn, type EdgeEntry } from './lineage-document.ts'
import { lineageFieldsOf, type LineageField } from './lineage-fields.ts'

export type EdgeOperation =
  | { op: 'add', entry: EdgeEntry }
  /** Removes the edge from every list of the aspect, whoever states it. */
  | { op: 'remove', downstreamUrn: Urn, upstreamUrn: Urn }
  /** Removes every pair that ends in a column. */
  | { op: 'removeInto', fieldCode: number, downstreamUrn: Urn }
  | { op: 'replaceList', fieldCode: number, entries: EdgeEntry[] }
  /** Changes what an edge says beside its ends; `path` is a JSON Pointer into its attributes. */
  | { op: 'patchAttributes', fieldCode: number, downstreamUrn: Urn, upstreamUrn: Urn, patch: PatchOperation }

export type LineagePatch = { edges: EdgeOperation[], rest: PatchOperation[] }

const isObject = (value: JsonValue | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Throws BAD_REQUEST for an operation that has no meaning on edges, INVALID_URN for a key that is no URN. */
export function planLineagePatch(ownerUrn: Urn, aspectName: string, operations: readonly PatchOperation[]): LineagePatch {
  const plan: LineagePatch = { edges: [], rest: [] }
  for (const operation of operations) {
    const path = parsePointer(operation.path)
    const field = lineageFieldsOf(aspectName).find((candidate) => candidate.listName === path[0])
    if (!field) plan.rest.push(operation)
    else if (path.length === 1) planList(plan, field, ownerUrn, operation)
    else if (field.shape === 'columns') planColumns(plan, field, path, operation)
    else if (field.shape === 'inputField') refuse(operation)
    else planEntry(plan, field, ownerUrn, path, operation)
  }
  return plan
}

function refuse(operation: PatchOperation): never {
  throw new CatalogError('BAD_REQUEST', `Patch operation "${operation.op}" at "${operation.path}" has no meaning on a list of edges.`, { field: operation.path })
}

function planList(plan: LineagePatch, field: LineageField, ownerUrn: Urn, operation: PatchOperation): void {
  if (operation.op !== 'add' && operation.op !== 'replace' && operation.op !== 'remove') refuse(operation)
  const list = operation.op === 'remove' ? [] : operation.value
  if (!Array.isArray(list)) refuse(operation)
  plan.edges.push({ op: 'replaceList', fieldCode: field.code, entries: entriesOf(field, ownerUrn, list) })
  const keepsDocuments = field.shape === 'columns' || field.shape === 'inputField'
  plan.rest.push(operation.op === 'remove' ? { op: 'remove', path: `/${field.listName}` } : { op: 'add', path: `/${field.listName}`, value: keepsDocuments ? list : [] })
}

function planEntry(plan: LineagePatch, field: LineageField, ownerUrn: Urn, path: string[], operation: PatchOperation): void {
  const appends = path[1] === '-'
  const other = appends ? entryUrn(field, operation.value ?? null) : toUrn(path[1], operation.path)
  const ends = endsOf(field, ownerUrn, other)
  if (path.length > 2) {
    plan.edges.push({ op: 'patchAttributes', fieldCode: field.code, ...ends, patch: { ...operation, path: `/${path.slice(2).map(escapePointer).join('/')}` } })
  } else if (operation.op === 'remove') {
    plan.edges.push({ op: 'remove', ...ends })
  } else if (operation.op === 'add' || operation.op === 'replace') {
    if (!field.entryTypes.includes(entityTypeOf(other))) throw new CatalogError('BAD_REQUEST', `${field.listName} takes ${field.entryTypes.join(' or ')}, not ${other}.`, { field: operation.path, urn: other })
    plan.edges.push({ op: 'add', entry: { fieldCode: field.code, ...ends, recordKey: 0, position: appendedPosition, attributes: entryAttributes(field, operation.value ?? null) } })
  } else {
    refuse(operation)
  }
}

const escapePointer = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1')

/** `/fineGrainedLineages/<operation>/<downstream>/<query>/<upstream>`; a shorter path removes all that lies below it. */
function planColumns(plan: LineagePatch, field: LineageField, path: string[], operation: PatchOperation): void {
  const [, transformOperation = '', downstream, query, upstream] = path
  if (downstream === undefined) refuse(operation)
  const downstreamUrn = toUrn(downstream, operation.path)
  if (upstream === undefined) {
    if (operation.op !== 'remove') refuse(operation)
    plan.edges.push({ op: 'removeInto', fieldCode: field.code, downstreamUrn })
    return
  }
  const upstreamUrn = toUrn(upstream, operation.path)
  if (operation.op === 'remove') {
    plan.edges.push({ op: 'remove', downstreamUrn, upstreamUrn })
    return
  }
  if (operation.op !== 'add' && operation.op !== 'replace') refuse(operation)
  const named = query !== undefined && query !== 'NONE' ? { query } : {}
  const attributes: JsonObject = { confidenceScore: 1, ...(isObject(operation.value) ? operation.value : {}), transformOperation, ...named }
  if (entityTypeOf(upstreamUrn) === 'schemaField' && entityTypeOf(downstreamUrn) === 'schemaField') {
    plan.edges.push({ op: 'add', entry: { fieldCode: field.code, downstreamUrn, upstreamUrn, recordKey: -groupKey(transformOperation, query ?? 'NONE'), position: appendedPosition, attributes } })
    return
  }
  // A whole dataset as the source of a column is no edge between columns: its record is kept as a document.
  plan.rest.push({ op: 'add', path: `/${field.listName}/-`, value: { upstreamType: 'DATASET', upstreams: [upstreamUrn], downstreamType: 'FIELD', downstreams: [downstreamUrn], ...attributes } })
}

/** A number for (operation, query), 0 for none of both: pairs added under different operations stay apart. */
function groupKey(transformOperation: string, query: string): number {
  if (transformOperation === 'NONE' && query === 'NONE') return 0
  let hash = 2166136261
  for (const character of `${transformOperation} ${query}`) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16777619)
  return (hash >>> 1) || 1
}
