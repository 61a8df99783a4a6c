/**
 * The log: JSON lines on standard output, without secrets. Messages are constant sentences; data are fields.
 */
import { pino, type DestinationStream, type Logger } from 'pino'
import type { Config } from './config.ts'
import { traceFields } from './tracing.ts'
import { withoutSecrets } from './without-secrets.ts'

export type Log = Logger

const secretFields = [
  'authorization',
  'cookie',
  'set-cookie',
  'token',
  'password',
  'secret',
  'databaseUrl',
  'redisUrl',
  'redisSentinelPassword',
  'clientToken',
  'bootstrapToken',
  'metricsToken',
  'otlpHeaders',
  'DATABASE_URL',
  'REDIS_URL',
  'REDIS_SENTINEL_PASSWORD',
  'TRIBUTARY_TOKEN',
  'TRIBUTARY_BOOTSTRAP_TOKEN',
  'METRICS_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS'
]

/**
 * Removes secrets from the finished line: fields by name at any depth, and passwords in URLs and bearer
 * tokens anywhere, for example in the message of a driver's error. pino's own redaction takes 300 us a line
 * for these fields; this takes 1.
 */
const secretField = new RegExp(`"(${secretFields.join('|')})":(?:"(?:[^"\\\\]|\\\\.)*"|\\[[^\\]]*\\])`, 'gi')

function redactLine(line: string): string {
  return withoutSecrets(line.replace(secretField, '"$1":"[redacted]"'))
}

/**
 * As pino writes it, but of a command that Redis refused only the name: the arguments of HELLO and AUTH are a password.
 * The error of a cluster contains that of a node.
 */
function serializeError(error: unknown): unknown {
  return error instanceof Error ? withoutArguments(pino.stdSerializers.err(error)) : error
}

function withoutArguments(written: object): object {
  return Object.fromEntries(
    Object.entries(written).map(([key, value]: [string, unknown]) => {
      if (typeof value !== 'object' || value === null) return [key, value]
      if (key === 'command' && 'name' in value) return [key, value.name]
      return [key, 'stack' in value ? withoutArguments(value) : value]
    })
  )
}

/**
 * `destination` is standard output by default; tests pass their own. If tracing is on, a line within a span
 * has its `trace_id` and `span_id`.
 */
export function createLog(
  { logLevel, otlpEndpoint = null }: Pick<Config, 'logLevel'> & Partial<Pick<Config, 'otlpEndpoint'>>,
  destination?: DestinationStream
): Log {
  return pino(
    {
      level: logLevel,
      ...(otlpEndpoint === null ? {} : { mixin: traceFields }),
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: serializeError },
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redactLine }
    },
    destination ?? pino.destination({ fd: 1, sync: true })
  )
}
