/** dbt projects for tests: manifests, catalogs and run results with the content that a test names. */
import type { JsonObject } from '../../shared/model/changes.ts'

export type TestNode = JsonObject & { unique_id: string }

/**
 * A node of `shop.public` on Postgres that depends on the named nodes. `id` is, for example,
 * `model.shop.orders`.
 */
export function node(id: string, dependsOn: readonly string[] = [], more: JsonObject = {}): TestNode {
  const [resourceType = '', packageName = '', ...rest] = id.split('.')
  const name = rest.at(-1) ?? ''
  return {
    unique_id: id,
    resource_type: resourceType,
    package_name: packageName,
    name,
    ...(resourceType === 'source' ? { identifier: name } : { alias: name }),
    database: 'shop',
    schema: 'public',
    config: { enabled: true, materialized: resourceType === 'model' ? 'table' : resourceType },
    depends_on: { macros: [], nodes: [...dependsOn] },
    columns: {},
    ...more
  }
}

export const ephemeral = { config: { enabled: true, materialized: 'ephemeral' } }

const sections: { [type: string]: string } = {
  source: 'sources',
  exposure: 'exposures',
  metric: 'metrics',
  semantic_model: 'semantic_models',
  saved_query: 'saved_queries',
  unit_test: 'unit_tests',
  function: 'functions'
}

export function manifest(nodes: readonly TestNode[], metadata: JsonObject = {}, version = 'v12'): JsonObject {
  const document: JsonObject = {
    metadata: {
      dbt_schema_version: `https://schemas.getdbt.com/dbt/manifest/${version}.json`,
      project_name: 'shop',
      adapter_type: 'postgres',
      ...metadata
    },
    // Parts that a load does not read, with brackets and quotes in them.
    macros: { 'macro.dbt.x': { macro_sql: '{% macro x() %}"]}{[\\"{% endmacro %}' } },
    nodes: {},
    sources: {},
    exposures: {},
    metrics: {},
    semantic_models: {},
    saved_queries: {},
    unit_tests: {},
    functions: {},
    parent_map: {}
  }
  for (const each of nodes) {
    const section = document[sections[each.unique_id.split('.')[0] ?? ''] ?? 'nodes']
    if (typeof section === 'object' && section !== null && !Array.isArray(section))
      section[each.unique_id] = each
  }
  return document
}

/** `columns` has the columns of each node by its id, as name and type, in order. */
export const catalog = (columns: {
  [id: string]: readonly (readonly [name: string, type: string])[]
}): JsonObject => ({
  metadata: { dbt_schema_version: 'https://schemas.getdbt.com/dbt/catalog/v1.json' },
  nodes: Object.fromEntries(
    Object.entries(columns).map(([id, list]) => [
      id,
      {
        metadata: { type: 'BASE TABLE', schema: 'public', name: id },
        unique_id: id,
        columns: Object.fromEntries(
          list.map(([name, type], at) => [name, { name, type, index: at + 1, comment: null }])
        )
      }
    ])
  ),
  sources: {},
  errors: null
})

export const runResults = (statuses: { [id: string]: string }): JsonObject => ({
  metadata: { dbt_schema_version: 'https://schemas.getdbt.com/dbt/run-results/v6.json' },
  results: Object.entries(statuses).map(([id, status]) => ({
    unique_id: id,
    status,
    timing: [
      { name: 'compile', started_at: '2026-01-01T00:00:00Z', completed_at: '2026-01-01T00:00:01Z' },
      { name: 'execute', started_at: '2026-01-01T00:00:01Z', completed_at: '2026-01-01T00:00:02Z' }
    ]
  }))
})

export const table = (name: string): string =>
  `urn:li:dataset:(urn:li:dataPlatform:postgres,shop.public.${name},PROD)`
