/**
 * The expected aspects of a file when they are read back: what was sent, with the defaults of DataHub's
 * schema. Shares no code with the product.
 */
import type { JsonObject, JsonValue } from '../../../shared/model/changes.ts'
import { isJsonObject } from '../../support/json-answer.ts'
import type { SentAspect } from './sent-aspects.ts'

const unset = { time: 0, actor: 'urn:li:corpuser:unknown' }
const unsetTwice = { created: unset, lastModified: unset }

/** Defaults by aspect and by the list that contains the records; '' is the aspect itself. */
const defaults: { [aspectName: string]: { [list: string]: JsonObject } } = {
  status: { '': { removed: false } },
  upstreamLineage: { '': {}, upstreams: { auditStamp: unset }, fineGrainedLineages: { confidenceScore: 1 } },
  dataJobInputOutput: { '': {}, fineGrainedLineages: { confidenceScore: 1 } },
  dataJobInfo: { '': { customProperties: {} } },
  dataFlowInfo: { '': { customProperties: {} } },
  chartInfo: { '': { customProperties: {}, lastModified: unsetTwice } },
  dashboardInfo: {
    '': { customProperties: {}, charts: [], datasets: [], dashboards: [], lastModified: unsetTwice }
  },
  domainProperties: { '': { customProperties: {} } },
  datasetProperties: { '': { customProperties: {}, tags: [] } },
  schemaMetadata: { '': unsetTwice, fields: { nullable: false, recursive: false, isPartOfKey: false } },
  inputFields: { '': {}, 'fields.schemaField': { nullable: false, recursive: false, isPartOfKey: false } }
}

const timeseries = new Set([
  'datasetProfile',
  'datasetUsageStatistics',
  'operation',
  'assertionRunEvent',
  'chartUsageStatistics',
  'dashboardUsageStatistics',
  'dataProcessInstanceRunEvent'
])

/**
 * The expected documents, by `urn aspectName`: of several writes of one aspect the last, of events the
 * newest. `known` are those that no rule here gives.
 */
export function expectedAspects(
  sent: readonly SentAspect[],
  known: { readonly [key: string]: JsonObject } = {}
): Map<string, JsonObject> {
  const expected = new Map<string, JsonObject>(Object.entries(known))
  for (const { urn, aspectName, value, isPatch } of sent) {
    const key = `${urn} ${aspectName}`
    if (Object.hasOwn(known, key)) continue
    const before = expected.get(key)
    if (isPatch) expected.set(key, patchedLineage(before, value))
    else if (!isJsonObject(value)) throw new Error(`${key} is no object`)
    else if (
      !timeseries.has(aspectName) ||
      Number(before?.timestampMillis ?? 0) <= Number(value.timestampMillis)
    )
      expected.set(key, withDefaults(aspectName, value))
  }
  return expected
}

function withDefaults(aspectName: string, sent: JsonObject): JsonObject {
  if (isOwnAspect(aspectName)) return sent
  const known = defaults[aspectName] ?? {}
  const result: JsonObject = { ...known[''], ...withoutNulls(sent) }
  // DataHub derives the associations of domains that were written without them.
  if (aspectName === 'domains' && Array.isArray(result.domains))
    result.domainAssociations ??= result.domains.map((domain) => ({ domain }))
  for (const [path, fallback] of Object.entries(known)) {
    const [list = '', inner] = path.split('.')
    const entries = result[list]
    if (list === '' || !Array.isArray(entries)) continue
    result[list] = entries.map((entry) => {
      if (!isJsonObject(entry)) return entry
      if (inner === undefined) return { ...fallback, ...entry }
      return isJsonObject(entry[inner]) ? { ...entry, [inner]: { ...fallback, ...entry[inner] } } : entry
    })
  }
  return result
}

/** An aspect that DataHub does not have: kept exactly as sent, including nulls. */
const isOwnAspect = (aspectName: string): boolean => aspectName.includes('_')

function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, entry]) => (entry === null ? [] : [[name, cleaned(entry)]]))
  )
}

function cleaned(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(cleaned)
  return isJsonObject(value) ? withoutNulls(value) : value
}

type ColumnRecord = {
  operation: string
  downstream: string
  query: string
  upstreams: string[]
  confidence: number
}

/**
 * upstreamLineage after a patch that adds upstreams and column records by path, as DataHub's templates
 * rebuild it: one record for each operation, downstream and query, with all its upstreams and the lowest
 * confidence.
 */
function patchedLineage(before: JsonObject | undefined, patch: JsonValue): JsonObject {
  if (before !== undefined || !Array.isArray(patch))
    throw new Error('the files are known to patch only what is not there yet')
  const upstreams: JsonValue[] = []
  const records = new Map<string, ColumnRecord>()
  for (const operation of patch.filter(isJsonObject)) {
    const [, list, ...rest] = String(operation.path)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    const value = operation.value
    if (operation.op !== 'add' || !isJsonObject(value))
      throw new Error(`no such operation is expected: ${JSON.stringify(operation)}`)
    if (list === 'upstreams') upstreams.push({ auditStamp: unset, ...value })
    else addColumns(records, rest, Number(value.confidenceScore ?? 1))
  }
  const rebuilt = [...records.values()].map(
    ({ operation, downstream, query, upstreams: columns, confidence }): JsonObject => ({
      upstreamType: 'FIELD_SET',
      upstreams: columns,
      downstreamType: 'FIELD',
      downstreams: [downstream],
      transformOperation: operation,
      confidenceScore: confidence,
      ...(query === 'NONE' ? {} : { query })
    })
  )
  return { upstreams, ...(rebuilt.length > 0 ? { fineGrainedLineages: rebuilt } : {}) }
}

function addColumns(
  records: Map<string, ColumnRecord>,
  [operation = '', downstream = '', query = '', upstream = '']: readonly string[],
  confidence: number
): void {
  const key = `${operation} ${downstream} ${query}`
  const record = records.get(key) ?? { operation, downstream, query, upstreams: [], confidence }
  records.set(key, {
    ...record,
    upstreams: [...record.upstreams, upstream],
    confidence: Math.min(record.confidence, confidence)
  })
}
