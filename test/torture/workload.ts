/** What the torture does to the catalog: contested edges, seeded, so that a seed names a run. */

export type Edge = { upstreamUrn: string, downstreamUrn: string }
export type LoadPlan = { source: string, lines: { op: 'add' | 'remove', edge: number }[] }

export type Workload = {
  entities: string[]
  edges: Edge[]
  loads: LoadPlan[]
  /** Entities that are deleted and made again while the loads run. */
  victims: string[]
}

export type Random = () => number

/** mulberry32: small, seeded and good enough to pick edges. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const pick = <Item>(random: Random, items: readonly Item[]): Item => {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

const datasetUrn = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:torture,${name},PROD)`

/** Loads that add and remove the same edges, in different orders, under two sources. */
export function planWorkload(random: Random, size: { edges: number, loads: number, recordsPerLoad: number }): Workload {
  const entityCount = Math.ceil(size.edges / 10)
  const entities = Array.from({ length: entityCount }, (_, index) => datasetUrn(`warehouse.contested_${index}`))
  const edges = Array.from({ length: size.edges }, (_, index): Edge => {
    const downstream = index % entityCount
    return { downstreamUrn: datasetUrn(`warehouse.contested_${downstream}`), upstreamUrn: datasetUrn(`warehouse.contested_${(downstream + 1 + Math.floor(index / entityCount)) % entityCount}`) }
  })
  const loads = Array.from({ length: size.loads }, (_, index): LoadPlan => ({
    source: index % 2 === 0 ? 'etl_a' : 'etl_b',
    lines: Array.from({ length: size.recordsPerLoad }, () => ({ op: random() < 0.6 ? 'add' : 'remove', edge: Math.floor(random() * edges.length) }))
  }))
  return { entities, edges, loads, victims: entities.slice(0, 5) }
}

/** The body of a load. */
export function* linesOf(workload: Workload, load: LoadPlan): Generator<string> {
  for (const { op, edge } of load.lines) {
    yield `${JSON.stringify({ ...(op === 'remove' ? { op: 'removeEdge' } : {}), ...workload.edges[edge] })}\n`
  }
}
