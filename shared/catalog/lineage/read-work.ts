/**
 * The work budget of one request: each heavy read takes units from it according to its inputs, and reads run
 * one after the other. A unit is about the cost of searching for one word.
 */
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { metrics } from '../../platform/metrics.ts'
import type { ReadGate } from './read-gate.ts'

export type ReadWork = {
  /**
   * Throws QUERY_TOO_COMPLEX (readWorkMaxUnits), DEADLINE_EXCEEDED (readWorkMaxMs), and what ReadGate's
   * `enter` and `read` throw.
   */
  run: <Result>(units: number, read: () => Promise<Result>) => Promise<Result>
}

export function createReadWork(gate: ReadGate, caller: string): ReadWork {
  let spentUnits = 0
  let spentMs = 0
  let refusal: CatalogError | null = null
  let last: Promise<void> = Promise.resolve()

  async function admitted<Result>(read: () => Promise<Result>): Promise<Result> {
    if (spentUnits > limits.readWorkMaxUnits) throw (refusal ??= tooMuch(spentUnits))
    if (spentMs > limits.readWorkMaxMs)
      throw new CatalogError(
        'DEADLINE_EXCEEDED',
        `the reads of one request take ${limits.readWorkMaxMs / 1_000} s at most; send them as separate requests`
      )
    const leave = await gate.enter(caller)
    const startedAt = performance.now()
    try {
      return await read()
    } finally {
      spentMs += performance.now() - startedAt
      leave()
    }
  }

  return {
    run(units, read) {
      spentUnits += units
      // All fields of a request reserve their units before the first of them runs, so a request over the
      // budget runs nothing.
      const result = last.then(() => admitted(read))
      last = result.then(
        () => {},
        () => {}
      )
      return result
    }
  }
}

function tooMuch(actual: number): CatalogError {
  const maximum = limits.readWorkMaxUnits
  metrics.readsRefused.inc({ code: 'QUERY_TOO_COMPLEX' })
  return new CatalogError(
    'QUERY_TOO_COMPLEX',
    `the request asks for ${actual} units of work where ${maximum} are allowed: fewer searches, words, filter values or nodes, or more requests`,
    { limit: 'readWorkMaxUnits', maximum, actual }
  )
}

/** From this many entities on, reading their documents is a heavy read. */
const batchMinCount = 200

/**
 * Runs a read of `count` entities: in a turn if they are many. It costs no units, since other limits bound how many
 * entities one request reads. Throws what ReadWork's `run` and `read` throw.
 */
export const inTurnIfMany = <Result>(
  work: ReadWork | undefined,
  count: number,
  read: () => Promise<Result>
): Promise<Result> => (work && count >= batchMinCount ? work.run(0, read) : read())

const [wordsPerUnit, filterValuesPerUnit, nodesPerUnit, expandsPerUnit] = [10, 100, 100, 10]

/** The cost of a search for entities. */
export const searchUnits = ({
  wordCount,
  filterValueCount,
  isSorted,
  facets,
  readsAll = false
}: {
  wordCount: number
  filterValueCount: number
  isSorted: boolean
  facets: boolean
  /** Whether the documents of all entities are read, since no index serves the question. */
  readsAll?: boolean
}): number =>
  1 +
  Math.floor(wordCount / wordsPerUnit) +
  Math.floor(filterValueCount / filterValuesPerUnit) +
  (isSorted ? 5 : 0) +
  (readsAll ? 5 : 0) +
  (facets ? 1 : 0)

/** The cost of a walk; 0 if it reads only the graph, because such walks already take turns. */
export const walkUnits = ({
  filterValueCount,
  text,
  facets,
  paths
}: {
  filterValueCount: number
  text: boolean
  facets: boolean
  paths: boolean
}): number =>
  Math.floor(filterValueCount / filterValuesPerUnit) + (text ? 2 : 0) + (facets ? 2 : 0) + (paths ? 2 : 0)

/** The cost of a lineage graph. Each expansion looks at all neighbours of its node, which may be a hub. */
export const graphUnits = ({
  count,
  expandCount,
  totals,
  columns,
  columnRows = false
}: {
  count: number
  expandCount: number
  totals: boolean
  columns: boolean
  columnRows?: boolean
}): number =>
  2 +
  Math.floor(count / nodesPerUnit) * (1 + Number(columns) + Number(columns && columnRows)) +
  Math.floor(expandCount / expandsPerUnit) +
  (totals ? 2 : 0)
