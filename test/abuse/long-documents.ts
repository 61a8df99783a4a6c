/** GraphQL documents that take long to parse or validate, and variables with many values. */
import { overGraphql, type Attack } from './attack.ts'

const nestedList = (depth: number): string =>
  `{ domain(urn: ${'['.repeat(depth)}1${']'.repeat(depth)}) { urn } }`

export const longDocuments: readonly Attack[] = [
  overGraphql({
    name: 'a list literal nested 2,400 levels',
    query: nestedList(2_400),
    expected: ['QUERY_TOO_DEEP']
  }),
  overGraphql({
    name: 'a list literal nested 4,900 levels',
    query: nestedList(4_900),
    expected: ['QUERY_TOO_DEEP']
  }),
  overGraphql({
    name: 'a field repeated 1,200 times with a field below it',
    query: `{ me { ${'corpUser { urn } '.repeat(1_200)} } }`,
    expected: ['QUERY_TOO_COMPLEX']
  }),
  {
    // A body that is refused before it is parsed as GraphQL has an error status.
    ...overGraphql({
      name: 'a variable of 300,000 keys',
      query: 'query q($l: LineageInput!) { dataset(urn: "x") { lineage(input: $l) { total } } }',
      variables: { l: Object.fromEntries(Array.from({ length: 300_000 }, (_, index) => [`k${index}`, 1])) },
      expected: []
    }),
    expected: [{ status: 400, reason: 'LIMIT_EXCEEDED' }]
  },
  overGraphql({
    name: 'a variable with a key of a million characters',
    query: 'query q($l: LineageInput!) { dataset(urn: "x") { lineage(input: $l) { total } } }',
    variables: { l: { ['k'.repeat(1_000_000)]: 1 } },
    expected: ['LIMIT_EXCEEDED']
  })
]
