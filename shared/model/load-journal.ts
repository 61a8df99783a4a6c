/**
 * The packed rows of a load's journal: what one chunk changed, and what was there before where nothing else keeps it.
 *
 * A row is a version byte, the statements that were added (runs of what they have in common, then the ends of each as
 * differences to the one before, all as variable-length integers), and the rest as packed JSON. Plain added edges are
 * nearly all there is in a large load, so they are the ones that are small.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { JsonObject, PatchBefore } from './changes.ts'
import { fewValuesOf } from './few-values.ts'

/** What tells one statement from all others. */
export type StatementKey = {
  downstreamId: number
  upstreamId: number
  ownerId: number
  field: number
  sourceId: number
  recordKey: number
}

/** Statements of one source and record key, column by column; each array has an entry for each statement, in ascending order of the ends. */
export type StatedColumns = {
  downstreamIds: Int32Array
  upstreamIds: Int32Array
  ownerIds: Int32Array
  fields: Int32Array
  sourceId: number
  recordKey: number
}

/** What a statement said before, in its order of then; `changedSeq` is the seq of the change that had made it say so. */
export type StatementBefore = {
  seq: number
  line: number
  changedSeq: number
  position: number
  attributes: JsonObject | null
}

/** The domain of an asset before; a null id means no domain. `seq` is that of the change that had put it there. */
export type AssociationBefore = { seq: number; domainId: number | null; attributes: JsonObject | null }

/** An edge of one list of an owner, whoever states it. */
export type PatchedKey = Omit<StatementKey, 'sourceId' | 'recordKey'>

/** Nothing; what the same load had made of it; or what somebody else had. */
export type AspectBefore = 'none' | 'own' | 'kept'

export type JournalEntry =
  | { kind: 'stated'; key: StatementKey }
  /** `left`: the seq of the change that it is the work of again, where an undo restored it; then `before` may be null. */
  | { kind: 'restated'; key: StatementKey; before: StatementBefore | null; left?: number }
  | { kind: 'removed'; key: StatementKey; before: StatementBefore }
  | { kind: 'association'; entityId: number; before: AssociationBefore | null; left?: number }
  /** What patches say of an edge that nobody stated: those that were kept before. */
  | { kind: 'patched'; key: PatchedKey; before: PatchBefore[] }
  /** An event of a time series, of which nothing is kept that would tell what it replaced. */
  | { kind: 'event'; entityId: number; aspectName: string }
  /** What the aspect was before is in its history, as long as that is kept; `was` tells whether there is any. */
  | { kind: 'aspect'; entityId: number; aspectName: string; was: AspectBefore }
  /** An entity came to exist, or was taken back. */
  | { kind: 'made' | 'unmade'; entityId: number }
  | { kind: 'madeDomain'; entityId: number }
  | { kind: 'deleted'; entityId: number }

/** In the order in which they are taken back: a kind of a later pass needs those of the earlier ones to be gone. */
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

/** A bit beside those of the kinds: some statement or association that is noted was the load's own before. */
export const againBit = 1 << 12

/** The kinds of entries as bits, one for each code. */
export const kindBit = (kind: JournalEntry['kind']): number => 1 << kindCodes[kind]

export const passOfKind = (kind: JournalEntry['kind']): number =>
  1 + kindsOfPasses.findIndex((kinds) => (kinds as readonly string[]).includes(kind))

/** What is stored of a chunk: `counts` by pass, the first pass first. */
export type PackedJournal = { kinds: number; counts: number[]; payload: Buffer }

const version = 1

/** `seq` is what the chunk made its changes as. unpackJournal gives all in the same order each time, the added statements first. */
export function packJournal(
  stated: readonly StatementKey[],
  others: readonly Exclude<JournalEntry, { kind: 'stated' }>[],
  seq: number,
  columns: readonly StatedColumns[] = []
): PackedJournal {
  const counts = journalPasses.map(() => 0)
  const statedCount = columns.reduce((count, each) => count + each.downstreamIds.length, stated.length)
  counts[passOfKind('stated') - 1] = statedCount
  let kinds = statedCount > 0 ? kindBit('stated') : 0
  for (const entry of others) {
    const { kind } = entry
    if ('before' in entry && entry.kind !== 'patched' && beforeSeq(entry.before) === seq) kinds |= againBit
    counts[passOfKind(kind) - 1] = (counts[passOfKind(kind) - 1] ?? 0) + 1
    kinds |= kindBit(kind)
  }
  const rest =
    others.length === 0 ? Buffer.alloc(0) : deflateRawSync(JSON.stringify(others.map(toList)), { level: 1 })
  return {
    kinds,
    counts,
    payload: Buffer.concat([Buffer.from([version]), packStated(stated, columns), rest])
  }
}

