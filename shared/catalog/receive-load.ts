/** Receives a load: streams its records into Postgres, and accepts it when its body has come to a clean end. */
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CatalogError } from '../errors.ts'
import type { Db, Tx } from '../db/database.ts'
import { toCatalogError } from '../db/sql-errors.ts'
import { inTransaction } from '../db/transaction.ts'
import type { RecordFormat } from '../formats/parse-record.ts'
import { readRecords, type ReadRecord } from '../formats/read-records.ts'
import { limits } from '../limits.ts'
import type { Actor, MissingReferences } from '../model/changes.ts'
import { metrics } from '../platform/metrics.ts'
import type { ChunkQueue } from '../queue/chunk-queue.ts'
import { deleteChunks } from '../store/chunks.ts'
import { deleteDeclarations } from '../store/declarations.ts'
import { countWaitingRecords } from '../store/load-progress.ts'
import { abortLoad, endBody, insertLoad, touchLoad } from '../store/loads.ts'
import { deleteRejects } from '../store/rejects.ts'
import { acceptReceivedLoad } from './accept-load.ts'
import { createChunkWriter, type ChunkWriter, type Stored } from './chunk-writer.ts'
import { reasonOf, toReject } from './reject-record.ts'

/** What a load is told beside its body. `source` names who states its edges. */
export type LoadRequest = { actor: Actor, requestId: string | null, format: RecordFormat, source: string, missingReferences: MissingReferences }

/** An upload that is alive says so at least this often, however little it brings. */
const heartbeatMs = 30_000
/** How long records are read without a pause, so that requests of people are answered between them. */
const turnMaxMs = 2

/**
 * Stores the records of the body as they come, and returns the id of the load when it is accepted (committed).
 * Reads on only when what was read is stored, so memory is bounded on this side and the client is held back on its own.
 *
 * Throws OVERLOADED (nothing stored), BAD_REQUEST for a body without records (nothing stored), LIMIT_EXCEEDED
 * (loadMaxRecords), CONFLICT when the load was cancelled meanwhile, and what the body or its reader throw. After any of
 * these the load is aborted and its records are gone.
 */
export async function receiveLoad(db: Db, queue: ChunkQueue, request: LoadRequest, body: AsyncIterable<Buffer>): Promise<string> {
  await refuseWhenOverloaded(db)
  const upload = { id: randomUUID(), records: 0 }
  try {
    await storeRecords(db, upload, request, body)
    if (upload.records === 0) throw new CatalogError('BAD_REQUEST', 'The body holds no records')
    if (!await endBody(db, upload.id)) throw endedMeanwhile()
  } catch (error) {
    if (upload.records > 0) await abort(db, upload.id, error)
    throw error
  }
  // From here on the load is whole: should this process die, or the database be away, the sweeper accepts it.
  await acceptReceivedLoad(db, queue, upload.id)
  return upload.id
}

/** Throws OVERLOADED while more records wait than waitingRecordsMaxCount. */
async function refuseWhenOverloaded(db: Db): Promise<void> {
  const waiting = await countWaitingRecords(db)
  if (waiting < limits.waitingRecordsMaxCount) return
  throw new CatalogError('OVERLOADED', `${waiting} records wait to be applied; send the load again later`,
    { limit: 'waitingRecordsMaxCount', maximum: limits.waitingRecordsMaxCount, actual: waiting, retryAfterSeconds: 30 })
}

/** Counts what came in `upload.records`. The load's row is made with the first record. */
async function storeRecords(db: Db, upload: { readonly id: string, records: number }, request: LoadRequest, body: AsyncIterable<Buffer>): Promise<void> {
  let touchedAt = Date.now()
  let turnAt = performance.now()

  async function store(work: (tx: Tx) => Promise<void>, stored: Stored): Promise<void> {
    await inTransaction(db, async (tx) => {
      await work(tx)
      if (!await touchLoad(tx, upload.id, stored)) throw endedMeanwhile()
    })
    touchedAt = Date.now()
  }

  const writer = createChunkWriter(upload.id, store)
  for await (const entries of readRecords(request.format, body)) {
    for (const entry of entries) {
      if (upload.records === 0) await inTransaction(db, (tx) => insertLoad(tx, newLoad(upload.id, request)))
      upload.records += 1
      if (upload.records > limits.loadMaxRecords) throw tooManyRecords()
      const stored = take(writer, entry)
      if (stored) await stored
    }
    if (performance.now() - turnAt > turnMaxMs) {
      await nextTurn()
      turnAt = performance.now()
    }
    if (Date.now() - touchedAt > heartbeatMs) await store(async () => {}, { records: 0, rejects: 0, isDestructive: false })
  }
  await writer.flush()
}

/** A promise only where something is to be waited for. */
function take(writer: ChunkWriter, entry: ReadRecord): Promise<void> | undefined {
  if ('shape' in entry) return writer.addEdge(entry)
  if (!('error' in entry)) return writer.add({ line: entry.line, text: entry.text }, entry.record.changes)
  refuseFatal(entry.error)
  return writer.reject(toReject(entry.line, entry.text, reasonOf(entry.error)))
}

/** A reject is a verdict on what the client sent; trouble of ours is none. */
function refuseFatal(error: CatalogError): void {
  if (error.status >= 500) throw error
}

const newLoad = (id: string, request: LoadRequest): Parameters<typeof insertLoad>[1] => ({
  id,
  format: request.format,
  mode: 'merge',
  source: request.source,
  missingReferences: request.missingReferences,
  actor: request.actor.urn,
  tokenId: request.actor.tokenId,
  scopes: [...request.actor.scopes],
  domainUrn: request.actor.domainUrn,
  requestId: request.requestId
})

/** Ends an upload that did not come to its end, and frees its records. What fails here is done by the sweeper later. */
async function abort(db: Db, id: string, error: unknown): Promise<void> {
  try {
    await abortUpload(db, id, toCatalogError(error).message)
  } catch {
    // The database is away: the load stays `receiving`, untouched, until the sweeper aborts it.
  }
}

/** False when the load is no upload any more. `reason` is for the client to read. */
export async function abortUpload(db: Db, id: string, reason: string): Promise<boolean> {
  const isMine = await inTransaction(db, async (tx) => {
    if (!await abortLoad(tx, id, reason)) return false
    await deleteChunks(tx, id)
    await deleteDeclarations(tx, id)
    await deleteRejects(tx, id)
    return true
  })
  if (isMine) metrics.loads.inc({ state: 'aborted' })
  return isMine
}

const endedMeanwhile = (): CatalogError => new CatalogError('CONFLICT', 'The load was ended while it was being received')

const tooManyRecords = (): CatalogError => new CatalogError('LIMIT_EXCEEDED', `A load has at most ${limits.loadMaxRecords} records; send several`,
  { limit: 'loadMaxRecords', maximum: limits.loadMaxRecords })
