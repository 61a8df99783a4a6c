/** The span of a worker's attempt at a chunk: a part of the trace that the load was sent in. */
import {
  failSpan,
  isTracing,
  startSpan,
  traceFields,
  withSpan,
  type Attributes,
  type Span
} from '../../platform/tracing.ts'
import { tracedQueueName } from '../../queue/names.ts'
import type { ClaimedChunk } from '../../store/chunks.ts'
import type { Run } from './run-chunk.ts'

/**
 * Runs the work in the span of the chunk, if tracing is on. Its parent is the request that stored the load,
 * not the job: the queue may lose a job, and the sweeper then queues the chunk again. `startedAt` is the time
 * before the claim, in epoch milliseconds, because the span can only begin after the claim, which returns the
 * trace.
 */
export async function inChunkSpan(
  chunk: ClaimedChunk,
  startedAt: number,
  work: () => Promise<Run>
): Promise<Run> {
  if (!isTracing()) return work()
  const span = startSpan(`process ${tracedQueueName}`, {
    kind: 'consumer',
    startTime: startedAt,
    attributes: attributesOf(chunk),
    parent: { traceparent: chunk.traceparent ?? undefined }
  })
  if (span === null) return work()
  try {
    return await withSpan(span, async () => {
      startSpan('claim chunk', { startTime: startedAt })?.end()
      const run = await work()
      noteOutcome(span, run)
      return { ...run, ...fieldsOfActive() }
    })
  } catch (error) {
    failSpan(span, nameOf(error))
    throw error
  } finally {
    span.end()
  }
}

const attributesOf = (chunk: ClaimedChunk): Attributes => ({
  'messaging.system': 'bullmq',
  'messaging.destination.name': tracedQueueName,
  'messaging.operation.name': 'process',
  'messaging.operation.type': 'process',
  'tributary.load.id': chunk.loadId,
  'tributary.chunk.id': chunk.id,
  'tributary.chunk.pass': chunk.pass,
  'tributary.chunk.records': chunk.recordCount,
  'tributary.chunk.attempts': chunk.attempts,
  ...(chunk.queuedMs === null ? {} : { 'tributary.chunk.queued_ms': Math.round(chunk.queuedMs) })
})

function noteOutcome(span: Span, { outcome, settled, error }: Run): void {
  span.setAttribute('tributary.chunk.outcome', outcome)
  for (const [verdict, count] of Object.entries(settled?.counts ?? {}))
    span.setAttribute(`tributary.chunk.${verdict}`, count)
  if (outcome === 'failed' || error !== undefined)
    failSpan(span, error === undefined ? 'FAILED' : nameOf(error))
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown')

function fieldsOfActive(): Pick<Run, 'trace'> {
  const { trace_id, span_id } = traceFields()
  return trace_id === undefined || span_id === undefined ? {} : { trace: { trace_id, span_id } }
}
