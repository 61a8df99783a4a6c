/**
 * Class names of aspects that are kept as sent: what their values are wrapped in on read-back, and what legacy snapshots
 * call them. A name that is not listed gets a class derived from it.
 */
const namespaces: { [namespace: string]: readonly string[] } = {
  'com.linkedin.common': [
    'globalTags', 'glossaryTerms', 'subTypes', 'browsePaths', 'browsePathsV2', 'dataPlatformInstance', 'institutionalMemory', 'deprecation', 'siblings', 'operation', 'origin',
    'embed', 'cost', 'access', 'forms', 'documentation', 'incidentsSummary', 'dataTransformLogic', 'displayProperties', 'versionProperties', 'assertionsSummary'
  ],
  'com.linkedin.container': ['container', 'containerProperties', 'editableContainerProperties'],
  'com.linkedin.dataset': ['datasetProfile', 'datasetUsageStatistics', 'viewProperties', 'editableDatasetProperties', 'datasetDeprecation', 'datasetUpstreamLineage', 'partitionsSummary'],
  'com.linkedin.schema': ['editableSchemaMetadata'],
  'com.linkedin.schemafield': ['schemafieldInfo', 'schemaFieldAliases'],
  'com.linkedin.structured': ['structuredProperties'],
  'com.linkedin.query': ['queryProperties', 'querySubjects', 'queryUsageStatistics'],
  'com.linkedin.chart': ['chartQuery', 'chartUsageStatistics', 'editableChartProperties'],
  'com.linkedin.dashboard': ['dashboardUsageStatistics', 'editableDashboardProperties'],
  'com.linkedin.datajob': ['editableDataJobProperties', 'editableDataFlowProperties', 'versionInfo'],
  'com.linkedin.dataplatform': ['dataPlatformInfo'],
  'com.linkedin.dataplatforminstance': ['dataPlatformInstanceProperties', 'icebergWarehouseInfo'],
  'com.linkedin.dataprocess': ['dataProcessInstanceProperties', 'dataProcessInstanceRelationships', 'dataProcessInstanceRunEvent'],
  'com.linkedin.assertion': ['assertionInfo', 'assertionRunEvent', 'assertionActions'],
  'com.linkedin.incident': ['incidentInfo'],
  'com.linkedin.tag': ['tagProperties'],
  'com.linkedin.glossary': ['glossaryTermInfo', 'glossaryNodeInfo', 'glossaryRelatedTerms'],
  'com.linkedin.identity': [
    'corpUserInfo', 'corpUserEditableInfo', 'corpUserStatus', 'corpUserCredentials', 'corpUserSettings', 'corpGroupInfo', 'corpGroupEditableInfo', 'groupMembership', 'nativeGroupMembership',
    'roleMembership'
  ],
  'com.linkedin.dataproduct': ['dataProductProperties'],
  'com.linkedin.application': ['applicationProperties', 'applications'],
  'com.linkedin.datacontract': ['dataContractProperties', 'dataContractStatus'],
  'com.linkedin.test': ['testInfo', 'testResults'],
  'com.linkedin.form': ['formInfo', 'dynamicFormAssignment'],
  'com.linkedin.businessattribute': ['businessAttributeInfo', 'businessAttributes'],
  'com.linkedin.ingestion': ['dataHubIngestionSourceInfo'],
  'com.linkedin.platformresource': ['platformResourceInfo'],
  'com.linkedin.logical': ['logicalParent'],
  'com.linkedin.ml.metadata': ['intendedUse', 'sourceCode'],
  'com.linkedin.versionset': ['versionSetProperties']
}

