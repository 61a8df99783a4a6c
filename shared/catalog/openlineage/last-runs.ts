/** Reads runs, and the last runs of jobs, datasets and flows, with what their events report. */
import type { Db } from '../../db/database.ts'
import type { Amount, Checks, FailedCheck, RunError } from '../../openlineage/facets/run-report.ts'
import { findFailedRuns, findJobsOf, findRuns, findRunsOf } from '../../store/openlineage.ts'
import { entityTypeOf, toUrn, type Urn } from '../../urn/urn.ts'

/** Failed checks shown of a run, of all its datasets. */
const failedShownCount = 100

type Named = { dataset: { urn: Urn } | null }

/**
 * Times are in milliseconds since 1970. Only `run` is known of a run that ended long ago. `sql` and `codeUrl` are those
 * of the newest event of the job.
 */
export type JobRun = {
  run: { urn: Urn }
  /** Null for a run of which nothing but its URN is known. */
  job: { urn: Urn } | null
  state: string | null
  startedAt: number | null
  endedAt: number | null
  parent: { urn: Urn } | null
  error: RunError | null
  checksTotal: number | null
  failedChecksTotal: number | null
  failedChecks: (FailedCheck & Named)[]
  written: (Amount & Named)[]
  read: (Amount & Named)[]
  sql: string | null
  codeUrl: string | null
}

/**
 * The runs, in the order of the URNs: of a job its last one, of a run itself. Null for a job without a known run, and
 * for a run of which no event is known any more.
 */
export async function readRuns(db: Db, urns: readonly Urn[]): Promise<(JobRun | null)[]> {
  const runs = await findRuns(db, urns)
  return urns.map((asked) => {
    const found = runs.get(asked)
    if (!found) return null
    const { urn, jobUrn, startedAt, endedAt, endedWith, parentUrn, report, sql, codeUrl } = found
    const checks = Object.entries(report?.checks ?? {})
    return {
      run: { urn },
      job: jobUrn === null ? null : { urn: jobUrn },
      state: startedAt === null ? null : (endedWith ?? 'RUNNING'),
      startedAt,
      endedAt,
      parent: parentUrn === null ? null : { urn: parentUrn },
      error: report?.error?.value ?? null,
      checksTotal: sumOf(checks, ({ total }) => total),
      failedChecksTotal: sumOf(checks, ({ failedTotal }) => failedTotal),
      // Cut here and not where events are merged: a check that has passed since would have to give back its room.
      failedChecks: checks
        .flatMap(([dataset, { value }]) =>
          value.failed.map((check) => ({ ...check, dataset: datasetOf(dataset) }))
        )
        .slice(0, failedShownCount),
      written: amountsOf(report?.written),
      read: amountsOf(report?.read),
      sql,
      codeUrl
    }
  })
}

/** Reads the runs of pairs, and returns those of each URN that was asked, the newest first. */
async function runsByAsked(
  db: Db,
  asked: readonly Urn[],
  pairs: readonly { asked: Urn; found: Urn }[]
): Promise<JobRun[][]> {
  const found = [...new Set(pairs.map((pair) => pair.found))]
  const runs = await readRuns(db, found)
  const runOf = new Map(found.map((urn, index) => [urn, runs[index]]))
  const runsOf = new Map(asked.map((urn): [Urn, JobRun[]] => [urn, []]))
  for (const pair of pairs) {
    const run = runOf.get(pair.found)
    if (run) runsOf.get(pair.asked)?.push(run)
  }
  return asked.map((urn) => (runsOf.get(urn) ?? []).sort((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0)))
}

/**
 * Of each dataset the newest among the last runs of the jobs that write it, of each flow the newest of those of its jobs
 * that failed, or else the newest; in the order of the URNs, null where no run is known.
 */
export async function readLastRunsOf(db: Db, urns: readonly Urn[]): Promise<(JobRun | null)[]> {
  const runs = await runsByAsked(db, urns, await findJobsOf(db, urns))
  return urns.map((urn, index) => {
    const found = runs[index] ?? []
    const failed = entityTypeOf(urn) === 'dataFlow' ? found.find(({ state }) => state === 'FAIL') : undefined
    return failed ?? found[0] ?? null
  })
}

/** The newest runs of each job, the newest first, at most `count` of each; in the order of the jobs. */
export const readRunsOf = async (db: Db, jobs: readonly Urn[], count: number): Promise<JobRun[][]> =>
  runsByAsked(db, jobs, await findRunsOf(db, jobs, count))

/** The newest runs that failed or were stopped and were not repeated since, at most `count`. */
export async function readFailedRuns(db: Db, count: number): Promise<JobRun[]> {
  const runs = await readRuns(db, await findFailedRuns(db, count))
  return runs.flatMap((run) => run ?? [])
}

const sumOf = (
  checks: readonly [string, { value: Checks }][],
  count: (checks: Checks) => number
): number | null =>
  checks.length === 0 ? null : checks.reduce((sum, [, { value }]) => sum + count(value), 0)

/** Reports are kept by URN, and under an empty text without a dataset. */
const datasetOf = (key: string): { urn: Urn } | null => (key === '' ? null : { urn: toUrn(key) })

const amountsOf = (amounts: { [dataset: string]: { value: Amount } } = {}): (Amount & Named)[] =>
  Object.entries(amounts).map(([dataset, { value }]) => ({ ...value, dataset: datasetOf(dataset) }))
