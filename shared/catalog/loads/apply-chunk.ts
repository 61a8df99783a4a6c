/** Applies a chunk that this worker holds, in one transaction that also settles the chunk. */
import { CatalogError } from '../../errors.ts'
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { recordParser, type RecordParser } from '../../formats/parse-record.ts'
import type { Connections } from '../../openlineage/connections.ts'
import type { Actor, ChangeRecord, LoadWarnings, Verdict } from '../../model/changes.ts'
import { cancelTransaction, lockChunk, type ClaimedChunk, type LockedChunk } from '../../store/chunks.ts'
import type { Counts } from '../../store/load-progress.ts'
import { hasOlderUnfinished } from '../../store/order-of-changes.ts'
import type { Reject } from '../../store/rejects.ts'
import { insertStatedKeys } from '../../store/snapshot-statements.ts'
import { toUrn } from '../../urn/urn.ts'
import { applyEvents, readEventText, type ReadEvent } from '../openlineage/ingest-events.ts'
import { lockOutWriters, type ApplyContext, type EdgesToApply } from '../write/apply-records.ts'
import type { ChunkGuards } from './chunk-guards.ts'
import { unpackEdgesOnly, type RawRecord } from './chunk-payload.ts'
import { recordsOfEdges } from './chunk-records.ts'
import type { EdgeBatch } from '../write/edge-payload.ts'
import type { EntityIds } from '../write/entity-ids.ts'
import { reasonOf, toReject } from './reject-record.ts'
import { assertHeld, settleChunk, type Settled } from './settle-chunk.ts'
import { excludesWriters } from '../write/plan-records.ts'
import { createStatedKeys } from '../write/stated-keys.ts'
import { removalWarnings } from '../write/stays-removed.ts'
import { readChunkRecords, readUndoGroups } from './undo-records.ts'
import { WaitForOlderLoad } from '../write/wait-for-older-load.ts'

/** The function that applies the records: applyRecords, or a test's own. */
export type ApplyRecords = (
  tx: Tx,
  records: ChangeRecord[],
  context: ApplyContext,
  edges?: EdgesToApply | null
) => Promise<Verdict[]>

/** The worker is stopping: the transaction was rolled back, and the chunk must be handed back. */
export class ChunkAborted extends Error {
  constructor() {
    super('the worker is stopping')
    this.name = 'ChunkAborted'
  }
}

/** What every transaction of a chunk needs. */
export type ChunkOptions = { guards: ChunkGuards; signal?: AbortSignal | undefined }

/**
 * `ids`: the ids that the process remembers. Without them, edges are applied record by record like all other
 * records.
 */
export type ApplyOptions = ChunkOptions & {
  apply: ApplyRecords
  ids?: EntityIds | undefined
  /** The connections for namespaces of OpenLineage events. */
  connections?: Connections
}

/**
 * Locks the chunk, checks that it is held under this fence, applies its records and settles it, all or
 * nothing. A record that no longer parses (the queue job may be older than the program) is rejected. Throws
 * ChunkOvertaken, LoadEnded, UnreadableChunk, ChunkAborted, and what `apply` throws.
 */
export const applyChunk = (db: Db, claimed: ClaimedChunk, options: ApplyOptions): Promise<Settled> =>
  holdChunk(db, claimed, options, async (tx, chunk) =>
    settleChunk(tx, claimed, chunk, await applyStoredRecords(tx, claimed, chunk, options), options.guards)
  )

/**
 * Runs work in a transaction that holds the chunk. When the worker stops, the transaction is rolled back.
 * Throws as applyChunk does.
 */
export async function holdChunk<T>(
  db: Db,
  claimed: ClaimedChunk,
  { guards, signal }: ChunkOptions,
  work: (tx: Tx, chunk: LockedChunk) => Promise<T>
): Promise<T> {
  const running: Running = { transaction: null }
  const stopCancelling = cancelOnAbort(db, running, signal)
  try {
    return await inTransaction(db, async (tx) => {
      const chunk = await lockChunk(tx, claimed.id)
      assertHeld(chunk, claimed, guards)
      running.transaction = { pid: chunk.backendPid, begunAt: chunk.begunAt }
      const result = await work(tx, chunk)
      running.transaction = null
      return result
    })
  } catch (error) {
    if (signal?.aborted && !isVerdictOnHolder(error)) throw new ChunkAborted()
    throw error
  } finally {
    running.transaction = null
    stopCancelling()
  }
}

/** The verdicts on the records of a chunk, before it is settled. `warnings`: absent if there are none. */
export type ChunkVerdicts = { counts: Counts; rejects: Reject[]; warnings?: LoadWarnings }

/** Applies the stored records of a chunk that is held. */
export async function applyStoredRecords(
  tx: Tx,
  claimed: ClaimedChunk,
  chunk: LockedChunk,
  options: ApplyOptions
): Promise<ChunkVerdicts> {
  const context = contextOf(claimed, chunk)
  const verdicts = await applyPayload(tx, chunk, context, options)
  throwIfAborted(options.signal)
  if (context.stated && chunk.sweep === 'pending')
    await insertStatedKeys(tx, chunk.loadId, context.stated.rows())
  return verdicts
}

