/**
 * Undoes a load with another load: what the load changed gets its old value back, unless something newer has
 * changed it.
 *
 * The undo is accepted and applied like any load: its seq is newer than everything accepted before, its
 * chunks are parts of the journal of the load, and it has a journal itself, so that an undo can be undone
 * too.
 */
import { randomUUID } from 'node:crypto'
import { CatalogError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Db, Tx } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { Actor } from '../../model/changes.ts'
import { journalPasses, unpackJournal } from '../../statements/load-journal.ts'
import { metrics } from '../../platform/metrics.ts'
import type { ChunkQueue } from '../../queue/chunk-queue.ts'
import { dropChunks, insertChunk } from '../../store/chunks.ts'
import { deleteDeclarations } from '../../store/declarations.ts'
import { findDomainPaths } from '../../store/domains.ts'
import { findJournal, listJournal } from '../../store/load-journal.ts'
import {
  endBody,
  insertLoad,
  lockLoad,
  markUndo,
  stopLoad,
  touchLoad,
  type LoadRow
} from '../../store/loads.ts'
import { deleteRemovals } from '../../store/snapshot-removals.ts'
import { deleteStatedKeys } from '../../store/snapshot-statements.ts'
import { acceptReceivedLoad } from './accept-load.ts'
import { packLines, toStoredLine } from './chunk-payload.ts'
import { isVisible, noSuchLoad, readLoad, type LoadView } from './read-load.ts'
import type { JournalOutline, NetEntry } from './undo-entries.ts'
import { nameEntries, partsOf, textOfPart, textOfRecords } from './undo-records.ts'

export type UndoContext = {
  actor: Actor
  requestId: string | null
  /** Only reports what the undo would change. */
  isDryRun?: boolean
}

/** Records that are applied together. Those of a lower pass are applied first. */
type Group = { pass: number; recordCount: number; content: { part: string } | { records: string[] } }

/**
 * Returns the load that undoes `load`. A failed load is first cancelled, so that it cannot continue
 * afterwards; a dry run leaves it as it is. Throws NOT_FOUND, and CONFLICT for a load that has not ended, was
 * aborted, was already undone, or is older than journals; for a dry run also LIMIT_EXCEEDED
 * (loadAtomicMaxRecords), because it is applied in one transaction.
 */
export async function undoLoad(
  db: Db,
  queue: ChunkQueue,
  id: string,
  context: UndoContext
): Promise<LoadView> {
  await readLoad(db, context.actor, id)
  const undoId = randomUUID()
  const isDryRun = context.isDryRun ?? false
  await inTransaction(db, async (tx) => {
    const load = await lockLoad(tx, id)
    if (!load || !isVisible(load, context.actor)) throw noSuchLoad(id)
    await refuseWhatCannotBeUndone(tx, load)
    // A failed atomic load has ended for good, and has changed nothing.
    if (load.state === 'failed' && !load.isAtomic && !isDryRun) await cancelFailed(tx, id)
    await insertLoad(tx, {
      id: undoId,
      format: 'undo',
      mode: 'undo',
      source: load.source,
      missingReferences: 'reject',
      actor: context.actor.urn,
      tokenId: context.actor.tokenId,
      scopes: [...context.actor.scopes],
      domainUrns: context.actor.domainUrns,
      requestId: context.requestId,
      isAtomic: false,
      isDryRun,
      idempotencyKey: null,
      header: null
    })
    await markUndo(tx, undoId, id)
    const groups = groupsOf(tx, id)
    const records = isDryRun ? await storeWhole(tx, undoId, groups) : await storeChunks(tx, undoId, groups)
    await touchLoad(tx, undoId, { records, rejects: 0, isDestructive: true })
    await endBody(tx, undoId, null)
  })
  // From now on it is like any load whose body has ended: if this process dies, the sweeper accepts it.
  await acceptReceivedLoad(db, queue, undoId)
  return readLoad(db, context.actor, undoId)
}

async function refuseWhatCannotBeUndone(tx: Tx, load: LoadRow): Promise<void> {
  if (load.state !== 'done' && load.state !== 'failed' && load.state !== 'cancelled') {
    throw new CatalogError(
      'CONFLICT',
      load.state === 'aborted'
        ? 'The load was aborted: it changed nothing'
        : `The load is ${load.state}; only one that has ended can be undone`
    )
  }
  if (load.format === 'openlineage')
    throw new CatalogError(
      'CONFLICT',
      'A load of OpenLineage events cannot be undone: later events have been merged with its own'
    )
  if (load.isDryRun) throw new CatalogError('CONFLICT', 'The load was a dry run: it changed nothing')
  if (load.undoneBy !== null)
    throw new CatalogError(
      'CONFLICT',
      `The load has been undone by the load ${load.undoneBy}; undo that one to restore its changes`
    )
}

