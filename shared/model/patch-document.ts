/**
 * Reads the two forms of a JSON Patch: the plain list of operations, and the form that also says how arrays
 * are keyed.
 */
import { CatalogError } from '../errors.ts'
import { stepsOfKey } from './array-keys.ts'
import type { JsonObject, JsonValue, PatchDocument, PatchOperation } from './changes.ts'
import { checkCount } from './count-checks.ts'
import { isObject } from './json-values.ts'
import { parsePointer } from './json-patch.ts'

const operationNames = ['add', 'remove', 'replace', 'move', 'copy', 'test'] as const

/**
 * The value must have passed checkJson. Throws BAD_REQUEST and LIMIT_EXCEEDED, with the path in
 * `details.field`.
 */
export function parsePatch(value: JsonValue, field: string): PatchDocument {
  if (Array.isArray(value)) return { patch: parseOperations(value, field) }
  if (!isObject(value) || !Array.isArray(value.patch)) {
    throw new CatalogError(
      'BAD_REQUEST',
      `${field} must be a list of patch operations, or an object with such a list as "patch"`,
      { field }
    )
  }
  return {
    patch: parseOperations(value.patch, `${field}.patch`),
    ...(isSent(value.arrayPrimaryKeys)
      ? { arrayPrimaryKeys: parseArrayKeys(value.arrayPrimaryKeys, `${field}.arrayPrimaryKeys`) }
      : {}),
    ...(value.forceGenericPatch === true ? { forceGenericPatch: true } : {})
  }
}

const isSent = (value: JsonValue | undefined): value is JsonValue => value !== undefined && value !== null

function parseOperations(list: readonly JsonValue[], field: string): PatchOperation[] {
  checkCount(list.length, 'patchOperationsMaxCount', {
    field,
    what: `${field} has ${list.length} operations`
  })
  return list.map((entry, index) => parseOperation(entry, `${field}[${index}]`))
}

function parseOperation(entry: JsonValue, field: string): PatchOperation {
  if (!isObject(entry))
    throw new CatalogError('BAD_REQUEST', `${field} must be an object with "op" and "path"`, { field })
  const op = operationNames.find((name) => name === entry.op)
  if (!op)
    throw new CatalogError('BAD_REQUEST', `${field}.op must be one of ${operationNames.join(', ')}`, {
      field: `${field}.op`,
      allowed: operationNames
    })
  const operation: PatchOperation = { op, path: parsePath(entry, 'path', field) }
  if (op === 'move' || op === 'copy') operation.from = parsePath(entry, 'from', field)
  if (op === 'add' || op === 'replace' || op === 'test') {
    if (entry.value === undefined)
      throw new CatalogError('BAD_REQUEST', `${field} ("${op}") must have a value`, {
        field: `${field}.value`
      })
    operation.value = entry.value
  }
  return operation
}

function parsePath(entry: JsonObject, name: 'path' | 'from', field: string): string {
  const path = entry[name]
  if (typeof path !== 'string')
    throw new CatalogError('BAD_REQUEST', `${field}.${name} must be a JSON Pointer`, {
      field: `${field}.${name}`
    })
  parsePointer(path)
  return path
}

function parseArrayKeys(value: JsonValue, field: string): { [arrayName: string]: string[] } {
  if (!isObject(value))
    throw new CatalogError('BAD_REQUEST', `${field} must be an object of lists of field names`, { field })
  const check = (count: number, place: string, what: string): void =>
    checkCount(count, 'patchKeysMaxCount', { field: place, what: `${place} has ${count} ${what}` })
  check(Object.keys(value).length, field, 'arrays')
  return Object.fromEntries(
    Object.entries(value).map(([name, keys]) => {
      if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string'))
        throw new CatalogError('BAD_REQUEST', `${field}.${name} must be a list of field names`, {
          field: `${field}.${name}`
        })
      check(keys.length, `${field}.${name}`, 'keys')
      for (const key of [name, ...keys]) check(stepsOfKey(key).length, field, 'steps in a key')
      return [name, keys]
    })
  )
}
