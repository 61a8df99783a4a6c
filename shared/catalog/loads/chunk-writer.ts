/**
 * Sorts records into passes and stores them as chunks. There is one open buffer for each pass, so memory is
 * bounded however large the load is. Nothing is applied here.
 */
import type { EdgeRun } from '../../formats/edge-runs.ts'
import type { EdgeShape, PlainEdge } from '../../formats/plain-edges.ts'
import { limits } from '../../limits.ts'
import { createsOf, isDestructive, passOf, referencesOf, assetOrSelf } from '../../model/change-facts.ts'
import type { Change } from '../../model/changes.ts'
import type { Tx } from '../../db/database.ts'
import { insertChunk } from '../../store/chunks.ts'
import { insertDeclarations, type Declaration } from '../../store/declarations.ts'
import { insertRejects, type Reject } from '../../store/rejects.ts'
import { createEdgeGatherer, type EdgeGatherer } from './edge-gatherer.ts'
import { packEdges, withUrns } from '../write/edge-payload.ts'
import { areOfCurrentEpoch, type KnownIds } from '../lineage/known-ids.ts'
import { packLines, toStoredLine, type RawRecord } from './chunk-payload.ts'

/** What was stored since the last call, for the counts of the load. */
export type Stored = { records: number; rejects: number; isDestructive: boolean }

export type ChunkWriter = {
  /** Adds a parsed record. Returns a promise only if there is something to wait for, which is rare. */
  add(record: RawRecord, changes: readonly Change[]): Promise<void> | undefined
  /** Adds an edge given by its two ends. */
  addEdge(edge: PlainEdge): Promise<void> | undefined
  /** Adds many edges given by their two ends. */
  addEdges(run: EdgeRun): Promise<void> | undefined
  /** Adds a record that did not parse. */
  reject(reject: Reject): Promise<void> | undefined
  /** Stores the open chunks, and waits until everything is stored. */
  flush(): Promise<void>
  /** Waits until nothing is being stored any more, even after an error. */
  idle(): Promise<void>
}

type OpenChunk = {
  pass: 1 | 2 | 3
  firstLine: number
  lines: string[]
  bytes: number
  isDestructive: boolean
  declarations: Declaration[]
}

const rejectsPerInsert = 1_000
/**
 * A million new edges took 0.52 of the time of a raw COPY in chunks of 20,000, 0.42 to 0.46 in chunks of
 * 10,000 and 0.48 in chunks of 40,000.
 */
const mostEdges = { records: limits.edgeChunkMaxRecords, bytes: limits.chunkMaxBytes }

export const recordsPerChunk = (format: string): number =>
  format === 'openlineage' ? limits.eventChunkMaxRecords : limits.chunkMaxRecords

/**
 * `store` runs one piece of work in a transaction; its argument says what the work adds to the load.
 *
 * A chunk is stored before the call that filled it returns, so a caller that awaits each call reads only as
 * fast as Postgres stores. With `isBehind` a chunk is stored while the next one fills: the call that fills
 * the next one waits until the first is stored, and throws any error of storing it. Use it only when each
 * piece of work has its own transaction. URNs that `knownIds` knows are stored as ids.
 */
