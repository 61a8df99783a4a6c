/** What every lineage operation says about its walk: whether the answer is the whole answer, and what it took. */
import type { Walk } from '../../model/walk.ts'
import type { LineageReader } from './lineage-reader.ts'

export type LineageReport = {
  /** False if a bound ended the walk before everything was reached. */
  complete: boolean
  truncatedBy: Walk['cutBy']
  /** Hops followed whole, and entities reached, before any filter. */
  hops: number
  visited: number
  /** From the question to the answer, the wait for a fresh graph included. */
  ms: number
  engine: LineageReader['engine']
  /** The results are no longer those that the scroll began with. */
  changedSinceFirstPage?: true
  /** Inputs that were accepted and have no effect. */
  withoutEffect?: readonly string[]
}

/** `startedAt` is of performance.now(). */
export const reportOf = (
  walk: Pick<Walk, 'cutBy' | 'hops' | 'ids'>,
  engine: LineageReader['engine'],
  startedAt: number
): LineageReport => ({
  complete: walk.cutBy === null,
  truncatedBy: walk.cutBy,
  hops: walk.hops,
  visited: walk.ids.length,
  ms: millisecondsSince(startedAt),
  engine
})

/** To a hundredth: what a walk in memory takes is less than one. */
export const millisecondsSince = (startedAt: number): number =>
  Math.round((performance.now() - startedAt) * 100) / 100
