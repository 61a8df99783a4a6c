/**
 * Shows column records (fineGrainedLineages) without the pairs that have been removed.
 *
 * A record is shown as written while all its pairs exist. If a pair was removed, the record is split into one
 * record for each downstream with its remaining upstreams, so that the document and the walk have the same
 * edges. Pairs that were added one by one are grouped by operation, downstream and query, as in map-keyed
 * patches.
 */
import { limits } from '../limits.ts'
import { isRowsUrn } from '../urn/rows-urn.ts'
import type { JsonObject, JsonValue } from './changes.ts'
import { isObject, listOf } from './json-values.ts'
import type { ListedEdge } from './lineage-document.ts'
import { compareAppearance } from './list-order.ts'

const isColumn = (urn: JsonValue): urn is string =>
  typeof urn === 'string' && urn.startsWith('urn:li:schemaField:')

/** The record of an added pair, if the client gave no more than its ends. */
const plainRecord: JsonObject = { upstreamType: 'FIELD_SET', downstreamType: 'FIELD', confidenceScore: 1 }

/**
 * `written` is the list of the document. Removed records in it are null, so that the other records keep their
 * numbers.
 */
export function assembleColumnRecords(
  written: readonly JsonValue[],
  pairs: readonly ListedEdge[]
): JsonObject[] {
  const { columnsOf, others } = withoutRows(pairs)
  const live = new Set(pairs.map((pair) => `${pair.recordKey} ${pair.downstreamUrn} ${pair.upstreamUrn}`))
  const records = written.flatMap((record, index) =>
    isObject(record) ? remainingParts(record, (down, up) => live.has(`${index + 1} ${down} ${up}`)) : []
  )
  const homes = new Map<string | null, number>()
  for (const [index, record] of records.entries()) {
    const key = groupOf(record)
    if (!homes.has(key)) homes.set(key, index)
  }
  for (const group of gather(others.filter((pair) => pair.recordKey <= 0))) {
    const key = groupOf(group.record)
    const home = homes.get(key)
    if (home === undefined) {
      homes.set(key, records.length)
      records.push({
        ...group.record,
        upstreams: [...group.scores.keys()],
        confidenceScore: Math.min(...group.scores.values())
      })
    } else records[home] = joined(records[home] ?? {}, group)
  }
  return records.flatMap((record) => throughRows(record, columnsOf))
}

/** `columnsOf` has the columns behind the rows of each table; `others` are the pairs that do not begin there. */
function withoutRows(pairs: readonly ListedEdge[]): {
  columnsOf: ReadonlyMap<string, readonly string[]>
  others: readonly ListedEdge[]
} {
  const ofRows = pairs.filter((pair) => isRowsUrn(pair.upstreamUrn))
  if (ofRows.length === 0) return { columnsOf: new Map(), others: pairs }
  const columnsOf = new Map<string, string[]>()
  for (const { upstreamUrn, downstreamUrn } of ofRows) {
    const own = columnsOf.get(upstreamUrn)
    if (own) own.push(downstreamUrn)
    else columnsOf.set(upstreamUrn, [downstreamUrn])
  }
  return { columnsOf, others: pairs.filter((pair) => !isRowsUrn(pair.upstreamUrn)) }
}

/** A record that leads to the rows of a table leads to its columns; in several records if they are many. */
function throughRows(
  record: JsonObject,
  columnsOf: ReadonlyMap<string, readonly string[]>
): readonly JsonObject[] {
  const [rows] = listOf(record.downstreams)
  if (typeof rows !== 'string' || !isRowsUrn(rows)) return [record]
  const columns = [...new Set(columnsOf.get(rows) ?? [])].sort()
  return pieces(columns).flatMap((downstreams) =>
    pieces(listOf(record.upstreams)).map((upstreams) => ({
      ...record,
      upstreams,
      downstreamType: 'FIELD_SET',
      downstreams
    }))
  )
}

/** At least one piece, each as long as a record may be. */
function pieces<Each>(list: readonly Each[]): Each[][] {
  const size = limits.columnsPerRecordMaxCount
  return Array.from({ length: Math.max(1, Math.ceil(list.length / size)) }, (_, at) =>
    list.slice(at * size, (at + 1) * size)
  )
}

/** A record together with the pairs that were added to it: all upstreams, and the lowest score. */
function joined(home: JsonObject, { record, scores }: Group): JsonObject {
  const upstreams = [...new Set([...listOf(home.upstreams), ...scores.keys()])]
  const scoreOf = (up: JsonValue): number =>
    (typeof up === 'string' ? scores.get(up) : undefined) ?? Number(home.confidenceScore ?? 1)
  const { transformOperation } = record
  return {
    ...home,
    ...(transformOperation === undefined ? {} : { transformOperation }),
    upstreams,
    confidenceScore: Math.min(...upstreams.map(scoreOf))
  }
}

function remainingParts(record: JsonObject, lives: (down: string, up: string) => boolean): JsonObject[] {
  const columns = listOf(record.upstreams).filter(isColumn)
  const targets = listOf(record.downstreams).filter(isColumn)
  if (columns.length === 0 || targets.length === 0) return [{ ...record }]
  if (targets.every((down) => columns.every((up) => lives(down, up)))) return [{ ...record }]
  return targets.flatMap((down) => {
    const left = listOf(record.upstreams).filter((up) => !isColumn(up) || lives(down, up))
    return left.length > 0 ? [{ ...record, upstreams: left, downstreams: [down] }] : []
  })
}

/**
 * The key of a record with one downstream: operation, query and downstream. Null for a record with several
 * downstreams, which is never joined.
 */
function groupOf(record: JsonObject): string | null {
  const downstreams = listOf(record.downstreams)
  if (downstreams.length !== 1) return null
  return JSON.stringify([record.transformOperation ?? 'NONE', record.query ?? 'NONE', downstreams[0]])
}

/**
 * The pairs with the same operation, query and downstream: the record that they form, and the score of each
 * upstream.
 */
type Group = { record: JsonObject; scores: Map<string, number> }

function gather(pairs: readonly ListedEdge[]): Group[] {
  const groups = new Map<string, Group>()
  const inOrder = [...pairs].sort(
    (a, b) => compareAppearance(a, b) || (a.upstreamUrn < b.upstreamUrn ? -1 : 1)
  )
  for (const pair of inOrder) {
    // A record has no place for the stamps of its pairs.
    const {
      upstreamType,
      downstreamType,
      confidenceScore,
      created: _created,
      lastModified: _lastModified,
      ...others
    }: JsonObject = { ...plainRecord, ...pair.attributes }
    const group = groups.get(`${pair.recordKey} ${pair.downstreamUrn}`)
    if (group) {
      group.scores.set(pair.upstreamUrn, Number(confidenceScore))
      continue
    }
    const record: JsonObject = {
      upstreamType: upstreamType ?? 'FIELD_SET',
      upstreams: [],
      downstreamType: downstreamType ?? 'FIELD',
      downstreams: [pair.downstreamUrn],
      ...others
    }
    groups.set(`${pair.recordKey} ${pair.downstreamUrn}`, {
      record,
      scores: new Map([[pair.upstreamUrn, Number(confidenceScore)]])
    })
  }
  return [...groups.values()]
}
