/** Reads the last runs of jobs. */
import type { Db } from '../../db/database.ts'
import { findLastRuns } from '../../store/openlineage.ts'
import type { Urn } from '../../urn/urn.ts'

/** Times are in milliseconds since 1970. Only `run` is known of a run that ended long ago. */
export type JobRun = {
  run: { urn: Urn }
  state: string | null
  startedAt: number | null
  endedAt: number | null
  parent: { urn: Urn } | null
}

/** The last runs, in the order of the jobs; null for a job without a known run. */
export async function readLastRuns(db: Db, jobUrns: readonly Urn[]): Promise<(JobRun | null)[]> {
  const runs = await findLastRuns(db, jobUrns)
  return jobUrns.map((jobUrn) => {
    const found = runs.get(jobUrn)
    if (!found) return null
    return {
      run: { urn: found.urn },
      state: found.startedAt === null ? null : (found.endedWith ?? 'RUNNING'),
      startedAt: found.startedAt,
      endedAt: found.endedAt,
      parent: found.parentUrn === null ? null : { urn: found.parentUrn }
    }
  })
}
