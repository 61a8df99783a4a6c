/**
 * Spans of OpenTelemetry.
 *
 * Only the API of OpenTelemetry is imported here: the SDK is loaded by startTracing, so a process without
 * OTEL_EXPORTER_OTLP_ENDPOINT never loads it, and only makes one comparison where a span would begin.
 * Attributes never contain bodies, tokens, URNs, parameters of SQL or messages of errors, because spans are
 * sent to another service. The log has the details, under the same trace id.
 */
import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
  type TimeInput,
  type Tracer
} from '@opentelemetry/api'
import type { Config } from './config.ts'
import { createService, type Service } from './lifecycle.ts'
import type { Log } from './log.ts'

export type { Attributes, Span } from '@opentelemetry/api'

/** The functions of the SDK that this file uses. */
export type Tracing = {
  tracer: Tracer
  /**
   * The context that the headers of W3C Trace Context name; the root context if they are absent or malformed.
   */
  contextOf(headers: TraceHeaders): Context
  /** Sends what is left, within a bounded time. */
  stop(): Promise<void>
}

/** The headers of W3C Trace Context. */
export type TraceHeaders = { traceparent?: string | undefined; tracestate?: string | undefined }

export type SpanOptions = {
  kind?: keyof typeof kinds
  attributes?: Attributes
  /** Headers that name the parent. Without them, the parent is the active span. */
  parent?: TraceHeaders
  /** The beginning of the span; by default now. */
  startTime?: TimeInput
}

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER
} as const

/** Null if tracing is off. */
let tracing: Tracing | null = null

/**
 * A service that switches tracing on while it runs, if OTEL_EXPORTER_OTLP_ENDPOINT is set. Start it before
 * everything that is traced, and stop it after that. `serviceName` is the default for OTEL_SERVICE_NAME.
 */
export function startTracing(config: Config, log: Log, serviceName: string): Service {
  return createService('tracing', {
    async start() {
      const { otlpEndpoint: endpoint } = config
      if (endpoint === null) return
      const { openTracing } = await import('./tracing-sdk.ts')
      tracing = openTracing({ endpoint, serviceName, log })
    },
    async stop() {
      const stopped = tracing
      tracing = null
      await stopped?.stop()
    }
  })
}

export const isTracing = (): boolean => tracing !== null

/** Starts a span, or returns null if tracing is off. The caller must end it. */
export function startSpan(
  name: string,
  { kind, attributes, parent, startTime }: SpanOptions = {}
): Span | null {
  if (tracing === null) return null
  const options = {
    ...(kind === undefined ? {} : { kind: kinds[kind] }),
    ...(attributes === undefined ? {} : { attributes }),
    ...(startTime === undefined ? {} : { startTime })
  }
  return tracing.tracer.startSpan(
    name,
    options,
    parent === undefined ? context.active() : tracing.contextOf(parent)
  )
}

/**
 * Runs the work in a span that ends with it. If the work throws, the span is marked with the name of the
 * error.
 */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span | null) => Promise<T>
): Promise<T> {
  const span = startSpan(name, options)
  if (span === null) return work(null)
  try {
    return await withSpan(span, () => work(span))
  } catch (error) {
    failSpan(span, error instanceof Error ? error.name : 'unknown')
    throw error
  } finally {
    span.end()
  }
}

/** Makes the span the active one for the work, and for everything asynchronous that the work begins. */
export const withSpan = <T>(span: Span, work: () => T): T =>
  context.with(trace.setSpan(context.active(), span), work)

/** Runs work that serves many requests, such as a loop that one request starts, outside of any trace. */
export const outsideSpans = <T>(work: () => T): T =>
  tracing === null ? work() : context.with(ROOT_CONTEXT, work)

/**
 * Marks the span as failed. `code` must have few different values: a code of an error or the name of its
 * class.
 */
export function failSpan(span: Span, code: string): void {
  span.setAttribute('error.type', code)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** The active span if it is recorded, otherwise undefined. */
export function activeSpan(): Span | undefined {
  if (tracing === null) return undefined
  const span = trace.getActiveSpan()
  return span?.isRecording() === true ? span : undefined
}

/** The header with which another process continues the active span; null without a span. */
export function activeTraceparent(): string | null {
  const found = tracing === null ? undefined : trace.getActiveSpan()?.spanContext()
  if (found === undefined) return null
  const isSampled = (found.traceFlags & TraceFlags.SAMPLED) !== 0
  return `00-${found.traceId}-${found.spanId}-${isSampled ? '01' : '00'}`
}

export type TraceFields = { trace_id: string; span_id: string }

/** The fields of a log line that lead to the active span; no fields without a span. */
export function traceFields(): TraceFields | Record<string, never> {
  const found = tracing === null ? undefined : trace.getActiveSpan()?.spanContext()
  return found === undefined ? {} : { trace_id: found.traceId, span_id: found.spanId }
}
