/**
 * The packed rows of the journal of a load: what one chunk changed, and the values before if nothing else
 * keeps them.
 *
 * The keys of added statements are stored as columns (codec.ts), and everything else as packed JSON after
 * them. Added edges are nearly all of a large load, so they are stored in little space.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { JsonObject, PatchBefore } from '../model/changes.ts'
import { packColumns, unpackColumns } from './codec.ts'

/** The fields that distinguish one statement from all others. */
export type StatementKey = {
  downstreamId: number
  upstreamId: number
  ownerId: number
  field: number
  sourceId: number
  recordKey: number
}

/** Keys of statements in columns. Each array has a value for each statement. */
export type StatementKeyColumns = {
  downstreamIds: Int32Array
  upstreamIds: Int32Array
  ownerIds: Int32Array
  fields: Int32Array
  sourceIds: Int32Array
  recordKeys: Int32Array
}

/**
 * The content of a statement before the change, with its order; `changedSeq` is the seq of the change that
 * made that content.
 */
export type StatementBefore = {
  seq: number
  line: number
  changedSeq: number
  position: number
  attributes: JsonObject | null
}

/** The domain of an asset before the change; null for none. `seq` is the seq of the change that set it. */
export type AssociationBefore = { seq: number; domainId: number | null; attributes: JsonObject | null }

/** An edge of one list of an owner, whoever states it. */
type PatchedKey = Omit<StatementKey, 'sourceId' | 'recordKey'>

/**
 * Whether the aspect had no value before, a value by the load's own earlier work, or a value by another
 * change.
 */
type AspectBefore = 'none' | 'own' | 'kept'

export type JournalEntry =
  | { kind: 'stated'; key: StatementKey }
  /** `left`: when an undo restored it, the seq of the original change; `before` may then be null. */
  | { kind: 'restated'; key: StatementKey; before: StatementBefore | null; left?: number }
  | { kind: 'removed'; key: StatementKey; before: StatementBefore }
  | { kind: 'association'; entityId: number; before: AssociationBefore | null; left?: number }
  /** The patches that an edge had before, if no one stated the edge. */
  | { kind: 'patched'; key: PatchedKey; before: PatchBefore[] }
  /** A timeseries event. The event that it replaced is not kept. */
  | { kind: 'event'; entityId: number; aspectName: string }
  /** The aspect before is in its history, as long as that is kept; `was` describes it. */
  | { kind: 'aspect'; entityId: number; aspectName: string; was: AspectBefore }
  /** An entity was created, or its creation was undone. */
  | { kind: 'made' | 'unmade'; entityId: number }
  | { kind: 'madeDomain'; entityId: number }
  | { kind: 'deleted'; entityId: number }

/**
 * In the order in which they are undone: before entries of a later pass are undone, those of earlier passes
 * must be.
 */
const kindsOfPasses = [
  ['unmade'],
  ['stated', 'restated', 'removed', 'association', 'event', 'deleted'],
  ['aspect', 'patched'],
  ['made'],
  ['madeDomain']
] as const satisfies JournalEntry['kind'][][]

export const journalPasses = kindsOfPasses.map((_, index) => index + 1)

/** Numbers stored in Postgres: never renumber. */
const kindCodes = {
  stated: 0,
  restated: 1,
  removed: 2,
  association: 3,
  event: 4,
  unmade: 5,
  deleted: 6,
  aspect: 7,
  made: 8,
  madeDomain: 9,
  patched: 10
} as const satisfies Record<JournalEntry['kind'], number>

/**
 * A bit in addition to those of the kinds: the load changed its own earlier work on a statement or
 * association.
 */
export const repeatBit = 1 << 12

/** The kinds of entries as bits, one for each code. */
export const kindBit = (kind: JournalEntry['kind']): number => 1 << kindCodes[kind]

export const passOfKind = (kind: JournalEntry['kind']): number =>
  1 + kindsOfPasses.findIndex((kinds) => (kinds as readonly string[]).includes(kind))

/** The stored form of the journal of a chunk: `counts` by pass, the first pass first. */
export type PackedJournal = { kinds: number; counts: number[]; payload: Buffer }

const keyColumns = (keys: StatementKeyColumns): Int32Array[] => [
  keys.downstreamIds,
  keys.upstreamIds,
  keys.ownerIds,
  keys.fields,
  keys.sourceIds,
  keys.recordKeys
]
const keyColumnCount = 6

/**
 * `seq` is the seq of the chunk's changes. unpackJournal always returns everything in the same order, the
 * added statements first.
 */
export function packJournal(
  stated: StatementKeyColumns | null,
  others: readonly Exclude<JournalEntry, { kind: 'stated' }>[],
  seq: number
): PackedJournal {
  const counts = journalPasses.map(() => 0)
  const statedCount = stated?.downstreamIds.length ?? 0
  counts[passOfKind('stated') - 1] = statedCount
  let kinds = statedCount > 0 ? kindBit('stated') : 0
  for (const entry of others) {
    const { kind } = entry
    if ('before' in entry && entry.kind !== 'patched' && beforeSeq(entry.before) === seq) kinds |= repeatBit
    counts[passOfKind(kind) - 1] = (counts[passOfKind(kind) - 1] ?? 0) + 1
    kinds |= kindBit(kind)
  }
  const rest =
    others.length === 0 ? Buffer.alloc(0) : deflateRawSync(JSON.stringify(others.map(toList)), { level: 1 })
  const columns = stated
    ? keyColumns(stated)
    : Array.from({ length: keyColumnCount }, () => new Int32Array(0))
  return { kinds, counts, payload: packColumns('journal', columns, rest) }
}

