/** Receives a load: streams its records into Postgres, and accepts it when its body has come to a clean end. */
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CatalogError } from '../../errors.ts'
import type { Db, Tx } from '../../db/database.ts'
import { toCatalogError } from '../../db/sql-errors.ts'
import { inTransaction } from '../../db/transaction.ts'
import { defaultDbtOptions, optionsText } from '../../formats/dbt/options.ts'
import { openRecords, type OpenedRecords, type ReadRecord } from '../../formats/read-records.ts'
import { limits } from '../../limits.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { insertChunk } from '../../store/chunks.ts'
import { countWaitingRecords } from '../../store/load-progress.ts'
import { endBody, findLoad, insertLoad, touchLoad } from '../../store/loads.ts'
import { abortUpload } from './abort-upload.ts'
import { acceptReceivedLoad } from './accept-load.ts'
import { createChunkWriter, recordsPerChunk, type ChunkWriter, type Stored } from './chunk-writer.ts'
import { digestingBody } from './idempotency-key.ts'
import type { KnownIds } from '../lineage/known-ids.ts'
import { createReferenceReader } from './load-references.ts'
import {
  checkRequest,
  submissionOf,
  termsOf,
  type LoadRequest,
  type SnapshotTerms,
  type Submission
} from './load-request.ts'
import { createSnapshotTally, refuseSmallSnapshot, type SnapshotTally } from './refuse-small-snapshot.ts'
import { reasonOf, toReject } from './reject-record.ts'
import { replayLoad, stillReceiving } from './replay-load.ts'
import { comparePass } from './sweep-passes.ts'
import { createWholeChunkWriter, wholeRecordLimit } from './whole-chunk-writer.ts'

/** `isReplay`: the load was there before, and nothing was stored. */
export type Received = { id: string; isReplay: boolean }

/** An upload whose process is alive says so this often, whatever it brings: several times within uploadSilentMaxSeconds. */
const heartbeatMs = 10_000
/** How long records are read without a pause, so that requests of people are answered between them. */
const turnMaxMs = 2

/**
 * Stores the records of the body as they come, and returns the id of the load when it is accepted (committed). What was
 * received under the same key before is compared and answered with, even while new loads are refused: it stores nothing.
 * What runs of plain edges name is stored by the ids that `knownIds` has for it, and looked up no more.
 * Reads on only when all but the last chunk of what was read is stored, so memory is bounded on this side and the client is held back on its own.
 *
 * Throws OVERLOADED, BAD_REQUEST for a body without records, what openRecords and checkRequest throw (all with nothing stored),
 * LIMIT_EXCEEDED (loadMaxRecords), SNAPSHOT_REMOVES_TOO_MUCH, CONFLICT when the load was cancelled meanwhile or its key is another's,
 * IDEMPOTENCY_MISMATCH, and what the body or its reader throw. After any of these the load is aborted and its records are gone.
 */
export async function receiveLoad(
  db: Db,
  queue: ChunkQueue,
  request: LoadRequest,
  body: AsyncIterable<Buffer>,
  knownIds?: () => KnownIds | null
): Promise<Received> {
  const id = randomUUID()
  const key = request.idempotencyKey ?? null
  const told = request.dbt ? optionsText(request.dbt) : null
  const known = key === null ? null : await replayLoad(db, queue, { request, key, told }, body)
  if (known !== null) return { id: known, isReplay: true }
  await refuseWhenOverloaded(db)
  const upload: Upload = { id, records: 0, heartbeat: null }
  const { body: bytes, digest } = key === null ? { body, digest: () => null } : digestingBody(body, told)
  try {
    await storeRecords(db, upload, { request, knownIds }, bytes)
    if (upload.records === 0) throw new CatalogError('BAD_REQUEST', 'The body holds no records')
    if (!(await endBody(db, id, digest()))) throw await endedMeanwhile(db, id)
  } catch (error) {
    if (upload.records > 0) await abort(db, id, error)
    throw error
  } finally {
    clearInterval(upload.heartbeat ?? undefined)
  }
  // From here on the load is whole: should this process die, or the database be away, the sweeper accepts it.
  await acceptReceivedLoad(db, queue, id)
  return { id, isReplay: false }
}

type Upload = { readonly id: string; records: number; heartbeat: NodeJS.Timeout | null }

/** Throws OVERLOADED while more records wait than waitingRecordsMaxCount. */
async function refuseWhenOverloaded(db: Db): Promise<void> {
  const waiting = await countWaitingRecords(db)
  if (waiting < limits.waitingRecordsMaxCount) return
  throw new CatalogError('OVERLOADED', `${waiting} records wait to be applied; send the load again later`, {
    limit: 'waitingRecordsMaxCount',
    maximum: limits.waitingRecordsMaxCount,
    actual: waiting,
    retryAfterSeconds: 30
  })
}

