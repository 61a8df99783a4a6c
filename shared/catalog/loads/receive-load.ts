/** Receives a load: streams its records into Postgres, and accepts it when its body has ended cleanly. */
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { CatalogError } from '../../errors.ts'
import type { Db, Tx } from '../../db/database.ts'
import { sqlErrorKind, toCatalogError } from '../../db/sql-errors.ts'
import { inTransaction } from '../../db/transaction.ts'
import { defaultDbtOptions, optionsText } from '../../formats/dbt/options.ts'
import { sqlOptionsText } from '../../formats/sql/options.ts'
import { openRecords, type OpenedRecords, type ParsedRecord } from '../../formats/read-records.ts'
import { limits } from '../../limits.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { insertChunk } from '../../store/chunks.ts'
import { countWaitingRecords } from '../../store/load-progress.ts'
import { addWarnings, endBody, findLoad, insertLoad, touchLoad } from '../../store/loads.ts'
import { abortUpload, forgetGivenUp, giveUp } from './abort-upload.ts'
import { acceptReceivedLoad } from './accept-load.ts'
import { createChunkWriter, recordsPerChunk, type ChunkWriter, type Stored } from './chunk-writer.ts'
import { digestingBody } from './idempotency-key.ts'
import type { KnownIds } from '../lineage/known-ids.ts'
import { readSql } from '../sql/sql-thread.ts'
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
import { readSqlRecords } from '../sql/lineage-records.ts'
import { callerOf } from '../../platform/turns.ts'
import { storedProjects, type StoredForLoad } from './stored-projects.ts'
import { comparePass } from './sweep-passes.ts'
import { createWholeChunkWriter, wholeRecordLimit } from './whole-chunk-writer.ts'

/** `isReplay`: the load existed before, and nothing was stored. */
export type Received = { id: string; isReplay: boolean }

/** How often an upload renews its heartbeat: several times within uploadSilentMaxSeconds. */
const heartbeatMs = 10_000
/** How long records are read without a pause, so that interactive requests are answered in between. */
const turnMaxMs = 2

/**
 * Stores the records of the body as they arrive, and returns the id of the load when it is accepted
 * (committed).
 *
 * A body under a known key is compared with the earlier one and answered with its load. That stores nothing,
 * so it works even while new loads are refused. Ends that `knownIds` knows are stored as ids and not looked
 * up again. Reading continues only when all chunks except the last are stored, so memory is bounded and the
 * client is slowed down.
 *
 * Throws OVERLOADED, BAD_REQUEST for a body without records, and what openRecords and checkRequest throw
 * (nothing is stored in these cases), LIMIT_EXCEEDED (loadMaxRecords), SNAPSHOT_REMOVES_TOO_MUCH, CONFLICT if
 * the load was cancelled meanwhile or its key belongs to another load, IDEMPOTENCY_MISMATCH, and what the
 * body or its reader throws. After any of these the load is aborted and its records are deleted.
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
  const optionText = request.dbt ? optionsText(request.dbt) : request.sql ? sqlOptionsText(request.sql) : null
  const known = key === null ? null : await replayLoad(db, queue, { request, key, told: optionText }, body)
  if (known !== null) return { id: known, isReplay: true }
  await refuseWhenOverloaded(db)
  const upload: Upload = { id, records: 0, hasBegun: false, heartbeat: null }
  const { body: bytes, digest } =
    key === null ? { body, digest: () => null } : digestingBody(body, optionText)
  try {
    await storeRecords(db, upload, { request, knownIds }, bytes)
    if (upload.records === 0) throw new CatalogError('BAD_REQUEST', 'The body contains no records')
    if (!(await endBody(db, id, digest()))) throw await endedMeanwhile(db, id)
  } catch (error) {
    if (upload.hasBegun) await abort(db, id, error)
    throw error
  } finally {
    clearInterval(upload.heartbeat ?? undefined)
  }
  // From now on the load is complete: if this process dies, or the database is unreachable, the sweeper
  // accepts it.
  await acceptReceivedLoad(db, queue, id)
  return { id, isReplay: false }
}

/** `hasBegun`: the row of the load may have been stored, even if that was not confirmed. */
type Upload = { readonly id: string; records: number; hasBegun: boolean; heartbeat: NodeJS.Timeout | null }

/** Throws OVERLOADED if more records wait than waitingRecordsMaxCount. */
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

