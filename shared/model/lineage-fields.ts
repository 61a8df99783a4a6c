/**
 * The lists of aspects that state lineage edges: the aspect, the list, the direction, and the form of an
 * entry.
 *
 * They come from DataHub's model (lineage-relationships.ts). `code` is our own and stored in Postgres (statement.field), so it must never
 * be renumbered. code >> 4 is the code of the aspect.
 */
import type { DataHubRelationship } from './datahub-model.ts'
import { knownRelationships } from './lineage-relationships.ts'

export type EntryShape =
  /** A bare URN. */
  | 'urn'
  /** A bare URN that is the whole field, without a list. */
  | 'link'
  /** `{ "string": urn }`, a union of one member. */
  | 'union'
  /** An Edge record; the other end is `destinationUrn`. */
  | 'edge'
  /** An Upstream record; the other end is `dataset`. */
  | 'upstream'
  /** Another record about a dataset, without stamps; the other end is `dataset`. */
  | 'data'
  /**
   * A column record, which may have several ends on both sides. The documents stay in the aspect, and the
   * pairs are statements.
   */
  | 'columns'
  /**
   * `{ schemaFieldUrn, schemaField }`. The downstream is a column of the owner. The documents stay in the
   * aspect.
   */
  | 'inputField'

export type LineageField = {
  code: number
  aspectName: string
  listName: string
  shape: EntryShape
  /** Which end of the edge the URN in the entry is; the owner is the other end. */
  entryIs: 'upstream' | 'downstream'
  /** The entity types that an entry may name. */
  entryTypes: readonly string[]
}

/**
 * The code of each list or field that states lineage. A new list gets the next code of its aspect; a new
 * aspect starts at the next multiple of sixteen.
 */
const codes: ReadonlyMap<string, number> = new Map(
  Object.entries({
    'upstreamLineage.upstreams': 0x10,
    'upstreamLineage.fineGrainedLineages': 0x11,
    'dataJobInputOutput.inputDatasets': 0x20,
    'dataJobInputOutput.inputDatasetEdges': 0x21,
    'dataJobInputOutput.outputDatasets': 0x22,
    'dataJobInputOutput.outputDatasetEdges': 0x23,
    'dataJobInputOutput.inputDatajobs': 0x24,
    'dataJobInputOutput.inputDatajobEdges': 0x25,
    'dataJobInputOutput.fineGrainedLineages': 0x26,
    'chartInfo.inputs': 0x30,
    'chartInfo.inputEdges': 0x31,
    'dashboardInfo.charts': 0x40,
    'dashboardInfo.chartEdges': 0x41,
    'dashboardInfo.datasets': 0x42,
    'dashboardInfo.datasetEdges': 0x43,
    'dashboardInfo.dashboards': 0x44,
    'inputFields.fields': 0x50,
    'mlPrimaryKeyProperties.sources': 0x60,
    'mlFeatureProperties.sources': 0x70,
    'mlModelProperties.mlFeatures': 0x80,
    'mlModelProperties.groups': 0x81,
    'mlModelProperties.trainingJobs': 0x82,
    'mlModelProperties.downstreamJobs': 0x83,
    'mlModelProperties.deployments': 0x84,
    'mlModelGroupProperties.trainingJobs': 0x90,
    'mlModelGroupProperties.downstreamJobs': 0x91,
    // 0xa0 and 0xb0 were `inputs` and `outputs`, which are not lineage.
    'dataProcessInstanceInput.inputEdges': 0xa1,
    'dataProcessInstanceOutput.outputEdges': 0xb1,
    'dataProcessInfo.inputs': 0xc0,
    'dataProcessInfo.outputs': 0xc1,
    'applicationLineage.inputEdges': 0xd0,
    'applicationLineage.outputEdges': 0xd1,
    'metricUpstreams.datasetUpstreams': 0xe0,
    'metricRelationships.derivedFrom': 0xf0,
    'upstreamMetrics.metrics': 0x100,
    'apiSignature.inputDatasetEdges': 0x110,
    'apiSignature.outputDatasetEdges': 0x111,
    'apiProperties.sourceRepository': 0x120,
    'serviceProperties.apis': 0x130,
    'serviceProperties.sourceRepository': 0x131,
    'aiAgentDependencies.tools': 0x140,
    'aiAgentDependencies.models': 0x141,
    'repositoryLineage.forkOf': 0x150,
    'mlModelTrainingData.trainingData': 0x160
  })
)

/** The form of the entries of DataHub's lists, by the path from the list to the URN; for a few lists, by their name. */
const shapes: ReadonlyMap<string, EntryShape> = new Map([
  ['', 'link'],
  ['/*', 'urn'],
  ['/*/string', 'union'],
  ['/*/destinationUrn', 'edge'],
  ['/*/dataset', 'upstream'],
  ['mlModelTrainingData.trainingData', 'data']
])

