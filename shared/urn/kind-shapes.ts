/**
 * The shape of each kind of URN: its number of parts, which of them are URNs, and their names in the key
 * aspect. A kind that is not listed has one part, or a tuple of any parts, and `id` in its key aspect.
 */
export type KindShape = {
  /** The names of the parts in the key aspect, in the order of the URN. Two or more names make a tuple. */
  keyFields: readonly [string, ...string[]]
  /** The first part must be a URN of this entity type; `*` allows any type. */
  firstIs?: string
  /** The values that the last part may have. */
  lastIn?: readonly string[]
}

/** Environments of a dataset, as DataHub's FabricType spells them. */
export const fabricTypes = [
  'DEV',
  'TEST',
  'QA',
  'UAT',
  'EI',
  'PRE',
  'STG',
  'NON_PROD',
  'PROD',
  'CORP',
  'RVW',
  'PRD',
  'TST',
  'SIT',
  'SBX',
  'SANDBOX',
  'CERT'
] as const

const shapes: Record<string, KindShape> = {
  dataset: { keyFields: ['platform', 'name', 'origin'], firstIs: 'dataPlatform', lastIn: fabricTypes },
  dataJob: { keyFields: ['flow', 'jobId'], firstIs: 'dataFlow' },
  dataFlow: { keyFields: ['orchestrator', 'flowId', 'cluster'] },
  chart: { keyFields: ['dashboardTool', 'chartId'] },
  dashboard: { keyFields: ['dashboardTool', 'dashboardId'] },
  notebook: { keyFields: ['notebookTool', 'notebookId'] },
  mlFeature: { keyFields: ['featureNamespace', 'name'] },
  mlPrimaryKey: { keyFields: ['featureNamespace', 'name'] },
  mlFeatureTable: { keyFields: ['platform', 'name'], firstIs: 'dataPlatform' },
  mlModel: { keyFields: ['platform', 'name', 'origin'], firstIs: 'dataPlatform' },
  mlModelGroup: { keyFields: ['platform', 'name', 'origin'], firstIs: 'dataPlatform' },
  mlModelDeployment: { keyFields: ['platform', 'name', 'origin'], firstIs: 'dataPlatform' },
  schemaField: { keyFields: ['parent', 'fieldPath'], firstIs: '*' },
  dataPlatformInstance: { keyFields: ['platform', 'instance'], firstIs: 'dataPlatform' },
  metric: { keyFields: ['platform', 'path', 'id'], firstIs: 'dataPlatform' },
  semanticModel: { keyFields: ['platform', 'path', 'id'], firstIs: 'dataPlatform' },
  dataProcess: { keyFields: ['name', 'orchestrator', 'origin'], lastIn: fabricTypes },
  dataHubRetention: { keyFields: ['entityName', 'aspectName'] },
  telemetry: { keyFields: ['name'] },
  versionSet: { keyFields: ['id', 'entityType'] },
  domain: { keyFields: ['id'] },
  dataPlatform: { keyFields: ['platformName'] },
  corpuser: { keyFields: ['username'] },
  corpGroup: { keyFields: ['name'] },
  container: { keyFields: ['guid'] },
  tag: { keyFields: ['name'] },
  glossaryTerm: { keyFields: ['name'] },
  glossaryNode: { keyFields: ['name'] },
  assertion: { keyFields: ['assertionId'] },
  dataProcessInstance: { keyFields: ['id'] },
  dataProduct: { keyFields: ['id'] },
  query: { keyFields: ['id'] }
}

const byKind = new Map(Object.entries(shapes))

/** The shape of a kind, or undefined if the kind is not known. */
export const kindShapeOf = (entityType: string): KindShape | undefined => byKind.get(entityType)
