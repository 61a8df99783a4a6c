/** The catalog of the benchmark: a start and 999 assets downstream of it, each with eight columns. */
import type { JsonObject } from '../../shared/model/changes.ts'

export const sizes = { assets: 1_000, edges: 1_500, columns: 8, columnEdgesPerEdge: 3 }
/** A side shows this many neighbours without a stack. */
const fanOutMost = 20

export const assetUrn = (index: number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${['hive', 'kafka', 'snowflake'][index % 3]},shop.area${index % 40}.table_${index},PROD)`
const columnUrn = (index: number, column: number): string =>
  `urn:li:schemaField:(${assetUrn(index)},column_${column})`

/** Numbers from 0 to below `most`, the same in every run. */
function chooser(): (most: number) => number {
  let state = 20_261_125
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state % most
  }
}

/** The number of assets in each layer; the first layer is the start alone. */
const layers = [1, 20, 60, 120, 150, 150, 150, 140, 120, 89]

/**
 * Every asset except the start has an upstream in the layer before it; the other edges lead from any layer
 * to a later one.
 */
export function edgesOfCatalog(): [number, number][] {
  const choose = chooser()
  const layerOf = layers.flatMap((count, layer) => Array.from({ length: count }, () => layer))
  const firstOf = layers.map((_, layer) => layerOf.indexOf(layer))
  const counts = Array.from({ length: sizes.assets }, () => 0)
  const edges = new Map<string, [number, number]>()
  const add = (from: number, to: number): boolean => {
    const leadsOn = (layerOf[from] ?? 0) < (layerOf[to] ?? 0)
    if (!leadsOn || (counts[from] ?? 0) >= fanOutMost || edges.has(`${from} ${to}`)) return false
    counts[from] = (counts[from] ?? 0) + 1
    edges.set(`${from} ${to}`, [from, to])
    return true
  }
  for (let to = 1; to < sizes.assets; to += 1) {
    const above = (layerOf[to] ?? 1) - 1
    while (!add((firstOf[above] ?? 0) + choose(layers[above] ?? 1), to));
  }
  while (edges.size < sizes.edges) add(choose(sizes.assets), choose(sizes.assets))
  return [...edges.values()]
}

export function columnEdgesOf(
  edges: readonly [number, number][]
): { upstreamUrn: string; downstreamUrn: string }[] {
  const choose = chooser()
  return edges.flatMap(([from, to]) => {
    const first = choose(sizes.columns)
    return Array.from({ length: sizes.columnEdgesPerEdge }, (_, index) => ({
      upstreamUrn: columnUrn(from, (first + index) % sizes.columns),
      downstreamUrn: columnUrn(to, (first + 2 * index) % sizes.columns)
    }))
  })
}

export const schemaOf = (index: number): JsonObject => ({
  entityType: 'dataset',
  entityUrn: assetUrn(index),
  changeType: 'UPSERT',
  aspectName: 'schemaMetadata',
  aspect: {
    json: {
      schemaName: `table_${index}`,
      platform: 'urn:li:dataPlatform:hive',
      version: 0,
      hash: '',
      platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
      fields: Array.from({ length: sizes.columns }, (_, column) => ({
        fieldPath: `column_${column}`,
        nativeDataType: 'bigint',
        type: { type: { 'com.linkedin.schema.NumberType': {} } }
      }))
    }
  }
})
