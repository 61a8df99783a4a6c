/** All GraphQL documents of the UI; a test holds each against the schema. */

/** A document with the types of what it answers and of what it asks for. */
export type Document<Result, Variables extends object> = {
  readonly text: string
  /** Never there: it carries the types. */
  readonly types?: (variables: Variables) => Result
}

const define = <Result, Variables extends object>(text: string): Document<Result, Variables> => ({ text })

/** What is shown of an entity wherever it is mentioned; `entity.ts` reads it. */
const card = `
fragment domainOf on DomainAssociation { domain { urn properties { name } } }
fragment card on Entity {
  urn
  type
  exists
  ... on Dataset { name origin platform { name } described: properties { name } domain { ...domainOf } }
  ... on DataJob { jobName: jobId dataFlow { orchestrator } described: properties { jobName: name } domain { ...domainOf } }
  ... on DataFlow { flowName: flowId orchestrator described: properties { flowName: name } domain { ...domainOf } }
  ... on Chart { chartId platform { name } described: properties { chartName: name } domain { ...domainOf } }
  ... on Dashboard { dashboardId platform { name } described: properties { dashboardName: name } domain { ...domainOf } }
  ... on Container { platform { name } described: properties { containerName: name } domain { ...domainOf } }
  ... on MLModel { name origin platform { name } domain { ...domainOf } }
  ... on MLModelGroup { name origin platform { name } domain { ...domainOf } }
  ... on MLFeature { name featureNamespace domain { ...domainOf } }
  ... on MLFeatureTable { name platform { name } domain { ...domainOf } }
  ... on MLPrimaryKey { name featureNamespace domain { ...domainOf } }
  ... on DataProcessInstance { runName: name }
  ... on Domain { described: properties { domainName: name } }
  ... on SchemaFieldEntity { fieldPath parent { urn } }
}`

/** An entity as the fragment `card` gives it. */
export type RawCard = {
  urn: string
  type: string
  exists?: boolean | null
  name?: string | null
  origin?: string | null
  platform?: { name: string } | null
  orchestrator?: string
  dataFlow?: { orchestrator: string } | null
  described?: { [field: string]: string | null } | null
  domain?: { domain: { urn: string; properties: { name: string } | null } } | null
  fieldPath?: string
  parent?: { urn: string }
}

export const complete = define<
  { autoCompleteForMultiple: { suggestions: { type: string; entities: RawCard[] }[] } },
  { query: string; limit: number; types?: string[] }
>(`
query complete($query: String!, $limit: Int, $types: [EntityType!]) {
  autoCompleteForMultiple(input: { query: $query, limit: $limit, types: $types }) {
    suggestions { type entities { ...card } }
  }
}${card}`)

export type Filter = { field: string; values: string[]; negated?: boolean }
export type Facet = {
  field: string
  displayName: string | null
  aggregations: { value: string; count: number; displayName: string | null; entity: RawCard | null }[]
}

export const search = define<
  {
    searchAcrossEntities: {
      total: number
      isEstimate: boolean
      searchResults: { entity: RawCard }[]
      facets: Facet[] | null
      suggestions: { text: string }[] | null
    }
  },
  { query: string; start: number; count: number; filters: Filter[] }
>(`
query search($query: String!, $start: Int, $count: Int, $filters: [FacetFilterInput!]) {
  searchAcrossEntities(input: { query: $query, start: $start, count: $count, filters: $filters, searchFlags: { getSuggestions: true } }) {
    total
    isEstimate
    searchResults { entity { ...card } }
    facets { field displayName aggregations { value count displayName entity { ...card } } }
    suggestions { text }
  }
}${card}`)

export const home = define<
  {
    searchAcrossEntities: { total: number; searchResults: { entity: RawCard }[] }
    listDomains: { total: number; domains: { urn: string; properties: { name: string } | null }[] }
  },
  object
>(`
query home {
  searchAcrossEntities(input: { query: "*", count: 12, searchFlags: { skipAggregates: true } }) { total searchResults { entity { ...card } } }
  listDomains(input: { count: 24 }) { total domains { urn properties { name } } }
}${card}`)
