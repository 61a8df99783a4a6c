/**
 * Shows column records (fineGrainedLineages) as their living pairs allow.
 *
 * A record is shown as written while all its pairs live. One that lost a pair is shown as one record for each downstream
 * with what is left, so that the edges of the document are the edges of the walk. Pairs that were added one by one are
 * gathered by operation, downstream and query, as map-keyed patches do it.
 */
import type { JsonObject, JsonValue } from './changes.ts'
import type { StatedEdge } from './lineage-document.ts'
import { compareOrder } from './order.ts'

const isObject = (value: JsonValue | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (value: JsonValue | undefined): JsonValue[] => Array.isArray(value) ? value : []
const isColumn = (urn: JsonValue): urn is string => typeof urn === 'string' && urn.startsWith('urn:li:schemaField:')

/** What an added pair says of its record when the client said nothing. */
const plainRecord: JsonObject = { upstreamType: 'FIELD_SET', downstreamType: 'FIELD', confidenceScore: 1 }

export function assembleColumnRecords(written: JsonValue[], pairs: readonly StatedEdge[]): JsonObject[] {
  const live = new Set(pairs.map((pair) => `${pair.recordKey} ${pair.downstreamUrn} ${pair.upstreamUrn}`))
  const records = written.filter(isObject).flatMap((record, index) => livingPart(record, (down, up) => live.has(`${index + 1} ${down} ${up}`)))
  for (const added of gather(pairs.filter((pair) => pair.recordKey <= 0))) {
    const home = records.find((record) => groupOf(record) === groupOf(added))
    if (home) home.upstreams = [...new Set([...listOf(home.upstreams), ...listOf(added.upstreams)])]
    else records.push(added)
  }
  return records
}

function livingPart(record: JsonObject, lives: (down: string, up: string) => boolean): JsonObject[] {
  const columns = listOf(record.upstreams).filter(isColumn)
  const targets = listOf(record.downstreams).filter(isColumn)
  if (columns.length === 0 || targets.length === 0) return [{ ...record }]
  if (targets.every((down) => columns.every((up) => lives(down, up)))) return [{ ...record }]
  return targets.flatMap((down) => {
    const left = listOf(record.upstreams).filter((up) => !isColumn(up) || lives(down, up))
    return left.some(isColumn) ? [{ ...record, upstreams: left, downstreams: [down] }] : []
  })
}

/** Operation, query and downstream of a record with one downstream; records with several are never joined. */
function groupOf(record: JsonObject): string | null {
  const downstreams = listOf(record.downstreams)
  if (downstreams.length !== 1) return null
  return JSON.stringify([record.transformOperation ?? 'NONE', record.query ?? 'NONE', downstreams[0]])
}

function gather(pairs: readonly StatedEdge[]): JsonObject[] {
  const records = new Map<string, JsonObject>()
  const inOrder = [...pairs].sort((a, b) => a.position - b.position || compareOrder(a, b) || (a.upstreamUrn < b.upstreamUrn ? -1 : 1))
  for (const pair of inOrder) {
    const attributes: JsonObject = { ...plainRecord, ...pair.attributes }
    const key = `${pair.recordKey} ${pair.downstreamUrn}`
    const record = records.get(key)
    if (!record) {
      const { upstreamType, downstreamType, ...others } = attributes
      records.set(key, { upstreamType: upstreamType ?? 'FIELD_SET', upstreams: [pair.upstreamUrn], downstreamType: downstreamType ?? 'FIELD', downstreams: [pair.downstreamUrn], ...others })
      continue
    }
    record.upstreams = [...new Set([...listOf(record.upstreams), pair.upstreamUrn])]
    record.confidenceScore = Math.min(Number(record.confidenceScore), Number(attributes.confidenceScore))
  }
  return [...records.values()]
}
