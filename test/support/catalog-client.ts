/**
 * A client of the service over real HTTP: GraphQL, proposals, aspects, loads. Does not throw; errors are in
 * the answers.
 */
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { parsed, valueAt } from './json-answer.ts'
import { sendRaw, type RawAnswer } from './raw-request.ts'

export type JsonAnswer = Omit<RawAnswer, 'text'> & { json: JsonValue }

/** The part of a GraphQL answer that tests compare. `reason` is our code of the first error. */
export type GraphqlAnswer = {
  status: number
  data: JsonValue
  reason: JsonValue
  urn: JsonValue
  message: JsonValue
  json: JsonValue
}

export type Reached = { degree: number; urn: string; type: string }

export type CatalogClient = ReturnType<typeof catalogClient>

const orNull = (value: JsonValue | undefined): JsonValue => value ?? null

export const catalogClient = (url: string, token: string) => {
  const send = async (
    method: string,
    path: string,
    body?: JsonValue,
    headers: { [name: string]: string } = {}
  ): Promise<JsonAnswer> => {
    const { text, ...answer } = await sendRaw(url, {
      method,
      path,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers
      },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) })
    })
    return { ...answer, json: parsed(text) }
  }

  const graphql = async (query: string, variables: JsonObject = {}): Promise<GraphqlAnswer> => {
    const { status, json } = await send('POST', '/api/graphql', { query, variables })
    const error = valueAt(json, 'errors.0')
    return {
      status,
      json,
      data: orNull(valueAt(json, 'data')),
      reason: orNull(valueAt(error, 'extensions.reason')),
      urn: orNull(valueAt(error, 'extensions.urn')),
      message: orNull(valueAt(error, 'message'))
    }
  }

  const propose = (
    entityUrn: string,
    aspectName: string,
    json: JsonValue,
    more: JsonObject = {}
  ): Promise<JsonAnswer> =>
    send('POST', '/aspects?action=ingestProposal', {
      proposal: {
        entityType: entityUrn.split(':')[2] ?? '',
        entityUrn,
        changeType: 'UPSERT',
        aspectName,
        aspect: { contentType: 'application/json', value: JSON.stringify(json) },
        ...more
      }
    })

  /** Creates entities by their smallest possible aspect. Fails the test if it cannot. */
  const make = async (...urns: string[]): Promise<void> => {
    const proposals = urns.map((entityUrn) => ({
      entityType: entityUrn.split(':')[2] ?? '',
      entityUrn,
      changeType: 'UPSERT',
      aspectName: 'status',
      aspect: { json: { removed: false } }
    }))
    const { status, json } = await send('POST', '/aspects?action=ingestProposalBatch', { proposals })
    if (status !== 200) throw new Error(`cannot make ${urns.join(', ')}: ${JSON.stringify(json)}`)
  }

  const readAspect = (urn: string, aspectName: string): Promise<JsonAnswer> =>
    send('GET', `/aspects/${encodeURIComponent(urn)}?aspect=${aspectName}&version=0`)

  const createDomain = async (input: JsonObject): Promise<string> => {
    const { data, json } = await graphql(
      'mutation ($input: CreateDomainInput!) { createDomain(input: $input) }',
      { input }
    )
    const urn = valueAt(data, 'createDomain')
    if (typeof urn !== 'string') throw new Error(`no domain: ${JSON.stringify(json)}`)
    return urn
  }

  const setDomain = (entityUrn: string, domainUrn: string): Promise<GraphqlAnswer> =>
    graphql(
      'mutation ($entityUrn: String!, $domainUrn: String!) { setDomain(entityUrn: $entityUrn, domainUrn: $domainUrn) }',
      { entityUrn, domainUrn }
    )

  /** Edges are [upstream, downstream]. */
  const updateLineage = (
    edgesToAdd: [string, string][],
    edgesToRemove: [string, string][] = []
  ): Promise<GraphqlAnswer> => {
    const input = (edges: [string, string][]) =>
      edges.map(([upstreamUrn, downstreamUrn]) => ({ upstreamUrn, downstreamUrn }))
    return graphql('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', {
      input: { edgesToAdd: input(edgesToAdd), edgesToRemove: input(edgesToRemove) }
    })
  }

  const scroll = (input: JsonObject): Promise<GraphqlAnswer> =>
    graphql(
      'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { nextScrollId count total searchResults { degree entity { urn type } } } }',
      { input }
    )

  /**
   * The reached entities as `degree urn`, ordered by degree and URN. If the walk failed or was not nearest
   * first, the error instead.
   */
  const walk = async (
    urn: string,
    direction: 'UPSTREAM' | 'DOWNSTREAM' = 'DOWNSTREAM',
    more: JsonObject = {}
  ): Promise<string[]> => {
    const { data, json } = await scroll({ query: '*', urn, direction, count: 1000, ...more })
    const results = valueAt(data, 'scrollAcrossLineage.searchResults')
    if (!Array.isArray(results)) return [`failed: ${JSON.stringify(json)}`]
    const degrees = results.map((result) => Number(valueAt(result, 'degree')))
    if (degrees.some((degree, index) => degree < (degrees[index - 1] ?? 1)))
      return [`not nearest first: ${degrees.join(' ')}`]
    return results
      .map((result) => `${String(valueAt(result, 'degree'))} ${String(valueAt(result, 'entity.urn'))}`)
      .sort()
  }

  return {
    url,
    token,
    send,
    graphql,
    propose,
    make,
    readAspect,
    createDomain,
    setDomain,
    updateLineage,
    scroll,
    walk
  }
}
