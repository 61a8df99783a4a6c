/** Aspects that were deleted, of which there are few: who adds edges asks for each owner whether its aspect is one (16 us each by the key of all aspects). */
export const up = `
create index aspect_entity_id_aspect_name_idx on aspect (entity_id, aspect_name) where value is null;
`

export const down = `
drop index aspect_entity_id_aspect_name_idx;
`