/**
 * Types that DataHub accepts in these lists in addition to those in its model: a chart may be made from
 * charts.
 */
const moreEntryTypes: ReadonlyMap<string, readonly string[]> = new Map([['chartInfo.inputs', ['chart']]])

/** Lists of columns. DataHub's code makes their edges; its model does not describe them. */
const columnFields: readonly (readonly [aspectName: string, listName: string, shape: EntryShape])[] = [
  ['upstreamLineage', 'fineGrainedLineages', 'columns'],
  ['dataJobInputOutput', 'fineGrainedLineages', 'columns'],
  ['inputFields', 'fields', 'inputField']
]

function codeOf(aspectName: string, listName: string): number {
  const code = codes.get(`${aspectName}.${listName}`)
  if (code === undefined) throw new Error(`${aspectName}.${listName} states lineage and has no code`)
  return code
}

function fieldOfModel(
  { aspectName, path, entityTypes }: DataHubRelationship,
  entryIs: 'upstream' | 'downstream'
): LineageField {
  const [listName = ''] = path.split('/')
  const shape = shapes.get(`${aspectName}.${listName}`) ?? shapes.get(path.slice(listName.length))
  if (shape === undefined) throw new Error(`${aspectName}.${path} states lineage in a way that is not known`)
  return {
    code: codeOf(aspectName, listName),
    aspectName,
    listName,
    shape,
    entryIs,
    entryTypes: [...entityTypes, ...(moreEntryTypes.get(`${aspectName}.${listName}`) ?? [])]
  }
}

/** The field of an entry that names the other end, if the entry is a record with one. */
export const linkKeyOf = ({ shape }: Pick<LineageField, 'shape'>): 'dataset' | 'destinationUrn' =>
  shape === 'upstream' || shape === 'data' ? 'dataset' : 'destinationUrn'

/** Whether an entry is a record with attributes beside the other end. */
export const isRecord = ({ shape }: Pick<LineageField, 'shape'>): boolean =>
  shape === 'upstream' || shape === 'data' || shape === 'edge'

/** The lists and fields, ordered by code. */
export const lineageFields: readonly LineageField[] = [
  ...knownRelationships.flatMap((each) => (each.lineage === null ? [] : [fieldOfModel(each, each.lineage)])),
  ...columnFields.map(([aspectName, listName, shape]): LineageField => ({
    code: codeOf(aspectName, listName),
    aspectName,
    listName,
    shape,
    entryIs: 'upstream',
    entryTypes: ['schemaField']
  }))
].toSorted((a, b) => a.code - b.code)

/** Codes of the lists whose edges join columns; all others join assets. */
export const columnFieldCodes: readonly number[] = lineageFields
  .filter((entry) => entry.shape === 'columns' || entry.shape === 'inputField')
  .map((entry) => entry.code)

const byCode = new Map(lineageFields.map((entry) => [entry.code, entry]))
const byAspect = new Map<string, LineageField[]>()
for (const entry of lineageFields)
  byAspect.set(entry.aspectName, [...(byAspect.get(entry.aspectName) ?? []), entry])

/** The field with a stored code. Throws for an unknown code: the database is newer than the program. */
export const lineageFieldByCode = (code: number): LineageField => {
  const found = byCode.get(code)
  if (!found) throw new Error(`unknown lineage field code ${code}`)
  return found
}

/** The column lineage of a job: the only edges between columns that neither end states. */
export const jobColumnsField: LineageField = lineageFieldByCode(0x26)

/** The lists of an aspect that state edges; empty if none does. */
export const lineageFieldsOf = (aspectName: string): readonly LineageField[] => byAspect.get(aspectName) ?? []

export const lineageAspects: readonly string[] = [...byAspect.keys()]

export const isLineageAspect = (aspectName: string): boolean => byAspect.has(aspectName)

/** The stored code of a lineage aspect, by which tombstones and watermarks are keyed. */
export const aspectCodeOf = (aspectName: string): number => {
  const first = byAspect.get(aspectName)?.[0]
  if (!first) throw new Error(`${aspectName} is not a lineage aspect`)
  return first.code >> 4
}

const aspectNames = new Map(lineageFields.map(({ code, aspectName }) => [code >> 4, aspectName]))

/** The aspect of a stored code. Throws for an unknown code: the database is newer than the program. */
export function aspectNameOf(aspectCode: number): string {
  const found = aspectNames.get(aspectCode)
  if (found === undefined) throw new Error(`unknown lineage aspect code ${aspectCode}`)
  return found
}

/**
 * Where an edge between two entity types is written if a client gives only its ends: the owner, and the list.
 * Covers the pairs of the specification (4.4) and of DataHub's updateLineage, columns, and ML keys and
 * features.
 */
export type EdgePair = {
  upstreamType: string
  downstreamType: string
  owner: 'upstream' | 'downstream'
  fieldCode: number
}

