/**
 * Applies a JSON Patch (RFC 6902) to an aspect.
 *
 * Arrays are converted to maps if the aspect's rules say so, so that `/tags/<urn>` names an entry at any
 * index. lineage-patch.ts patches lists of edges instead. As in DataHub, missing objects on a path are
 * created, and removing an absent value does nothing.
 */
import { CatalogError } from '../errors.ts'
import { limits } from '../limits.ts'
import { arrayRulesOf, arraysToMaps, isWorkingObject, mapsToArrays, plain } from './array-keys.ts'
import type { Working, WorkingObject } from './array-keys.ts'
import { aspectTemplate, completeAspect } from './aspect-registry.ts'
import type { JsonObject, PatchDocument, PatchOperation } from './changes.ts'
import { equalJson } from './equal-json.ts'
import { createPatchWork, type PatchBudget, type PatchWork } from './patch-work.ts'

const shownPathChars = 500

/**
 * Returns the document after the patch. `document` is not changed; null means that the aspect is not stored.
 * The result has the fields that DataHub's schema requires, and must still be validated by prepareAspect.
 * `budget` is shared by the patches of a call or chunk.
 *
 * Throws BAD_REQUEST for an operation that cannot be carried out, VALIDATION_FAILED if a required field is
 * absent at the end, PRECONDITION_FAILED if a `test` fails, LIMIT_EXCEEDED (aspectMaxBytes, jsonMaxDepth,
 * patchValuesMaxCount) for an operation that does too much, and TooMuchPatching.
 */
export function applyPatch(
  aspectName: string,
  document: JsonObject | null,
  patch: PatchDocument,
  budget: PatchBudget | null = null
): JsonObject {
  const rules = arrayRulesOf(aspectName, patch)
  const work = createPatchWork(budget)
  let root: Working = work.open(document ?? aspectTemplate(aspectName))
  if (isWorkingObject(root)) arraysToMaps(root, rules)
  for (const operation of patch.patch) {
    root = applyOperation(root, operation, work)
    // The new value may contain arrays that the rules convert to maps.
    if (isWorkingObject(root) && (typeof operation.value === 'object' || operation.from !== undefined))
      arraysToMaps(root, rules, parsePointer(operation.path))
    work.checkSize(root)
  }
  if (!isWorkingObject(root))
    throw new CatalogError('BAD_REQUEST', 'The result of the patch is not an object', { field: 'aspect' })
  return completeAspect(aspectName, mapsToArrays(root, rules), document)
}

/** Splits a JSON Pointer into its segments, unescaped. Throws BAD_REQUEST for a path that does not begin with a slash, LIMIT_EXCEEDED. */
export function parsePointer(path: string): string[] {
  if (path === '') return []
  if (!path.startsWith('/'))
    throw new CatalogError(
      'BAD_REQUEST',
      `Patch path "${path.slice(0, shownPathChars)}" must begin with a slash`,
      { field: 'path' }
    )
  const segments = path.slice(1).split('/').map(unescapeSegment)
  if (segments.length > limits.jsonMaxDepth) {
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `A patch path has ${segments.length} segments; at most ${limits.jsonMaxDepth} are allowed`,
      { field: 'path', limit: 'jsonMaxDepth', maximum: limits.jsonMaxDepth, actual: segments.length }
    )
  }
  return segments
}

const unescapeSegment = (segment: string): string =>
  segment.includes('~') ? segment.replaceAll('~1', '/').replaceAll('~0', '~') : segment

function applyOperation(root: Working, operation: PatchOperation, work: PatchWork): Working {
  const path = parsePointer(operation.path)
  switch (operation.op) {
    case 'add':
    case 'replace':
      return setAt(root, path, work.copy(valueOf(operation), path.length), operation, work)
    case 'remove':
      return removeAt(root, path, work)
    case 'test':
      return testAt(root, path, operation, work)
    case 'copy':
      return setAt(root, path, work.copy(sourceOf(root, operation), path.length), operation, work)
    case 'move':
      return moveTo(root, path, operation, work)
  }
}

const impossible = (operation: PatchOperation, reason: string): CatalogError => {
  const path = operation.path.slice(0, shownPathChars)
  return new CatalogError(
    'BAD_REQUEST',
    `Patch operation "${operation.op}" at "${path}" cannot be carried out: ${reason}`,
    { field: path }
  )
}

function valueOf(operation: PatchOperation): Working {
  if (operation.value === undefined) throw impossible(operation, 'it has no value')
  return operation.value
}