async function applyPayload(
  tx: Tx,
  chunk: LockedChunk,
  context: ChunkContext,
  options: ApplyOptions
): Promise<ChunkVerdicts> {
  if (chunk.format === 'openlineage') return applyEventsOf(tx, chunk, context, options)
  const batch = options.ids ? await unpackEdgesOnly(chunk.payload) : null
  if (batch && options.ids)
    return applyEdgesOf(tx, { batch, ids: options.ids }, recordParser(chunk), context, options)
  if (
    chunk.mode === 'undo' &&
    options.guards.undoWaits &&
    (await hasOlderUnfinished(tx, chunk.seq ?? 0, chunk.loadId))
  )
    throw new WaitForOlderLoad()
  if (chunk.mode === 'undo' && chunk.isDryRun) return applyUndoGroups(tx, chunk, context, options)
  return applyRecordsOf(tx, chunk, await readChunkRecords(tx, chunk), context, options)
}

/**
 * Applies the groups of the dry run of an undo in their order. If a later group needs the lock that excludes
 * all writers, it is taken before the first, because two dry runs that exchange locks could block each other.
 */
async function applyUndoGroups(
  tx: Tx,
  chunk: LockedChunk,
  context: ChunkContext,
  options: ApplyOptions
): Promise<ChunkVerdicts> {
  const groups = await readUndoGroups(tx, chunk)
  const { records } = parseAll(recordParser(chunk), groups.flat())
  const excludes = records.some(({ changes }) => changes.some(excludesWriters))
  if (excludes) await lockOutWriters(tx)
  const total: ChunkVerdicts = { counts: { applied: 0, unchanged: 0, rejected: 0 }, rejects: [] }
  for (const group of groups) {
    const { counts, rejects } = await applyRecordsOf(
      tx,
      chunk,
      group,
      excludes ? { ...context, isWriter: true } : context,
      options
    )
    for (const verdict of ['applied', 'unchanged', 'rejected'] as const)
      total.counts[verdict] += counts[verdict]
    total.rejects.push(...rejects)
  }
  return total
}

async function applyEdgesOf(
  tx: Tx,
  edges: EdgesToApply,
  parser: RecordParser,
  context: ApplyContext,
  options: ApplyOptions
): Promise<ChunkVerdicts> {
  throwIfAborted(options.signal)
  const verdicts = await options.apply(tx, [], context, edges)
  const rejected = new Set(verdicts.flatMap(({ line, outcome }) => (outcome === 'rejected' ? [line] : [])))
  return verdictsOf(await recordsOfLines(tx, edges.batch, rejected), verdicts, [], parser)
}

const recordsOfLines = (tx: Tx, batch: EdgeBatch, lines: ReadonlySet<number>): Promise<RawRecord[]> =>
  recordsOfEdges(
    tx,
    batch,
    [...batch.lines.keys()].filter((place) => lines.has(batch.lines[place] ?? 0))
  )

async function applyRecordsOf(
  tx: Tx,
  chunk: LockedChunk,
  stored: readonly RawRecord[],
  context: ApplyContext,
  options: ApplyOptions
): Promise<ChunkVerdicts> {
  const parser = recordParser(chunk)
  const { records, rejects } = parseAll(parser, stored)
  throwIfAborted(options.signal)
  const verdicts = records.length > 0 || rejects.length > 0 ? await options.apply(tx, records, context) : []
  return verdictsOf(stored, verdicts, rejects, parser)
}

/**
 * A known event counts as unchanged. Events that are refused while they are applied are found by halving the
 * chunk.
 */
async function applyEventsOf(
  tx: Tx,
  chunk: LockedChunk,
  { actor, requestId, chunk: { loadId, chunkId }, isDryRun }: ChunkContext,
  options: ApplyOptions
): Promise<ChunkVerdicts> {
  const lines: { line: number; event: ReadEvent }[] = []
  const rejects: Reject[] = []
  for (const { line, text } of await readChunkRecords(tx, chunk)) {
    try {
      lines.push({ line, event: readEventText(text, options.connections) })
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error
      rejects.push(toReject(line, text, reasonOf(error)))
    }
  }
  throwIfAborted(options.signal)
  const events = lines.map(({ event }) => event)
  const areNew = await applyEvents(tx, events, {
    actor,
    requestId,
    ofLoad: { loadId, chunkId },
    ...(isDryRun ? { isDryRun } : {})
  })
  const applied = areNew.filter(Boolean).length
  const warnings = warningsOf(lines.filter((_, index) => areNew[index]))
  return {
    counts: { applied, unchanged: events.length - applied, rejected: rejects.length },
    rejects,
    ...(warnings.count > 0 ? { warnings } : {})
  }
}

/** The parts of events that were left out, as warnings with the line of the event. */
function warningsOf(lines: readonly { line: number; event: ReadEvent }[]): LoadWarnings {
  return {
    count: lines.reduce((sum, { event }) => sum + event.content.dropped.count, 0),
    messages: lines.flatMap(({ line, event }) =>
      event.content.dropped.first.map(({ reason }) => `line ${line}: ${reason}`)
    )
  }
}

