/**
 * Accepts proposals that are applied later.
 *
 * They become a small load, whose seq is drawn before the answer, so that later requests of the client are
 * newer. This takes two transactions, because the end of a body must be committed before a seq is drawn (see
 * olderWork), and one chunk.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { CatalogError } from '../../errors.ts'
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import { inWriteTurn } from '../../db/write-turns.ts'
import { limits } from '../../limits.ts'
import type { ChangeRecord } from '../../model/changes.ts'
import { proposalText } from '../../model/proposal-text.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { countUnfinishedLoads } from '../../store/load-progress.ts'
import { endBody, insertLoad, touchLoad, type NewLoad } from '../../store/loads.ts'
import { acceptReceivedLoad } from './accept-load.ts'
import { toStoredLine } from './chunk-payload.ts'
import { createChunkWriter, type Stored } from './chunk-writer.ts'
import type { IngestOptions } from '../write/ingest-proposals.ts'
import { createWholeChunkWriter } from './whole-chunk-writer.ts'

export type QueueOptions = IngestOptions & { traceId: string }

/** How often to check for room. */
const roomEveryMs = 100
/** The longest wait of a client, well below its own timeout. */
const roomMaxMs = 10_000

/**
 * Stores the result of readProposals as a load of the trace, and returns when it is accepted (committed).
 * Each record is applied or rejected on its own.
 *
 * Makes the caller wait while too many loads wait, so that the queue cannot grow without bound. Without
 * records there is no load. Throws OVERLOADED (nothing is stored then).
 */
export async function queueProposals(
  db: Db,
  queue: ChunkQueue,
  records: readonly ChangeRecord[],
  options: QueueOptions
): Promise<void> {
  if (records.length === 0) return
  const lines = records.map((record, index) => ({
    line: index + 1,
    text: record.changes.map(proposalText).join(),
    changes: record.changes
  }))
  const load = newLoad(options)
  await waitForRoom(db)
  await inWriteTurn(db, { actor: options.actor, keys: [] }, () =>
    inTransaction(db, async (tx) => {
      await insertLoad(tx, load)
      await storeLines(tx, load.id, lines)
      await endBody(tx, load.id, null)
    })
  )
  // Without the turn: it may wait for Redis.
  await acceptReceivedLoad(db, queue, load.id)
}

type Line = { line: number; text: string; changes: ChangeRecord['changes'] }

/**
 * One chunk for all passes: within a chunk they are applied in order. Records that are too large for one
 * chunk are sorted as in any load.
 */
async function storeLines(tx: Tx, loadId: string, lines: readonly Line[]): Promise<void> {
  const store = async (work: (tx: Tx) => Promise<void>, stored: Stored): Promise<void> => {
    await work(tx)
    await touchLoad(tx, loadId, stored)
  }
  const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(toStoredLine(line)), 0)
  const writer =
    bytes <= limits.chunkMaxBytes ? createWholeChunkWriter(loadId, store) : createChunkWriter(loadId, store)
  for (const { line, text, changes } of lines) await writer.add({ line, text }, changes)
  await writer.flush()
}

/** Throws OVERLOADED if there was no room for roomMaxMs. */
async function waitForRoom(db: Db): Promise<void> {
  const maximum = limits.waitingProposalLoadsMaxCount
  for (const giveUpAt = Date.now() + roomMaxMs; ; await sleep(roomEveryMs)) {
    const waiting = await countUnfinishedLoads(db, maximum)
    if (waiting < maximum) return
    if (Date.now() > giveUpAt)
      throw new CatalogError('OVERLOADED', `${waiting} loads wait to be applied; send it again later`, {
        limit: 'waitingProposalLoadsMaxCount',
        maximum,
        retryAfterSeconds: 10
      })
  }
}

const newLoad = ({
  actor,
  requestId,
  missingReferences,
  upsertReplaces,
  traceId
}: QueueOptions): NewLoad => ({
  id: randomUUID(),
  format: 'mcp',
  header: null,
  mode: 'merge',
  source: 'proposal',
  missingReferences,
  upsertReplaces,
  actor: actor.urn,
  tokenId: actor.tokenId,
  scopes: [...actor.scopes],
  domainUrns: actor.domainUrns,
  requestId,
  isAtomic: false,
  isDryRun: false,
  idempotencyKey: null,
  traceId
})
