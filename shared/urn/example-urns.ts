/** Chooses an example URN for an error message, of the kind that was expected. */
const examples: Record<string, string> = {
  dataset: 'urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD)',
  schemaField: 'urn:li:schemaField:(urn:li:dataset:(urn:li:dataPlatform:hive,shop.orders,PROD),amount)',
  dataFlow: 'urn:li:dataFlow:(airflow,nightly,PROD)',
  dataJob: 'urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,PROD),load_orders)',
  dataProcessInstance: 'urn:li:dataProcessInstance:run-1',
  chart: 'urn:li:chart:(looker,revenue)',
  dashboard: 'urn:li:dashboard:(looker,sales)',
  notebook: 'urn:li:notebook:(querybook,773)',
  container: 'urn:li:container:shop',
  mlModel: 'urn:li:mlModel:(urn:li:dataPlatform:mlflow,churn,PROD)',
  mlModelGroup: 'urn:li:mlModelGroup:(urn:li:dataPlatform:mlflow,churn,PROD)',
  mlFeature: 'urn:li:mlFeature:(users,age)',
  mlFeatureTable: 'urn:li:mlFeatureTable:(urn:li:dataPlatform:feast,users)',
  mlPrimaryKey: 'urn:li:mlPrimaryKey:(users,user_id)',
  domain: 'urn:li:domain:finance',
  dataPlatform: 'urn:li:dataPlatform:hive',
  dataPlatformInstance: 'urn:li:dataPlatformInstance:(urn:li:dataPlatform:hive,main)',
  corpuser: 'urn:li:corpuser:jdoe',
  corpGroup: 'urn:li:corpGroup:finance',
  ownershipType: 'urn:li:ownershipType:steward',
  tag: 'urn:li:tag:pii',
  glossaryTerm: 'urn:li:glossaryTerm:revenue',
  glossaryNode: 'urn:li:glossaryNode:finance',
  dataProduct: 'urn:li:dataProduct:orders',
  query: 'urn:li:query:daily-orders'
}

const byType = new Map(Object.entries(examples))

/** The kind of URN that a field's name suggests. */
const byField: readonly [RegExp, string][] = [
  [/domain(?:s|Urn)?$/i, 'domain'],
  [/(?:column|schemaField)(?:s|Urn)?$/i, 'schemaField'],
  [/fineGrainedLineages\.(?:up|down)streams$/, 'schemaField'],
  [/query(?:Urn)?$/i, 'query'],
  [/job(?:s|Urn)?$/i, 'dataJob'],
  [/(?:owner|actor)(?:Urn)?$/i, 'corpuser'],
  [/container(?:Urn)?$/i, 'container'],
  [/typeUrn$/, 'ownershipType']
]

/**
 * `wanted` is the expected entity type. If it is absent or unknown, the field's name decides; for any asset
 * the example is a dataset.
 */
export function exampleUrn(field: string, wanted: string | undefined): string {
  const named = field.replaceAll(/\[\d+\]/g, '')
  const kind =
    wanted !== undefined && byType.has(wanted)
      ? wanted
      : (byField.find(([pattern]) => pattern.test(named))?.[1] ?? 'dataset')
  return byType.get(kind) ?? ''
}
