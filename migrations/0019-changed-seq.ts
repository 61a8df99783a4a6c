/**
 * The seq of the change that made a row say what it says, where that is not the row's own: a load that finds all as it says may
 * still raise the order of a row, and an undo restores what another load had made. Null is the seq of the row.
 */
export const up = `
alter table statement add column changed_seq bigint;
alter table edge_patch add column changed_seq bigint;
alter table domain_association add column changed_seq bigint;
`

export const down = `
alter table domain_association drop column changed_seq;
alter table edge_patch drop column changed_seq;
alter table statement drop column changed_seq;
`
