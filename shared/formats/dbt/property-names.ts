/** The names of the properties that a load of a dbt project writes to its assets. */

/** What a node says of itself. Each is absent if the node does not say it. */
export const nodeProperties = [
  'dbt_unique_id',
  'dbt_materialized',
  'dbt_package',
  'dbt_file',
  'dbt_exposure_type',
  'dbt_maturity',
  'dbt_version',
  'dbt_latest_version'
] as const

export type NodeProperty = (typeof nodeProperties)[number]

const metaPrefix = 'dbt_meta.'

/** The property of a key of `meta`. */
export const metaProperty = (key: string): string => `${metaPrefix}${key}`

/** Remembers what the load wrote besides properties. */
export const memoryProperty = 'dbt_wrote'

const namesOfNodes: ReadonlySet<string> = new Set(nodeProperties)

/**
 * Whether the property says what a node says of itself, and so goes when the node no longer says it. The state of
 * the last run stays: a load without run results does not know it.
 */
export const isOfNode = (name: string): boolean => namesOfNodes.has(name) || name.startsWith(metaPrefix)
