/** The GraphQL documents of the page of domains. */
import {
  card,
  define,
  facets,
  ownersOf,
  type Facet,
  type NamedDomain,
  type RawCard,
  type SearchVariables
} from './queries.ts'

export type RawDomain = NamedDomain & { childCount: number }
/** The fields of the fragment `named`, for any entity. */
export type RawPlace = { urn: string; properties?: { name: string } | null }

const named = `fragment named on Domain { urn properties { name } }`

/**
 * A level of the tree, without counts. `domainLevelCounts` reads the counts afterwards, so that names appear
 * first.
 */
export const domainLevel = define<
  { listDomains: { total: number; domains: RawDomain[] } },
  { parent: string | null; count: number }
>(`
query domainLevel($parent: String, $count: Int) {
  listDomains(input: { parentDomain: $parent, count: $count }) { total domains { ...named childCount } }
}${named}`)

export type RawDomainCounts = { urn: string; direct: { total: number }; whole: { total: number } }

export const domainLevelCounts = define<
  { listDomains: { domains: RawDomainCounts[] } },
  { parent: string | null; count: number }
>(`
query domainLevelCounts($parent: String, $count: Int) {
  listDomains(input: { parentDomain: $parent, count: $count }) {
    domains {
      urn
      direct: entities(input: { count: 0 }) { total }
      whole: entities(input: { count: 0, includeDescendants: true }) { total }
    }
  }
}`)

export const domainCounts = define<{ entities: (RawDomainCounts | null)[] }, { urns: string[] }>(`
query domainCounts($urns: [String!]!) {
  entities(urns: $urns, checkForExistence: true) {
    ... on Domain {
      urn
      direct: entities(input: { count: 0 }) { total }
      whole: entities(input: { count: 0, includeDescendants: true }) { total }
    }
  }
}`)

export type RawFoundDomain = RawDomain & { parentDomains: { domains: RawPlace[] } | null }

export const findDomains = define<
  { searchAcrossEntities: { total: number; searchResults: { entity: RawFoundDomain }[] } },
  { query: string; count: number }
>(`
query findDomains($query: String!, $count: Int) {
  searchAcrossEntities(input: { types: [DOMAIN], query: $query, count: $count, searchFlags: { skipAggregates: true } }) {
    total
    searchResults { entity { ... on Domain { ...named childCount parentDomains { domains { ...named } } } } }
  }
}${named}`)

export const domainPage = define<
  {
    domain:
      | (RawDomainCounts &
          RawFoundDomain & {
            exists: boolean | null
            properties: { name: string; description: string | null } | null
            ownership: { owners: { owner: RawCard }[] | null } | null
          })
      | null
  },
  { urn: string }
>(`
query domainPage($urn: String!) {
  domain(urn: $urn) {
    urn
    exists
    childCount
    properties { name description }
    ownership { ...ownersOf }
    parentDomains { domains { ...named } }
    direct: entities(input: { count: 0 }) { total }
    whole: entities(input: { count: 0, includeDescendants: true }) { total }
  }
}${named}${ownersOf}`)

export const domainMembers = define<
  { domain: { entities: { total: number; searchResults: { entity: RawCard }[] } | null } | null },
  { urn: string; input: { query: string; start: number; count: number; includeDescendants: boolean } }
>(`
query domainMembers($urn: String!, $input: DomainEntitiesInput) {
  domain(urn: $urn) { entities(input: $input) { total searchResults { entity { ...card } } } }
}${card}`)

/** `facets` are read only `withFacets`. */
export const findAssets = define<
  {
    searchAcrossEntities: { total: number; isEstimate: boolean; searchResults: { entity: RawCard }[] }
    aggregateAcrossEntities?: { facets: Facet[] }
  },
  Pick<SearchVariables, 'query' | 'count' | 'groups'> &
    Partial<Pick<SearchVariables, 'types' | 'facets'>> & { withFacets?: boolean }
