/**
 * The lineage of a job as Marquez reads it, rebuilt from a description of the technique: all jobs with their
 * datasets in arrays, joined with the frontier if the arrays overlap, with the depth as part of the row;
 * afterwards one query for each job's run and one for its parent.
 */
import type { Db, Tx } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { uuidOf } from './marquez-tables.ts'

const lineageSql = `
  with recursive job_io as (
    select
      io.job_uuid,
      coalesce(array_agg(distinct io.dataset_uuid) filter (where io.io_type = 'INPUT'), '{}') as inputs,
      coalesce(array_agg(distinct io.dataset_uuid) filter (where io.io_type = 'OUTPUT'), '{}') as outputs
    from marquez_io as io
    where io.is_current
    group by io.job_uuid
  ),
  lineage (job_uuid, inputs, outputs, depth) as (
    select job_io.job_uuid, job_io.inputs, job_io.outputs, 0
    from job_io
    where job_io.job_uuid = ?::uuid
    union
    select job_io.job_uuid, job_io.inputs, job_io.outputs, lineage.depth + 1
    from job_io, lineage
    where job_io.job_uuid <> lineage.job_uuid
      and array_cat(job_io.inputs, job_io.outputs) && array_cat(lineage.inputs, lineage.outputs)
      and lineage.depth < ?::int
  ),
  without_io as (
    select job.uuid as job_uuid, '{}'::uuid[] as inputs, '{}'::uuid[] as outputs, 0 as depth
    from marquez_job as job
    where job.uuid = ?::uuid and not exists (select from job_io where job_io.job_uuid = job.uuid)
  )
  select distinct on (job.uuid) job.*, found.inputs, found.outputs
  from (select * from lineage union all select * from without_io) as found
  join marquez_job_view as job on job.uuid = found.job_uuid`

export type MarquezJob = { uuid: string; current_run_uuid: string }

/** The result contains the start. */
export async function walkAsMarquez(tx: Tx, job: number, depth: number): Promise<MarquezJob[]> {
  const uuid = uuidOf('job', job)
  return query<MarquezJob>(tx, lineageSql, [uuid, depth, uuid])
}

/**
 * The 2N + 3 queries that follow for N jobs: the requested node, then each job's run and parent, then the
 * datasets. Returns their number.
 */
export async function followUpAsMarquez(db: Db, jobs: readonly MarquezJob[]): Promise<number> {
  const [first] = jobs
  await query(db, 'select uuid from marquez_job_view where uuid = ?::uuid', [first?.uuid ?? null])
  await query(db, 'select current_version_uuid from marquez_job where uuid = ?::uuid', [first?.uuid ?? null])
  for (const job of jobs) {
    await query(db, 'select * from marquez_run where uuid = ?::uuid', [job.current_run_uuid])
    await query(
      db,
      'select parent.* from marquez_job as job join marquez_job as parent on parent.uuid = job.parent_job_uuid where job.uuid = ?::uuid',
      [job.uuid]
    )
  }
  await query(
    db,
    'select distinct dataset_uuid from marquez_io where is_current and job_uuid = any(?::uuid[])',
    [jobs.map((job) => job.uuid)]
  )
  return jobs.length * 2 + 3
}