/** Throws on a version that this program does not know. */
export function unpackJournal(payload: Buffer): JournalEntry[] {
  if (payload[0] !== version) throw new Error(`unknown journal version ${payload[0]}`)
  const reader = { buffer: payload, at: 1 }
  const entries: JournalEntry[] = unpackStated(reader).map((key) => ({ kind: 'stated', key }))
  if (reader.at < payload.length) {
    const lists: unknown = JSON.parse(inflateRawSync(payload.subarray(reader.at)).toString('utf8'))
    for (const list of lists as Packed[]) entries.push(fromList(list))
  }
  return entries
}

/** The seq of the change that had made it what it was. */
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
      // Journals of before there was a changedSeq have no line either.
      const [key, seq, position, attributes, line = 0, changedSeq, left] = values as [
        number[],
        number | null,
        number,
        JsonObject | null,
        number?,
        number?,
        (number | null)?
      ]
      const before = seq === null ? null : { seq, line, changedSeq: changedSeq ?? seq, position, attributes }
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

/** Who owns a statement, in words that most runs have in common. */
const ownerModes = { downstream: 0, upstream: 1, other: 2 } as const
const ownerModeOf = (key: StatementKey): number =>
  key.ownerId === key.downstreamId
    ? ownerModes.downstream
    : key.ownerId === key.upstreamId
      ? ownerModes.upstream
      : ownerModes.other
const isOneRun = (a: StatementKey, b: StatementKey): boolean =>
  a.field === b.field &&
  a.sourceId === b.sourceId &&
  a.recordKey === b.recordKey &&
  ownerModeOf(a) === ownerModeOf(b)
const compareKeys = (a: StatementKey, b: StatementKey): number =>
  a.field - b.field ||
  a.sourceId - b.sourceId ||
  a.recordKey - b.recordKey ||
  ownerModeOf(a) - ownerModeOf(b) ||
  a.downstreamId - b.downstreamId ||
  a.upstreamId - b.upstreamId

/** The longest form of a number below 2^53, and numbers of a run and of a statement. */
const varintMaxBytes = 8
const numbersOfRun = 5
const numbersOfStatement = 3

/** What the statements of a run have in common; `count` ends follow it. */
type RunHead = { count: number; field: number; sourceId: number; recordKey: number; mode: number }

function packStated(keys: readonly StatementKey[], columns: readonly StatedColumns[]): Buffer {
  const runs = runsOf(keys)
  const codes = columns.map((each) =>
    fewValuesOf(each.fields.length, (at) => runCode(each.fields[at] ?? 0, each, at))
  )
  const runCount = runs.length + codes.flat().length
  const statementCount = columns.reduce((count, each) => count + each.downstreamIds.length, keys.length)
  const writer = {
    buffer: Buffer.allocUnsafe(
      varintMaxBytes * (1 + runCount * numbersOfRun + statementCount * numbersOfStatement)
    ),
    at: 0
  }
  writeNumber(writer, runCount)
  for (const run of runs) writeRun(writer, run)
  columns.forEach((each, index) => {
    for (const code of codes[index] ?? []) writeColumns(writer, each, code)
  })
  return writer.buffer.subarray(0, writer.at)
}

function runsOf(keys: readonly StatementKey[]): StatementKey[][] {
  const runs: StatementKey[][] = []
  for (const key of keys.toSorted(compareKeys)) {
    const run = runs.at(-1)
    if (run?.[0] && isOneRun(run[0], key)) run.push(key)
    else runs.push([key])
  }
  return runs
}