function sourceOf(root: Working, operation: PatchOperation): Working {
  const from = operation.from === undefined ? undefined : getAt(root, parsePointer(operation.from))
  if (from === undefined)
    throw impossible(operation, `"${(operation.from ?? '').slice(0, shownPathChars)}" does not exist`)
  return from
}

function moveTo(root: Working, path: string[], operation: PatchOperation, work: PatchWork): Working {
  const value = sourceOf(root, operation)
  work.checkDepth(value, path.length)
  const from = parsePointer(operation.from ?? '')
  if (from.length < path.length && from.every((segment, index) => segment === path[index]))
    throw impossible(operation, 'a value cannot be moved into itself')
  return setAt(removeAt(root, from, work), path, value, operation, work)
}

function testAt(root: Working, path: string[], operation: PatchOperation, work: PatchWork): Working {
  const found = getAt(root, path)
  if (found !== undefined) work.checkDepth(found, 0)
  if (found === undefined || !equalJson(plain(found), plain(valueOf(operation)))) {
    const shown = operation.path.slice(0, shownPathChars)
    throw new CatalogError('PRECONDITION_FAILED', `Patch operation "test" at "${shown}" failed`, {
      field: shown
    })
  }
  return root
}

/** The value one step down. Only own properties count, so that no segment reaches a prototype. */
function child(holder: Working | undefined, segment: string): Working | undefined {
  if (holder instanceof Map) return holder.get(segment)
  if (Array.isArray(holder)) return holder[indexOf(segment)]
  return isWorkingObject(holder) && Object.hasOwn(holder, segment) ? holder[segment] : undefined
}

const getAt = (root: Working, path: string[]): Working | undefined =>
  path.reduce<Working | undefined>(child, root)

/** An array index by RFC 6901: digits without a leading zero; otherwise -1. */
const indexOf = (segment: string): number => (/^(?:0|[1-9]\d{0,9})$/.test(segment) ? Number(segment) : -1)

function setAt(
  root: Working,
  path: string[],
  value: Working,
  operation: PatchOperation,
  work: PatchWork
): Working {
  const last = path.at(-1)
  if (last === undefined) return value
  let holder = root
  for (const segment of path.slice(0, -1))
    holder = child(holder, segment) ?? createIn(holder, segment, operation)
  if (Array.isArray(holder)) setInArray(holder, last, value, operation, work)
  else define(holder, last, value, operation)
  return root
}

function createIn(holder: Working, segment: string, operation: PatchOperation): Working {
  if (Array.isArray(holder))
    throw impossible(operation, `the array has no entry "${segment.slice(0, shownPathChars)}"`)
  const created: WorkingObject = {}
  define(holder, segment, created, operation)
  return created
}

function define(holder: Working, name: string, value: Working, operation: PatchOperation): void {
  if (name === '__proto__') throw impossible(operation, 'the name is not allowed')
  if (holder instanceof Map) holder.set(name, value)
  else if (isWorkingObject(holder)) holder[name] = value
  else throw impossible(operation, 'the path leads through a value that is not an object')
}

function setInArray(
  holder: Working[],
  segment: string,
  value: Working,
  operation: PatchOperation,
  work: PatchWork
): void {
  const isReplacement = operation.op === 'replace'
  const index = segment === '-' && !isReplacement ? holder.length : indexOf(segment)
  if (index < 0 || index > holder.length || (isReplacement && index === holder.length))
    throw impossible(operation, `the array has ${holder.length} entries`)
  if (isReplacement) {
    holder[index] = value
    return
  }
  work.visit(shiftedBy(holder, index))
  holder.splice(index, 0, value)
}

/**
 * The cost of shifting the entries after an index, in values. It is low because the entries are moved in
 * blocks.
 */
const shiftedBy = (holder: readonly Working[], index: number): number =>
  Math.ceil((holder.length - index) / 32)

function removeAt(root: Working, path: string[], work: PatchWork): Working {
  const last = path.at(-1)
  if (last === undefined) return {}
  const holder = getAt(root, path.slice(0, -1))
  if (Array.isArray(holder)) {
    if (indexOf(last) in holder) {
      work.visit(shiftedBy(holder, indexOf(last)))
      holder.splice(indexOf(last), 1)
    }
  } else if (holder instanceof Map) {
    holder.delete(last)
  } else if (isWorkingObject(holder) && Object.hasOwn(holder, last)) {
    delete holder[last]
  }
  return root
}
