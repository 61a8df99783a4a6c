/** Reads runs, and the last runs of jobs, with what their events report. */
import type { Db } from '../../db/database.ts'
import type { Amount, Checks, FailedCheck, RunError } from '../../openlineage/facets/run-report.ts'
import { findRuns } from '../../store/openlineage.ts'
import { toUrn, type Urn } from '../../urn/urn.ts'

/** Failed checks shown of a run, of all its datasets. */
const failedShownCount = 100

type Named = { dataset: { urn: Urn } | null }

/**
 * Times are in milliseconds since 1970. Only `run` is known of a run that ended long ago. `sql` and `codeUrl` are those
 * of the newest event of the job.
 */
export type JobRun = {
  run: { urn: Urn }
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
    const { urn, startedAt, endedAt, endedWith, parentUrn, report, sql, codeUrl } = found
    const checks = Object.entries(report?.checks ?? {})
    return {
      run: { urn },
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

const sumOf = (
  checks: readonly [string, { value: Checks }][],
  count: (checks: Checks) => number
): number | null =>
  checks.length === 0 ? null : checks.reduce((sum, [, { value }]) => sum + count(value), 0)

/** Reports are kept by URN, and under an empty text without a dataset. */
const datasetOf = (key: string): { urn: Urn } | null => (key === '' ? null : { urn: toUrn(key) })

const amountsOf = (amounts: { [dataset: string]: { value: Amount } } = {}): (Amount & Named)[] =>
  Object.entries(amounts).map(([dataset, { value }]) => ({ ...value, dataset: datasetOf(dataset) }))
