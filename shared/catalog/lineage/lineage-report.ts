/** What every lineage operation reports about its walk: whether the answer is complete, and what it cost. */
import { timeWindowRule } from '../../model/edge-stamps.ts'
import type { TimeWindow, Walk } from '../../model/walk.ts'
import type { LineageReader } from './lineage-reader.ts'

/** The time that an answer is limited to, and which edges count in it. */
export type ReportedWindow = { startTimeMillis: number; endTimeMillis: number; rule: string }

export type LineageReport = {
  /** False if a bound ended the walk before everything was reached. */
  complete: boolean
  truncatedBy: Walk['cutBy']
  /** Hops followed completely, and entities reached, before any filter. */
  hops: number
  visited: number
  /** How many of these only columns that filter or join the rows of a table lead to; absent if none. */
  indirect?: number
  /** Time from the question to the answer, including the wait for a fresh graph. */
  ms: number
  engine: LineageReader['engine']
  /** Present if the results are no longer those that the scroll began with. */
  changedSinceFirstPage?: true
  /** Inputs that were accepted but have no effect. */
  withoutEffect?: readonly string[]
  /** Present if only edges of a time count. */
  timeWindow?: ReportedWindow
}

export const reportedWindow = (window: TimeWindow | null): ReportedWindow | null =>
  window && { startTimeMillis: window.fromMs, endTimeMillis: window.toMs, rule: timeWindowRule }

/** The part of a report that says to which time the answer is limited; empty without a window. */
export function windowReport(window: TimeWindow | null): Pick<LineageReport, 'timeWindow'> {
  const timeWindow = reportedWindow(window)
  return timeWindow ? { timeWindow } : {}
}

/** `startedAt` is a time of performance.now(). */
export const reportOf = (
  walk: Pick<Walk, 'cutBy' | 'hops' | 'ids' | 'indirectIds'>,
  engine: LineageReader['engine'],
  startedAt: number,
  window: TimeWindow | null
): LineageReport => ({
  complete: walk.cutBy === null,
  truncatedBy: walk.cutBy,
  hops: walk.hops,
  visited: walk.ids.length,
  ...(walk.indirectIds ? { indirect: walk.indirectIds.size } : {}),
  ms: millisecondsSince(startedAt),
  engine,
  ...windowReport(window)
})

/** Rounded to a hundredth, because walks in memory take less than one millisecond. */
export const millisecondsSince = (startedAt: number): number =>
  Math.round((performance.now() - startedAt) * 100) / 100
