/** The GraphQL documents of the UI; a test checks each against the schema. */

/** A document, with the types of its answer and its variables. */
export type Document<Result, Variables extends object> = {
  readonly text: string
  /** Never set: it only carries the types. */
  readonly types?: (variables: Variables) => Result
}

export const define = <Result, Variables extends object>(text: string): Document<Result, Variables> => ({
  text
})

/** The fields shown wherever an entity is mentioned; `entity.ts` reads them. */
export const card = `
fragment domainOf on DomainAssociation { domain { urn properties { name } parentDomains { domains { urn ... on Domain { properties { name } } } } } }
fragment card on Entity {
  urn
  type
  exists
  ... on Dataset { name origin platform { name } described: properties { name } domain { ...domainOf } }
  ... on DataJob { jobId dataFlow { orchestrator } described: properties { name } domain { ...domainOf } }
  ... on DataFlow { flowId orchestrator described: properties { name } domain { ...domainOf } }
  ... on Chart { chartId platform { name } described: properties { name } domain { ...domainOf } }
  ... on Dashboard { dashboardId platform { name } described: properties { name } domain { ...domainOf } }
  ... on Container { platform { name } described: properties { name } domain { ...domainOf } }
  ... on MLModel { name origin platform { name } domain { ...domainOf } }
  ... on MLModelGroup { name origin platform { name } domain { ...domainOf } }
  ... on MLFeature { name featureNamespace domain { ...domainOf } }
  ... on MLFeatureTable { name platform { name } domain { ...domainOf } }
  ... on MLPrimaryKey { name featureNamespace domain { ...domainOf } }
  ... on DataProcessInstance { runName: name }
  ... on DataProduct { described: properties { productName: name } domain { ...domainOf } }
  ... on Application { described: properties { applicationName: name } domain { ...domainOf } }
  ... on GlossaryTerm { name described: properties { name } domain { ...domainOf } }
  ... on GlossaryNode { described: properties { name } domain { ...domainOf } }
  ... on Notebook { described: info { title } domain { ...domainOf } }
  ... on Document { described: info { title } domain { ...domainOf } }
  ... on Tag { name described: properties { name } }
  ... on CorpUser { described: properties { displayName fullName } }
  ... on CorpGroup { name described: properties { displayName } }
  ... on DataPlatform { name described: properties { displayName } }
  ... on Domain { described: properties { name } }
  ... on SchemaFieldEntity { fieldPath parent { urn } }
}`

export type RawDomain = {
  urn: string
  properties: { name: string } | null
  /** The nearest first. */
  parentDomains?: { domains: { urn: string; properties?: { name: string } | null }[] } | null
}