/** Names whose class is not the name capitalised. */
const irregular: { [aspectName: string]: string } = {
  propertyDefinition: 'com.linkedin.structured.StructuredPropertyDefinition',
  structuredPropertySettings: 'com.linkedin.structured.StructuredPropertySettings',
  dataHubExecutionRequestInput: 'com.linkedin.execution.ExecutionRequestInput',
  dataHubExecutionRequestSignal: 'com.linkedin.execution.ExecutionRequestSignal',
  dataHubExecutionRequestResult: 'com.linkedin.execution.ExecutionRequestResult',
  dataHubPolicyInfo: 'com.linkedin.policy.DataHubPolicyInfo',
  dataHubRoleInfo: 'com.linkedin.policy.DataHubRoleInfo',
  dataHubViewInfo: 'com.linkedin.view.DataHubViewInfo',
  erModelRelationshipProperties: 'com.linkedin.ermodelrelation.ERModelRelationshipProperties',
  editableERModelRelationshipProperties: 'com.linkedin.ermodelrelation.EditableERModelRelationshipProperties',
  editableMlModelProperties: 'com.linkedin.ml.metadata.EditableMLModelProperties',
  editableMlModelGroupProperties: 'com.linkedin.ml.metadata.EditableMLModelGroupProperties',
  editableMlFeatureProperties: 'com.linkedin.ml.metadata.EditableMLFeatureProperties',
  editableMlFeatureTableProperties: 'com.linkedin.ml.metadata.EditableMLFeatureTableProperties',
  editableMlPrimaryKeyProperties: 'com.linkedin.ml.metadata.EditableMLPrimaryKeyProperties',
  mlModelDeploymentProperties: 'com.linkedin.ml.metadata.MLModelDeploymentProperties',
  mlHyperParam: 'com.linkedin.ml.metadata.MLHyperParam',
  mlMetric: 'com.linkedin.ml.metadata.MLMetric',
  mlTrainingRunProperties: 'com.linkedin.ml.metadata.MLTrainingRunProperties',
  mlModelFactorPrompts: 'com.linkedin.ml.metadata.MLModelFactorPrompts',
  mlModelMetrics: 'com.linkedin.ml.metadata.Metrics',
  mlModelEvaluationData: 'com.linkedin.ml.metadata.EvaluationData',
  mlModelTrainingData: 'com.linkedin.ml.metadata.TrainingData',
  mlModelQuantitativeAnalyses: 'com.linkedin.ml.metadata.QuantitativeAnalyses',
  mlModelEthicalConsiderations: 'com.linkedin.ml.metadata.EthicalConsiderations',
  mlModelCaveatsAndRecommendations: 'com.linkedin.ml.metadata.CaveatsAndRecommendations'
}

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** Class of each aspect that is not modelled, by the aspect's name. */
export const plainAspectClasses: ReadonlyMap<string, string> = new Map([
  ...Object.entries(namespaces).flatMap(([namespace, names]) => names.map((name): [string, string] => [name, `${namespace}.${capitalised(name)}`])),
  ...Object.entries(irregular)
])

/** The class of an aspect nobody has told us of. */
export const derivedClass = (aspectName: string): string => `com.linkedin.common.${capitalised(aspectName)}`

/** The aspect name of a class nobody has told us of: its last segment, the leading capitals lowered (MLModelFactors: mlModelFactors). */
export const derivedAspectName = (className: string): string => {
  const name = className.slice(className.lastIndexOf('.') + 1)
  let capitals = 0
  while (capitals < name.length && name.charAt(capitals) !== name.charAt(capitals).toLowerCase()) capitals += 1
  const lowered = capitals > 1 && capitals < name.length ? capitals - 1 : capitals
  return name.slice(0, lowered).toLowerCase() + name.slice(lowered)
}

/** Aspects that are events in time: each is kept, by its timestamp. */
export const timeseriesAspects: ReadonlySet<string> = new Set([
  'datasetProfile', 'datasetUsageStatistics', 'operation', 'assertionRunEvent', 'chartUsageStatistics', 'dashboardUsageStatistics', 'queryUsageStatistics', 'dataProcessInstanceRunEvent',
  'dataHubIngestionRunSummary', 'dataHubIngestionCheckpoint', 'usageEvent'
])
