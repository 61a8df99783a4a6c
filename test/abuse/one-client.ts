/**
 * What one client may send, as much of it as it can: requests that are answered, and that would keep the
 * connections and the event loop from all others if they did not take turns.
 */
import type { JsonObject } from '../../shared/model/changes.ts'
import { overGraphql, type Attack } from './attack.ts'
import { assetUrn, domainUrn, ingestedUrn, sizes } from './catalog.ts'

const times = <Value>(count: number, value: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => value(index))

/** Parts of names, of which few occur: no search is answered from another one's result. */
const partsOfNames = (request: number): string[] =>
  times(200, (value) => `${(request * 200 + value).toString(36)}q${value % 10}`)

const proposal = (urn: string, aspectName: string, value: JsonObject): JsonObject => ({
  entityType: 'dataset',
  entityUrn: urn,
  changeType: 'UPSERT',
  aspectName,
  aspect: { value: JSON.stringify(value), contentType: 'application/json' },
  systemMetadata: { runId: 'nightly', lastObserved: 1_700_000_000_000 }
})

/** What DataHub's connectors send of each table. */
const proposalsOf = (index: number): JsonObject[] => {
  const urn = ingestedUrn(index)
  return [
    proposal(urn, 'status', { removed: false }),
    proposal(urn, 'datasetProperties', {
      name: `ingested_${index}`,
      qualifiedName: `shop.ingested_${index}`,
      description: `Table ${index} of the shop`,
      customProperties: { owner: `team ${index % 20}`, retention: '30 days' }
    }),
    proposal(urn, 'schemaMetadata', {
      schemaName: `shop.ingested_${index}`,
      platform: 'urn:li:dataPlatform:hive',
      version: 0,
      hash: '',
      platformSchema: { 'com.linkedin.schema.OtherSchema': { rawSchema: '' } },
      fields: times(20, (column) => ({
        fieldPath: `column_${column}`,
        nativeDataType: 'varchar',
        type: { type: { 'com.linkedin.schema.StringType': {} } }
      }))
    }),
    proposal(urn, 'upstreamLineage', {
      upstreams: [{ dataset: assetUrn(index % sizes.assets), type: 'TRANSFORMED' }]
    })
  ]
}

const tablesPerBatch = 25
const batchesCount = 200
const singlesCount = 4_000
const isDone = { status: 200, reason: null }
/** What has waited too long for a turn, or has taken too long, on a slow machine. */
const isLate = [
  { status: 503, reason: 'OVERLOADED' },
  { status: 504, reason: 'DEADLINE_EXCEEDED' },
  { status: 200, reason: 'DEADLINE_EXCEEDED' }
]

export const oneClient: readonly Attack[] = [
  {
    ...overGraphql({
      name: 'searches by CONTAIN with 200 values, 4 at once',
      query:
        'query ($values: [String!]) { searchAcrossEntities(input: { query: "*", orFilters: [{ and: [{ field: "name", condition: CONTAIN, values: $values }] }] }) { total searchResults { entity { urn } } } }',
      variables: (request) => ({ values: partsOfNames(request) }),
      atOnce: 4,
      expected: []
    }),
    expected: [isDone, ...isLate],
    bodiesCount: 200,
    readsOnly: true
  },
  {
    name: 'an ingestion with 15 threads, batches of 100 proposals',
    path: '/aspects?action=ingestProposalBatch',
    body: (request) =>
      JSON.stringify({
        proposals: times(tablesPerBatch, (index) => proposalsOf(request * tablesPerBatch + index)).flat()
      }),
    bodiesCount: batchesCount,
    atOnce: 15,
    expected: [isDone, ...isLate]
  },
  {
    name: 'an ingestion with 15 threads, single proposals',
    path: '/aspects?action=ingestProposal',
    body: (request) =>
      JSON.stringify({
        proposal: proposalsOf(batchesCount * tablesPerBatch + Math.floor(request / 4))[request % 4]
      }),
    bodiesCount: singlesCount,
    atOnce: 15,
    expected: [isDone, ...isLate]
  },
  {
    name: 'writers of one asset, 80 at once',
    path: '/aspects?action=ingestProposal',
    body: (request) =>
      JSON.stringify({
        proposal: proposal(assetUrn(2), 'editableDatasetProperties', { description: `version ${request}` })
      }),
    bodiesCount: singlesCount,
    atOnce: 80,
    expected: [isDone, ...isLate]
  },
  {
    ...overGraphql({
      name: 'lists of 10,000 domains, 20 at once',
      query: `query ($start: Int) { listDomains(input: { start: $start, count: ${sizes.siblings}, parentDomain: ${JSON.stringify(domainUrn(0))} }) { total domains { urn properties { name } } } }`,
      variables: (request) => ({ start: request }),
      atOnce: 20,
      expected: []
    }),
    expected: [isDone, ...isLate],
    bodiesCount: 100,
    readsOnly: true,
    rssMaxMb: 1_500
  }
]
