/**
 * Short requests with expensive answers: answers that multiply by nesting, and many heavy fields in one
 * request.
 */
import { aliased, nestedFragments, overGraphql, type Attack } from './attack.ts'
import { assetUrn, domainUrn, sizes } from './catalog.ts'

const deepDomain = JSON.stringify(domainUrn(sizes.domains - 1))
const hub = JSON.stringify(assetUrn(0))
const prefixes = JSON.stringify(
  Array.from(
    { length: 100 },
    (_, index) => `${'tcopsrvahs'[index % 10]}${'abcdefghijklmnopqrstuvwxyz'[index % 26]}*`
  ).join(' ')
)
const tooManyPrefixes = JSON.stringify(
  Array.from(
    { length: 240 },
    (_, index) => `${'abcdefghijklmnopqrstuvwxyz'[index % 26]}${'tcopsrvahs'[index % 10]}*`
  ).join(' ')
)
const page = 'total searchResults { entity { urn } }'

export const heavyReads: readonly Attack[] = [
  overGraphql({
    name: 'parentDomains by 3 aliases and 9 levels of fragments',
    query: `{ domain(urn: ${deepDomain}) { ...f0 } } ${nestedFragments({ type: 'Domain', levels: 9, width: 3, step: (name, inner) => `${name}: parentDomains { domains { ... on Domain { ${inner} } } }`, leaf: 'urn' })}`,
    expected: ['QUERY_TOO_COMPLEX']
  }),
  overGraphql({
    name: 'parentDomains by 2 aliases and 3 levels of fragments',
    query: `{ domain(urn: ${deepDomain}) { ...f0 } } ${nestedFragments({ type: 'Domain', levels: 3, width: 2, step: (name, inner) => `${name}: parentDomains { domains { ... on Domain { ${inner} } } }`, leaf: 'urn type properties { name description }' })}`,
    expected: ['QUERY_TOO_COMPLEX']
  }),
  overGraphql({
    name: 'lineage by 4 aliases and 6 levels of fragments',
    query: `{ dataset(urn: ${hub}) { ...f0 } } ${nestedFragments({ type: 'Dataset', levels: 6, width: 4, step: (name, inner) => `${name}: lineage(input: { direction: DOWNSTREAM, count: 20 }) { relationships { entity { ... on Dataset { ${inner} } } } }`, leaf: 'urn' })}`,
    expected: ['QUERY_TOO_COMPLEX']
  }),
  overGraphql({
    name: 'one page of 10,000 results with 30 fields each',
    query: `query ($urn: String!) { searchAcrossLineage(input: { urn: $urn, direction: DOWNSTREAM, count: 10000 }) { searchResults { entity { urn type ... on Dataset { ${aliased(28, () => 'properties { name description customProperties { key value } }')} } } } } }`,
    variables: { urn: assetUrn(0) },
    expected: ['QUERY_TOO_COMPLEX', null]
  }),
  overGraphql({
    name: 'one page of 10,000 results',
    query: `{ searchAcrossLineage(input: { urn: ${hub}, direction: DOWNSTREAM, count: 10000 }) { searchResults { degree entity { urn type ... on Dataset { properties { name description } } } } } }`,
    expected: [null]
  }),
  overGraphql({
    name: '30 searches of 100 prefixes each',
    query: `{ ${aliased(30, (index) => `searchAcrossEntities(input: { query: ${prefixes}, start: ${index} }) { ${page} }`)} }`,
    expected: ['QUERY_TOO_COMPLEX']
  }),
  overGraphql({
    name: '30 searches of 240 prefixes each',
    query: `{ ${aliased(30, (index) => `searchAcrossEntities(input: { query: ${tooManyPrefixes}, start: ${index} }) { ${page} }`)} }`,
    expected: ['LIMIT_EXCEEDED']
  }),
  overGraphql({
    name: 'one search of 100 prefixes, 20 at once',
    query: `{ searchAcrossEntities(input: { query: ${prefixes} }) { ${page} } }`,
    atOnce: 20,
    expected: [null, 'RATE_LIMITED']
  }),
  overGraphql({
    name: '30 sorted searches with facets',
    query: `{ ${aliased(30, (index) => `searchAcrossEntities(input: { query: "area ${index}", sortInput: { sortCriterion: { field: "name", sortOrder: DESCENDING } } }) { ${page} facets { field aggregations { value count } } }`)} }`,
    expected: ['QUERY_TOO_COMPLEX']
  }),
  overGraphql({
    name: 'a sorted search with facets, 20 at once',
    query:
      '{ searchAcrossEntities(input: { query: "orders area", filters: [{ field: "platform", values: ["urn:li:dataPlatform:hive"] }], sortInput: { sortCriterion: { field: "name", sortOrder: DESCENDING } } }) { total facets { field aggregations { value count } } searchResults { entity { urn } } } }',
    atOnce: 20,
    expected: [null, 'LIMIT_EXCEEDED', 'RATE_LIMITED']
  }),
  overGraphql({
    name: '30 lineageGraph of 2,000 nodes',
    query: `{ ${aliased(30, () => `lineageGraph(input: { urn: ${hub}, count: 2000 }) { nodes { entity { urn } degree upstreamCount } edges { upstreamUrn downstreamUrn } totals { upstream downstream } }`)} }`,
    expected: ['QUERY_TOO_COMPLEX']
  }),
  overGraphql({
    name: '5 lineageGraph that expand one hub 500 times each',
    query: `query ($expand: [GraphExpandInput!]) { ${aliased(5, () => `lineageGraph(input: { urn: ${hub}, expand: $expand }) { nodes { degree } }`)} }`,
    variables: {
      expand: Array.from({ length: 500 }, () => ({ urn: assetUrn(0), direction: 'DOWNSTREAM', count: 1 }))
    },
    expected: ['QUERY_TOO_COMPLEX']
  }),
  overGraphql({
    name: 'filtered assets of 30 domains and the domains below',
    query: `{ ${aliased(30, (index) => `domain(urn: ${JSON.stringify(domainUrn(index))}) { entities(input: { query: "area", includeDescendants: true, filters: [{ field: "platform", values: ["urn:li:dataPlatform:hive"] }] }) { total } }`)} }`,
    expected: ['QUERY_TOO_COMPLEX']
  }),
  overGraphql({
    name: 'one lineageGraph of 2,000 nodes, 20 at once',
    query: `{ lineageGraph(input: { urn: ${hub}, count: 2000 }) { nodes { entity { urn } degree upstreamCount } edges { upstreamUrn downstreamUrn } totals { upstream downstream } } }`,
    atOnce: 20,
    expected: [null, 'RATE_LIMITED']
  }),
  overGraphql({
    name: '80,000 filter values',
    query:
      'query ($groups: [AndFilterInput!]) { searchAcrossEntities(input: { query: "*", orFilters: $groups }) { total } }',
    variables: {
      groups: Array.from({ length: 20 }, (_, group) => ({
        and: Array.from({ length: 20 }, (_unused, filter) => ({
          field: 'name',
          condition: 'CONTAIN',
          values: Array.from({ length: 200 }, (_value, value) => `v${group}-${filter}-${value}`)
        }))
      }))
    },
    expected: ['LIMIT_EXCEEDED']
  }),
  overGraphql({
    name: '30 walks with facets',
    query: `{ ${aliased(30, (index) => `searchAcrossLineage(input: { urn: ${hub}, direction: DOWNSTREAM, query: "orders ${index}" }) { total facets { field aggregations { value count } } }`)} }`,
    expected: ['QUERY_TOO_COMPLEX']
  })
]
