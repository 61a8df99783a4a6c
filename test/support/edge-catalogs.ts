/** Random catalogs with lineage of every kind, and random loads of plain edges that meet it. */
import type { Change, JsonObject } from '../../shared/model/changes.ts'
import { assetOrSelf, placeOfEdge } from '../../shared/model/change-facts.ts'
import {
  columnFieldCodes,
  edgePairs,
  lineageFieldByCode,
  lineageFieldsOf,
  type EdgePair,
  type LineageField
} from '../../shared/model/lineage-fields.ts'
import { toUrn, type Urn } from '../../shared/urn/urn.ts'
import {
  addEdge,
  chart,
  column,
  create,
  dashboard,
  dataset,
  deleteAspect,
  feature,
  hardDelete,
  job,
  model,
  patch,
  primaryKey,
  removeEdge,
  segment,
  upsert,
  upstream
} from './changes.ts'
import { fc } from './fast-check.ts'

/** Two entities of each type that can be an end of an asset edge. */
const entities: { [entityType: string]: readonly [Urn, Urn] } = {
  dataset: [dataset('a'), dataset('b')],
  dataJob: [job('a'), job('b')],
  chart: [chart('a'), chart('b')],
  dashboard: [dashboard('a'), dashboard('b')],
  mlPrimaryKey: [primaryKey('a'), primaryKey('b')],
  mlFeature: [feature('a'), feature('b')],
  mlModel: [model('a'), model('b')],
  mlModelGroup: [
    toUrn('urn:li:mlModelGroup:(urn:li:dataPlatform:mlflow,a,PROD)'),
    toUrn('urn:li:mlModelGroup:(urn:li:dataPlatform:mlflow,b,PROD)')
  ],
  mlModelDeployment: [
    toUrn('urn:li:mlModelDeployment:(urn:li:dataPlatform:sagemaker,a,PROD)'),
    toUrn('urn:li:mlModelDeployment:(urn:li:dataPlatform:sagemaker,b,PROD)')
  ],
  dataProcessInstance: [toUrn('urn:li:dataProcessInstance:a'), toUrn('urn:li:dataProcessInstance:b')]
}
export const anyEntity: readonly Urn[] = Object.values(entities).flat()

/** Columns of assets of each type that states edges of columns. */
const columns: readonly Urn[] = [
  column(dataset('a'), 'x'),
  column(dataset('a'), 'y'),
  column(dataset('b'), 'x'),
  column(chart('a'), 'x'),
  column(dashboard('a'), 'x')
]

export type Edge = { upstreamUrn: Urn; downstreamUrn: Urn; pair: EdgePair }

const entityOf = (type: string, index: number): Urn => {
  const urn = entities[type]?.[index]
  if (!urn) throw new Error(`no entity of type ${type}`)
  return urn
}
const isOfColumns = ({ pair }: Pick<Edge, 'pair'>): boolean => pair.upstreamType === 'schemaField'
const isOfDatasets = ({ upstreamType, downstreamType }: EdgePair): boolean =>
  upstreamType === 'dataset' && downstreamType === 'dataset'
const ownerOf = ({ pair, upstreamUrn, downstreamUrn }: Edge): Urn =>
  pair.owner === 'upstream' ? upstreamUrn : assetOrSelf(downstreamUrn)
const otherOf = ({ pair, upstreamUrn, downstreamUrn }: Edge): Urn =>
  pair.owner === 'upstream' ? downstreamUrn : upstreamUrn
const aspectOf = ({ upstreamUrn, downstreamUrn }: Edge): string =>
  placeOfEdge(upstreamUrn, downstreamUrn)?.aspectName ?? ''

export const assetPairs: readonly EdgePair[] = edgePairs.filter((pair) => pair.upstreamType !== 'schemaField')

/** Edges of a few kinds between a few entities, so that they collide. */
const edgesOf = (pairs: readonly EdgePair[]): fc.Arbitrary<Edge> =>
  fc
    .record({
      pair: fc.constantFrom(...pairs),
      up: fc.constantFrom(0, 1),
      down: fc.constantFrom(0, 1),
      columns: fc.tuple(fc.constantFrom(...columns), fc.constantFrom(...columns))
    })
    .map(({ pair, up, down, columns: [upstreamUrn, downstreamUrn] }) =>
      isOfColumns({ pair })
        ? { pair, upstreamUrn, downstreamUrn }
        : {
            pair,
            upstreamUrn: entityOf(pair.upstreamType, up),
            downstreamUrn: entityOf(pair.downstreamType, down)
          }
    )

