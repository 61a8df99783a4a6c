/**
 * Patches the parts of a lineage aspect that are not edges: its other fields, and column records that state
 * no edge because the source of the column is a whole dataset. Map-keyed paths can name those records too.
 */
import { prepareAspect } from './aspect-registry.ts'
import type { JsonObject, JsonValue, PatchDocument, PatchOperation } from './changes.ts'
import { isObject, listOf } from './json-values.ts'
import { applyPatch, parsePointer } from './json-patch.ts'
import { lineageFieldsOf } from './lineage-fields.ts'
import { fieldAt } from './lineage-patch.ts'
import { countPatchValues, type PatchBudget } from './patch-work.ts'

/**
 * The prepared rest after the operations that planLineagePatch left. Throws as applyPatch and prepareAspect
 * do.
 */
export function patchLineageRest(
  entityType: string,
  aspectName: string,
  rest: JsonObject | null,
  patch: PatchDocument,
  budget: PatchBudget | null = null
): JsonObject {
  let patched = rest
  let plain: PatchOperation[] = []
  const applyPlain = (): void => {
    if (plain.length > 0) patched = applyPatch(aspectName, patched, { ...patch, patch: plain }, budget)
    plain = []
  }
  for (const operation of patch.patch) {
    const path = parsePointer(operation.path)
    if (path.length <= 2 || fieldAt(aspectName, path)?.shape !== 'columns') {
      plain.push(operation)
      continue
    }
    applyPlain()
    const before = patched ?? applyPatch(aspectName, null, { patch: [] })
    if (budget) countPatchValues(budget, listOf(before[path[0] ?? '']).length)
    patched = patchRecord(before, path, operation)
  }
  applyPlain()
  return prepareRest(entityType, aspectName, patched ?? applyPatch(aspectName, null, { patch: [] }))
}

/** Removed column records are null, so that the other records keep their numbers. They stay null. */
function prepareRest(entityType: string, aspectName: string, rest: JsonObject): JsonObject {
  const listName = lineageFieldsOf(aspectName).find((field) => field.shape === 'columns')?.listName ?? ''
  const list = rest[listName]
  if (!Array.isArray(list) || !list.includes(null)) return prepareAspect(entityType, aspectName, rest)
  const prepared = prepareAspect(entityType, aspectName, {
    ...rest,
    [listName]: list.filter((record) => record !== null)
  })
  const records = listOf(prepared[listName])[Symbol.iterator]()
  return {
    ...prepared,
    [listName]: list.map((record) => (record === null ? null : (records.next().value ?? null)))
  }
}

/** Adds or removes one source of a column. Sources that are columns are pairs, which are not handled here. */
function patchRecord(rest: JsonObject, path: string[], operation: PatchOperation): JsonObject {
  const [listName = '', transformOperation = '', downstream = '', query, upstream] = path
  const list = listOf(rest[listName])
  const isMeant = (record: JsonValue): record is JsonObject =>
    isObject(record) &&
    listOf(record.downstreams).length === 1 &&
    listOf(record.downstreams)[0] === downstream &&
    (record.transformOperation ?? 'NONE') === transformOperation &&
    (query === undefined || (record.query ?? 'NONE') === query)
  if (operation.op === 'remove') {
    const left = (record: JsonObject): JsonValue => {
      const upstreams = listOf(record.upstreams).filter((urn) =>
        upstream === undefined ? isColumn(urn) : urn !== upstream
      )
      return upstreams.length === 0 ? null : { ...record, upstreams }
    }
    return list.some(isMeant)
      ? { ...rest, [listName]: list.map((record) => (isMeant(record) ? left(record) : record)) }
      : rest
  }
  const added = isObject(operation.value) ? operation.value : {}
  const home = list.findIndex(isMeant)
  const known = list[home]
  if (!isObject(known)) return { ...rest, [listName]: [...list, added] }
  const upstreams = [...new Set([...listOf(known.upstreams), ...listOf(added.upstreams)])]
  const joined = {
    ...known,
    transformOperation,
    upstreams,
    confidenceScore: Math.min(Number(known.confidenceScore ?? 1), Number(added.confidenceScore ?? 1))
  }
  return { ...rest, [listName]: list.map((record, index) => (index === home ? joined : record)) }
}

const isColumn = (urn: JsonValue): boolean => typeof urn === 'string' && urn.startsWith('urn:li:schemaField:')
