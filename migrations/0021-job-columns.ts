/**
 * The indexes that find the jobs which assert column lineage (field 38: fineGrainedLineages of dataJobInputOutput). A walk along columns
 * returns these jobs; most catalogs have few.
 */
export const up = `
create index statement_job_upstream_idx on statement (upstream_id) where field = 38;
create index statement_job_downstream_idx on statement (downstream_id) where field = 38;
`

export const down = `
drop index statement_job_downstream_idx;
drop index statement_job_upstream_idx;
`
