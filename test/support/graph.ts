/** Writes graphs with named nodes through any interface of the service, and reads degrees back by name. */
import { lineageFieldByCode } from '../../shared/model/lineage-fields.ts'
import { placeOfEdge } from '../../shared/model/change-facts.ts'
import type { JsonObject, JsonValue } from '../../shared/model/changes.ts'
import { inTransaction } from '../../shared/db/transaction.ts'
import { keepDeadline } from '../../shared/store/deadline.ts'
import { findEntities, findEntitiesById } from '../../shared/store/entities.ts'
import { walkLineage } from '../../shared/store/lineage-walk.ts'
import { entityTypeOf, toUrn, type Urn } from '../../shared/urn/urn.ts'
import type { Degrees, Direction, NamedEdge } from '../cases/graphs.ts'
import { loadLines } from './load-lines.ts'
import type { TestServer } from './server.ts'

/** The edges of a text such as `a -> b & c -> d; a -> d`. */
export function edgesOf(text: string): NamedEdge[] {
  return text.split(';').flatMap((line) => {
    const steps = line.split('->').map((step) => step.split('&').map((name) => name.trim()))
    return steps
      .slice(1)
      .flatMap((downs, index) =>
        (steps[index] ?? []).flatMap((up) => downs.map((down): NamedEdge => [up, down]))
      )
  })
}

const templates: { readonly [kind: string]: string } = {
  job: 'urn:li:dataJob:(urn:li:dataFlow:(airflow,@,PROD),#)',
  chart: 'urn:li:chart:(looker,@.#)',
  dash: 'urn:li:dashboard:(looker,@.#)',
  key: 'urn:li:mlPrimaryKey:(@,#)',
  feature: 'urn:li:mlFeature:(@,#)',
  model: 'urn:li:mlModel:(urn:li:dataPlatform:mlflow,@.#,PROD)'
}
const datasetTemplate = 'urn:li:dataset:(urn:li:dataPlatform:hive,@.#,PROD)'

/** The URN of a name in a namespace; graphs in different namespaces share nothing. */
export function urnOfName(name: string, namespace: string): Urn {
  const [entity = '', column] = name.split('#')
  if (column !== undefined) return toUrn(`urn:li:schemaField:(${urnOfName(entity, namespace)},${column})`)
  const [kind = '', own] = entity.split(':')
  const template = own === undefined ? datasetTemplate : (templates[kind] ?? datasetTemplate)
  return toUrn(template.replaceAll('@', namespace).replaceAll('#', own ?? kind))
}

export type Edge = { upstreamUrn: Urn; downstreamUrn: Urn }

export const urnEdges = (edges: readonly NamedEdge[], namespace: string): Edge[] =>
  edges.map(([up, down]) => ({
    upstreamUrn: urnOfName(up, namespace),
    downstreamUrn: urnOfName(down, namespace)
  }))

/** An interface: writes the edges and the assets they need, and throws if the service refuses. */
export type Door = { name: string; write: (server: TestServer, edges: readonly Edge[]) => Promise<void> }

const assetOf = (urn: Urn): Urn =>
  entityTypeOf(urn) === 'schemaField'
    ? toUrn(urn.slice('urn:li:schemaField:('.length, urn.lastIndexOf(',')))
    : urn
const assetsOf = (edges: readonly Edge[]): Urn[] => [
  ...new Set(edges.flatMap((edge) => [assetOf(edge.upstreamUrn), assetOf(edge.downstreamUrn)]))
]

const slices = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size)
  )

const proposal = (entityUrn: Urn, aspectName: string, value: JsonObject): JsonObject => ({
  entityType: entityTypeOf(entityUrn),
  entityUrn,
  changeType: 'UPSERT',
  aspectName,
  aspect: { value: JSON.stringify(value), contentType: 'application/json' }
})

async function propose(server: TestServer, proposals: readonly JsonObject[]): Promise<void> {
  for (const slice of slices(proposals, 500)) {
    const answer = await server.rest({
      method: 'POST',
      url: '/aspects?action=ingestProposalBatch',
      body: { proposals: slice }
    })
    if (answer.status !== 200)
      throw new Error(`proposals were answered with ${answer.status}: ${answer.text.slice(0, 1_000)}`)
  }
}

/** Creates assets without any content. */
export const makeAssets = (server: TestServer, urns: readonly Urn[]): Promise<void> =>
  propose(
    server,
    urns.map((urn) => proposal(urn, 'status', { removed: false }))
  )

const graphqlDoor: Door = {
  name: 'updateLineage',
  async write(server, edges) {
    await makeAssets(server, assetsOf(edges))
    for (const edgesToAdd of slices(edges, 5_000)) {
      const answer = await server.graphql(
        'mutation ($input: UpdateLineageInput!) { updateLineage(input: $input) }',
        { input: { edgesToAdd, edgesToRemove: [] } }
      )
      if (answer.body?.data?.updateLineage !== true)
        throw new Error(`updateLineage was answered with ${answer.text.slice(0, 1_000)}`)
    }
  }
}

/** The required fields of an aspect besides its edges. */
const base: { readonly [aspectName: string]: JsonObject } = {
  upstreamLineage: { upstreams: [] },
  dataJobInputOutput: { inputDatasets: [], outputDatasets: [] },
  chartInfo: { title: 'a chart', description: '', customProperties: {}, lastModified: {} },
  dashboardInfo: {
    title: 'a dashboard',
    description: '',
    customProperties: {},
    charts: [],
    datasets: [],
    lastModified: {}
  },
  inputFields: { fields: [] },
  mlPrimaryKeyProperties: { sources: [] },
  mlFeatureProperties: { sources: [] },
  mlModelProperties: { mlFeatures: [] }
}

