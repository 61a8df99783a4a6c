/** Stores an atomic load or a dry run as one chunk, because one worker must apply it in one transaction. */
import type { Tx } from '../../db/database.ts'
import { CatalogError } from '../../errors.ts'
import { edgesOfRun } from '../../formats/edge-runs.ts'
import { textOfEdge } from '../../formats/plain-edges.ts'
import { limits } from '../../limits.ts'
import { createsOf, isDestructive } from '../../model/change-facts.ts'
import { insertChunk } from '../../store/chunks.ts'
import { insertRejects, type Reject } from '../../store/rejects.ts'
import { packLines, toStoredLine, type RawRecord } from './chunk-payload.ts'
import type { ChunkWriter, Stored } from './chunk-writer.ts'

type RecordLimit = 'loadAtomicMaxRecords' | 'eventChunkMaxRecords'

/**
 * How many records an atomic load or a dry run may have: while its events are applied, all other events wait.
 */
export const wholeRecordLimit = (format: string): RecordLimit =>
  format === 'openlineage' ? 'eventChunkMaxRecords' : 'loadAtomicMaxRecords'

/**
 * Keeps the records until flush(), at most loadAtomicMaxBytes of them. Adding throws LIMIT_EXCEEDED
 * (`recordLimit`, loadAtomicMaxBytes). A load without a single readable record has a chunk too, so that a
 * worker ends it.
 */
export function createWholeChunkWriter(
  loadId: string,
  store: (work: (tx: Tx) => Promise<void>, stored: Stored) => Promise<void>,
  recordLimit: RecordLimit = 'loadAtomicMaxRecords'
): ChunkWriter {
  const lines: string[] = []
  const rejects: Reject[] = []
  let firstLine: number | null = null
  let bytes = 0
  let creates = false
  let destroys = false

  function count(text: string): void {
    bytes += Buffer.byteLength(text)
    if (lines.length + rejects.length >= limits[recordLimit]) throw tooLarge(recordLimit, 'records')
    if (bytes > limits.loadAtomicMaxBytes) throw tooLarge('loadAtomicMaxBytes', 'bytes')
  }

  function put(record: RawRecord): void {
    const stored = toStoredLine(record)
    count(stored)
    firstLine ??= record.line
    lines.push(stored)
  }

  return {
    add(record, changes) {
      put(record)
      creates ||= changes.some((change) => createsOf(change).length > 0)
      destroys ||= isDestructive(changes)
      return undefined
    },
    addEdge({ line, shape, upstream, downstream }) {
      put({ line, text: textOfEdge(shape, upstream, downstream) })
      destroys ||= shape.isRemoval
      return undefined
    },
    addEdges(run) {
      destroys ||= run.shape.isRemoval
      for (const { line, shape, upstream, downstream } of edgesOfRun(run))
        put({ line, text: textOfEdge(shape, upstream, downstream) })
      return undefined
    },
    reject(reject) {
      count(reject.record ?? '')
      rejects.push(reject)
      return undefined
    },
    async flush() {
      const payload = await packLines(lines)
      await store(
        async (tx) => {
          await insertRejects(tx, loadId, rejects)
          // The pass of the chunk tells newer loads whether the chunk creates entities. Inside the chunk,
          // records of all passes are applied in order.
          await insertChunk(tx, {
            loadId,
            pass: creates ? 1 : 3,
            firstLine: firstLine ?? 1,
            recordCount: lines.length,
            payload
          })
        },
        { records: lines.length + rejects.length, rejects: rejects.length, isDestructive: destroys }
      )
    },
    // Nothing is stored while the body is read.
    async idle() {}
  }
}

const tooLarge = (limit: RecordLimit | 'loadAtomicMaxBytes', unit: string): CatalogError =>
  new CatalogError(
    'LIMIT_EXCEEDED',
    `${limit === 'eventChunkMaxRecords' ? 'A load of events' : 'A load'} that is atomic or a dry run has at most ${limits[limit]} ${unit}`,
    { limit, maximum: limits[limit] }
  )