/** The lists of the owner's aspect that can contain the other end. */
const listsFor = (edge: Edge): LineageField[] => {
  const { pair } = edge
  if (isOfColumns(edge))
    return lineageFieldsOf(aspectOf(edge)).filter((field) => columnFieldCodes.includes(field.code))
  const [entryIs, otherType] =
    pair.owner === 'upstream'
      ? (['downstream', pair.downstreamType] as const)
      : (['upstream', pair.upstreamType] as const)
  return lineageFieldsOf(lineageFieldByCode(pair.fieldCode).aspectName).filter(
    (field) =>
      field.entryIs === entryIs &&
      field.entryTypes.includes(otherType) &&
      field.shape !== 'columns' &&
      field.shape !== 'inputField'
  )
}

function entryOf(field: LineageField, { upstreamUrn, downstreamUrn, pair }: Edge): JsonObject | string {
  if (field.shape === 'columns')
    return {
      upstreamType: 'FIELD_SET',
      downstreamType: 'FIELD',
      upstreams: [upstreamUrn],
      downstreams: [downstreamUrn]
    }
  if (field.shape === 'inputField') return { schemaFieldUrn: upstreamUrn }
  const urn = pair.owner === 'upstream' ? downstreamUrn : upstreamUrn
  if (field.shape === 'urn') return urn
  if (field.shape === 'union') return { string: urn }
  return field.shape === 'upstream' ? upstream(urn, { type: 'COPY' }) : { destinationUrn: urn }
}

/** Of one record of columns, or of everything that leads into a column. Input fields cannot be patched one by one. */
function patchesOfColumns(
  edge: Edge,
  operation: { op: 'add' | 'remove'; value?: JsonObject },
  isOfAll = false
): Change[] {
  const aspectName = aspectOf(edge)
  if (aspectName !== 'upstreamLineage') return []
  const into = `/fineGrainedLineages/TRANSFORM/${segment(edge.downstreamUrn)}`
  const path = isOfAll ? into : `${into}/NONE/${segment(edge.upstreamUrn)}`
  return [patch(ownerOf(edge), aspectName, { ...operation, path })]
}

const required: { [aspectName: string]: JsonObject } = {
  chartInfo: { title: 'T', description: '' },
  dashboardInfo: { title: 'T', description: '' }
}

/** Something that happened before or beside the load; `by` says who did it, and when. */
export type Happening = {
  by: 'call' | 'older load' | 'own load' | 'newer load' | 'ended load'
  source: string
  creates: boolean
  changes: () => Change[]
  [fc.toStringMethod]: () => string
}

const whatHappens = [
  'add',
  'add',
  'add',
  'remove',
  'attributes',
  'upsert',
  'upsert nothing',
  'replace',
  'replace by source',
  'patch',
  'patch of a list',
  'patch away',
  'delete aspect',
  'hard delete',
  'soft delete',
  'create',
  'create'
] as const

