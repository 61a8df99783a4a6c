/**
 * Bounds what a JSON Patch may do: the size and depth of the document after each operation, and the values that its
 * operations copy, compare or move along. A `copy` of 40 bytes can double a document, so no limit on the request bounds that.
 */
import { CatalogError } from '../errors.ts'
import { limits, type LimitName } from '../limits.ts'
import type { Working } from './array-keys.ts'

/** The work of all patches that one call or chunk applies. */
export type PatchBudget = { valuesLeft: number }

export const createPatchBudget = (): PatchBudget => ({ valuesLeft: limits.patchValuesPerChunkMaxCount })

/** A record that is alone in its chunk may have to replay so many times as much. */
const replayedMaxFactor = 20

/**
 * The work of a record that is alone in its chunk. Its own patches have limits of their own; what is more is stored patches that are
 * newer and replayed over it, and how many there are depends on the order in which workers apply chunks, so it must not be refused.
 * Bounded all the same: two seconds of a processor.
 */
export const createReplayBudget = (): PatchBudget => ({
  valuesLeft: replayedMaxFactor * limits.patchValuesPerChunkMaxCount
})

/** Throws TooMuchPatching. */
export function countPatchValues(budget: PatchBudget, values: number): void {
  budget.valuesLeft -= values
  if (budget.valuesLeft < 0) throw new TooMuchPatching()
}

/**
 * The patches of one call or chunk are too much work together, each of them being within its own limits. Never a verdict
 * on one patch: a chunk is split by it, and the stored patches of an aspect are never left out because of it.
 */
export class TooMuchPatching extends CatalogError {
  constructor() {
    const maximum = limits.patchValuesPerChunkMaxCount
    super(
      'LIMIT_EXCEEDED',
      `The patches work on more than ${maximum} values together; send fewer in one call, or a load (POST /loads)`,
      { limit: 'patchValuesPerChunkMaxCount', maximum }
    )
  }
}

export type PatchWork = {
  /** Counts values that an operation looks at or moves. Throws LIMIT_EXCEEDED (patchValuesMaxCount). */
  visit: (values: number) => void
  /** A deep copy to stand `depth` levels below the root. Throws LIMIT_EXCEEDED (patchValuesMaxCount, aspectMaxBytes, jsonMaxDepth). */
  copy: (value: Working, depth: number) => Working
  /** Throws LIMIT_EXCEEDED (jsonMaxDepth) for a value that is too deep to be moved to `depth`. */
  checkDepth: (value: Working, depth: number) => void
  /** Called after each operation. Throws LIMIT_EXCEEDED (aspectMaxBytes) if the document has grown too large. */
  checkSize: (root: Working) => void
}

/** Bytes are underestimated (a character counts as one, escapes as none), so that nothing is refused that would be within the limit. */
export function createPatchWork(
  budget: PatchBudget | null
): { open: (document: Working) => Working } & PatchWork {
  let valuesLeft: number = limits.patchValuesMaxCount
  /** An upper bound: removals are only subtracted once the count exceeds the limit. */
  let bytes = 0
  let isOpening = false

  function visit(values: number): void {
    if (budget) countPatchValues(budget, values)
    // The document itself is copied once, whatever its size.
    if (!isOpening && (valuesLeft -= values) < 0)
      throw exceeded(
        'patchValuesMaxCount',
        `The operations of the patch work on more than ${limits.patchValuesMaxCount} values`
      )
  }

  function copy(value: Working, depth: number): Working {
    visit(1)
    if (bytes > limits.aspectMaxBytes * 2) throw tooLarge()
    if (typeof value === 'string') {
      bytes += value.length + 3
      return value
    }
    if (typeof value !== 'object' || value === null) {
      bytes += 2
      return value
    }
    bytes += 3
    if (depth >= limits.jsonMaxDepth + mapLevels) throw tooDeep()
    if (Array.isArray(value)) return value.map((entry) => copy(entry, depth + 1))
    if (value instanceof Map) return new Map([...value].map(([key, entry]) => [key, copy(entry, depth + 1)]))
    const copied: { [name: string]: Working } = {}
    for (const name in value) {
      bytes += name.length + 3
      copied[name] = copy(value[name] ?? null, depth + 1)
    }
    return copied
  }

  function checkDepth(value: Working, depth: number): void {
    visit(1)
    if (typeof value !== 'object' || value === null) return
    if (depth >= limits.jsonMaxDepth + mapLevels) throw tooDeep()
    for (const inner of innerOf(value)) checkDepth(inner, depth + 1)
  }

  function sizeOf(value: Working): number {
    visit(1)
    if (typeof value === 'string') return value.length + 3
    if (typeof value !== 'object' || value === null) return 2
    let size = 3
    if (!Array.isArray(value) && !(value instanceof Map)) for (const name in value) size += name.length + 3
    for (const inner of innerOf(value)) size += sizeOf(inner)
    return size
  }

  return {
    visit,
    copy,
    checkDepth,
    open(document) {
      isOpening = true
      const copied = copy(document, 0)
      isOpening = false
      return copied
    },
    checkSize(root) {
      if (bytes <= limits.aspectMaxBytes) return
      bytes = sizeOf(root)
      if (bytes > limits.aspectMaxBytes) throw tooLarge()
    }
  }
}

/** Keyed arrays are a few levels deeper than the JSON they represent; the code that prepares the aspect checks the exact depth. */
const mapLevels = limits.patchKeysMaxCount

const innerOf = (value: Exclude<Working, null | boolean | number | string>): Iterable<Working> =>
  Array.isArray(value) ? value : value instanceof Map ? value.values() : Object.values(value)

const exceeded = (limit: LimitName, message: string): CatalogError =>
  new CatalogError('LIMIT_EXCEEDED', message, { field: 'aspect', limit, maximum: limits[limit] })
const tooDeep = (): CatalogError =>
  exceeded('jsonMaxDepth', `The patch nests the aspect deeper than ${limits.jsonMaxDepth} levels`)
const tooLarge = (): CatalogError =>
  exceeded('aspectMaxBytes', `The patch makes the aspect larger than ${limits.aspectMaxBytes} bytes of JSON`)
