/** A load in numbers: the segments of its bar, and whether it has ended. */
import type { Load, LoadCounts } from '../../api/loads.ts'

const ended: readonly string[] = ['done', 'failed', 'aborted', 'cancelled']
export const hasEnded = ({ state }: Pick<Load, 'state'>): boolean => ended.includes(state)

/** Good, a warning, or bad: a colour that only repeats what the words say. */
export type Tone = 'good' | 'warn' | 'bad' | ''

type Ended = Pick<Load, 'state' | 'counts' | 'dryRun' | 'report'>

/** How a load ended: by its state and, once it is done, by what became of its records. */
export function outcomeOf({ state, counts, dryRun, report }: Ended): {
  tone: Tone
  /** How many records were rejected, or would be; null if the state says it all. */
  rejected: 'all' | 'some' | null
  wouldFail: boolean
} {
  const { received, rejected } = counts
  if (dryRun && state === 'done' && report?.wouldFail)
    return { tone: 'bad', rejected: rejectedOf(counts), wouldFail: true }
  if (state === 'failed' || state === 'aborted')
    return { tone: 'bad', rejected: rejectedOf(counts), wouldFail: false }
  if (state !== 'done') return { tone: '', rejected: rejectedOf(counts), wouldFail: false }
  const tone = rejected === 0 ? 'good' : rejected < received ? 'warn' : 'bad'
  return { tone, rejected: rejectedOf(counts), wouldFail: false }
}

const rejectedOf = ({ received, rejected }: LoadCounts): 'all' | 'some' | null =>
  rejected === 0 ? null : rejected < received ? 'some' : 'all'

export const segmentKinds = ['applied', 'unchanged', 'rejected', 'waiting'] as const
export type SegmentKind = (typeof segmentKinds)[number]
export type Segment = { kind: SegmentKind; count: number; percent: number }

/** The number of records without a verdict yet; after the end, of records that never get one. */
export const waitingOf = ({ received, applied, unchanged, rejected }: LoadCounts): number =>
  Math.max(0, received - applied - unchanged - rejected)

/**
 * The segments, 100 percent together, or none for a load without records. Every non-zero segment gets at
 * least half a percent, so that it is visible.
 */
export function segmentsOf(counts: LoadCounts): Segment[] {
  const numbers: { readonly [kind in SegmentKind]: number } = { ...counts, waiting: waitingOf(counts) }
  const total = segmentKinds.reduce((sum, kind) => sum + numbers[kind], 0)
  const shares = segmentKinds.flatMap((kind) => {
    const count = numbers[kind]
    return count === 0 ? [] : [{ kind, count, share: Math.max(count / total, 0.005) }]
  })
  const sum = shares.reduce((all, { share }) => all + share, 0)
  return shares.map(({ kind, count, share }) => ({ kind, count, percent: (100 * share) / sum }))
}

/** The share of received records with a verdict, in whole percent; 100 only if all have one. */
export function percentDone(counts: LoadCounts): number {
  const { received } = counts
  return received === 0 ? 0 : Math.floor((100 * (received - waitingOf(counts))) / received)
}

/** Records with a verdict per second, between two states of a load; null if it is unknown. */
export function rateOf(
  before: { counts: LoadCounts; at: number } | null,
  now: { counts: LoadCounts; at: number }
): number | null {
  if (!before || now.at - before.at < 400) return null
  const done = (counts: LoadCounts): number => counts.received - waitingOf(counts)
  const rate = ((done(now.counts) - done(before.counts)) * 1_000) / (now.at - before.at)
  return rate > 0 ? rate : null
}
