/**
 * The SDK of OpenTelemetry: records spans and sends them to an OTLP receiver. Loaded only if tracing is on.
 * Memory is bounded by the queue of the batch processor: if it is full, spans are dropped, and requests are
 * never delayed.
 */
import { context, ROOT_CONTEXT, type TextMapGetter } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { ExportResultCode, W3CTraceContextPropagator, type ExportResult } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes
} from '@opentelemetry/resources'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter
} from '@opentelemetry/sdk-trace-base'
import type { Log } from './log.ts'
import { readPackage } from './package.ts'
import type { TraceHeaders, Tracing } from './tracing.ts'

/** How long a stop waits for the receiver of spans. */
const flushMaxMs = 2_000

const getter: TextMapGetter<TraceHeaders> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, key) => (key === 'traceparent' || key === 'tracestate' ? headers[key] : undefined)
}

/**
 * Sampling, limits, batches, headers, certificates and the attributes of the resource follow the standard
 * environment variables, which the SDK reads itself.
 */
export function openTracing({
  endpoint,
  serviceName,
  log
}: {
  endpoint: string
  serviceName: string
  log: Log
}): Tracing {
  const { version } = readPackage()
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` })
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(reportingOutages(exporter, log))]
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const propagator = new W3CTraceContextPropagator()
  return {
    tracer: provider.getTracer('tributary', version),
    contextOf: (headers) => propagator.extract(ROOT_CONTEXT, headers, getter),
    async stop() {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, flushMaxMs)
      })
      await Promise.race([provider.shutdown().catch(() => {}), late])
      clearTimeout(timer)
      context.disable()
    }
  }
}

/** Logs the first failure of an outage, and its end with the number of spans that were lost. */
function reportingOutages(exporter: SpanExporter, log: Log): SpanExporter {
  let lostSpans = 0
  function note(spans: readonly ReadableSpan[], { code, error }: ExportResult): void {
    if (code === ExportResultCode.SUCCESS) {
      if (lostSpans > 0) log.info({ lostSpans }, 'spans are sent again')
      lostSpans = 0
      return
    }
    if (lostSpans === 0)
      log.warn(
        { err: error },
        'spans cannot be sent and are dropped; see OTEL_EXPORTER_OTLP_ENDPOINT. Nothing else is affected'
      )
    lostSpans += spans.length
  }
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        note(spans, result)
        done(result)
      })
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown()
  }
}
