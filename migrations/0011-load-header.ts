/**
 * The header of a CSV load: the names of its columns. Its rows are stored as they were sent, so whoever reads them again (a
 * worker, a retry, a file of rejects) needs it.
 */
export const up = `
alter table load add column header text;
`

export const down = `
alter table load drop column header;
`