const happeningOf = (pairs: readonly EdgePair[]): fc.Arbitrary<Happening> =>
  fc
    .record({
      edge: edgesOf(pairs),
      other: edgesOf(pairs),
      what: fc.constantFrom(...whatHappens),
      list: fc.nat(3),
      creates: fc.boolean(),
      by: fc.constantFrom('call', 'older load', 'own load', 'newer load', 'ended load'),
      source: fc.constantFrom('etl', 'other')
    })
    .map(({ edge, other, what, list, by, source, creates }) => {
      const lists = listsFor(edge)
      const field = lists[list % lists.length] ?? lineageFieldByCode(edge.pair.fieldCode)
      const [owner, aspectName] = [ownerOf(edge), aspectOf(edge)]
      const ends = ({ upstreamUrn, downstreamUrn }: Edge) => ({ upstreamUrn, downstreamUrn })
      const path = `/${field.listName}/${segment(otherOf(edge))}`
      const changes = (): Change[] => {
        switch (what) {
          case 'add':
            return [addEdge(edge.upstreamUrn, edge.downstreamUrn)]
          case 'remove':
            return [removeEdge(edge.upstreamUrn, edge.downstreamUrn)]
          case 'attributes':
            return [
              {
                kind: 'addEdge',
                ...ends(edge),
                attributes:
                  field.shape === 'upstream'
                    ? { type: 'VIEW' }
                    : field.shape === 'columns'
                      ? { transformOperation: 'SUM' }
                      : { properties: { k: 'v' } }
              }
            ]
          case 'upsert':
            return [
              upsert(owner, aspectName, {
                ...required[aspectName],
                [field.listName]: [entryOf(field, edge)]
              })
            ]
          case 'upsert nothing':
            return [upsert(owner, aspectName, { ...required[aspectName], [field.listName]: [] })]
          case 'replace':
          case 'replace by source': {
            const edges = [edge, other]
              .filter((each) => ownerOf(each) === owner && aspectOf(each) === aspectName)
              .map(ends)
            return [
              {
                kind: 'replaceEdges',
                ownerUrn: owner,
                aspectName,
                ...(what === 'replace' ? {} : { source }),
                edges
              }
            ]
          }
          case 'patch':
            if (isOfColumns(edge)) return patchesOfColumns(edge, { op: 'add', value: {} })
            return [
              patch(
                owner,
                aspectName,
                field.shape === 'upstream'
                  ? { op: 'replace', path: `${path}/type`, value: 'VIEW' }
                  : { op: 'add', path: `${path}/properties/k`, value: 'v' }
              )
            ]
          case 'patch of a list':
            return [
              patch(owner, aspectName, {
                op: 'add',
                path: `/${field.listName}`,
                value: [entryOf(field, edge)]
              })
            ]
          case 'patch away':
            if (isOfColumns(edge)) return patchesOfColumns(edge, { op: 'remove' }, list % 2 === 0)
            return [patch(owner, aspectName, { op: 'remove', path })]
          case 'delete aspect':
            return [deleteAspect(owner, aspectName)]
          case 'hard delete':
            return [hardDelete(list % 2 === 0 ? otherOf(edge) : assetOrSelf(otherOf(edge)))]
          case 'soft delete':
            return [{ kind: 'deleteEntity', entityUrn: owner, hard: false }]
          case 'create':
            return create(assetOrSelf(edge.upstreamUrn), assetOrSelf(edge.downstreamUrn))
        }
      }
      const name = `${by} ${source} ${what} ${edge.upstreamUrn} ${edge.downstreamUrn} ${field.listName} ${creates}`
      return { by, source, creates, changes, [fc.toStringMethod]: () => name }
    })

type WriteEdge = (upstreamUrn: string, downstreamUrn: string) => string

/** Ways to write an edge that is added, and one that is removed. */
const addWriters: readonly WriteEdge[] = [
  (upstreamUrn, downstreamUrn) => JSON.stringify({ upstreamUrn, downstreamUrn }),
  (upstreamUrn, downstreamUrn) => JSON.stringify({ downstreamUrn, upstreamUrn }),
  (upstreamUrn, downstreamUrn) =>
    `{"op": "addEdge", "upstreamUrn": "${upstreamUrn}", "downstreamUrn":\t"${downstreamUrn}"}`,
  (upstreamUrn, downstreamUrn) =>
    `{ "downstreamUrn" : "${downstreamUrn}" , "upstreamUrn" : "${upstreamUrn}" , "op" : "addEdge" }`
]
const removeWriters: readonly WriteEdge[] = [
  (upstreamUrn, downstreamUrn) => JSON.stringify({ op: 'removeEdge', upstreamUrn, downstreamUrn }),
  (upstreamUrn, downstreamUrn) =>
    `{"downstreamUrn": "${downstreamUrn}", "upstreamUrn":"${upstreamUrn}", "op":"removeEdge"}`
]