const entryOf = (shape: string, { upstreamUrn, downstreamUrn }: Edge, other: Urn): JsonValue => {
  if (shape === 'upstream') return { dataset: other, type: 'TRANSFORMED' }
  if (shape === 'edge') return { destinationUrn: other }
  if (shape === 'columns')
    return {
      upstreamType: 'FIELD_SET',
      upstreams: [upstreamUrn],
      downstreamType: 'FIELD',
      downstreams: [downstreamUrn]
    }
  if (shape === 'inputField') {
    return {
      schemaFieldUrn: upstreamUrn,
      schemaField: {
        fieldPath: downstreamUrn.slice(downstreamUrn.lastIndexOf(',') + 1, -1),
        type: { type: { 'com.linkedin.schema.StringType': {} } },
        nativeDataType: 'text'
      }
    }
  }
  return other
}

/**
 * The value of a lineage aspect that asserts these edges, which must all belong to that aspect of one owner.
 */
export function aspectStating(aspectName: string, edges: readonly Edge[]): JsonObject {
  const value: JsonObject = { ...base[aspectName] }
  for (const edge of edges) {
    const place = placeOfEdge(edge.upstreamUrn, edge.downstreamUrn)
    if (place?.aspectName !== aspectName)
      throw new Error(`${aspectName} does not state ${edge.upstreamUrn} -> ${edge.downstreamUrn}`)
    const { shape, listName, entryIs } = lineageFieldByCode(place.fieldCode)
    const list = value[listName]
    value[listName] = [
      ...(Array.isArray(list) ? list : []),
      entryOf(shape, edge, entryIs === 'upstream' ? edge.upstreamUrn : edge.downstreamUrn)
    ]
  }
  return value
}

const proposalsDoor: Door = {
  name: 'proposals',
  async write(server, edges) {
    const aspects = new Map<string, { ownerUrn: Urn; aspectName: string; edges: Edge[] }>()
    for (const edge of edges) {
      const place = placeOfEdge(edge.upstreamUrn, edge.downstreamUrn)
      if (!place) throw new Error(`no aspect states ${edge.upstreamUrn} -> ${edge.downstreamUrn}`)
      const key = `${place.aspectName} ${place.ownerUrn}`
      const aspect = aspects.get(key) ?? { ownerUrn: place.ownerUrn, aspectName: place.aspectName, edges: [] }
      aspects.set(key, aspect)
      aspect.edges.push(edge)
    }
    await makeAssets(server, assetsOf(edges))
    await propose(
      server,
      [...aspects.values()].map(({ ownerUrn, aspectName, edges: own }) =>
        proposal(ownerUrn, aspectName, aspectStating(aspectName, own))
      )
    )
  }
}

const loadDoor: Door = {
  name: 'a load',
  async write(server, edges) {
    await loadLines(server, [...edges, ...assetsOf(edges).map((urn) => ({ op: 'upsertEntity', urn }))])
  }
}

/** All interfaces, including a direct call in the process. The load needs a server `withWorker`. */
export const doors: readonly Door[] = [graphqlDoor, proposalsDoor, loadDoor]

/** Reads degrees by URN. `columns` keeps columns as they are; otherwise they are folded to their assets. */
export type DegreeReader = {
  name: string
  read: (server: TestServer, from: Urn, direction: Direction, columns: boolean) => Promise<Map<Urn, number>>
}

const graphqlReader: DegreeReader = {
  name: 'GraphQL',
  async read(server, from, direction, columns) {
    const input = {
      urn: from,
      direction,
      query: '*',
      count: 10_000,
      ...(columns ? { foldColumns: false } : {})
    }
    const answer = await server.graphql(
      'query ($input: ScrollAcrossLineageInput!) { scrollAcrossLineage(input: $input) { nextScrollId total searchResults { degree entity { urn } } } }',
      { input }
    )
    const page = answer.body?.data?.scrollAcrossLineage
    if (!page || page.nextScrollId !== null || page.total !== page.searchResults.length)
      throw new Error(`the walk was answered with ${answer.text.slice(0, 1_000)}`)
    return new Map(
      page.searchResults.map((result: { degree: number; entity: { urn: string } }) => [
        toUrn(result.entity.urn),
        result.degree
      ])
    )
  }
}

const sqlReader: DegreeReader = {
  name: 'SQL',
  read: (server, from, direction) =>
    inTransaction(
      server.db,
      async (tx) => {
        const [start] = await findEntities(tx, [from])
        const walk = await walkLineage(tx, {
          startIds: start ? [start.id] : [],
          direction,
          level: entityTypeOf(from) === 'schemaField' ? 'column' : 'asset',
          hopsWanted: Infinity,
          bounds: { maxHops: 1_000, maxEntities: 1_000_000 },
          withinDeadline: keepDeadline(tx, 10_000, 'too slow')
        })
        const urnById = new Map((await findEntitiesById(tx, [...walk.ids])).map((row) => [row.id, row.urn]))
        return new Map(
          [...walk.ids].map((id, place) => [
            urnById.get(id) ?? toUrn('urn:li:none:none'),
            walk.degrees[place] ?? 0
          ])
        )
      },
      { readOnly: true, isolation: 'repeatable read' }
    )
}

export const degreeReaders: readonly DegreeReader[] = [sqlReader, graphqlReader]

/** Expected degrees, with URNs instead of names. */
export const urnDegrees = (degrees: Degrees, namespace: string): Map<Urn, number> =>
  new Map(Object.entries(degrees).map(([name, degree]) => [urnOfName(name, namespace), degree]))

/** Sorted, so that two can be compared. */
export const inOrder = (degrees: ReadonlyMap<Urn, number>): string[] =>
  [...degrees].map(([urn, degree]) => `${degree} ${urn}`).sort()
