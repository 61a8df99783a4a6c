/** GraphQL documents of the lineage view. */
import { card, define, type RawCard } from './queries.ts'

const column = `columnRows @include(if: $columns) { total rows { urn path dataType upstreamCount downstreamCount hiddenUpstream hiddenDownstream } }`

/** The types that lineage leads to and that have owners, tags and terms, and can be removed. */
const describedTypes = [
  'Dataset',
  'DataJob',
  'Chart',
  'Dashboard',
  'MLModel',
  'MLModelGroup',
  'MLFeature',
  'MLPrimaryKey'
]
const onEach = (fields: string): string =>
  describedTypes.map((type) => `... on ${type} { ${fields} }`).join(' ')

export type RawGraphNode = {
  entity: RawCard & { status?: { removed: boolean } | null }
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
      entity { ...card ${onEach('status { removed }')} }
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

/** Every edge between columns on the way to or from a column. */
export const columnPaths = define<
  { lineageGraph: { edges: { upstreamUrn: string; downstreamUrn: string }[] } },
  { urn: string; count: number; since: number | null; until: number | null }
>(`
query columnPaths($urn: String!, $count: Int, $since: Long, $until: Long) {
  lineageGraph(input: { urn: $urn, upHops: 1000, downHops: 1000, count: $count, startTimeMillis: $since, endTimeMillis: $until }) {
    edges { upstreamUrn downstreamUrn }
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

/** Who states an edge, newest first. */
export const statedEdge = define<
  {
    lineageEdge: {
      statementCount: number
      lastUsed: number | null
      statements: {
        owner: RawCard
        aspect: string
        source: string
        provenance: { actor: string; at: number; loadId: string | null } | null
      }[]
    } | null
  },
  { upstreamUrn: string; downstreamUrn: string }
>(`
query statedEdge($upstreamUrn: String!, $downstreamUrn: String!) {
  lineageEdge(upstreamUrn: $upstreamUrn, downstreamUrn: $downstreamUrn) {
    statementCount lastUsed
    statements { owner { ...card } aspect source provenance { actor at loadId } }
  }
}${card}`)

/** What the drawer says of a card besides its place in the picture. */
export const cardDetails = define<
  {
    entity: {
      about?: { description: string | null } | null
      edited?: { description: string | null } | null
      ownership?: { owners: { owner: RawCard }[] | null } | null
      tags?: { tags: { tag: RawCard }[] | null } | null
      glossaryTerms?: { terms: { term: RawCard }[] | null } | null
    } | null
  },
  { urn: string }
>(`
query cardDetails($urn: String!) {
  entity(urn: $urn) {
    ... on Dataset { edited: editableProperties { description } }
    ${onEach('about: properties { description } ownership { owners { owner { ... on Entity { ...card } } } } tags { tags { tag { ...card } } } glossaryTerms { terms { term { ...card } } }')}
  }
}${card}`)
