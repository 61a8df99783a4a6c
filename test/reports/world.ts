/** What the trials of public reports write and ask: a server over its public interfaces, with names of their own for each trial. */
import { equal } from 'node:assert/strict'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { valueAt } from '../support/json-answer.ts'
import type { RestAnswer, RestRequest } from '../support/server.ts'

export type Ask = (request: RestRequest) => Promise<RestAnswer>

type Answer = RestAnswer['body']

export type World = ReturnType<typeof openWorld>

/** A page so large that nothing of a trial is on a second one. */
const all = 1_000

const graphql = (query: string, variables: JsonObject, token?: string): RestRequest => ({
  method: 'POST',
  url: '/api/graphql',
  body: { query, variables },
  ...(token === undefined ? {} : { token })
})

/** `tag` is in every name, so that the trials share one catalog. */
export function openWorld(ask: Ask, tag: string) {
  const table = (name: string, platform = 'hive'): string =>
    `urn:li:dataset:(urn:li:dataPlatform:${platform},${tag}.${name},PROD)`
  const column = (name: string, field: string): string => `urn:li:schemaField:(${table(name)},${field})`
  const job = (name: string): string => `urn:li:dataJob:(urn:li:dataFlow:(airflow,${tag},PROD),${name})`
  const chart = (name: string): string => `urn:li:chart:(looker,${tag}.${name})`
  const dashboard = (name: string): string => `urn:li:dashboard:(looker,${tag}.${name})`

  /** `orders`, `job load`, `chart sales`, `orders#id`. */
  const short = (urn: string): string =>
    urn
      .replace(/^urn:li:schemaField:\((.*),([^,]*)\)$/, '$1#$2')
      .replace(/urn:li:dataset:\(urn:li:dataPlatform:[\w-]+,(.*?),[A-Z]+\)/, '$1')
      .replace(/^urn:li:dataJob:\(urn:li:dataFlow:\(.*?\),(.*)\)$/, 'job $1')
      .replace(/^urn:li:(chart|dashboard):\([\w-]+,(.*)\)$/, '$1 $2')
      .replace(`${tag}.`, '')

  /** The data of an answer; throws if it has errors. */
  async function read(query: string, variables: JsonObject = {}, token?: string): Promise<Answer> {
    const { body, text } = await ask(graphql(query, variables, token))
    if (!body?.data || body.errors) throw new Error(text)
    return body.data
  }

  /** The code of the error that a request is refused with; `none` if it is not. */
  async function refusal(query: string, variables: JsonObject = {}, token?: string): Promise<string> {
    const { body } = await ask(graphql(query, variables, token))
    return String(body?.errors?.[0]?.extensions?.reason ?? 'none')
  }

  /** Loads records, or a body as it is, and returns the load at its end. */
  async function load(records: readonly JsonObject[] | string, parameters = ''): Promise<Answer> {
    const { status, body, text } = await ask({
      method: 'POST',
      url: `/loads?wait=25${parameters}`,
      body: typeof records === 'string' ? records : records.map((each) => JSON.stringify(each)).join('\n'),
      headers: {
        'content-type': typeof records === 'string' ? 'application/json' : 'application/x-ndjson'
      }
    })
    if (status !== 200) throw new Error(`${status} ${text}`)
    return body
  }

  /** Puts edges (`[upstream, downstream]`) and their ends into the catalog, as a source would. */
  async function draw(edges: readonly (readonly [string, string])[], parameters = ''): Promise<void> {
    const assets = new Set(edges.flat().map((urn) => /^urn:li:schemaField:\((.*),/.exec(urn)?.[1] ?? urn))
    const loaded = await load(
      [
        ...[...assets].map((urn) => ({ op: 'upsertEntity', urn })),
        ...edges.map(([upstreamUrn, downstreamUrn]) => ({ upstreamUrn, downstreamUrn }))
      ],
      parameters
    )
    equal(loaded.counts.rejected, 0)
  }

  async function update(lists: {
    add?: readonly (readonly [string, string])[]
    remove?: readonly (readonly [string, string])[]
  }): Promise<void> {
    const inputs = (edges: readonly (readonly [string, string])[] = []): JsonObject[] =>
      edges.map(([upstreamUrn, downstreamUrn]) => ({ upstreamUrn, downstreamUrn }))
    await read('mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }', {
      input: { edgesToAdd: inputs(lists.add), edgesToRemove: inputs(lists.remove) }
    })
  }

  async function propose(
    entityUrn: string,
    aspectName: string,
    value: JsonObject | JsonValue[],
    changeType = 'UPSERT'
  ): Promise<void> {
    const aspect =
      changeType === 'PATCH'
        ? { value: JSON.stringify(value), contentType: 'application/json-patch+json' }
        : { json: value }
    const { status, text } = await ask({
      method: 'POST',
      url: '/aspects?action=ingestProposal',
      body: {
        proposal: { entityType: entityUrn.split(':')[2], entityUrn, changeType, aspectName, aspect }
      },
      headers: { 'x-missing-references': 'create' }
    })
    if (status !== 200) throw new Error(`${status} ${text}`)
  }

  /** The value of an aspect; undefined if there is none. */
  async function aspect(urn: string, name: string): Promise<Answer> {
    const { body } = await ask({
      url: `/openapi/v3/entity/generic/${encodeURIComponent(urn)}?aspects=${name}`
    })
    return body?.[name]?.value
  }

  /** Sends one event of OpenLineage and returns the body of the answer, if there is one. */
  async function send(event: JsonObject): Promise<Answer> {
    const { status, body, text } = await ask({ method: 'POST', url: '/api/v1/lineage', body: event })
    if (status !== 201) throw new Error(`${status} ${text}`)
    return body
  }

  /** The page of a scroll over lineage. */
  async function walk(urn: string, input: JsonObject = {}): Promise<Answer> {
    const data = await read(
      `query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) {
        nextScrollId count total isPartial
        searchResults { degree entity { urn type exists } paths { path { urn } } } } }`,
      { input: { urn, direction: 'DOWNSTREAM', query: '*', count: all, ...input } }
    )
    return data.scrollAcrossLineage
  }

  /** What the walk reaches, by short names in alphabetical order. */
  const reached = async (urn: string, input: JsonObject = {}): Promise<string[]> =>
    (await walk(urn, input)).searchResults
      .map(({ entity }: { entity: { urn: string } }) => short(entity.urn))
      .sort()

  const upstream = (urn: string, input: JsonObject = {}): Promise<string[]> =>
    reached(urn, { direction: 'UPSTREAM', ...input })

  /** What a search finds, by short names in alphabetical order, and its total. */
  async function find(input: JsonObject): Promise<{ names: string[]; total: number; facets: Answer }> {
    const data = await read(
      `query ($input: SearchAcrossEntitiesInput!) { searchAcrossEntities(input: $input) {
        total searchResults { entity { urn } } facets { field aggregations { value count } } } }`,
      { input: { query: '*', count: all, ...input } }
    )
    const { total, searchResults, facets } = data.searchAcrossEntities
    return {
      total,
      facets,
      names: searchResults.map(({ entity }: { entity: { urn: string } }) => short(entity.urn)).sort()
    }
  }

  async function createDomain(name: string, parentDomain?: string, id?: string): Promise<string> {
    const data = await read('mutation ($input: CreateDomainInput!) { createDomain(input: $input) }', {
      input: {
        name: `${tag} ${name}`,
        ...(parentDomain === undefined ? {} : { parentDomain }),
        ...(id === undefined ? {} : { id })
      }
    })
    return String(data.createDomain)
  }

  async function setDomain(domainUrn: string, ...urns: string[]): Promise<void> {
    const loaded = await load(urns.map((entityUrn) => ({ op: 'setDomain', entityUrn, domainUrn })))
    equal(loaded.counts.rejected, 0)
  }

  /** The assets in a domain, and their total. */
  async function inDomain(
    urn: string,
    includeDescendants = false
  ): Promise<{ names: string[]; total: number; childCount: number }> {
    const { domain } = await read(
      `query ($urn: String!, $input: DomainEntitiesInput) { domain(urn: $urn) {
        childCount entities(input: $input) { total searchResults { entity { urn } } } } }`,
      { urn, input: { count: all, includeDescendants } }
    )
    return {
      childCount: domain.childCount,
      total: domain.entities.total,
      names: domain.entities.searchResults
        .map(({ entity }: { entity: { urn: string } }) => short(entity.urn))
        .sort()
    }
  }

  /** The URN of the domain of a dataset; null if it is in none. */
  async function domainOf(urn: string): Promise<string | null> {
    const data = await read('query ($urn: String!) { dataset(urn: $urn) { domain { domain { urn } } } }', {
      urn
    })
    const found = valueAt(data, 'dataset.domain.domain.urn')
    return typeof found === 'string' ? found : null
  }

  return {
    tag,
    ask,
    table,
    column,
    job,
    chart,
    dashboard,
    short,
    read,
    refusal,
    load,
    draw,
    update,
    propose,
    aspect,
    send,
    walk,
    reached,
    upstream,
    find,
    createDomain,
    setDomain,
    inDomain,
    domainOf
  }
}
