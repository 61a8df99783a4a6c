/** A document that comes often is run by code compiled for it, and answers what it answered the first time. */
import { readFileSync } from 'node:fs'
import { buildSchema, parse } from 'graphql'
import t from 'tap'
import { createCompiledDocuments } from '../api/graphql/compiled-documents.ts'
import { packagePath } from '../shared/platform/paths.ts'
import { toUrn, type Urn } from '../shared/urn/urn.ts'
import { apply, create } from './support/changes.ts'
import { withServer, type TestServer } from './support/server.ts'

const dataset = (name: string): Urn => toUrn(`urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`)
const [a, b, c] = [dataset('a'), dataset('b'), dataset('c')]
const nobody = dataset('nobody')
const edgesAdded = { edgesToAdd: [{ upstreamUrn: a, downstreamUrn: b }] }

type Case = { name: string, query: string, variables?: object, isCompiled: boolean }

const cases: readonly Case[] = [
  { name: 'fields, aliases and a type name', query: 'query ($u: String!) { x: dataset(urn: $u) { urn urn type __typename } y: dataset(urn: $u) { type } }', variables: { u: a }, isCompiled: true },
  { name: 'fragments in fragments, on types and on interfaces', query: 'query ($u: String!) { entity(urn: $u) { ...E } } fragment E on Entity { urn ... on Dataset { ...D name } ... on Chart { tool } } fragment D on Dataset { type }', variables: { u: a }, isCompiled: true },
  { name: 'a list, one of which does not exist', query: 'query ($u: [String!]!) { entities(urns: $u) { urn } }', variables: { u: [a, nobody] }, isCompiled: true },
  { name: 'one value in place of a list', query: 'query ($u: [String!]!) { entities(urns: $u) { urn } }', variables: { u: a }, isCompiled: true },
  { name: 'defaults of an input that is in the text', query: `{ scrollAcrossLineage(input: { urn: "${b}" }) { total searchResults { degree entity { urn } } } }`, isCompiled: true },
  { name: 'defaults of an input that is a variable', query: 'query ($i: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $i) { total searchResults { entity { urn } } } }', variables: { i: { urn: b } }, isCompiled: true },
  { name: 'a variable in an input in the text', query: 'query ($u: String!, $d: LineageDirection!) { scrollAcrossLineage(input: { urn: $u, direction: $d }) { searchResults { entity { urn } } } }', variables: { u: b, d: 'UPSTREAM' }, isCompiled: true },
  { name: 'a variable of a required type that has a default', query: 'query ($u: String!, $d: LineageDirection! = UPSTREAM) { scrollAcrossLineage(input: { urn: $u, direction: $d }) { searchResults { entity { urn } } } }', variables: { u: b }, isCompiled: true },
  { name: 'a field that fails beside one that does not', query: 'query ($u: String!) { x: dataset(urn: $u) { urn } y: entityExists(urn: "nonsense") z: entityExists(urn: $u) }', variables: { u: a }, isCompiled: true },
  { name: 'variables that do not fit', query: 'query ($u: [String!]!) { entities(urns: $u) { urn } }', variables: { u: [null] }, isCompiled: false },
  { name: 'what is said of the schema', query: '{ __schema { queryType { name } } __type(name: "Dataset") { kind } }', isCompiled: true },
  { name: 'a default of an input whose variable is not sent', query: 'query ($u: String, $d: LineageDirection) { scrollAcrossLineage(input: { urn: $u, direction: $d }) { searchResults { entity { urn } } } }', variables: { u: b }, isCompiled: false },
  { name: 'null for what must not be null', query: 'query ($u: String = "x") { dataset(urn: $u) { urn } }', variables: { u: null }, isCompiled: false },
  { name: 'a fragment that is left out in one place', query: 'query ($u: String!, $x: Boolean!) { x: dataset(urn: $u) { ...F @include(if: $x) } y: dataset(urn: $u) { ...F } } fragment F on Dataset { urn type }', variables: { u: a, x: false }, isCompiled: false },
  { name: 'a fragment that is there twice, once left out', query: 'query ($u: String!, $x: Boolean!) { dataset(urn: $u) { ...F @skip(if: $x) ...F } } fragment F on Dataset { urn }', variables: { u: a, x: true }, isCompiled: false },
  { name: 'mutations, one of which is refused', query: 'mutation ($e: UpdateLineageInput!) { x: unsetDomain(entityUrn: "nonsense") y: updateLineage(input: $e) }', variables: { e: edgesAdded }, isCompiled: false },
  { name: 'mutations, one of which does not fit', query: 'mutation ($u: String = "x", $e: UpdateLineageInput!) { y: updateLineage(input: $e) x: unsetDomain(entityUrn: $u) }', variables: { u: null, e: edgesAdded }, isCompiled: false },
  { name: 'a mutation that ends those behind it', query: 'mutation ($e: UpdateLineageInput!) { revokeAccessToken(tokenId: "none") updateLineage(input: $e) }', variables: { e: edgesAdded }, isCompiled: false }
]

/** More often than any is run before it is compiled. */
const askedTimes = 12

/** Without what no two answers share. */
const plain = ({ body }: Awaited<ReturnType<TestServer['graphql']>>): unknown => JSON.parse(JSON.stringify(body, (key, value: unknown) => key === 'ms' || key === 'requestId' ? undefined : value))

t.test('a document answers the same however often it comes', async (t) => {
  const { graphql, db } = await withServer(t)
  await apply(db, ...create(a, b, c))
  const { body } = await graphql('mutation ($i: UpdateLineageInput!) { updateLineage(input: $i) }', { i: { edgesToAdd: [{ upstreamUrn: a, downstreamUrn: b }, { upstreamUrn: b, downstreamUrn: c }] } })
  t.same(body.data, { updateLineage: true })
  for (const { name, query, variables } of cases) {
    await t.test(name, async (t) => {
      const first = plain(await graphql(query, { ...variables }))
      t.match(JSON.stringify(first), /"data":\{"|"errors":/)
      for (let time = 1; time < askedTimes; time += 1) t.same(plain(await graphql(query, { ...variables })), first)
    })
  }
})

t.test('a query that comes often is compiled, and what would then answer otherwise is not', async (t) => {
  const schema = buildSchema(readFileSync(packagePath('api/graphql/schema.graphql'), 'utf8'))
  const isCompiledAfter = (query: string, times: number, operationName: string | null = null): boolean => {
    const [documents, document] = [createCompiledDocuments(schema), parse(query)]
    for (let time = 0; time < times; time += 1) documents.wasRun(document, operationName)
    return documents.of(document) !== null
  }
  for (const { name, query, isCompiled } of cases.filter(({ name }) => name !== 'variables that do not fit')) {
    t.equal(isCompiledAfter(query, askedTimes), isCompiled, name)
    t.notOk(isCompiledAfter(query, 1), `${name}, once`)
  }
  t.ok(isCompiledAfter('query A { a: __typename } mutation B { deleteDomain(urn: "x") }', askedTimes, 'A'))
  t.notOk(isCompiledAfter('query A { a: __typename } mutation B { deleteDomain(urn: "x") }', askedTimes, 'B'))
  t.notOk(isCompiledAfter('query A { a: __typename } query B($x: Int) { b: __typename }', askedTimes, 'B'), 'the operation that is named')
})