async function cancelFailed(tx: Tx, id: string): Promise<void> {
  await stopLoad(tx, id, 'cancelled', null)
  await dropChunks(tx, id)
  await deleteDeclarations(tx, id)
  await deleteStatedKeys(tx, id)
  await deleteRemovals(tx, id)
  metrics.loads.inc({ state: 'cancelled' })
}

/** Makes a chunk of each group. Returns how many records they have. */
async function storeChunks(tx: Tx, undoId: string, groups: AsyncIterable<Group>): Promise<number> {
  let line = 1
  for await (const { pass, recordCount, content } of groups) {
    const first = line
    const texts = 'part' in content ? [content.part] : content.records
    await insertChunk(tx, {
      loadId: undoId,
      pass,
      firstLine: first,
      recordCount,
      payload: await packLines(texts.map((text, index) => toStoredLine({ line: first + index, text })))
    })
    line += recordCount
  }
  return line - 1
}

/**
 * Makes one chunk of all groups, with a line for each. An undo without records gets this chunk too, so that a
 * worker ends it.
 */
async function storeWhole(tx: Tx, undoId: string, groups: AsyncIterable<Group>): Promise<number> {
  const found: Group[] = []
  for await (const group of groups) found.push(group)
  const sorted = found.sort((a, b) => a.pass - b.pass)
  const total = sorted.reduce((sum, { recordCount }) => sum + recordCount, 0)
  if (total > limits.loadAtomicMaxRecords)
    throw new CatalogError(
      'LIMIT_EXCEEDED',
      `The load made ${total} changes; the dry run of an undo can have at most ${limits.loadAtomicMaxRecords}`,
      { limit: 'loadAtomicMaxRecords', maximum: limits.loadAtomicMaxRecords }
    )
  let line = 1
  const lines = sorted.map(({ recordCount, content }) => {
    const text = 'part' in content ? content.part : textOfRecords(content.records)
    const stored = toStoredLine({ line, text })
    line += recordCount
    return stored
  })
  await insertChunk(tx, {
    loadId: undoId,
    pass: 1,
    firstLine: 1,
    recordCount: total,
    payload: await packLines(lines)
  })
  return total
}

/**
 * The records of the undo. Most groups are a part of the journal, and contain its position instead of the
 * records.
 */
async function* groupsOf(tx: Tx, loadId: string): AsyncGenerator<Group> {
  const outline = await listJournal(tx, loadId)
  const [domains = 0, ...others] = [...journalPasses].reverse()
  for (const pass of others.reverse()) {
    for (const row of outline)
      for (const part of partsOf(loadId, row, pass))
        yield { pass, recordCount: part.to - part.from, content: { part: textOfPart(part) } }
  }
  yield* domainGroups(tx, loadId, outline, domains)
}

/**
 * Domains are undone from the bottom up, one pass for each level of the tree: a domain with children stays.
 */
async function* domainGroups(
  tx: Tx,
  loadId: string,
  outline: JournalOutline,
  lastPass: number
): AsyncGenerator<Group> {
  const group = (pass: number, records: string[]): Group => ({
    pass,
    recordCount: records.length,
    content: { records }
  })
  const open = new Map<number, string[]>()
  for (const { id, counts } of outline) {
    if ((counts[lastPass - 1] ?? 0) === 0) continue
    const row = await findJournal(tx, loadId, id)
    const nets = row
      ? unpackJournal(row.payload).flatMap((entry): NetEntry[] =>
          entry.kind === 'madeDomain'
            ? [{ entry, seq: row.seq, leftSeq: row.seq, before: null, left: 'present' }]
            : []
        )
      : []
    const depthOf = await depthsOf(
      tx,
      nets.flatMap(({ entry }) => ('entityId' in entry ? entry.entityId : []))
    )
    const records = await nameEntries(tx, nets, outline)
    for (const [index, record] of records.entries()) {
      const { entry } = nets[index] ?? {}
      const pass =
        lastPass + limits.domainMaxDepth - depthOf(entry && 'entityId' in entry ? entry.entityId : 0)
      const texts = [...(open.get(pass) ?? []), JSON.stringify(record)]
      open.set(pass, texts)
      if (texts.length < limits.chunkMaxRecords) continue
      yield group(pass, texts)
      open.delete(pass)
    }
  }
  for (const [pass, texts] of [...open].sort(([a], [b]) => a - b)) yield group(pass, texts)
}

/** How many ancestors each domain has, at most the allowed depth of the tree. */
async function depthsOf(tx: Tx, ids: readonly number[]): Promise<(id: number) => number> {
  const parents = new Map((await findDomainPaths(tx, ids)).map((row) => [row.entityId, row.parentId]))
  return (id) => {
    let depth = 0
    for (
      let above = parents.get(id) ?? null;
      above !== null && depth < limits.domainMaxDepth;
      above = parents.get(above) ?? null
    )
      depth += 1
    return depth
  }
}
