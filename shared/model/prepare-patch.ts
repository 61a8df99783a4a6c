/**
 * Prepares the values in a patch of a lineage aspect as an UPSERT of the same values would.
 *
 * Other aspects are validated as a whole when their patch is applied. A lineage aspect never exists as a
 * whole, because its edges are rows. So each operation is checked on its own, on an empty document of the
 * aspect.
 */
import { CatalogError } from '../errors.ts'
import { aspectTemplate, prepareAspect } from './aspect-registry.ts'
import type { JsonObject, JsonValue, PatchDocument, PatchOperation } from './changes.ts'
import { isObject } from './json-values.ts'
import { applyPatch, parsePointer } from './json-patch.ts'
import { isLineageAspect, isRecord, linkKeyOf, lineageFieldsOf, type LineageField } from './lineage-fields.ts'

/**
 * Throws VALIDATION_FAILED, INVALID_URN, LIMIT_EXCEEDED and INVALID_CHARACTER, with the operation's path in
 * `details.field`.
 */
export function preparePatch(entityType: string, aspectName: string, document: PatchDocument): PatchDocument {
  if (!isLineageAspect(aspectName)) return document
  return {
    ...document,
    patch: document.patch.map((operation) => prepareOperation({ entityType, aspectName }, operation))
  }
}

type Target = { entityType: string; aspectName: string }

function prepareOperation(target: Target, operation: PatchOperation): PatchOperation {
  try {
    const path = parsePointer(operation.path)
    const field = lineageFieldsOf(target.aspectName).find((candidate) => candidate.listName === path[0])
    if (!field) return checkOther(target, operation, path)
    if (operation.value === undefined || (operation.op !== 'add' && operation.op !== 'replace'))
      return operation
    if (path.length === 1) return { ...operation, value: prepareList(target, field, operation.value) }
    if (field.shape === 'inputField') return operation
    if (field.shape === 'columns') return checkColumns(target, field, operation, path)
    return prepareEntry(target, field, operation, path)
  } catch (error) {
    throw error instanceof CatalogError
      ? new CatalogError(
          error.code,
          error.message,
          { ...error.details, field: operation.path.slice(0, 500) },
          { cause: error }
        )
      : error
  }
}

/** Prepares one list in an empty document of its aspect. */
function prepareList(
  { entityType, aspectName }: Target,
  { listName }: LineageField,
  list: JsonValue
): JsonValue {
  return (
    prepareAspect(entityType, aspectName, { ...aspectTemplate(aspectName), [listName]: list })[listName] ?? []
  )
}

const firstOf = (list: JsonValue): JsonValue => (Array.isArray(list) ? (list[0] ?? null) : null)

/**
 * `/upstreams/<urn>` is a whole entry, with its URN in the path; `/upstreams/<urn>/<field>` is one field of
 * it.
 */
function prepareEntry(
  target: Target,
  field: LineageField,
  operation: PatchOperation,
  [, urn = '', name, ...deeper]: string[]
): PatchOperation {
  const { value = null } = operation
  if (name === undefined)
    return { ...operation, value: firstOf(prepareList(target, field, [entryOf(field, urn, value)])) }
  if (deeper.length === 0 && isRecord(field))
    prepareList(target, field, [entryOf(field, urn, { [name]: value })])
  return operation
}

/** The entry in the form of its list. An edge without a type is TRANSFORMED, as every client expects. */
function entryOf(field: LineageField, urn: string, value: JsonValue): JsonValue {
  if (urn === '-') return value
  const sent = isObject(value) ? value : {}
  if (field.shape === 'upstream') return { type: 'TRANSFORMED', ...sent, dataset: urn }
  if (isRecord(field)) return { ...sent, [linkKeyOf(field)]: urn }
  return field.shape === 'union' ? { string: urn } : urn
}

/** `/fineGrainedLineages/<operation>/<downstream>/<query>/<upstream>`: the ends are in the path. */
function checkColumns(
  target: Target,
  field: LineageField,
  operation: PatchOperation,
  [, , downstream, query = 'NONE', upstream]: string[]
): PatchOperation {
  if (downstream === undefined || upstream === undefined) return operation
  const sent: JsonObject = isObject(operation.value) ? operation.value : {}
  const ends = { upstreams: [upstream], downstreams: [downstream], ...(query === 'NONE' ? {} : { query }) }
  prepareList(target, field, [{ upstreamType: 'FIELD_SET', downstreamType: 'FIELD', ...sent, ...ends }])
  return operation
}

/** Tries an operation that does not concern a list of edges on the empty document. */
function checkOther(
  { entityType, aspectName }: Target,
  operation: PatchOperation,
  path: readonly string[]
): PatchOperation {
  if (
    operation.op === 'test' ||
    operation.from !== undefined ||
    path.some((segment) => /^(?:-|\d+)$/.test(segment))
  )
    return operation
  prepareAspect(entityType, aspectName, applyPatch(aspectName, null, { patch: [operation] }))
  return operation
}