/**
 * Settles a chunk of one record as rejected without applying it: it has failed, or killed its worker, too
 * often. Throws as applyChunk does.
 */
export async function rejectChunk(
  db: Db,
  claimed: ClaimedChunk,
  reason: { code: CatalogError['code']; message: string },
  options: ApplyOptions
): Promise<Settled> {
  return inTransaction(db, async (tx) => {
    const chunk = await lockChunk(tx, claimed.id)
    assertHeld(chunk, claimed, options.guards)
    const stored = await readChunkRecords(tx, chunk)
    // Nothing is applied, but the audit trail names the sender of the chunk.
    await options.apply(tx, [], contextOf(claimed, chunk))
    const rejects = stored.map((record) => toReject(record.line, record.text, reason))
    return settleChunk(
      tx,
      claimed,
      chunk,
      { counts: { applied: 0, unchanged: 0, rejected: rejects.length }, rejects },
      options.guards
    )
  })
}

function parseAll(
  { parse }: RecordParser,
  stored: readonly RawRecord[]
): { records: ChangeRecord[]; rejects: Reject[] } {
  const records: ChangeRecord[] = []
  const rejects: Reject[] = []
  for (const { line, text } of stored) {
    try {
      records.push(parse(text, line))
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error
      rejects.push(toReject(line, text, reasonOf(error)))
    }
  }
  return { records, rejects }
}

/** The counts, rejects and warnings of a chunk; `stored` has the texts of the rejected records. */
function verdictsOf(
  stored: readonly RawRecord[],
  verdicts: readonly Verdict[],
  unparsed: readonly Reject[],
  parser: RecordParser
): ChunkVerdicts {
  const texts = new Map(stored.map((record) => [record.line, record.text]))
  const counts: Counts = { applied: 0, unchanged: 0, rejected: unparsed.length }
  const rejects = [...unparsed]
  for (const verdict of verdicts) {
    counts[verdict.outcome] += 1
    if (verdict.outcome !== 'rejected') continue
    const text = texts.get(verdict.line)
    if (text === undefined) throw new Error('a verdict on a line that the chunk does not have')
    rejects.push(
      toReject(verdict.line, text, {
        code: verdict.code,
        message: parser.messageOf(text, withAdvice(verdict)),
        field: verdict.details.field === undefined ? undefined : parser.fieldOf(verdict.details.field)
      })
    )
  }
  const warnings = removalWarnings(verdicts)
  return { counts, rejects, ...(warnings.count > 0 ? { warnings } : {}) }
}

/** The message of a mutation says what is missing. The sender of a load can also ask for placeholders. */
function withAdvice({ code, message }: { code: string; message: string }): string {
  if (code !== 'MISSING_REFERENCE' || message.includes('missingReferences=')) return message
  return `${message.replace(/\.$/, '')}. Create it before or in the same load, or send the load with missingReferences=create.`
}

export type ChunkContext = ApplyContext & Required<Pick<ApplyContext, 'chunk'>>

/** The context in which the records of a chunk are applied. */
export function contextOf(claimed: ClaimedChunk, chunk: LockedChunk): ChunkContext {
  if (chunk.seq === null) throw new Error('an accepted load has no seq')
  const actor: Actor = {
    urn: toUrn(chunk.actor),
    tokenId: chunk.tokenId,
    scopes: chunk.scopes,
    domainUrns: chunk.domainUrns && chunk.domainUrns.map((urn) => toUrn(urn))
  }
  return {
    actor,
    source: chunk.source,
    missingReferences: chunk.missingReferences,
    upsertReplaces: chunk.upsertReplaces,
    operation: 'load',
    requestId: chunk.requestId,
    chunk: { seq: chunk.seq, loadId: chunk.loadId, chunkId: claimed.id },
    ...(chunk.isDryRun ? { isDryRun: true } : {}),
    ...(chunk.mode === 'snapshot' ? { stated: createStatedKeys() } : {})
  }
}

const throwIfAborted = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted) throw new ChunkAborted()
}

const isVerdictOnHolder = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'ChunkOvertaken' || error.name === 'LoadEnded')

type Running = { transaction: { pid: number; begunAt: string } | null }

const cancelEveryMs = 250

/**
 * On the signal, cancels the running statement and every later one, so that a stop does not wait for a long
 * statement.
 */
function cancelOnAbort(db: Db, running: Readonly<Running>, signal: AbortSignal | undefined): () => void {
  if (!signal) return () => {}
  let timer: NodeJS.Timeout | undefined
  function cancel(): void {
    if (running.transaction) cancelTransaction(db, running.transaction).catch(() => {})
    timer = setTimeout(cancel, cancelEveryMs)
  }
  if (signal.aborted) return () => {}
  signal.addEventListener('abort', cancel, { once: true })
  return () => {
    signal.removeEventListener('abort', cancel)
    clearTimeout(timer)
  }
}