const linesOf = (line: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.array(line, { minLength: 1, maxLength: 8 })

/**
 * A load of edges, and everything that happened before it and beside it. Lists of lines are chunks, in the
 * order in which they are applied.
 */
export type EdgeLoad = {
  present: Urn[]
  before: Happening[]
  meanwhile: Happening[]
  chunks: string[][]
  mode: 'merge' | 'snapshot'
  missingReferences: 'reject' | 'create'
  isDestructive: boolean
  isLast: boolean
  isLimited: boolean
}

const edgeLoadOf = (somePairs: fc.Arbitrary<EdgePair[]>): fc.Arbitrary<EdgeLoad> =>
  somePairs.chain((pairs) => {
    const named = [
      ...new Set(
        pairs.flatMap((pair) =>
          isOfColumns({ pair })
            ? columns.map(assetOrSelf)
            : [...(entities[pair.upstreamType] ?? []), ...(entities[pair.downstreamType] ?? [])]
        )
      )
    ]
    const linesBy = (writers: readonly WriteEdge[]) =>
      linesOf(
        fc
          .tuple(edgesOf(pairs), fc.constantFrom(...writers))
          .map(([{ upstreamUrn, downstreamUrn }, write]) => write(upstreamUrn, downstreamUrn))
      )
    return loadOf(pairs, named, fc.oneof(linesBy(addWriters), linesBy(removeWriters)))
  })

export const anyEdgeLoad: fc.Arbitrary<EdgeLoad> = edgeLoadOf(
  fc.shuffledSubarray([...assetPairs], { minLength: 1, maxLength: 3 })
)

/** Edges between columns, and perhaps between their datasets. */
export const anyColumnEdgeLoad: fc.Arbitrary<EdgeLoad> = edgeLoadOf(
  fc.constantFrom(
    edgePairs.filter((pair) => isOfColumns({ pair })),
    edgePairs.filter((pair) => isOfColumns({ pair }) || isOfDatasets(pair))
  )
)

const fewDatasets = ['a', 'b', 'c', 'd', 'e'].map((name) => dataset(name))

/**
 * Proposals of `upstreamLineage` for these datasets as emitters write them, with and without stamps and
 * actors.
 */
const anyDocument: fc.Arbitrary<string> = fc
  .record({
    ownerUrn: fc.constantFrom(...fewDatasets),
    upstreams: fc.array(
      fc.record({
        dataset: fc.constantFrom(...fewDatasets),
        type: fc.constantFrom('TRANSFORMED', 'TRANSFORMED', 'COPY'),
        auditStamp: fc.constantFrom(
          undefined,
          { time: 0, actor: 'urn:li:corpuser:unknown' },
          { time: 7, actor: 'urn:li:corpuser:etl' }
        )
      }),
      { minLength: 1, maxLength: 4 }
    ),
    systemMetadata: fc.constantFrom(undefined, null, { lastObserved: 5, runId: 'run' })
  })
  .map(({ ownerUrn, upstreams, systemMetadata }) =>
    JSON.stringify({
      entityType: 'dataset',
      entityUrn: ownerUrn,
      changeType: 'UPSERT',
      aspectName: 'upstreamLineage',
      aspect: { value: JSON.stringify({ upstreams }), contentType: 'application/json' },
      systemMetadata
    })
  )

/** A load of lineage documents, in a catalog with lineage of datasets in every state. */
export const anyDocumentLoad: fc.Arbitrary<EdgeLoad> = loadOf(
  assetPairs.filter(isOfDatasets),
  fewDatasets,
  linesOf(anyDocument)
)

function loadOf(
  pairs: readonly EdgePair[],
  named: Urn[],
  chunk: fc.Arbitrary<string[]>
): fc.Arbitrary<EdgeLoad> {
  return fc.record({
    present: fc.oneof(
      { weight: 2, arbitrary: fc.constant(named) },
      { weight: 1, arbitrary: fc.subarray(named, { minLength: 1 }) }
    ),
    before: fc.array(happeningOf(pairs), { maxLength: 6 }),
    meanwhile: fc.array(happeningOf(pairs), { maxLength: 4 }),
    chunks: fc.array(chunk, { minLength: 1, maxLength: 2 }),
    mode: fc.constantFrom('merge', 'snapshot'),
    missingReferences: fc.constantFrom('reject', 'create'),
    isDestructive: fc.boolean(),
    isLast: fc.boolean(),
    isLimited: fc.nat(9).map((chance) => chance === 0)
  })
}
