/**
 * Finds who refers to an entity: by an aspect that names it (its container, an owner, a tag), and the jobs of a data flow,
 * whose URNs begin with it. A long pending list of the first would be read by each question.
 */
export const up = `
create index aspect_value_idx on aspect using gin (value jsonb_path_ops) with (gin_pending_list_limit = 256)
  where aspect_name in (
    'container', 'glossaryTermInfo', 'glossaryNodeInfo', 'ownership', 'globalTags', 'glossaryTerms', 'mlFeatureTableProperties',
    'dataProcessInstanceRelationships', 'dataProductProperties', 'siblings', 'groupMembership', 'nativeGroupMembership'
  );
create index entity_urn_idx on entity (urn) where entity_type = 'dataJob';
`

export const down = `
drop index entity_urn_idx;
drop index aspect_value_idx;
`
