/**
 * Every metric, in one table: name with unit, kind, labels, meaning.
 *
 * Labels never contain URNs, tokens or text from callers, because each label value becomes a series in
 * someone's database. docs/operations.md lists the metrics, and a test compares the two.
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

const registry = new Registry()
const registers = [registry]

function counter<L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> {
  return new Counter<L>({ name, help, labelNames, registers })
}

function gauge<L extends string>(name: string, help: string, ...labelNames: L[]): Gauge<L> {
  return new Gauge<L>({ name, help, labelNames, registers })
}

function histogram<L extends string>(
  name: string,
  help: string,
  buckets: number[],
  ...labelNames: L[]
): Histogram<L> {
  return new Histogram<L>({ name, help, buckets, labelNames, registers })
}

const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const barrierBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1]
const loadBuckets = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60]
const chunkBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60]

export const metrics = {
  httpRequests: counter(
    'tributary_http_requests_total',
    'HTTP requests answered.',
    'method',
    'route',
    'status'
  ),
  httpDuration: histogram(
    'tributary_http_request_duration_seconds',
    'Time from the headers of a request to the end of its answer.',
    requestBuckets,
    'method',
    'route'
  ),
  graphqlErrors: counter('tributary_graphql_errors_total', 'Errors inside GraphQL answers.', 'code'),
  readsRefused: counter(
    'tributary_reads_refused_total',
    'Reads refused because they cost too much or waited too long.',
    'code'
  ),
  authFailures: counter('tributary_auth_failures_total', 'Requests refused because of their token.', 'code'),
  loads: counter('tributary_loads_total', 'Loads that ended, by final state.', 'state'),
  loadRecords: counter('tributary_load_records_total', 'Settled records of loads, by verdict.', 'verdict'),
  eventPartsDropped: counter(
    'tributary_event_parts_dropped_total',
    'Parts of OpenLineage events that could not be read and were left out.'
  ),
  chunks: gauge('tributary_chunks', 'Chunks not yet settled, by state.', 'state'),
  oldestWaitingChunk: gauge(
    'tributary_oldest_waiting_chunk_seconds',
    'Age of the oldest chunk that is ready to be applied.'
  ),
  chunkApply: histogram(
    'tributary_chunk_apply_duration_seconds',
    'Duration of the transaction that applies one chunk.',
    chunkBuckets
  ),
  chunkAttempts: counter(
    'tributary_chunk_attempts_total',
    'Attempts to apply a chunk, by outcome.',
    'outcome'
  ),
  chunksFenced: counter(
    'tributary_chunks_fenced_total',
    'Attempts rolled back because another worker had claimed the chunk.'
  ),
  workers: gauge('tributary_workers', 'Workers that are alive, by version.', 'version'),
  sweeperNudges: counter('tributary_sweeper_nudges_total', 'Chunks that the sweeper enqueued again.'),
  dbRetries: counter(
    'tributary_db_retries_total',
    'Retried transactions, by the SQLSTATE that ended them.',
    'sqlstate'
  ),
  dbPool: gauge(
    'tributary_db_pool_connections',
    'Connections and waiting requests of each pool.',
    'pool',
    'state'
  ),
  lineageBarrier: histogram(
    'tributary_lineage_barrier_duration_seconds',
    'Time to bring the lineage graph in memory up to date before reads.',
    barrierBuckets
  ),
  lineageLoad: histogram(
    'tributary_lineage_load_duration_seconds',
    'Time to load the lineage graph into memory.',
    loadBuckets
  ),
  lineageReloads: counter(
    'tributary_lineage_reloads_total',
    'Times the lineage graph was discarded and loaded again, by reason.',
    'reason'
  ),
  lineageMemory: gauge('tributary_lineage_memory_bytes', 'Memory of the lineage graph; 0 while SQL answers.'),
  lineageMemoryLimit: gauge(
    'tributary_lineage_memory_limit_bytes',
    'Memory that the lineage graph may take; 0 in a process that has none.'
  ),
  queueUp: gauge('tributary_queue_up', '1 while the queue answers, otherwise 0.')
}

// An alert notices that a counter grows, not that it appears: without a first 0 it would miss the first load
// that fails.
for (const state of ['done', 'failed', 'aborted', 'cancelled']) metrics.loads.inc({ state }, 0)

const collectors = new Set<() => void | Promise<void>>()

/** Runs `collect` before each scrape, for values that are read rather than counted. Returns a function that unregisters it. */
export function beforeScrape(collect: () => void | Promise<void>): () => void {
  collectors.add(collect)
  return () => collectors.delete(collect)
}

/** The text for a scraper, including the metrics of the process. A failing collector affects only its own metric. */
export async function renderMetrics(): Promise<{ contentType: string; text: string }> {
  if (!registry.getSingleMetric('nodejs_version_info')) collectDefaultMetrics({ register: registry })
  await Promise.allSettled(
    [...collectors].map(async (collect) => {
      await collect()
    })
  )
  return { contentType: registry.contentType, text: await registry.metrics() }
}
