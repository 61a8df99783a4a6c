/** GraphQL documents and requests that try to get around the limits of one request. */
import { aliased } from '../attack.ts'
import { done, forEach, overGraphql, refused, type Probe } from '../probe.ts'

const deep = (levels: number, open: string, leaf: string): string =>
  `${open.repeat(levels)}${leaf}${'}'.repeat(levels)}`
const introspection = (levels: number): string =>
  `{ __schema { types { ${'fields { type { '.repeat(levels)}name${' } }'.repeat(levels)} } } }`
const parents = 'parentDomains { domains { ... on Domain { '
const json = { 'content-type': 'application/json' }

const tooExpensive: {
  readonly [name: string]: [code: 'QUERY_TOO_DEEP' | 'QUERY_TOO_COMPLEX', query: string]
} = {
  'nested 21 levels': [
    'QUERY_TOO_DEEP',
    `{ domain(urn: "urn:li:domain:own") { ${parents.repeat(10)}urn${' } } }'.repeat(10)} } }`
  ],
  'nested by 50 named fragments': [
    'QUERY_TOO_DEEP',
    `{ domain(urn: "urn:li:domain:own") { ...f0 } } ${Array.from({ length: 50 }, (_, index) => `fragment f${index} on Domain { parentDomains { domains { ... on Domain { ${index < 49 ? `...f${index + 1}` : 'urn'} } } } }`).join(' ')}`
  ],
  'nested by inline fragments': [
    'QUERY_TOO_DEEP',
    `{ domain(urn: "urn:li:domain:own") ${deep(99, '{ ... on Domain ', '{ urn ')} } }`
  ],
  'introspection nested 12 times': ['QUERY_TOO_DEEP', introspection(12)],
  'a field named __schema': [
    'QUERY_TOO_DEEP',
    `{ __schema: domain(urn: "urn:li:domain:own") { ${parents.repeat(10)}urn${' } } }'.repeat(10)} } }`
  ],
  '31 aliases': ['QUERY_TOO_COMPLEX', `{ ${aliased(31, () => '__typename')} }`],
  '5,000 aliases': ['QUERY_TOO_COMPLEX', `{ ${aliased(5_000, () => '__typename')} }`],
  '6,000 times the same field': ['QUERY_TOO_COMPLEX', `{ ${'__typename '.repeat(6_000)}}`],
  '3,000 unknown directives': ['QUERY_TOO_COMPLEX', `{ __typename ${'@a '.repeat(3_000)}}`],
  '6 mutations': [
    'QUERY_TOO_COMPLEX',
    `mutation { ${aliased(6, () => 'unsetDomain(entityUrn: "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)")')} }`
  ],
  '6 mutations in a fragment': [
    'QUERY_TOO_COMPLEX',
    `mutation { ...m } fragment m on Mutation { ${aliased(6, () => 'unsetDomain(entityUrn: "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)")')} }`
  ],
  'fragments that double 14 times': [
    'QUERY_TOO_COMPLEX',
    `{ domain(urn: "urn:li:domain:own") { ...f0 } } ${Array.from({ length: 15 }, (_, index) => `fragment f${index} on Domain { ${index < 14 ? `...f${index + 1} ...f${index + 1}` : 'urn type'} }`).join(' ')}`
  ]
}

const invalid: { readonly [name: string]: string } = {
  'a fragment that spreads itself':
    '{ domain(urn: "x") { ...a } } fragment a on Domain { ...b } fragment b on Domain { ...a }',
  'a subscription': 'subscription { loads { id } }',
  'a mutation as a query': '{ deleteDomain(urn: "urn:li:domain:other") }',
  'a misspelt field': '{ domian(urn: "x") { urn } }',
  'an unknown fragment': '{ ...nothing }',
  'an enumeration as a text': '{ searchAcrossLineage(input: { urn: "x", direction: "UPSTREAM" }) { total } }',
  'a number of 400 digits': `{ lineageCounts(input: { urn: "x", direction: UPSTREAM, startTimeMillis: 1${'0'.repeat(400)} }) { total } }`
}