/** Counts the records in `upload.records`. The row of the load is created with the first record. */
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

  const projects = storedProjects(db, request.source)
  const { sql: files } = request
  const caller = callerOf(request.actor)
  const opened = await openRecords(
    request.format,
    body,
    {
      ...(request.dbt ?? defaultDbtOptions),
      connections: request.connections,
      stored: projects,
      readSql: (task) => readSql(caller, task)
    },
    files && {
      ...files,
      read: (sql) => readSqlRecords({ db, memory: null }, caller, sql, files)
    }
  )
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
  const withUrns = createReferenceReader({ db, memory: null }, load.missingReferences)
  try {
    for await (const entries of opened.records) {
      for (const entry of await withUrns(entries)) {
        if (upload.records === 0) await begin(db, upload, { load, opened, projects })
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
    // Without records there is no load.
    if (upload.records > 0) await writer.flush()
  } finally {
    // Aborting the load must find everything that was stored of it.
    await writer.idle()
  }
  if (snapshot && tally && upload.records > 0) await endSnapshot(db, load, snapshot, tally)
}

/**
 * Adds the chunk that compares, after all records; it has no records itself. The share of a limited token is
 * only known when the comparison runs.
 */
async function endSnapshot(
  db: Db,
  { id, source, domainUrns, isAtomic, isDryRun }: Submission,
  { force, maxRemovedShare }: SnapshotTerms,
  tally: SnapshotTally
): Promise<void> {
  if (!force && !isDryRun && domainUrns === null)
    await refuseSmallSnapshot(db, source, tally.statedMaxCount(), maxRemovedShare)
  // A load of one chunk sweeps in its own transaction.
  if (!isAtomic && !isDryRun)
    await inTransaction(db, (tx) =>
      insertChunk(tx, { loadId: id, pass: comparePass, firstLine: 0, recordCount: 0, payload: null })
    )
}

/** Returns a promise only if there is something to wait for. */
function take(writer: ChunkWriter, entry: ParsedRecord): Promise<void> | undefined {
  if ('count' in entry) return writer.addEdges(entry)
  if ('shape' in entry) return writer.addEdge(entry)
  if (!('error' in entry)) return writer.add({ line: entry.line, text: entry.text }, entry.record.changes)
  refuseFatal(entry.error)
  return writer.reject(toReject(entry.line, entry.text, reasonOf(entry.error)))
}

/** Creates the row of the load, and keeps renewing the heartbeat. */
async function begin(
  db: Db,
  upload: Upload,
  {
    load,
    opened: { format, header, warnings = [] },
    projects
  }: { load: Submission; opened: OpenedRecords; projects: StoredForLoad }
): Promise<void> {
  upload.hasBegun = true
  const isNew = await inTransaction(db, async (tx) => {
    await projects.stillSettled(tx)
    if (!(await insertLoad(tx, { ...load, format, header }))) return false
    if (warnings.length > 0)
      await addWarnings(tx, load.id, { count: warnings.length, messages: [...warnings] })
    return true
  })
  if (!isNew) throw stillReceiving()
  upload.heartbeat = setInterval(() => {
    touchLoad(db, upload.id, { records: 0, rejects: 0, isDestructive: false }).catch(() => {})
  }, heartbeatMs)
  upload.heartbeat.unref()
}

/** A reject is a verdict on the client's input, so our own failures are thrown instead. */
function refuseFatal(error: CatalogError): void {
  if (error.status >= 500) throw error
}

/**
 * Ends an upload that did not arrive completely, and deletes its records. While the database cannot do that, it is
 * tried again until the sweeper would do it; its key is free for this process at once.
 */
async function abort(db: Db, id: string, error: unknown): Promise<void> {
  const reason = toCatalogError(error).message
  const giveUpAt = Date.now() + limits.uploadSilentMaxSeconds * 1_000
  giveUp(id, reason)
  const attempt = async (): Promise<boolean> => {
    try {
      await abortUpload(db, id, reason)
      return true
    } catch (failure) {
      return sqlErrorKind(failure) !== 'transient' || Date.now() > giveUpAt
    }
  }
  if (await attempt()) forgetGivenUp(id)
  else void repeat(attempt).then(() => forgetGivenUp(id))
}

const abortAgainMs = 500

async function repeat(attempt: () => Promise<boolean>): Promise<void> {
  do await sleep(abortAgainMs, undefined, { ref: false })
  while (!(await attempt()))
}

/**
 * The load was cancelled, or this process was silent for so long that the sweeper aborted it; its client can
 * send it again.
 */
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
