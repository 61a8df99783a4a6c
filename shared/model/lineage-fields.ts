/**
 * The lists of aspects that state lineage edges: which aspect, which list, which way, and how an entry is written.
 *
 * `code` is stored in Postgres (statement.field): never renumber. code >> 4 is the aspect's own code.
 * Source of the directions: datahub-compatible relationships (DownstreamOf, Consumes, Produces, Contains, DerivedFrom…).
 */
export type EntryShape =
  /** A bare URN. */
  | 'urn'
  /** `{ "string": urn }`, a union of one member. */
  | 'union'
  /** An Edge record; the other end is `destinationUrn`. */
  | 'edge'
  /** An Upstream record; the other end is `dataset`. */
  | 'upstream'
  /** A column record with several ends on both sides; the documents stay in the aspect, its pairs are statements. */
  | 'columns'
  /** `{ schemaFieldUrn, schemaField }`; the downstream is the owner's own column. The documents stay in the aspect. */
  | 'inputField'

export type LineageField = {
  code: number
  aspectName: string
  listName: string
  shape: EntryShape
  /** Which end the entry's URN is, as seen from the owner. */
  entryIs: 'upstream' | 'downstream'
  /** Entity types the entry may have. */
  entryTypes: readonly string[]
}

const field = (code: number, aspectName: string, listName: string, shape: EntryShape, entryIs: 'upstream' | 'downstream', entryTypes: readonly string[]): LineageField =>
  ({ code, aspectName, listName, shape, entryIs, entryTypes })

const datasets = ['dataset'] as const
const jobs = ['dataJob'] as const

export const lineageFields: readonly LineageField[] = [
  field(0x10, 'upstreamLineage', 'upstreams', 'upstream', 'upstream', datasets),
  field(0x11, 'upstreamLineage', 'fineGrainedLineages', 'columns', 'upstream', ['schemaField']),
  field(0x20, 'dataJobInputOutput', 'inputDatasets', 'urn', 'upstream', datasets),
  field(0x21, 'dataJobInputOutput', 'inputDatasetEdges', 'edge', 'upstream', datasets),
  field(0x22, 'dataJobInputOutput', 'outputDatasets', 'urn', 'downstream', datasets),
  field(0x23, 'dataJobInputOutput', 'outputDatasetEdges', 'edge', 'downstream', datasets),
  field(0x24, 'dataJobInputOutput', 'inputDatajobs', 'urn', 'upstream', jobs),
  field(0x25, 'dataJobInputOutput', 'inputDatajobEdges', 'edge', 'upstream', jobs),
  field(0x26, 'dataJobInputOutput', 'fineGrainedLineages', 'columns', 'upstream', ['schemaField']),
  field(0x30, 'chartInfo', 'inputs', 'union', 'upstream', ['dataset', 'chart']),
  field(0x31, 'chartInfo', 'inputEdges', 'edge', 'upstream', ['dataset', 'chart']),
  field(0x40, 'dashboardInfo', 'charts', 'urn', 'upstream', ['chart']),
  field(0x41, 'dashboardInfo', 'chartEdges', 'edge', 'upstream', ['chart']),
  field(0x42, 'dashboardInfo', 'datasets', 'urn', 'upstream', datasets),
  field(0x43, 'dashboardInfo', 'datasetEdges', 'edge', 'upstream', datasets),
  field(0x44, 'dashboardInfo', 'dashboards', 'edge', 'upstream', ['dashboard']),
  field(0x50, 'inputFields', 'fields', 'inputField', 'upstream', ['schemaField']),
  field(0x60, 'mlPrimaryKeyProperties', 'sources', 'urn', 'upstream', datasets),
  field(0x70, 'mlFeatureProperties', 'sources', 'urn', 'upstream', datasets),
  field(0x80, 'mlModelProperties', 'mlFeatures', 'urn', 'upstream', ['mlFeature']),
  field(0x81, 'mlModelProperties', 'groups', 'urn', 'downstream', ['mlModelGroup']),
  field(0x82, 'mlModelProperties', 'trainingJobs', 'urn', 'upstream', ['dataJob', 'dataProcessInstance']),
  field(0x83, 'mlModelProperties', 'downstreamJobs', 'urn', 'downstream', jobs),
  field(0x90, 'mlModelGroupProperties', 'trainingJobs', 'urn', 'upstream', ['dataJob', 'dataProcessInstance']),
  field(0x91, 'mlModelGroupProperties', 'downstreamJobs', 'urn', 'downstream', jobs),
  field(0xa0, 'dataProcessInstanceInput', 'inputs', 'urn', 'upstream', ['dataset', 'mlModel']),
  field(0xa1, 'dataProcessInstanceInput', 'inputEdges', 'edge', 'upstream', ['dataset', 'mlModel']),
  field(0xb0, 'dataProcessInstanceOutput', 'outputs', 'urn', 'downstream', ['dataset', 'mlModel']),
  field(0xb1, 'dataProcessInstanceOutput', 'outputEdges', 'edge', 'downstream', ['dataset', 'mlModel'])
]

/** Codes of the lists whose edges join columns; all others join assets. */
export const columnFieldCodes: readonly number[] = lineageFields.filter((entry) => entry.shape === 'columns' || entry.shape === 'inputField').map((entry) => entry.code)

const byCode = new Map(lineageFields.map((entry) => [entry.code, entry]))
const byAspect = new Map<string, LineageField[]>()
for (const entry of lineageFields) byAspect.set(entry.aspectName, [...byAspect.get(entry.aspectName) ?? [], entry])

/** The field with a stored code. Throws on a code this version does not know: the database is newer than the program. */
export const lineageFieldByCode = (code: number): LineageField => {
  const found = byCode.get(code)
  if (!found) throw new Error(`unknown lineage field code ${code}`)
  return found
}

/** The lists of an aspect that state edges; empty when it states none. */
export const lineageFieldsOf = (aspectName: string): readonly LineageField[] => byAspect.get(aspectName) ?? []

export const lineageAspects: readonly string[] = [...byAspect.keys()]

export const isLineageAspect = (aspectName: string): boolean => byAspect.has(aspectName)

/** The stored code of a lineage aspect: what tombstones and watermarks are keyed by. */
export const aspectCodeOf = (aspectName: string): number => {
  const first = byAspect.get(aspectName)?.[0]
  if (!first) throw new Error(`${aspectName} is no lineage aspect`)
  return first.code >> 4
}

/**
 * Where an edge between two entity types is written when a client names only its ends: the owner, and the list.
 * The pairs of the specification (4.4) and of DataHub's updateLineage, columns, and ML keys and features.
 */
export type EdgePair = { upstreamType: string, downstreamType: string, owner: 'upstream' | 'downstream', fieldCode: number }

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
  { upstreamType: 'dataProcessInstance', downstreamType: 'mlModelGroup', owner: 'downstream', fieldCode: 0x90 },
  { upstreamType: 'schemaField', downstreamType: 'schemaField', owner: 'downstream', fieldCode: 0x11 }
]

const byPair = new Map(edgePairs.map((pair) => [`${pair.upstreamType}>${pair.downstreamType}`, pair]))

/** The way an edge between these two types is written, or null where no such edge exists. */
export const edgePairOf = (upstreamType: string, downstreamType: string): EdgePair | null => byPair.get(`${upstreamType}>${downstreamType}`) ?? null