export const edgePairs: readonly EdgePair[] = [
  { upstreamType: 'dataset', downstreamType: 'dataset', owner: 'downstream', fieldCode: 0x10 },
  { upstreamType: 'dataJob', downstreamType: 'dataset', owner: 'upstream', fieldCode: 0x23 },
  { upstreamType: 'dataset', downstreamType: 'dataJob', owner: 'downstream', fieldCode: 0x21 },
  { upstreamType: 'dataJob', downstreamType: 'dataJob', owner: 'downstream', fieldCode: 0x25 },
  { upstreamType: 'dataset', downstreamType: 'chart', owner: 'downstream', fieldCode: 0x31 },
  { upstreamType: 'chart', downstreamType: 'chart', owner: 'downstream', fieldCode: 0x31 },
  { upstreamType: 'dataset', downstreamType: 'dashboard', owner: 'downstream', fieldCode: 0x43 },
  { upstreamType: 'chart', downstreamType: 'dashboard', owner: 'downstream', fieldCode: 0x41 },
  { upstreamType: 'dashboard', downstreamType: 'dashboard', owner: 'downstream', fieldCode: 0x44 },
  { upstreamType: 'dataset', downstreamType: 'mlPrimaryKey', owner: 'downstream', fieldCode: 0x60 },
  { upstreamType: 'dataset', downstreamType: 'mlFeature', owner: 'downstream', fieldCode: 0x70 },
  { upstreamType: 'dataset', downstreamType: 'mlModel', owner: 'downstream', fieldCode: 0x160 },
  { upstreamType: 'mlModel', downstreamType: 'mlModelDeployment', owner: 'upstream', fieldCode: 0x84 },
  { upstreamType: 'mlFeature', downstreamType: 'mlModel', owner: 'downstream', fieldCode: 0x80 },
  { upstreamType: 'mlModel', downstreamType: 'mlModelGroup', owner: 'upstream', fieldCode: 0x81 },
  { upstreamType: 'dataJob', downstreamType: 'mlModel', owner: 'downstream', fieldCode: 0x82 },
  { upstreamType: 'mlModel', downstreamType: 'dataJob', owner: 'upstream', fieldCode: 0x83 },
  { upstreamType: 'dataJob', downstreamType: 'mlModelGroup', owner: 'downstream', fieldCode: 0x90 },
  { upstreamType: 'mlModelGroup', downstreamType: 'dataJob', owner: 'upstream', fieldCode: 0x91 },
  { upstreamType: 'dataset', downstreamType: 'dataProcessInstance', owner: 'downstream', fieldCode: 0xa1 },
  { upstreamType: 'mlModel', downstreamType: 'dataProcessInstance', owner: 'downstream', fieldCode: 0xa1 },
  { upstreamType: 'dataProcessInstance', downstreamType: 'dataset', owner: 'upstream', fieldCode: 0xb1 },
  { upstreamType: 'dataProcessInstance', downstreamType: 'mlModel', owner: 'upstream', fieldCode: 0xb1 },
  {
    upstreamType: 'dataProcessInstance',
    downstreamType: 'mlModelGroup',
    owner: 'downstream',
    fieldCode: 0x90
  },
  { upstreamType: 'mlModelGroup', downstreamType: 'dataProcessInstance', owner: 'upstream', fieldCode: 0x91 },
  {
    upstreamType: 'dataProcessInstance',
    downstreamType: 'dataProcessInstance',
    owner: 'downstream',
    fieldCode: 0xa1
  },
  { upstreamType: 'schemaField', downstreamType: 'schemaField', owner: 'downstream', fieldCode: 0x11 }
]

const byPair = new Map<string, Map<string, EdgePair>>()
for (const pair of edgePairs) {
  const ofUpstream = byPair.get(pair.upstreamType) ?? new Map<string, EdgePair>()
  byPair.set(pair.upstreamType, ofUpstream.set(pair.downstreamType, pair))
}

/** How an edge between these two types is stored, or null if no such edge exists. */
export const edgePairOf = (upstreamType: string, downstreamType: string): EdgePair | null =>
  byPair.get(upstreamType)?.get(downstreamType) ?? null

/** The types of assets whose columns state their edges, and the list. */
const columnLists = new Map([
  ['dataset', 0x11],
  ['chart', 0x50],
  ['dashboard', 0x50]
])

/**
 * Where an edge is stored if a client gives only its ends: in a list of one end, or of the asset of that end
 * if it is a column. `assetType` is the type of the downstream or, if the downstream is a column, of its
 * asset. Null if no such edge exists.
 */
export function placeOfTypes(
  upstreamType: string,
  downstreamType: string,
  assetType: string
): Pick<EdgePair, 'owner' | 'fieldCode'> | null {
  const pair = edgePairOf(upstreamType, downstreamType)
  if (!pair || downstreamType !== 'schemaField') return pair
  const fieldCode = columnLists.get(assetType)
  return fieldCode === undefined ? null : { owner: pair.owner, fieldCode }
}