function writeHead(writer: Bytes, { count, field, sourceId, recordKey, mode }: RunHead): void {
  for (const number of [count, field, sourceId, zigzag(recordKey), mode]) writeNumber(writer, number)
}

function writeRun(writer: Bytes, run: readonly StatementKey[]): void {
  const [first] = run
  if (!first) return
  const mode = ownerModeOf(first)
  writeHead(writer, { ...first, count: run.length, mode })
  let [downstreamId, upstreamId] = [0, 0]
  for (const key of run) {
    writeNumber(writer, key.downstreamId - downstreamId)
    writeNumber(writer, zigzag(key.upstreamId - upstreamId))
    if (mode === ownerModes.other) writeNumber(writer, key.ownerId)
    ;({ downstreamId, upstreamId } = key)
  }
}

/** Field and mode as one number. */
const runCode = (
  field: number,
  { downstreamIds, upstreamIds, ownerIds }: StatedColumns,
  at: number
): number =>
  field * 4 +
  (ownerIds[at] === downstreamIds[at]
    ? ownerModes.downstream
    : ownerIds[at] === upstreamIds[at]
      ? ownerModes.upstream
      : ownerModes.other)

/** The statements of one field and mode as a run, without an object for each. */
function writeColumns(writer: Bytes, columns: StatedColumns, code: number): void {
  const { downstreamIds, upstreamIds, ownerIds, fields, sourceId, recordKey } = columns
  const mode = code % 4
  let count = 0
  for (let at = 0; at < fields.length; at += 1) if (runCode(fields[at] ?? 0, columns, at) === code) count += 1
  writeHead(writer, { count, field: Math.floor(code / 4), sourceId, recordKey, mode })
  let [downstreamBefore, upstreamBefore] = [0, 0]
  for (let at = 0; at < fields.length; at += 1) {
    if (count !== fields.length && runCode(fields[at] ?? 0, columns, at) !== code) continue
    const [downstreamId, upstreamId] = [downstreamIds[at] ?? 0, upstreamIds[at] ?? 0]
    writeNumber(writer, downstreamId - downstreamBefore)
    writeNumber(writer, zigzag(upstreamId - upstreamBefore))
    if (mode === ownerModes.other) writeNumber(writer, ownerIds[at] ?? 0)
    downstreamBefore = downstreamId
    upstreamBefore = upstreamId
  }
}

type Bytes = { buffer: Buffer; at: number }

function unpackStated(reader: Bytes): StatementKey[] {
  const keys: StatementKey[] = []
  for (let runs = readNumber(reader); runs > 0; runs -= 1) {
    const count = readNumber(reader)
    const common = {
      field: readNumber(reader),
      sourceId: readNumber(reader),
      recordKey: unzigzag(readNumber(reader))
    }
    const mode = readNumber(reader)
    let downstreamId = 0
    let upstreamId = 0
    for (let index = 0; index < count; index += 1) {
      downstreamId += readNumber(reader)
      upstreamId += unzigzag(readNumber(reader))
      const ownerId =
        mode === ownerModes.downstream
          ? downstreamId
          : mode === ownerModes.upstream
            ? upstreamId
            : readNumber(reader)
      keys.push({ downstreamId, upstreamId, ownerId, ...common })
    }
  }
  return keys
}

/** Small numbers of either sign as small numbers. In floating point: record keys reach below -2^31. */
const zigzag = (number: number): number => (number >= 0 ? number * 2 : -number * 2 - 1)
const unzigzag = (number: number): number => (number % 2 === 0 ? number / 2 : -(number + 1) / 2)

function writeNumber(writer: Bytes, number: number): void {
  let left = number
  while (left >= 128) {
    writer.buffer[writer.at] = (left % 128) | 128
    writer.at += 1
    left = Math.floor(left / 128)
  }
  writer.buffer[writer.at] = left
  writer.at += 1
}

function readNumber(reader: Bytes): number {
  let number = 0
  for (let factor = 1; ; factor *= 128) {
    const byte = reader.buffer[reader.at]
    if (byte === undefined) throw new Error('a journal ends within a number')
    reader.at += 1
    number += (byte & 127) * factor
    if (byte < 128) return number
  }
}
