/** The GraphQL documents about runs: of jobs, of flows, and those that failed. */
import { card, define, type RawCard, type RunOf } from './queries.ts'

export type RawJob = RawCard & {
  runs: (RunOf & { run: { urn: string } })[] | null
  reads: { relationships: { entity: RawCard | null }[] } | null
  writes: { relationships: { entity: RawCard | null }[] } | null
}

/** A job, or the jobs of a flow: their last runs, and what they read and write. */
export const jobRows = define<
  {
    entity:
      | (Partial<RawJob> & {
          urn: string
          jobs?: { total: number; relationships: { entity: RawJob | null }[] } | null
        })
      | null
  },
  { urn: string }
>(`
fragment jobRow on DataJob {
  ...card
  runs(count: 10) { run { urn } state startedAt endedAt }
  reads: lineage(input: { direction: UPSTREAM, count: 20 }) { relationships { entity { ...card } } }
  writes: lineage(input: { direction: DOWNSTREAM, count: 20 }) { relationships { entity { ...card } } }
}
query jobRows($urn: String!) {
  entity(urn: $urn) {
    urn
    ...jobRow
    ... on DataFlow { jobs: relationships(input: { types: ["IsPartOf"], direction: INCOMING, relatedEntityTypes: [DATA_JOB] }) { total relationships { entity { ...jobRow } } } }
  }
}${card}`)

/** The jobs whose last run failed. */
export const failedRuns = define<
  {
    failedRuns: (RunOf & {
      run: { urn: string }
      error: { message: string } | null
      job: RawCard | null
    })[]
  },
  { count: number }
>(`
query failedRuns($count: Int) {
  failedRuns(count: $count) { run { urn } state startedAt endedAt error { message } job { ...card } }
}${card}`)

type Amount = {
  dataset: { urn: string } | null
  rows: number | null
  bytes: number | null
  files: number | null
}

/** What events report about a run. */
export type RunReport = RunOf & {
  run: { urn: string }
  error: { message: string; stackTrace: string | null } | null
  checksTotal: number | null
  failedChecksTotal: number | null
  failedChecks: {
    dataset: { urn: string } | null
    name: string
    column: string | null
    severity: string | null
    message: string | null
  }[]
  written: Amount[]
  read: Amount[]
  sql: string | null
  codeUrl: string | null
}

const runReport = `
fragment runReport on JobRun {
  run { urn } state startedAt endedAt
  error { message stackTrace }
  checksTotal failedChecksTotal
  failedChecks { dataset { urn } name column severity message }
  written { dataset { urn } rows bytes files }
  read { dataset { urn } rows bytes files }
  sql codeUrl
}`

export const reportOfRun = define<
  { dataProcessInstance: { jobRun: RunReport | null } | null },
  { urn: string }
>(`
query reportOfRun($urn: String!) {
  dataProcessInstance(urn: $urn) { jobRun { ...runReport } }
}${runReport}`)

export const runsOfJob = define<
  {
    dataJob: {
      lastRun: RunReport | null
      runs: (RunOf & { run: { urn: string } })[] | null
      all: { total: number; relationships: { entity: { urn: string; name?: string | null } | null }[] } | null
    } | null
  },
  { urn: string; count: number }
>(`
query runsOfJob($urn: String!, $count: Int) {
  dataJob(urn: $urn) {
    lastRun { ...runReport }
    runs(count: $count) { run { urn } state startedAt endedAt }
    all: relationships(input: { types: ["InstanceOf"], direction: INCOMING, count: $count }) {
      total
      relationships { entity { urn ... on DataProcessInstance { name } } }
    }
  }
}${runReport}`)
