/**
 * The lineage in documents, as `upstream > downstream`: the edges that a walk must find, derived from the
 * documents alone.
 */
import type { JsonValue } from '../../../shared/model/changes.ts'
import { isJsonObject, valueAt } from '../../support/json-answer.ts'

export type DocumentEdges = { assets: Set<string>; columns: Set<string> }

/**
 * A list of the aspect, the field of an entry that names the other end, and whether that end is upstream of
 * the owner.
 */
type EdgeList = { list: string; end: (entry: JsonValue) => string | undefined; isUpstream: boolean }

const bare = (entry: JsonValue): string | undefined => (typeof entry === 'string' ? entry : undefined)
const under =
  (path: string) =>
  (entry: JsonValue): string | undefined =>
    bare(valueAt(entry, path) ?? null)
const up = (list: string, end = bare): EdgeList => ({ list, end, isUpstream: true })
const down = (list: string, end = bare): EdgeList => ({ list, end, isUpstream: false })
const edge = under('destinationUrn')

const edgeLists: { [aspectName: string]: EdgeList[] } = {
  upstreamLineage: [up('upstreams', under('dataset'))],
  dataJobInputOutput: [
    up('inputDatasets'),
    up('inputDatasetEdges', edge),
    up('inputDatajobs'),
    up('inputDatajobEdges', edge),
    down('outputDatasets'),
    down('outputDatasetEdges', edge)
  ],
  chartInfo: [up('inputs', under('string')), up('inputEdges', edge)],
  dashboardInfo: [
    up('charts'),
    up('chartEdges', edge),
    up('datasets'),
    up('datasetEdges', edge),
    up('dashboards', edge)
  ],
  mlFeatureProperties: [up('sources')],
  mlPrimaryKeyProperties: [up('sources')],
  mlModelProperties: [
    up('mlFeatures'),
    up('trainingJobs'),
    down('groups'),
    down('downstreamJobs'),
    down('deployments')
  ],
  mlModelTrainingData: [up('trainingData', under('dataset'))],
  mlModelGroupProperties: [up('trainingJobs'), down('downstreamJobs')],
  dataProcessInstanceInput: [up('inputEdges', edge)],
  dataProcessInstanceOutput: [down('outputEdges', edge)]
}

/**
 * `documents` are `[urn, aspectName, value]`. A walk never returns its start, so edges from an entity to
 * itself are left out.
 */
export function edgesOfDocuments(
  documents: Iterable<readonly [urn: string, aspectName: string, value: JsonValue]>
): DocumentEdges {
  const edges: DocumentEdges = { assets: new Set(), columns: new Set() }
  const add = (set: Set<string>, upstream: string | undefined, downstream: string | undefined): void => {
    if (upstream !== undefined && downstream !== undefined && upstream !== downstream)
      set.add(`${upstream} > ${downstream}`)
  }
  for (const [urn, aspectName, value] of documents) {
    for (const { list, end, isUpstream } of edgeLists[aspectName] ?? []) {
      for (const entry of listAt(value, list))
        add(edges.assets, isUpstream ? end(entry) : urn, isUpstream ? urn : end(entry))
    }
    for (const record of listAt(value, 'fineGrainedLineages')) {
      const upstreams = listAt(record, 'upstreams').map(bare).filter(isColumn)
      for (const downstream of listAt(record, 'downstreams').map(bare).filter(isColumn))
        for (const upstream of upstreams) add(edges.columns, upstream, downstream)
    }
    if (aspectName === 'inputFields') {
      for (const field of listAt(value, 'fields')) {
        const path = valueAt(field, 'schemaField.fieldPath')
        if (typeof path === 'string')
          add(edges.columns, under('schemaFieldUrn')(field), `urn:li:schemaField:(${urn},${inUrn(path)})`)
      }
    }
  }
  return edges
}

/** The path of a column as DataHub writes it into a URN. */
const inUrn = (path: string): string =>
  path.replace(/[(),]/g, (reserved) => encodeURIComponent(reserved).replace('(', '%28').replace(')', '%29'))

const isColumn = (urn: string | undefined): boolean => urn?.startsWith('urn:li:schemaField:') === true

function listAt(value: JsonValue, name: string): JsonValue[] {
  const found = isJsonObject(value) ? value[name] : undefined
  return Array.isArray(found) ? found : []
}
