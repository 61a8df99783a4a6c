/** A load as the server describes it. */
import { exitCodes, Refusal } from '../failure.ts'

export type LoadCounts = { received: number; applied: number; unchanged: number; rejected: number }

/** Other fields are kept, for printing the whole load. */
export type LoadView = {
  id: string
  state: string
  /** Such as `ndjson`. */
  format?: unknown
  error: string | null
  counts: LoadCounts
  /** `merge`, `snapshot` or `undo`. */
  mode?: unknown
  source?: unknown
  atomic?: unknown
  /** The load that this one undoes. */
  undoes?: unknown
  dryRun?: unknown
  /** The changes that a dry run found. */
  report?: unknown
  /** What a snapshot removed. */
  snapshot?: unknown
  /** Columns of a CSV that were not read. */
  ignoredColumns?: unknown
  /** What the load could not use although nothing was rejected. */
  warnings?: unknown
}

const endStates: readonly string[] = ['done', 'failed', 'aborted', 'cancelled']

export function hasEnded(load: LoadView): boolean {
  return endStates.includes(load.state)
}

/** The exit code of a command that last saw the load in this state. */
export function exitCodeOf(load: LoadView): number {
  if (!hasEnded(load)) return exitCodes.stillRunning
  if (load.state !== 'done' || wouldFail(load)) return exitCodes.loadEnded
  return load.counts.rejected > 0 ? exitCodes.rejects : exitCodes.ok
}

/** Whether a dry run found that the load itself would fail. */
const wouldFail = ({ report }: LoadView): boolean => isObject(report) && report.wouldFail === true

/** Throws Refusal if it is not a load. */
export function readLoad(value: unknown): LoadView {
  if (
    isObject(value) &&
    typeof value.id === 'string' &&
    typeof value.state === 'string' &&
    isObject(value.counts)
  ) {
    const { received, applied, unchanged, rejected } = value.counts
    return {
      ...value,
      id: value.id,
      state: value.state,
      error: value.error === null || value.error === undefined ? null : textOf(value.error),
      counts: {
        received: Number(received),
        applied: Number(applied),
        unchanged: Number(unchanged),
        rejected: Number(rejected)
      }
    }
  }
  throw new Refusal(
    'Unexpected answer from the server: not a load. Is this a Tributary server?',
    exitCodes.unreachable
  )
}

/** As `--json` prints it: times in ISO 8601. */
export function loadAsJson(load: LoadView): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(load).map(([name, value]) => [
      name,
      times.includes(name) && typeof value === 'number' ? new Date(value).toISOString() : value
    ])
  )
}

const times: readonly string[] = ['createdAt', 'finishedAt']

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
