/** For each alert: series during which it fires and then clears, in the notation of promtool, a value a minute. */

export type AlertCase = {
  alert: string
  series: Record<string, string>
  /** The labels of the firing alert, besides its severity. */
  labels?: Record<string, string>
  firesAt: string
  clearsAt: string
}

/** A histogram whose values are all above `below`, and after 20 minutes all below it. */
const slowThenFast = (metric: string, labels: string, below: string, above: string) => ({
  [`${metric}_bucket{${labels}le="${below}"}`]: '0x20 0+100x30',
  [`${metric}_bucket{${labels}le="${above}"}`]: '0+100x50',
  [`${metric}_bucket{${labels}le="+Inf"}`]: '0+100x50'
})

const duration = 'tributary_http_request_duration_seconds'

export const alertCases: readonly AlertCase[] = [
  {
    alert: 'TributaryNotScraped',
    series: { 'tributary_queue_up{instance="a"}': '_x10 1x20' },
    firesAt: '6m',
    clearsAt: '15m'
  },
  {
    alert: 'TributaryNoWorker',
    series: {
      'tributary_workers{instance="a",version="1.0.0"}': '0x5 1x10',
      'tributary_workers{instance="b",version="1.0.0"}': '0x5 1x10'
    },
    firesAt: '3m',
    clearsAt: '8m'
  },
  {
    alert: 'TributaryWorkersDiffer',
    series: {
      'tributary_workers{instance="a",version="1.0.0"}': '1x60',
      'tributary_workers{instance="a",version="1.1.0"}': '1x40 0x20'
    },
    firesAt: '35m',
    clearsAt: '50m'
  },
  {
    alert: 'TributaryChunksWait',
    series: { 'tributary_oldest_waiting_chunk_seconds{instance="a"}': '0+60x20 0x10' },
    firesAt: '15m',
    clearsAt: '25m'
  },
  {
    alert: 'TributaryQueueDown',
    series: { 'tributary_queue_up{instance="a"}': '0x5 1x5', 'tributary_queue_up{instance="b"}': '1x10' },
    labels: { instance: 'a' },
    firesAt: '4m',
    clearsAt: '8m'
  },
  {
    alert: 'TributaryLoadsFail',
    series: { 'tributary_loads_total{instance="a",state="failed"}': '0x5 1x40' },
    firesAt: '8m',
    clearsAt: '30m'
  },
  {
    alert: 'TributaryUploadsAbort',
    series: { 'tributary_loads_total{instance="a",state="aborted"}': '0+2x10 20x30' },
    firesAt: '10m',
    clearsAt: '35m'
  },
  {
    alert: 'TributaryRecordsRejected',
    series: {
      'tributary_load_records_total{instance="a",verdict="applied"}': '0+100x100',
      'tributary_load_records_total{instance="a",verdict="rejected"}': '0+50x40 2000x60'
    },
    firesAt: '20m',
    clearsAt: '70m'
  },
  {
    alert: 'TributaryWorkersStall',
    series: { 'tributary_chunks_fenced_total{instance="a"}': '0+1x10 10x30' },
    firesAt: '10m',
    clearsAt: '35m'
  },
  {
    alert: 'TributaryLineageFromSql',
    series: {
      'tributary_lineage_memory_bytes{instance="a"}': '0x20 100x10',
      'tributary_lineage_memory_limit_bytes{instance="a"}': '1000x30',
      // a worker has no graph, and an API may be told to have none
      'tributary_lineage_memory_bytes{instance="b"}': '0x30',
      'tributary_lineage_memory_limit_bytes{instance="b"}': '0x30'
    },
    labels: { instance: 'a' },
    firesAt: '16m',
    clearsAt: '25m'
  },
  {
    alert: 'TributaryLineageMemoryFull',
    series: {
      'tributary_lineage_memory_bytes{instance="a"}': '950x20 500x10',
      'tributary_lineage_memory_limit_bytes{instance="a"}': '1000x30'
    },
    labels: { instance: 'a' },
    firesAt: '16m',
    clearsAt: '25m'
  },
  {
    alert: 'TributaryLineageReloads',
    series: { 'tributary_lineage_reloads_total{instance="a",reason="server"}': '0+1x10 10x80' },
    labels: { instance: 'a' },
    firesAt: '15m',
    clearsAt: '80m'
  },
  {
    alert: 'TributaryFreshnessSlow',
    series: slowThenFast('tributary_lineage_barrier_duration_seconds', 'instance="a",', '0.1', '0.5'),
    firesAt: '15m',
    clearsAt: '40m'
  },
  {
    alert: 'TributaryReadsRefused',
    series: { 'tributary_reads_refused_total{instance="a",code="QUERY_TOO_COMPLEX"}': '0+60x30 1800x30' },
    firesAt: '20m',
    clearsAt: '50m'
  },
  {
    alert: 'TributaryErrors',
    series: {
      'tributary_http_requests_total{instance="a",method="GET",route="/loads",status="500"}':
        '0+60x20 1200x20',
      'tributary_http_requests_total{instance="a",method="GET",route="/loads",status="200"}': '0+600x40'
    },
    firesAt: '15m',
    clearsAt: '35m'
  },
  {
    alert: 'TributaryInternalErrors',
    series: {
      'tributary_graphql_errors_total{instance="a",code="INTERNAL"}': '0+1x20 20x30',
      'tributary_graphql_errors_total{instance="a",code="NOT_FOUND"}': '0+100x50'
    },
    firesAt: '10m',
    clearsAt: '40m'
  },
  {
    alert: 'TributarySlow',
    series: {
      ...slowThenFast(duration, 'instance="a",method="POST",route="/api/graphql",', '2.5', '5'),
      // an upload takes as long as its body
      [`${duration}_bucket{instance="a",method="POST",route="/loads",le="2.5"}`]: '0x50',
      [`${duration}_bucket{instance="a",method="POST",route="/loads",le="+Inf"}`]: '0+100x50'
    },
    firesAt: '15m',
    clearsAt: '40m'
  },
  {
    alert: 'TributaryAuthFailures',
    series: { 'tributary_auth_failures_total{instance="a",code="UNAUTHENTICATED"}': '0+120x30 3600x30' },
    firesAt: '20m',
    clearsAt: '50m'
  },
  {
    alert: 'TributaryPoolExhausted',
    series: {
      'tributary_db_pool_connections{instance="a",pool="tributary-api",state="waiting"}': '3x20 0x20',
      // uploads wait for their turn on purpose
      'tributary_db_pool_connections{instance="a",pool="tributary-uploads",state="waiting"}': '3x40'
    },
    labels: { instance: 'a', pool: 'tributary-api', state: 'waiting' },
    firesAt: '10m',
    clearsAt: '30m'
  },
  {
    alert: 'TributaryTransactionsCollide',
    series: { 'tributary_db_retries_total{instance="a",sqlstate="40P01"}': '0+120x30 3600x30' },
    labels: { sqlstate: '40P01' },
    firesAt: '20m',
    clearsAt: '50m'
  },
  {
    alert: 'TributaryEventLoopSlow',
    series: { 'nodejs_eventloop_lag_p99_seconds{instance="a"}': '1x20 0.01x20' },
    labels: { instance: 'a' },
    firesAt: '15m',
    clearsAt: '30m'
  }
]
