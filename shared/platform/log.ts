/** The log: JSON lines on standard output, with secrets taken out. Messages are constant sentences, data are fields. */
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
 * Secrets are taken out of the finished line: fields by their name at any depth, passwords in URLs and bearer tokens
 * anywhere, such as in the message of a driver's error. (pino's own redaction costs 300 us a line for these fields, this 1.)
 */
const secretField = new RegExp(`"(${secretFields.join('|')})":(?:"(?:[^"\\\\]|\\\\.)*"|\\[[^\\]]*\\])`, 'gi')

function redactLine(line: string): string {
  return withoutSecrets(line.replace(secretField, '"$1":"[redacted]"'))
}

/** `destination` is standard output unless a test wants the lines. */
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