/** The fields of the fragment `card`. */
export type RawCard = {
  urn: string
  type: string
  exists?: boolean | null
  name?: string | null
  runName?: string | null
  origin?: string | null
  platform?: { name: string } | null
  orchestrator?: string
  dataFlow?: { orchestrator: string } | null
  described?: { [field: string]: string | null } | null
  domain?: { domain: RawDomain } | null
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

/** Entities of some types by the words of their names. */
export const pickEntities = define<
  { searchAcrossEntities: { searchResults: { entity: RawCard }[] } },
  { query: string; types: string[]; count: number }
>(`
query pickEntities($query: String!, $types: [EntityType!], $count: Int) {
  searchAcrossEntities(input: { query: $query, types: $types, count: $count, searchFlags: { skipAggregates: true } }) {
    searchResults { entity { ...card } }
  }
}${card}`)

export type Filter = { field: string; values: string[]; negated?: boolean; condition?: string }
export type Facet = {
  field: string
  displayName: string | null
  isEstimate: boolean
  aggregations: { value: string; count: number; displayName: string | null; entity: RawFacetEntity | null }[]
}
/** Domains of different parents often have the same name, so their facet shows the path. */
export type RawFacetEntity = RawCard & { parentDomains?: { domains: NamedDomain[] } | null }

/** The number of values of a facet that are read; the rarest beyond it are left out. */
export const facetValuesMaxCount = 1_000

/** The owners of an entity, as cards. */
export const ownersOf = `
fragment ownersOf on Ownership {
  owners { owner { ... on CorpUser { urn type described: properties { displayName fullName } } ... on CorpGroup { urn type name described: properties { displayName } } } }
}`

const usedBy = 'usedBy: lineage(input: { direction: DOWNSTREAM, count: 0 }) { total }'
const described = 'properties { description } ownership { ...ownersOf }'
const lastRunOf = 'lastRun { state startedAt endedAt job { urn } }'

export type RunOf = { state: string | null; startedAt: number | null; endedAt: number | null }
export type RunOfJob = RunOf & { job: { urn: string } | null }

/** What a row shows besides the card: what the entity is about, who owns it, what is made from it, and its last run. */
export const rowFacts = define<
  {
    entities: ({
      urn: string
      properties?: { description: string | null } | null
      editableProperties?: { description: string | null } | null
      ownership?: { owners: { owner: RawCard }[] | null } | null
      usedBy?: { total: number } | null
      lastRun?: RunOfJob | null
    } | null)[]
  },
  { urns: string[] }
>(`
query rowFacts($urns: [String!]!) {
  entities(urns: $urns) {
    urn
    ... on Dataset { ${described} editableProperties { description } ${usedBy} ${lastRunOf} }
    ... on DataJob { ${described} ${usedBy} ${lastRunOf} }
    ... on DataFlow { ${described} ${lastRunOf} }
    ${['Chart', 'Dashboard', 'MLModel', 'MLModelGroup'].map((type) => `... on ${type} { ${described} ${usedBy} }`).join('\n    ')}
    ${['Container', 'MLFeatureTable', 'DataProduct', 'GlossaryTerm'].map((type) => `... on ${type} { ${described} }`).join('\n    ')}
    ... on Domain { properties { description } ownership { ...ownersOf } }
    ... on Tag { properties { description } }
  }
}${ownersOf}`)

export type MatchedField = { name: string; value: string }
/** A result must match all filters of at least one group. */
export type FilterGroup = { and: Filter[] }

export type SearchVariables = {
  query: string
  count: number
  types: readonly string[] | null
  groups: FilterGroup[]
  sort: { sortCriterion: { field: string; sortOrder: 'ASCENDING' | 'DESCENDING' } } | null
  facets: readonly string[]
}

/** Each value with the entity that it is. */
export const facets = `facets { field displayName isEstimate aggregations { value count displayName entity { ...card ... on Domain { parentDomains { domains { urn ... on Domain { properties { name } } } } } } } }`

export const search = define<
  {
    searchAcrossEntities: {
      total: number
      isEstimate: boolean
      searchResults: { entity: RawCard; matchedFields: MatchedField[] }[]
      suggestions: { text: string }[] | null
    }
    aggregateAcrossEntities: { facets: Facet[] }
  },
  SearchVariables
>(`
query search($query: String!, $count: Int, $types: [EntityType!], $groups: [AndFilterInput!], $sort: SearchSortInput, $facets: [String!]) {
  searchAcrossEntities(input: { query: $query, count: $count, types: $types, orFilters: $groups, sortInput: $sort, searchFlags: { getSuggestions: true, skipAggregates: true } }) {
    total
    isEstimate
    searchResults { entity { ...card } matchedFields { name value } }
    suggestions { text }
  }
  aggregateAcrossEntities(input: { query: $query, types: $types, orFilters: $groups, facets: $facets, searchFlags: { maxAggValues: ${facetValuesMaxCount} } }) { ${facets} }
}${card}`)

export type HomeDomain = {
  urn: string
  childCount: number
  properties: { name: string; description: string | null } | null
  entities: { total: number } | null
}

export const home = define<
  {
    searchAcrossEntities: { total: number; isEstimate: boolean }
    withoutDomain: { total: number }
    mine: { total: number; searchResults: { entity: RawCard }[] }
    listDomains: { total: number; domains: HomeDomain[] }
  },
  { types: readonly string[]; inDomains: readonly string[]; me: string }
>(`
query home($types: [EntityType!], $inDomains: [EntityType!], $me: String!) {
  searchAcrossEntities(input: { query: "*", types: $types, count: 0, searchFlags: { skipAggregates: true } }) { total isEstimate }
  withoutDomain: searchAcrossEntities(input: { query: "*", types: $inDomains, count: 0, filters: [{ field: "domains", condition: EXISTS, negated: true }], searchFlags: { skipAggregates: true } }) { total }
  mine: searchAcrossEntities(input: { query: "*", count: 6, filters: [{ field: "owners", values: [$me] }], searchFlags: { skipAggregates: true } }) { total searchResults { entity { ...card } } }
  listDomains(input: { count: 24 }) { total domains { urn childCount properties { name description } entities(input: { count: 0, includeDescendants: true }) { total } } }
}${card}`)

export const mostConnected = define<
  { mostConnected: { entity: RawCard; upstreamCount: number; downstreamCount: number }[] },
  { count: number }
>(`
query mostConnected($count: Int) {
  mostConnected(input: { count: $count }) { entity { ...card } upstreamCount downstreamCount }
}${card}`)

/** Owners, for each type that can have owners and lineage. */
const owned = `
fragment owned on Entity {
  ... on Dataset { ownership { ...ownersOf } }
  ... on DataJob { ownership { ...ownersOf } }
  ... on Chart { ownership { ...ownersOf } }
  ... on Dashboard { ownership { ...ownersOf } }
  ... on MLModel { ownership { ...ownersOf } }
  ... on MLModelGroup { ownership { ...ownersOf } }
  ... on MLFeature { ownership { ...ownersOf } }
  ... on MLFeatureTable { ownership { ...ownersOf } }
  ... on MLPrimaryKey { ownership { ...ownersOf } }
}${ownersOf}`

export type RawOwned = { ownership?: { owners: { owner: RawCard }[] | null } | null }

export type NamedDomain = { urn: string; properties: { name: string } | null }
export type ImpactCounts = {
  total: number
  degrees: { degree: string; count: number }[]
  types: { type: string; count: number }[]
  platforms: { platform: { urn: string; name: string } | null; count: number }[]
  domains: { domain: NamedDomain | null; count: number }[]
}

/**
 * Counts for the chips of the impact table: without filters, with all filters except the filter on the
 * degree, and with all filters.
 */
export const impactCounts = define<
  { all: ImpactCounts; anyDegree: ImpactCounts; shown: ImpactCounts },
  { all: object; anyDegree: object; shown: object }
>(`
fragment counts on LineageCounts {
  total
  degrees { degree count }
  types { type count }
  platforms { platform { urn name } count }
  domains { domain { urn properties { name } } count }
}
query impactCounts($all: LineageCountsInput!, $anyDegree: LineageCountsInput!, $shown: LineageCountsInput!) {
  all: lineageCounts(input: $all) { ...counts }
  anyDegree: lineageCounts(input: $anyDegree) { ...counts }
  shown: lineageCounts(input: $shown) { ...counts }
}`)

type RawAsset = RawCard & RawOwned
/** A column, a card with its asset. */
export type RawImpactRow = { degree: number; entity: RawAsset & { parent?: RawAsset } }

export const impactRows = define<
  {
    scrollAcrossLineage: {
      nextScrollId: string | null
      total: number
      isPartial: boolean | null
      searchResults: RawImpactRow[]
    }
  },
  { input: object }
>(`
query impactRows($input: ScrollAcrossLineageInput!) {
  scrollAcrossLineage(input: $input) {
    nextScrollId
    total
    isPartial
    searchResults { degree entity { ...card ...owned ... on SchemaFieldEntity { parent { ...card ...owned } } } }
  }
}${card}${owned}`)

/** The columns of an asset, to choose one from. */
export const columnsOf = define<
  {
    entity: {
      schemaMetadata?: { fields: { fieldPath: string }[] } | null
      inputFields?: { fields: ({ schemaField: { fieldPath: string } | null } | null)[] | null } | null
    } | null
  },
  { urn: string }
>(`
query columnsOf($urn: String!) {
  entity(urn: $urn) {
    ... on Dataset { schemaMetadata { fields { fieldPath } } }
    ... on Chart { inputFields { fields { schemaField { fieldPath } } } }
    ... on Dashboard { inputFields { fields { schemaField { fieldPath } } } }
  }
}`)

export const asset = define<
  {
    entity: (RawCard & { parent?: RawCard; lastRun?: RunOfJob | null }) | null
    up: { total: number } | null
    down: { total: number } | null
  },
  { urn: string; withLineage: boolean; flags: object | null }
>(`
query asset($urn: String!, $withLineage: Boolean!, $flags: SearchFlags) {
  entity(urn: $urn) {
    ...card
    ... on SchemaFieldEntity { parent { ...card } }
    ... on Dataset { ${lastRunOf} }
    ... on DataFlow { ${lastRunOf} }
    ... on DataJob { ${lastRunOf} }
  }
  up: lineageCounts(input: { urn: $urn, direction: UPSTREAM, searchFlags: $flags }) @include(if: $withLineage) { total }
  down: lineageCounts(input: { urn: $urn, direction: DOWNSTREAM, searchFlags: $flags }) @include(if: $withLineage) { total }
}${card}`)

/** What an asset or a column is made from, and what is made from it, one hop away; the asked one comes first. */
export const around = define<
  {
    lineageGraph: {
      nodes: { entity: RawCard; upstreamCount: number; downstreamCount: number }[]
      edges: EdgeEnds[]
    }
  },
  { urn: string; count: number }
>(`
query around($urn: String!, $count: Int) {
  lineageGraph(input: { urn: $urn, count: $count }) {
    nodes { entity { ...card } upstreamCount downstreamCount }
    edges { upstreamUrn downstreamUrn }
  }
}${card}`)

type RawRelated = { relationships?: { total: number; relationships: { entity: RawCard | null }[] } | null }

/** The other ends of some relationships of an entity. */
export const related = define<
  { entity: RawRelated | null },
  { urn: string; types: string[]; direction: 'INCOMING' | 'OUTGOING'; count: number }
>(`
fragment page on EntityRelationshipsResult { total relationships { entity { ...card } } }
query related($urn: String!, $types: [String!]!, $direction: RelationshipDirection!, $count: Int) {
  entity(urn: $urn) {
    ${[
      'EntityWithRelationships',
      'CorpUser',
      'CorpGroup',
      'Tag',
      'GlossaryTerm',
      'GlossaryNode',
      'DataProduct'
    ]
      .map(
        (type) =>
          `... on ${type} { relationships(input: { types: $types, direction: $direction, count: $count, includeSoftDelete: false }) { ...page } }`
      )
      .join('\n    ')}
  }
}${card}`)

/** The tags and terms of the columns of tables. */
export const tagsOfColumns = define<
  {
    entities: ({
      urn: string
      schemaMetadata?: {
        fields: {
          fieldPath: string
          tags: { tags: { tag: { urn: string } }[] | null } | null
          glossaryTerms: { terms: { term: { urn: string } }[] | null } | null
        }[]
      } | null
    } | null)[]
  },
  { urns: string[] }
>(`
query tagsOfColumns($urns: [String!]!) {
  entities(urns: $urns) {
    urn
    ... on Dataset { schemaMetadata { fields { fieldPath tags { tags { tag { urn } } } glossaryTerms { terms { term { urn } } } } } }
  }
}`)

/** The names of what an entity refers to; null for what the catalog does not know. */
export const namesOf = define<{ entities: (RawCard | null)[] }, { urns: string[] }>(`
query namesOf($urns: [String!]!) { entities(urns: $urns, checkForExistence: true) { ...card } }${card}`)

export type EdgeWithStatements = {
  upstreamUrn: string
  downstreamUrn: string
  lastUsed: number | null
  statements: {
    owner: { urn: string }
    aspect: string
    source: string
    provenance: { actor: string; at: number; loadId: string | null } | null
  }[]
}

export const neighbourEdges = define<
  {
    lineageGraph: {
      nodes: { entity: RawCard; hiddenUpstream: number; hiddenDownstream: number }[]
      edges: EdgeWithStatements[]
    }
  },
  { urn: string; count: number }
>(`
query neighbourEdges($urn: String!, $count: Int) {
  lineageGraph(input: { urn: $urn, count: $count }) {
    nodes { entity { ...card } hiddenUpstream hiddenDownstream }
    edges {
      upstreamUrn
      downstreamUrn
      lastUsed
      statements { owner { urn } aspect source provenance { actor at loadId } }
    }
  }
}${card}`)

type EdgeEnds = { upstreamUrn: string; downstreamUrn: string }

/** One hop on each side, with the edges between columns. */
export const neighbours = define<
  {
    lineageGraph: {
      nodes: { entity: RawCard; hiddenUpstream: number; hiddenDownstream: number }[]
      edges: (EdgeEnds & { statements: { source: string }[] })[]
    }
  },
  { urn: string; count: number }
>(`
query neighbours($urn: String!, $count: Int) {
  lineageGraph(input: { urn: $urn, count: $count, columns: true }) {
    nodes { entity { ...card } hiddenUpstream hiddenDownstream }
    edges { upstreamUrn downstreamUrn statements { source } }
  }
}${card}`)

/** Everything downstream, up to walkMaxHops. */
export const downstreamEdges = define<
  {
    lineageGraph: { nodes: { entity: RawCard; hiddenDownstream: number }[]; edges: EdgeEnds[] }
  },
  { urn: string; count: number }
>(`
query downstreamEdges($urn: String!, $count: Int) {
  lineageGraph(input: { urn: $urn, upHops: 0, downHops: 1000, count: $count }) {
    nodes { entity { ...card } hiddenDownstream }
    edges { upstreamUrn downstreamUrn }
  }
}${card}`)

export const updateLineage = define<
  { updateLineage: boolean },
  { input: { edgesToAdd: EdgeEnds[]; edgesToRemove: EdgeEnds[] } }
>(`
mutation updateLineage($input: UpdateLineageInput!) { updateLineage(input: $input) }`)

/** The most columns of one asset that are read. */
export const columnsMaxCount = 10_000

/** The columns of an asset, with the number of columns one hop upstream and downstream of each. */
export const columnRows = define<
  {
    lineageGraph: {
      nodes: {
        columnRows: {
          total: number
          rows: { path: string; dataType: string | null; upstreamCount: number; downstreamCount: number }[]
        } | null
      }[]
    }
  },
  { urn: string }
>(`
query columnRows($urn: String!) {
  lineageGraph(input: { urn: $urn, upHops: 0, downHops: 0, count: 1, columns: true, columnRows: ${columnsMaxCount} }) {
    nodes { columnRows { total rows { path dataType upstreamCount downstreamCount } } }
  }
}`)
