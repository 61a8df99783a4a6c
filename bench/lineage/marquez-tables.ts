/**
 * The tables of Marquez that its lineage query reads: io rows of ten versions of each job, one of which is
 * current.
 */
import { createHash } from 'node:crypto'
import type { Db } from '../../shared/db/database.ts'
import { query } from '../../shared/db/query.ts'
import { copyIn } from './copy-in.ts'
import type { JobGraph } from './marquez-graph.ts'
import { analyze } from './without-indexes.ts'

const versionsPerJob = 10

/** A uuid that looks random, like those of Marquez. */
export function uuidOf(kind: string, number: number): string {
  const hex = createHash('md5').update(`${kind} ${number}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const tables = `
  create table marquez_namespace (uuid uuid primary key, name text not null);
  create table marquez_job (
    uuid uuid primary key, name text not null, namespace_uuid uuid not null, parent_job_uuid uuid, current_version_uuid uuid, current_run_uuid uuid,
    is_hidden boolean not null default false, symlink_target_uuid uuid);
  create table marquez_run (uuid uuid primary key, job_uuid uuid not null, state text not null);
  create table marquez_io (
    job_version_uuid uuid not null, dataset_uuid uuid not null, io_type text not null, job_uuid uuid not null, is_current boolean not null,
    primary key (job_version_uuid, dataset_uuid, io_type));
  create view marquez_job_view as
    select job.*, namespace.name as namespace_name
    from marquez_job as job join marquez_namespace as namespace on namespace.uuid = job.namespace_uuid
    where not job.is_hidden and job.symlink_target_uuid is null;`

/** Returns the number of io rows. The indexes are those that help: by dataset, and of current rows by job. */
export async function loadMarquez(db: Db, graph: JobGraph): Promise<number> {
  for (const statement of tables.split(';').filter((text) => text.trim() !== '')) await query(db, statement)
  await query(db, 'insert into marquez_namespace (uuid, name) values (?::uuid, ?)', [
    uuidOf('namespace', 0),
    'airflow'
  ])
  await copyIn(
    db,
    'marquez_job (uuid, name, namespace_uuid, current_version_uuid, current_run_uuid)',
    jobLines(graph)
  )
  await copyIn(db, 'marquez_run (uuid, job_uuid, state)', runLines(graph))
  await copyIn(
    db,
    'marquez_io (job_version_uuid, dataset_uuid, io_type, job_uuid, is_current)',
    ioLines(graph)
  )
  await query(db, 'create index on marquez_io (dataset_uuid)')
  await query(db, 'create index on marquez_io (job_uuid) where is_current')
  for (const table of ['marquez_job', 'marquez_run', 'marquez_io']) await analyze(db, table)
  const [row] = await query<{ count: number }>(db, 'select count(*) from marquez_io')
  return row?.count ?? 0
}

function* jobLines({ jobCount }: JobGraph): Generator<string> {
  for (let job = 0; job < jobCount; job += 1) {
    yield `${uuidOf('job', job)}\tdag_${job % 800}.task_${job}\t${uuidOf('namespace', 0)}\t${uuidOf('version', job * versionsPerJob)}\t${uuidOf('run', job)}`
  }
}

function* runLines({ jobCount }: JobGraph): Generator<string> {
  for (let job = 0; job < jobCount; job += 1) yield `${uuidOf('run', job)}\t${uuidOf('job', job)}\tCOMPLETED`
}

function* ioLines({ jobCount, inputs, outputs }: JobGraph): Generator<string> {
  for (let job = 0; job < jobCount; job += 1) {
    for (let version = 0; version < versionsPerJob; version += 1) {
      const begin = uuidOf('version', job * versionsPerJob + version)
      const end = `${uuidOf('job', job)}\t${version === 0 ? 't' : 'f'}`
      for (const dataset of inputs[job] ?? []) yield `${begin}\t${uuidOf('dataset', dataset)}\tINPUT\t${end}`
      for (const dataset of outputs[job] ?? [])
        yield `${begin}\t${uuidOf('dataset', dataset)}\tOUTPUT\t${end}`
    }
  }
}
