/** Merges what the events of a run report, by rules that do not depend on the order in which they arrive. */
import type { JsonValue } from '../model/changes.ts'
import { newest, type Dated } from './dated.ts'
import type { Amount, Checks, RunError, RunReport } from './facets/run-report.ts'

/** The newest report of each kind, and about each dataset. The checks that name no dataset are under ''. */
export type ReportState = {
  error?: Dated<RunError>
  written?: { [dataset: string]: Dated<Amount> }
  read?: { [dataset: string]: Dated<Amount> }
  checks?: { [dataset: string]: Dated<Checks> }
}
/** Datasets of a run about which it keeps reports. */
const reportedKeptCount = 100

export function reportIn(
  known: ReportState | undefined,
  { error, written, read, checks }: RunReport,
  time: number
): { report?: ReportState } {
  const report: ReportState = {
    ...(error ? { error: newest(known?.error ?? null, { time, value: error }) } : pick(known, 'error')),
    ...(written.length > 0
      ? { written: newestOfEach(known?.written, written, time) }
      : pick(known, 'written')),
    ...(read.length > 0 ? { read: newestOfEach(known?.read, read, time) } : pick(known, 'read')),
    ...(checks.length > 0 ? { checks: newestOfEach(known?.checks, checks, time) } : pick(known, 'checks'))
  }
  return Object.keys(report).length === 0 ? {} : { report }
}

function pick<Key extends keyof ReportState>(known: ReportState | undefined, key: Key): Partial<ReportState> {
  return known?.[key] === undefined ? {} : { [key]: known[key] }
}

/** The first datasets in order of name are kept, so that the order of arrival does not matter. */
function newestOfEach<Value extends JsonValue>(
  known: { [dataset: string]: Dated<Value> } | undefined,
  more: readonly (readonly [string, Value])[],
  time: number
): { [dataset: string]: Dated<Value> } {
  const all = { ...known }
  for (const [dataset, value] of more) all[dataset] = newest(all[dataset] ?? null, { time, value })
  return Object.fromEntries(
    Object.entries(all)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, reportedKeptCount)
  )
}
