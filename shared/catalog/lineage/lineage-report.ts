/** What every lineage operation reports about its walk: whether the answer is complete, and what it cost. */
import type { Walk } from '../../model/walk.ts'
import type { LineageReader } from './lineage-reader.ts'

export type LineageReport = {
  /** False if a bound ended the walk before everything was reached. */
  complete: boolean
  truncatedBy: Walk['cutBy']
  /** Hops followed completely, and entities reached, before any filter. */
  hops: number
  visited: number
  /** Time from the question to the answer, including the wait for a fresh graph. */
  ms: number
  engine: LineageReader['engine']
  /** Present if the results are no longer those that the scroll began with. */
  changedSinceFirstPage?: true
  /** Inputs that were accepted but have no effect. */
  withoutEffect?: readonly string[]
}

/** `startedAt` is a time of performance.now(). */
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

/** Rounded to a hundredth, because walks in memory take less than one millisecond. */
export const millisecondsSince = (startedAt: number): number =>
  Math.round((performance.now() - startedAt) * 100) / 100
