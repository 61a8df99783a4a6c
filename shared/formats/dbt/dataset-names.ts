/**
 * Names the tables of a dbt project as `dbt-ol` does, so that a load and the OpenLineage events of the same
 * project mean the same assets.
 */
import { CatalogError } from '../../errors.ts'
import type { Connections } from '../../openlineage/connections.ts'
import { resolveDataset, type ResolvedDataset } from '../../openlineage/names.ts'

/**
 * Adapters whose namespace is not `<adapter>://`. The host is missing, because neither a manifest nor a URN
 * contains it.
 */
const namespaces: ReadonlyMap<string, string> = new Map(
  Object.entries({
    athena: 'awsathena://',
    bigquery: 'bigquery',
    fabric: 'fabric-warehouse://',
    glue: 'arn:aws:glue:',
    sqlserver: 'mssql://',
    synapse: 'mssql://',
    watsonx_presto: 'presto://'
  })
)

export const namespaceOfAdapter = (adapter: string): string => namespaces.get(adapter) ?? `${adapter}://`

/** Throws BAD_REQUEST for a path without parts, and what resolveDataset throws. */
export function resolveNode(
  namespace: string,
  path: readonly string[],
  connections: Connections | undefined
): ResolvedDataset {
  if (path.length === 0)
    throw new CatalogError('BAD_REQUEST', 'The node has neither database, schema nor name')
  return resolveDataset({ namespace, name: path.join('.') }, connections)
}
