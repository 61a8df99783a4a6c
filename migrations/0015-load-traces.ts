/** The id under which a client follows the proposals that it sent to be applied later. */
export const up = `
alter table load add column trace_id uuid;
-- Serves POST /openapi/v1/trace/write/{traceId}.
create unique index load_trace_id_key on load (trace_id) where trace_id is not null;
`

export const down = `
drop index load_trace_id_key;
alter table load drop column trace_id;
`