>(`
query findAssets($query: String!, $count: Int, $types: [EntityType!], $groups: [AndFilterInput!], $facets: [String!], $withFacets: Boolean = false) {
  searchAcrossEntities(input: { query: $query, count: $count, types: $types, orFilters: $groups, searchFlags: { skipAggregates: true } }) {
    total
    isEstimate
    searchResults { entity { ...card } }
  }
  aggregateAcrossEntities(input: { query: $query, types: $types, orFilters: $groups, facets: $facets }) @include(if: $withFacets) { ${facets} }
}${card}`)

type RawDomainEdge = {
  upstream: NamedDomain | null
  downstream: NamedDomain | null
  edgeCount: number
}
export type RawDomainLineage = { total: number; edgeCount: number; edges: RawDomainEdge[] }

const domainEdges = `
fragment domainEdges on DomainLineage {
  total
  edgeCount
  edges { upstream { ...named } downstream { ...named } edgeCount }
}
${named}`

export type RawMapBox = {
  key: string
  kind: 'DOMAIN' | 'SYSTEM' | 'SCHEMA' | 'ASSET'
  name: string
  entity: RawCard | null
  platforms: { name: string }[]
  assetCount: number
  insideCount: number
  upstreamCount: number
  downstreamCount: number
  fromOutsideCount: number
  toOutsideCount: number
}

/** One place of the map, and the domain it is in with those above it. */
export const lineageMap = define<
  {
    lineageMap: {
      total: number
      assetCount: number
      edgeCount: number
      edgesOfPage: number
      boxes: RawMapBox[]
      edges: { upstreamKey: string; downstreamKey: string; edgeCount: number }[]
    }
    domain?: (NamedDomain & { parentDomains: { domains: RawPlace[] } | null }) | null
  },
  { input: object; domain: string; isInDomain: boolean }
>(`
query lineageMap($input: LineageMapInput, $domain: String!, $isInDomain: Boolean!) {
  lineageMap(input: $input) {
    total assetCount edgeCount edgesOfPage
    boxes {
      key kind name platforms { name } entity { ...card }
      assetCount insideCount upstreamCount downstreamCount fromOutsideCount toOutsideCount
    }
    edges { upstreamKey downstreamKey edgeCount }
  }
  domain(urn: $domain) @include(if: $isInDomain) { ...named parentDomains { domains { ...named } } }
}${card}${named}`)

/** Lineage between one domain and all others. */
export const domainMapOf = define<
  { down: RawDomainLineage; up: RawDomainLineage },
  { urn: string; count: number }
>(`
query domainMapOf($urn: String!, $count: Int) {
  down: domainLineage(input: { urn: $urn, direction: DOWNSTREAM, count: $count }) { ...domainEdges }
  up: domainLineage(input: { urn: $urn, direction: UPSTREAM, count: $count }) { ...domainEdges }
}${domainEdges}`)

export const createDomain = define<
  { createDomain: string },
  { input: { name: string; description?: string; parentDomain?: string } }
>(`mutation createDomain($input: CreateDomainInput!) { createDomain(input: $input) }`)

export const renameDomain = define<{ updateName: boolean }, { urn: string; name: string }>(
  `mutation renameDomain($urn: String!, $name: String!) { updateName(input: { urn: $urn, name: $name }) }`
)

export const describeDomain = define<{ updateDescription: boolean }, { urn: string; description: string }>(
  `mutation describeDomain($urn: String!, $description: String!) {
  updateDescription(input: { resourceUrn: $urn, description: $description })
}`
)

export const moveDomain = define<{ moveDomain: boolean }, { urn: string; parent: string | null }>(
  `mutation moveDomain($urn: String!, $parent: String) {
  moveDomain(input: { resourceUrn: $urn, parentDomain: $parent })
}`
)

export const deleteDomain = define<{ deleteDomain: boolean }, { urn: string }>(
  `mutation deleteDomain($urn: String!) { deleteDomain(urn: $urn) }`
)

/** Puts assets into a domain; takes them out of their domains if it is null. */
export const assignDomain = define<
  { batchSetDomain: boolean },
  { domain: string | null; resources: { resourceUrn: string }[] }
>(`mutation assignDomain($domain: String, $resources: [ResourceRefInput!]!) {
  batchSetDomain(input: { domainUrn: $domain, resources: $resources })
}`)
