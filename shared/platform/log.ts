/**
 * The log: JSON lines on standard output, without secrets. Messages are constant sentences; data are fields.
 */
import { pino, type DestinationStream, type Logger } from 'pino'
import type { Config } from './config.ts'
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
  'clientToken',
  'bootstrapToken',
  'metricsToken',
  'DATABASE_URL',
  'REDIS_URL',
  'TRIBUTARY_TOKEN',
  'TRIBUTARY_BOOTSTRAP_TOKEN',
  'METRICS_TOKEN'
]

/**
 * Removes secrets from the finished line: fields by name at any depth, and passwords in URLs and bearer
 * tokens anywhere, for example in the message of a driver's error. pino's own redaction costs 300 us a line
 * for these fields; this costs 1.
 */
const secretField = new RegExp(`"(${secretFields.join('|')})":(?:"(?:[^"\\\\]|\\\\.)*"|\\[[^\\]]*\\])`, 'gi')

function redactLine(line: string): string {
  return withoutSecrets(line.replace(secretField, '"$1":"[redacted]"'))
}

/** `destination` is standard output by default; tests pass their own. */
export function createLog(config: Pick<Config, 'logLevel'>, destination?: DestinationStream): Log {
  return pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redactLine }
    },
    destination ?? pino.destination({ fd: 1, sync: true })
  )
}
