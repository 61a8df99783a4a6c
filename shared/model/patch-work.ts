/**
 * Limits what a JSON Patch may do: the size and depth of the document after each operation, and the number of
 * values that its operations copy, compare or move. A `copy` of 40 bytes can double a document, so a limit on
 * the request is not enough.
 */
import { CatalogError } from '../errors.ts'
import { limits, type LimitName } from '../limits.ts'
import type { Working } from './array-keys.ts'

/** The work left for all patches of one call or chunk. */
export type PatchBudget = { valuesLeft: number }

export const createPatchBudget = (): PatchBudget => ({ valuesLeft: limits.patchValuesPerChunkMaxCount })

/** A record that is alone in its chunk may do this many times the work of a call. */
const replayedMaxFactor = 20

/**
 * The budget of a record that is alone in its chunk. The record's own patches have limits of their own. The
 * rest of the work is replaying newer stored patches over it. How many there are depends on the order in
 * which workers apply chunks, so the record must not be refused because of them. The budget is still bounded:
 * two seconds of CPU time.
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
 * The patches of one call or chunk are too much work together, although each is within its own limits. This
 * never decides about a single patch: a chunk is split because of it, but the stored patches of an aspect are
 * never skipped because of it.
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
  /** Counts values that an operation reads or moves. Throws LIMIT_EXCEEDED (patchValuesMaxCount). */
  visit: (values: number) => void
  /**
   * A deep copy for a place `depth` levels below the root. Throws LIMIT_EXCEEDED (patchValuesMaxCount,
   * aspectMaxBytes, jsonMaxDepth).
   */
  copy: (value: Working, depth: number) => Working
  /** Throws LIMIT_EXCEEDED (jsonMaxDepth) if the value is nested too deeply to be moved to `depth`. */
  checkDepth: (value: Working, depth: number) => void
  /** Called after each operation. Throws LIMIT_EXCEEDED (aspectMaxBytes) if the document has grown too large. */
  checkSize: (root: Working) => void
}

/**
 * Bytes are underestimated (a character counts as one, and escapes are not counted), so that nothing within
 * the limit is refused.
 */
export function createPatchWork(
  budget: PatchBudget | null
): { open: (document: Working) => Working } & PatchWork {
  let valuesLeft: number = limits.patchValuesMaxCount
  /** An upper bound: removed bytes are only subtracted once the bound exceeds the limit. */
  let bytes = 0
  let isOpening = false

  function visit(values: number): void {
    if (budget) countPatchValues(budget, values)
    // The copy of the document itself is not counted.
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

/**
 * Keyed arrays are a few levels deeper than the JSON they represent. The exact depth is checked when the
 * aspect is prepared.
 */
const mapLevels = limits.patchKeysMaxCount

const innerOf = (value: Exclude<Working, null | boolean | number | string>): Iterable<Working> =>
  Array.isArray(value) ? value : value instanceof Map ? value.values() : Object.values(value)

const exceeded = (limit: LimitName, message: string): CatalogError =>
  new CatalogError('LIMIT_EXCEEDED', message, { field: 'aspect', limit, maximum: limits[limit] })
const tooDeep = (): CatalogError =>
  exceeded('jsonMaxDepth', `The patch nests the aspect deeper than ${limits.jsonMaxDepth} levels`)
const tooLarge = (): CatalogError =>
  exceeded('aspectMaxBytes', `The patch makes the aspect larger than ${limits.aspectMaxBytes} bytes of JSON`)