const bodies: { readonly [name: string]: string } = {
  'a batch': '[{"query":"{ __typename }"},{"query":"{ __typename }"}]',
  'a batch of one': '[{"query":"{ __typename }"}]',
  'a persisted query': `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"${'a'.repeat(64)}"}}}`,
  'a query that is a list': '{"query":["{ __typename }"]}',
  'variables that are a text': '{"query":"{ __typename }","variables":"{}"}'
}

export const graphql: readonly Probe[] = [
  ...Object.entries(tooExpensive).map(([name, [code, query]]) =>
    overGraphql({ name: `a document: ${name}`, query, code })
  ),
  ...Object.entries(invalid).map(([name, query]) =>
    overGraphql({ name: `a document: ${name}`, query, code: 'GRAPHQL_VALIDATION_FAILED' })
  ),
  ...forEach(
    bodies,
    (body) => ({
      method: 'POST' as const,
      path: '/api/graphql',
      headers: json,
      body,
      expected: refused(400, 'BAD_REQUEST')
    }),
    'a body of GraphQL'
  ),
  ...forEach(
    { GET: 'GET', PUT: 'PUT', PATCH: 'PATCH', DELETE: 'DELETE' } as const,
    (method) => ({
      method,
      path: '/api/graphql?query=%7B__typename%7D',
      expected: { ...refused(405, 'METHOD_NOT_ALLOWED'), headers: { allow: 'OPTIONS, POST' } }
    }),
    'a method of GraphQL'
  ),
  {
    name: 'introspection without a token',
    as: null,
    method: 'POST',
    path: '/api/graphql',
    body: { query: '{ __schema { types { name } } }' },
    expected: { ...refused(401, 'UNAUTHENTICATED'), lacks: 'Query' }
  },
  {
    name: 'a misspelt field without a token gets no suggestion',
    as: null,
    method: 'POST',
    path: '/api/graphql',
    body: { query: '{ domian { urn } }' },
    expected: { ...refused(401, 'UNAUTHENTICATED'), lacks: 'Did you mean' }
  },
  ...forEach(
    {
      'an IDE': '/graphiql',
      playground: '/playground',
      altair: '/altair',
      voyager: '/voyager',
      'another path': '/graphql'
    },
    (path) => ({ path, expected: refused(404, 'NOT_FOUND') }),
    'a page of GraphQL'
  ),
  overGraphql({
    name: '2,500 wrong fields: few errors are told',
    query: `{ ${Array.from({ length: 2_400 }, (_, index) => `nothing${index}`).join(' ')} }`,
    code: 'GRAPHQL_VALIDATION_FAILED'
  }),
  {
    name: 'an operation named like a prototype',
    method: 'POST',
    path: '/api/graphql',
    body: { query: 'query a { __typename } query b { __typename }', operationName: 'constructor' },
    expected: { ...done, code: 'BAD_REQUEST' }
  },
  overGraphql({
    name: '5,001 edges in one call',
    query: 'mutation ($e: [LineageEdge!]!) { updateLineage(input: { edgesToAdd: $e, edgesToRemove: [] }) }',
    variables: {
      e: Array.from({ length: 5_001 }, (_, index) => ({
        upstreamUrn: `urn:li:dataset:(urn:li:dataPlatform:hive,a${index},PROD)`,
        downstreamUrn: 'urn:li:dataset:(urn:li:dataPlatform:hive,b,PROD)'
      }))
    },
    code: 'LIMIT_EXCEEDED'
  }),
  ...['2147483647', '10001'].map((count) =>
    overGraphql({
      name: `a page of ${count}`,
      query: `{ searchAcrossEntities(input: { query: "*", count: ${count} }) { total } }`,
      code: 'LIMIT_EXCEEDED'
    })
  )
]