/** Counts what came in `upload.records`. The load's row is made with the first record. */
async function storeRecords(
  db: Db,
  upload: Upload,
  { request, knownIds }: { request: LoadRequest; knownIds: (() => KnownIds | null) | undefined },
  body: AsyncIterable<Buffer>
): Promise<void> {
  const { id } = upload
  let turnAt = performance.now()

  async function store(work: (tx: Tx) => Promise<void>, stored: Stored): Promise<void> {
    await inTransaction(db, async (tx) => {
      await work(tx)
      if (!(await touchLoad(tx, id, stored))) throw await endedMeanwhile(tx, id)
    })
  }

  const opened = await openRecords(request.format, body, {
    ...(request.dbt ?? defaultDbtOptions),
    connections: request.connections
  })
  checkRequest(request, opened)
  const load = submissionOf(id, request, opened)
  const snapshot = termsOf(request, opened)
  const writer =
    request.isAtomic || request.isDryRun
      ? createWholeChunkWriter(id, store, wholeRecordLimit(opened.format))
      : createChunkWriter(id, store, {
          isBehind: true,
          knownIds,
          maxRecords: recordsPerChunk(opened.format)
        })
  const tally = snapshot ? createSnapshotTally(opened) : null
  const withUrns = createReferenceReader({ db, memory: null }, opened)
  try {
    for await (const entries of opened.records) {
      for (const read of entries) {
        const entry = 'error' in read ? await withUrns(read) : read
        if (upload.records === 0) await begin(db, upload, { load, opened })
        upload.records += 'count' in entry ? entry.count : 1
        if (upload.records > limits.loadMaxRecords) throw tooManyRecords()
        tally?.add(entry)
        const stored = take(writer, entry)
        if (stored) await stored
      }
      if (performance.now() - turnAt > turnMaxMs) {
        await nextTurn()
        turnAt = performance.now()
      }
    }
    // Without a record there is no load that anything could be stored of.
    if (upload.records > 0) await writer.flush()
  } finally {
    // Whoever aborts the load finds all that was stored of it.
    await writer.idle()
  }
  if (snapshot && tally && upload.records > 0) await endSnapshot(db, load, snapshot, tally)
}

/** The chunk that compares, after all records; it has none of its own. A limited token's share is known when it is compared. */
async function endSnapshot(
  db: Db,
  { id, source, domainUrn, isAtomic, isDryRun }: Submission,
  { force, maxRemovedShare }: SnapshotTerms,
  tally: SnapshotTally
): Promise<void> {
  if (!force && !isDryRun && domainUrn === null)
    await refuseSmallSnapshot(db, source, tally.most(), maxRemovedShare)
  // What is one chunk sweeps in its own transaction.
  if (!isAtomic && !isDryRun)
    await inTransaction(db, (tx) =>
      insertChunk(tx, { loadId: id, pass: comparePass, firstLine: 0, recordCount: 0, payload: null })
    )
}

/** A promise only where something is to be waited for. */
function take(writer: ChunkWriter, entry: ReadRecord): Promise<void> | undefined {
  if ('count' in entry) return writer.addEdges(entry)
  if ('shape' in entry) return writer.addEdge(entry)
  if (!('error' in entry)) return writer.add({ line: entry.line, text: entry.text }, entry.record.changes)
  refuseFatal(entry.error)
  return writer.reject(toReject(entry.line, entry.text, reasonOf(entry.error)))
}

/** Makes the row of the load, and keeps saying that the upload is alive. */
async function begin(
  db: Db,
  upload: Upload,
  { load, opened: { format, header } }: { load: Submission; opened: OpenedRecords }
): Promise<void> {
  if (!(await inTransaction(db, (tx) => insertLoad(tx, { ...load, format, header })))) throw stillReceiving()
  upload.heartbeat = setInterval(() => {
    touchLoad(db, upload.id, { records: 0, rejects: 0, isDestructive: false }).catch(() => {})
  }, heartbeatMs)
  upload.heartbeat.unref()
}

/** A reject is a verdict on what the client sent; trouble of ours is none. */
function refuseFatal(error: CatalogError): void {
  if (error.status >= 500) throw error
}

/** Ends an upload that did not come to its end, and frees its records. What fails here is done by the sweeper later. */
async function abort(db: Db, id: string, error: unknown): Promise<void> {
  try {
    await abortUpload(db, id, toCatalogError(error).message)
  } catch {
    // The database is away: the load stays `receiving`, untouched, until the sweeper aborts it.
  }
}

/** Somebody cancelled it; or this process could not be heard of for so long that it was given up, and its client can send it again. */
async function endedMeanwhile(db: Db | Tx, id: string): Promise<CatalogError> {
  return (await findLoad(db, id))?.state === 'cancelled'
    ? new CatalogError('CONFLICT', 'The load was cancelled while it was being received')
    : new CatalogError('UNAVAILABLE', 'The upload could not be stored in time; send it again')
}

const tooManyRecords = (): CatalogError =>
  new CatalogError('LIMIT_EXCEEDED', `A load has at most ${limits.loadMaxRecords} records; send several`, {
    limit: 'loadMaxRecords',
    maximum: limits.loadMaxRecords
  })