/** Throws if packJournal did not make the bytes. */
export function unpackJournal(payload: Buffer): JournalEntry[] {
  const { columns, appendix } = unpackColumns('journal', payload, keyColumnCount)
  const [downstreamIds, upstreamIds, ownerIds, fields, sourceIds, recordKeys] = columns
  const entries: JournalEntry[] = []
  for (let at = 0; at < (downstreamIds?.length ?? 0); at += 1)
    entries.push({
      kind: 'stated',
      key: {
        downstreamId: downstreamIds?.[at] ?? 0,
        upstreamId: upstreamIds?.[at] ?? 0,
        ownerId: ownerIds?.[at] ?? 0,
        field: fields?.[at] ?? 0,
        sourceId: sourceIds?.[at] ?? 0,
        recordKey: recordKeys?.[at] ?? 0
      }
    })
  if (appendix.length > 0) {
    const lists: unknown = JSON.parse(inflateRawSync(appendix).toString('utf8'))
    for (const list of lists as Packed[]) entries.push(fromList(list))
  }
  return entries
}

/** The seq of the change that made the value before. */
export const beforeSeq = (before: StatementBefore | AssociationBefore | null): number | undefined =>
  before ? ('changedSeq' in before ? before.changedSeq : before.seq) : undefined

type Packed = [number, ...unknown[]]

const keyList = (key: StatementKey): number[] => [
  key.downstreamId,
  key.upstreamId,
  key.ownerId,
  key.field,
  key.sourceId,
  key.recordKey
]
const keyOfList = ([
  downstreamId = 0,
  upstreamId = 0,
  ownerId = 0,
  field = 0,
  sourceId = 0,
  recordKey = 0
]: readonly number[]): StatementKey => ({ downstreamId, upstreamId, ownerId, field, sourceId, recordKey })

const beforeList = (before: StatementBefore | null): unknown[] =>
  before
    ? [before.seq, before.position, before.attributes, before.line, before.changedSeq]
    : [null, null, null, null, null]

function toList(entry: Exclude<JournalEntry, { kind: 'stated' }>): Packed {
  const code = kindCodes[entry.kind]
  switch (entry.kind) {
    case 'restated':
      return [code, keyList(entry.key), ...beforeList(entry.before), entry.left ?? null]
    case 'removed':
      return [code, keyList(entry.key), ...beforeList(entry.before)]
    case 'association':
      return [
        code,
        entry.entityId,
        entry.before?.seq ?? null,
        entry.before?.domainId ?? null,
        entry.before?.attributes ?? null,
        entry.left ?? null
      ]
    case 'patched':
      return [
        code,
        [entry.key.downstreamId, entry.key.upstreamId, entry.key.ownerId, entry.key.field],
        entry.before
      ]
    case 'event':
      return [code, entry.entityId, entry.aspectName]
    case 'aspect':
      return [code, entry.entityId, entry.aspectName, entry.was]
    default:
      return [code, entry.entityId]
  }
}

function fromList([code, ...values]: Packed): JournalEntry {
  const kind = (Object.keys(kindCodes) as JournalEntry['kind'][]).find((name) => kindCodes[name] === code)
  if (kind === undefined) throw new Error(`unknown kind ${code} in a journal`)
  switch (kind) {
    case 'stated':
      throw new Error('a statement among the others of a journal')
    case 'restated':
    case 'removed': {
      const [key, seq, position, attributes, line, changedSeq, left] = values as [
        number[],
        number | null,
        number,
        JsonObject | null,
        number,
        number,
        (number | null)?
      ]
      const before = seq === null ? null : { seq, line, changedSeq, position, attributes }
      if (kind === 'restated')
        return { kind, key: keyOfList(key), before, ...(typeof left === 'number' ? { left } : {}) }
      if (!before) throw new Error('a removal of nothing in a journal')
      return { kind, key: keyOfList(key), before }
    }
    case 'association': {
      const [entityId, seq, domainId, attributes, left] = values as [
        number,
        (number | null)?,
        (number | null)?,
        (JsonObject | null)?,
        (number | null)?
      ]
      return {
        kind,
        entityId,
        before:
          typeof seq !== 'number'
            ? null
            : { seq, domainId: domainId ?? null, attributes: attributes ?? null },
        ...(typeof left === 'number' ? { left } : {})
      }
    }
    case 'patched': {
      const [[downstreamId = 0, upstreamId = 0, ownerId = 0, field = 0], before] = values as [
        number[],
        PatchBefore[]
      ]
      return { kind, key: { downstreamId, upstreamId, ownerId, field }, before }
    }
    case 'event': {
      const [entityId, aspectName] = values as [number, string]
      return { kind, entityId, aspectName }
    }
    case 'aspect': {
      const [entityId, aspectName, was] = values as [number, string, AspectBefore]
      return { kind, entityId, aspectName, was }
    }
    default: {
      const [entityId] = values as [number]
      return { kind, entityId }
    }
  }
}
