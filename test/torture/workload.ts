/** The changes of the torture: contested edges from a seed, so that a seed identifies a run. */

export type Edge = { upstreamUrn: string; downstreamUrn: string }
export type EdgeChange = { op: 'add' | 'remove'; edge: Edge }

/** A load to send. Its changes are stored as numbers, because there are millions of them. */
export type LoadPlan = { source: string; count: number; changeAt: (index: number) => EdgeChange }

export type Workload = {
  entities: string[]
  edges: Edge[]
  /** Entities that are deleted and created again while the loads run. */
  victims: string[]
  nextLoad: (records: number) => LoadPlan
  /** An edge that most loads change. */
  contested: () => Edge
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
const columnBegin = 'urn:li:schemaField:('
const columnUrn = (asset: string, column: string): string => `${columnBegin}${asset},${column})`

/** Whether the edge begins or ends at the asset or at a column of it. */
export const isAt = ({ upstreamUrn, downstreamUrn }: Edge, asset: string): boolean =>
  [upstreamUrn, downstreamUrn].some((urn) => urn === asset || urn.startsWith(`${columnBegin}${asset},`))

/** Every third edge joins columns. */
const edgesPerColumnEdge = 3

const edgesPerEntity = 10
const victimCount = 5
/**
 * Victims without incoming edges. Adding an edge from one locks only the other end, so no row lock delays
 * its deletion.
 */
const sourceVictimCount = 2
/** The share of changes on a small number of edges, so that loads and calls meet there. */
const contestedShare = 0.5
const contestedEdgesMaxCount = 5_000
const addShare = 0.6

/**
 * Loads that add and remove the same edges in different orders, under two sources. Every other load only
 * adds, as most real loads do.
 */
export function planWorkload(random: Random, edgeCount: number): Workload {
  const entityCount = Math.ceil(edgeCount / edgesPerEntity)
  const entities = Array.from({ length: entityCount }, (_, index) =>
    datasetUrn(`warehouse.contested_${index}`)
  )
  const edges = Array.from({ length: edgeCount }, (_, index): Edge => {
    const downstream = sourceVictimCount + (index % (entityCount - sourceVictimCount))
    const ends = {
      downstreamUrn: datasetUrn(`warehouse.contested_${downstream}`),
      upstreamUrn: datasetUrn(
        `warehouse.contested_${(downstream + 1 + Math.floor(index / (entityCount - sourceVictimCount))) % entityCount}`
      )
    }
    return index % edgesPerColumnEdge !== 0
      ? ends
      : {
          downstreamUrn: columnUrn(ends.downstreamUrn, `to_${index % 4}`),
          upstreamUrn: columnUrn(ends.upstreamUrn, `from_${index % 5}`)
        }
  })
  const contestedCount = Math.min(contestedEdgesMaxCount, Math.ceil(edgeCount / 2))
  let loadCount = 0

  function nextLoad(records: number): LoadPlan {
    const onlyAdds = loadCount % 4 >= 2
    const source = loadCount % 2 === 0 ? 'etl_a' : 'etl_b'
    loadCount += 1
    const numbers = Uint32Array.from({ length: records }, () => {
      const edge = Math.floor(random() * (random() < contestedShare ? contestedCount : edges.length))
      return edge * 2 + (onlyAdds || random() < addShare ? 1 : 0)
    })
    return { source, count: records, changeAt: (index) => changeOf(numbers[index] ?? 0) }
  }

  function changeOf(number: number): EdgeChange {
    const edge = edges[number >>> 1]
    if (!edge) throw new Error('an edge without ends')
    return { op: number % 2 === 1 ? 'add' : 'remove', edge }
  }

  return {
    entities,
    edges,
    victims: entities.slice(0, victimCount),
    nextLoad,
    contested: () => pick(random, edges.slice(0, contestedCount))
  }
}

/** The body of a load. */
export function* linesOf(load: LoadPlan): Generator<string> {
  for (let index = 0; index < load.count; index += 1) {
    const { op, edge } = load.changeAt(index)
    yield `${JSON.stringify({ ...(op === 'remove' ? { op: 'removeEdge' } : {}), ...edge })}\n`
  }
}
