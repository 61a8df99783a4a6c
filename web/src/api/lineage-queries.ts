/** GraphQL documents of the lineage view. */
import { card, define, type RawCard } from './queries.ts'

const column = `columnRows @include(if: $columns) { total rows { urn path dataType upstreamCount downstreamCount hiddenUpstream hiddenDownstream } }`

const above = (types: readonly string[]): string =>
  types.map((type) => `... on ${type} { domain { domain { parentDomains { domains { urn } } } } }`).join(' ')

export type RawGraphNode = {
  entity: RawCard & {
    domain?: { domain: { parentDomains: { domains: { urn: string }[] } | null } } | null
  }
  side: 'START' | 'UPSTREAM' | 'DOWNSTREAM' | 'ASIDE'
  degree: number | null
  upstreamCount: number
  downstreamCount: number
  hiddenUpstream: number
  hiddenDownstream: number
  expandedUpstream: boolean
  expandedDownstream: boolean
  columnRows?: {
    total: number
    rows: {
      urn: string | null
      path: string
      dataType: string | null
      upstreamCount: number
      downstreamCount: number
      hiddenUpstream: number
      hiddenDownstream: number
    }[]
  } | null
}

export type RawGraph = {
  nodes: RawGraphNode[]
  edges: {
    upstreamUrn: string
    downstreamUrn: string
    level: 'ASSET' | 'COLUMN'
    via: { urn: string; type: string }[]
    viaCount: number
  }[]
  complete: boolean
  /** Null if edges of all times are shown. */
  timeWindow: { rule: string } | null
  totals: {
    upstream: number
    downstream: number
    both: number
    assetEdges: number
    columnEdges: number | null
  }
}

/** Everything that the lineage view shows. */
export const lineageGraph = define<{ lineageGraph: RawGraph }, { input: object; columns: boolean }>(`
query lineage($input: LineageGraphInput!, $columns: Boolean!) {
  lineageGraph(input: $input) {
    nodes {
      entity { ...card ${above(['Dataset', 'DataJob', 'DataFlow', 'Chart', 'Dashboard', 'Container', 'MLModel', 'MLModelGroup', 'MLFeature', 'MLFeatureTable', 'MLPrimaryKey'])} }
      side degree upstreamCount downstreamCount hiddenUpstream hiddenDownstream expandedUpstream expandedDownstream
      ${column}
    }
    edges { upstreamUrn downstreamUrn level via { urn type } viaCount }
    totals { upstream downstream both assetEdges columnEdges }
    complete
    timeWindow { rule }
  }
}${card}`)

/** The neighbours on one side of a card; a stack shows some of them. */
export const lineageSide = define<
  { lineageGraph: { nodes: { entity: RawCard; upstreamCount: number; downstreamCount: number }[] } },
  { input: object }
>(`
query lineageSide($input: LineageGraphInput!) {
  lineageGraph(input: $input) { nodes { upstreamCount downstreamCount entity { ...card } } }
}${card}`)

/** All columns of one asset, those with lineage first. */
export const lineageColumns = define<
  { lineageGraph: { nodes: { columnRows: RawGraphNode['columnRows'] }[] } },
  { urn: string; columns: boolean }
>(`
query lineageColumns($urn: String!, $columns: Boolean!) {
  lineageGraph(input: { urn: $urn, upHops: 0, downHops: 0, count: 1, columns: true, columnRows: 10000 }) { nodes { ${column} } }
}`)

/** How many columns a column is derived from, and how many are derived from it. */
export const columnReach = define<
  { lineageGraph: { totals: { upstream: number; downstream: number; both: number } } },
  { urn: string; since: number | null; until: number | null }
>(`
query columnReach($urn: String!, $since: Long, $until: Long) {
  lineageGraph(input: { urn: $urn, upHops: 0, downHops: 0, count: 1, startTimeMillis: $since, endTimeMillis: $until }) {
    totals { upstream downstream both }
  }
}`)

type RawPaths = { hops: number | null; totalShortest: number; paths: { steps: { entity: RawCard }[] }[] }

/** The shortest paths between two assets, whichever is upstream. */
export const lineagePaths = define<
  { forth: RawPaths; back: RawPaths },
  { from: string; to: string; count: number }
>(`
query paths($from: String!, $to: String!, $count: Int) {
  forth: lineagePaths(input: { from: $from, to: $to, count: $count }) { hops totalShortest paths { steps { entity { ...card } } } }
  back: lineagePaths(input: { from: $to, to: $from, count: $count }) { hops totalShortest paths { steps { entity { ...card } } } }
}${card}`)
