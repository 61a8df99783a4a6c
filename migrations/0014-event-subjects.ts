/**
 * A stored event can be found by what it is about. A process of the version before leaves the column null: its
 * events are found by time only.
 */
export const up = `
-- The URNs of its run, its job and the datasets that it names.
alter table openlineage_event add column subjects text[];
`
