/**
 * The index that finds who refers to an entity covers every aspect that refers to one. Schemas are long: of them the references alone are indexed.
 *
 * What a run of a data process read and wrote (`inputs`, `outputs`) is no lineage any more, only the lists of edges are: the statements of the
 * former, fields 160 and 176, go back into the documents.
 */
export const up = `
update aspect
set value = jsonb_set(aspect.value, array[stated.list], stated.urns)
from (
  select
    linked.owner_id,
    case linked.field when 160 then 'dataProcessInstanceInput' else 'dataProcessInstanceOutput' end as aspect_name,
    case linked.field when 160 then 'inputs' else 'outputs' end as list,
    jsonb_agg(other.urn order by linked.position) as urns
  from (
    select owner_id, field, case field when 160 then upstream_id else downstream_id end as other_id, min(position) as position
    from statement
    where field in (160, 176)
    group by 1, 2, 3
  ) as linked
  join entity other on other.id = linked.other_id
  group by linked.owner_id, linked.field
) as stated
where aspect.entity_id = stated.owner_id and aspect.aspect_name = stated.aspect_name and aspect.value is not null;
delete from statement where field in (160, 176);
delete from snapshot_statement where field in (160, 176);
drop index aspect_value_idx;
create index aspect_value_idx on aspect using gin (value jsonb_path_ops) with (gin_pending_list_limit = 256)
  where aspect_name in (
    'access', 'actors', 'agentSkillInfo', 'aiAgentDependencies', 'aiAgentInfo', 'apiSignature', 'applicationProperties', 'applications',
    'assertionInfo', 'assetSettings', 'businessAttributeInfo', 'businessAttributes', 'container', 'corpGroupInfo', 'corpUserEditableInfo',
    'corpUserInfo', 'corpUserSettings', 'dataContractProperties', 'dataHubExecutionRequestInput', 'dataHubFileInfo',
    'dataHubPageTemplateProperties', 'dataHubPolicyInfo', 'dataProcessInstanceInput', 'dataProcessInstanceOutput',
    'dataProcessInstanceRelationships', 'dataProductProperties', 'documentInfo', 'editableSchemaMetadata', 'erModelRelationshipProperties',
    'formInfo', 'globalSettingsInfo', 'globalTags', 'glossaryNodeInfo', 'glossaryRelatedTerms', 'glossaryTermInfo', 'glossaryTerms',
    'groupMembership', 'incidentInfo', 'incidentsSummary', 'logicalParent', 'metricInfo', 'metricRelationships', 'metricUpstreams',
    'mlFeatureTableProperties', 'mlModelProperties', 'nativeGroupMembership', 'ownership', 'postInfo', 'propertyDefinition', 'roleMembership',
    'searchTemplateProperties', 'semanticModelProperties', 'siblings', 'slackUserInfo', 'testResults', 'versionProperties'
  );
create index aspect_column_reference_idx on aspect using gin ((
    jsonb_path_query_array(value, '$."fields"[*]."globalTags"."tags"[*]."tag"') || jsonb_path_query_array(value, '$."fields"[*]."glossaryTerms"."terms"[*]."urn"')
    || jsonb_path_query_array(value, '$."foreignKeys"[*]."foreignDataset"') || jsonb_path_query_array(value, '$."foreignKeys"[*]."foreignFields"[*]')
  ) jsonb_path_ops) with (gin_pending_list_limit = 256)
  where aspect_name = 'schemaMetadata';
`

export const down = `
drop index aspect_column_reference_idx;
drop index aspect_value_idx;
create index aspect_value_idx on aspect using gin (value jsonb_path_ops) with (gin_pending_list_limit = 256)
  where aspect_name in (
    'container', 'glossaryTermInfo', 'glossaryNodeInfo', 'ownership', 'globalTags', 'glossaryTerms', 'mlFeatureTableProperties',
    'dataProcessInstanceRelationships', 'dataProductProperties', 'siblings', 'groupMembership', 'nativeGroupMembership'
  );
`
