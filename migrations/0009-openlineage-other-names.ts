/** What events say of a dataset under its other names is kept by name: for paths it was, and for renames it is from now on. */
export const up = `
update openlineage_state
set state = (state - 'ofPaths') || jsonb_build_object('ofNames', state -> 'ofPaths')
where state ? 'ofPaths';
`