export function createChunkWriter(
  loadId: string,
  store: (work: (tx: Tx) => Promise<void>, stored: Stored) => Promise<void>,
  {
    isBehind = false,
    knownIds,
    maxRecords = limits.chunkMaxRecords
  }: { isBehind?: boolean; knownIds?: (() => KnownIds | null) | undefined; maxRecords?: number } = {}
): ChunkWriter {
  const open = new Map<number, OpenChunk>()
  // Removals have their own chunks: a chunk in columns either adds all of its edges or removes them.
  const [added, removed] = [createEdgeGatherer(knownIds), createEdgeGatherer(knownIds)]
  let rejects: Reject[] = []
  let rejectBytes = 0
  let rejectsCount = 0
  let storing: Promise<void> = Promise.resolve()

  /** Stores one chunk after the other. Returns the promise to wait for. */
  function storeNext(work: () => Promise<void>): Promise<void> {
    if (!isBehind) return work()
    const before = storing
    storing = before.then(work)
    // The next caller gets the error.
    storing.catch(() => {})
    return before
  }

  function storeRejects(): Promise<void> {
    const [count, kept] = [
      rejects.length,
      rejects.slice(0, Math.max(0, limits.rejectsKeptMaxCount - rejectsCount))
    ]
    rejectsCount += count
    rejects = []
    rejectBytes = 0
    return storeNext(() =>
      store((tx) => insertRejects(tx, loadId, kept), { records: count, rejects: count, isDestructive: false })
    )
  }

  function openChunk(pass: OpenChunk['pass'], firstLine: number): OpenChunk {
    const chunk = open.get(pass) ?? {
      pass,
      firstLine,
      lines: [],
      bytes: 0,
      isDestructive: false,
      declarations: []
    }
    open.set(pass, chunk)
    return chunk
  }

  function put(chunk: OpenChunk, record: RawRecord): Promise<void> | undefined {
    const stored = toStoredLine(record)
    chunk.lines.push(stored)
    chunk.bytes += Buffer.byteLength(stored)
    return chunk.lines.length >= maxRecords || chunk.bytes >= limits.chunkMaxBytes
      ? storeChunk(chunk)
      : undefined
  }

  function storeChunk(chunk: OpenChunk): Promise<void> {
    open.delete(chunk.pass)
    const recordCount = chunk.lines.length
    return storeNext(async () => {
      const payload = await packLines(chunk.lines)
      await store(
        async (tx) => {
          await insertChunk(tx, {
            loadId,
            pass: chunk.pass,
            firstLine: chunk.firstLine,
            recordCount,
            payload
          })
          await insertDeclarations(tx, loadId, chunk.declarations)
        },
        { records: recordCount, rejects: 0, isDestructive: chunk.isDestructive }
      )
    })
  }

  function storeEdges(gathered: EdgeGatherer): Promise<void> {
    const { batch, ids } = gathered.take()
    const recordCount = batch.lines.length
    return storeNext(async () => {
      const payload = await packEdges(batch)
      await store(
        async (tx) => {
          const isRight = ids === null || (await areOfCurrentEpoch(tx, ids))
          await insertChunk(tx, {
            loadId,
            pass: 3,
            firstLine: batch.lines[0] ?? 1,
            recordCount,
            payload: isRight ? payload : await packEdges(withUrns(batch, ids.urnOf))
          })
        },
        { records: recordCount, rejects: 0, isDestructive: batch.isRemoval }
      )
    })
  }

  const isFull = (gathered: EdgeGatherer): boolean =>
    gathered.count() >= mostEdges.records || gathered.bytes() >= mostEdges.bytes
  const gathererOf = ({ isRemoval }: EdgeShape): EdgeGatherer => (isRemoval ? removed : added)

  function addRun(run: EdgeRun, from: number): Promise<void> | undefined {
    const gathered = gathererOf(run.shape)
    const next = gathered.addRun(run, from, mostEdges)
    if (!isFull(gathered)) return undefined
    const stored = storeEdges(gathered)
    return next === run.count ? stored : stored.then(() => addRun(run, next))
  }

  return {
    addEdge(edge) {
      const gathered = gathererOf(edge.shape)
      gathered.add(edge)
      return isFull(gathered) ? storeEdges(gathered) : undefined
    },
    addEdges(run) {
      const [outdated] = [added, removed].filter((gathered) => gathered.isOutdated())
      return outdated ? storeEdges(outdated).then(() => addRun(run, 0)) : addRun(run, 0)
    },
    add(record, changes) {
      const pass = passOf(changes)
      const chunk = openChunk(pass, record.line)
      chunk.isDestructive ||= isDestructive(changes)
      if (pass === 2) chunk.declarations.push(...declarationsOf(record.line, changes))
      return put(chunk, record)
    },
    reject(reject) {
      rejects.push(reject)
      rejectBytes += reject.record?.length ?? 0
      if (rejects.length >= rejectsPerInsert || rejectBytes >= limits.chunkMaxBytes) return storeRejects()
      return undefined
    },
    async flush() {
      for (const chunk of [...open.values()].sort((a, b) => a.pass - b.pass)) await storeChunk(chunk)
      for (const gathered of [added, removed]) if (gathered.count() > 0) await storeEdges(gathered)
      if (rejects.length > 0) await storeRejects()
      await storing
    },
    idle: () => storing.catch(() => {})
  }
}

/**
 * The entities that the record creates, each with the assets that it refers to and does not create itself.
 */
function declarationsOf(line: number, changes: readonly Change[]): Declaration[] {
  const created = [...new Set(changes.flatMap(createsOf))]
  const references = new Set(
    changes
      .flatMap(referencesOf)
      .filter((reference) => !reference.placeholderWillDo)
      .map((reference) => assetOrSelf(reference.urn))
  )
  for (const urn of created) references.delete(urn)
  const needed = references.size === 0 ? [null] : [...references]
  return created.flatMap((urn) => needed.map((reference) => ({ line, urn, reference })))
}
